"""Small stores for tests of what a question finds."""

from collections.abc import Iterable
from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.engine.context import BuiltContext
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact

BIRDS = (
    "Robins nest in the hedge behind the shed",
    "The blue tits eat sunflower seeds",
    "A barn owl lives in the old barn",
    "The heron takes fish from the pond",
)


async def noted(
    memory: Memory, principal: Principal, subject: str, texts: Iterable[str]
) -> list[UUID]:
    """Store a fact a text; their ids."""
    return [
        (await store_fact(memory, principal, subject, f"note {n}", text))[0]
        for n, text in enumerate(texts)
    ]


async def birds(memory: Memory, principal: Principal) -> list[UUID]:
    """The facts about birds."""
    return await noted(memory, principal, "garden", BIRDS)


def receipt_of(context: BuiltContext) -> UUID:
    """The id of a context's receipt; a preview has none."""
    assert context.receipt_id is not None
    return context.receipt_id
