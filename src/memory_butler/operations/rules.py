"""Rules: looking at how to behave."""

from typing import Final, Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.domain.rules import Maturity
from memory_butler.domain.trust import parse_trust
from memory_butler.engine.browse.decay import Decay
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.browse.looks import look_at_rule
from memory_butler.engine.browse.provenance import Provenance
from memory_butler.engine.memory import Memory
from memory_butler.operations import explanations
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    CONTENT_LENGTH,
    Direction,
    Input,
    KnownAt,
    Listing,
    MinTrust,
    Period,
    Revised,
    StatedRule,
)
from memory_butler.store.listing import Part, RuleOrder
from memory_butler.store.rules import RuleFilter

# kept: all that are not forgotten. in_use: neither forgotten nor disabled.
Shown = Literal["kept", "in_use", "fading", "disabled", "forgotten", "all"]

# Whether forgotten, disabled, fading; None is either.
_MARKS: Final[dict[Shown, tuple[bool | None, bool | None, bool | None]]] = {
    "kept": (False, None, None),
    "in_use": (False, False, None),
    "fading": (False, False, True),
    "disabled": (False, True, None),
    "forgotten": (True, None, None),
    "all": (None, None, None),
}


class ListRulesInput(Period):
    """Which rules to list, in which order."""

    q: str | None = Field(None, description="Words of the content; the last may be unfinished.")
    scope: str | None = Field(None, description='Exactly this scope, such as "global".')
    butler: str | None = Field(None, description="What this butler sees: global, and its own.")
    source_butler: str | None = Field(None, description="Learned by this butler.")
    maturity: list[Maturity] | None = Field(None, description="Of one of these maturities.")
    state: Shown = Field(
        "kept", description="kept: not forgotten; in_use: neither forgotten nor disabled."
    )
    min_confidence: float | None = Field(
        None, ge=0, le=1, description="Effective confidence of at least this."
    )
    min_trust: MinTrust = None
    tag: str | None = Field(None, description="Has this tag.")
    sort: RuleOrder = Field("created", description="What the list is ordered by.")
    direction: Direction = Field("desc", description="desc: the newest, or most, first.")
    known_at: KnownAt = None


class ListedRule(StatedRule):
    """A rule in a list."""

    content_length: int = Field(description=CONTENT_LENGTH)


class RuleList(Listing):
    """A part of the rules that were asked for."""

    items: list[ListedRule]


@operation(
    "List rules",
    Route("GET", "/api/memory/rules"),
    Route(
        "GET",
        "/api/butlers/{butler:path}/memory/rules",
        name="butler_rules_list",
        title="List the rules that a butler sees",
    ),
    needs="read",
)
async def rules_list(memory: Memory, principal: Principal, given: ListRulesInput) -> RuleList:
    """List rules by any of these criteria. Counts no reference."""
    forgotten, disabled, fading = _MARKS[given.state]
    wanted = RuleFilter(
        scope=given.scope,
        butler=given.butler,
        maturities=None if given.maturity is None else tuple(given.maturity),
        text=given.q,
        source_butler=given.source_butler,
        forgotten=forgotten,
        disabled=disabled,
        fading=fading,
        min_confidence=given.min_confidence,
        tag=given.tag,
        since=given.since,
        until=given.until,
        min_trust=None if given.min_trust is None else parse_trust(given.min_trust),
    )
    part = Part(given.limit, given.offset, given.sort, given.direction == "desc")
    found = await list_memories(memory, principal, wanted, part)
    return RuleList.of(found, given)


class RuleReference(Input):
    """Which rule, now or in the past."""

    rule_id: UUID
    known_at: KnownAt = None


class RuleDetail(Revised):
    """A rule, the history of its use, and everything that explains it."""

    rule: StatedRule
    decay: Decay
    applications: list[explanations.Application] = Field(
        description="The newest 200, newest first."
    )
    applications_total: int
    provenance: Provenance
    links: list[explanations.Link]


@operation("Look at a rule", Route("GET", "/api/memory/rules/{rule_id}"), needs="read")
async def rule_look(memory: Memory, principal: Principal, given: RuleReference) -> RuleDetail:
    """One rule in any state, with the history of its use, what it came from, and how its confidence
    fades. Counts no reference."""
    found = await look_at_rule(memory, principal, given.rule_id)
    return RuleDetail.copy_of(found, rule=found.row)
