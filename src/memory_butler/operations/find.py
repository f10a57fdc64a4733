"""One search over everything, for somebody who types."""

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.find import find
from memory_butler.engine.memory import Memory
from memory_butler.operations.entities import ListedEntity
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import AsOf, Episode, Fact, Input, KnownAt, Output, Rule, found


class FindInput(Input):
    """What was typed into the search of everything."""

    q: str = Field(description="What was typed so far.")
    limit: int = Field(5, ge=1, le=50, description="How many of each kind.")
    known_at: KnownAt = None
    as_of: AsOf = None


class FindOutput(Output):
    """Memories the best first, entities by name; empty text gives no results."""

    facts: list[Fact]
    rules: list[Rule]
    episodes: list[Episode]
    entities: list[ListedEntity]


@operation("Search everything", Route("GET", "/api/memory/find"), needs="read")
async def memory_find(memory: Memory, principal: Principal, given: FindInput) -> FindOutput:
    """Search facts, rules, episodes and entities as you type, faded ones too. Leaves no trace: for
    agents memory_search is the tool."""
    everything = await find(memory, principal, given.q, given.limit)
    views = [found(hit, explain=False) for hit in everything.memories]
    return FindOutput(
        facts=[one for one in views if isinstance(one, Fact)],
        rules=[one for one in views if isinstance(one, Rule)],
        episodes=[one for one in views if isinstance(one, Episode)],
        entities=[ListedEntity.model_validate(row) for row in everything.entities],
    )
