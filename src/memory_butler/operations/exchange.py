"""What installations tell each other, so that each comes to have what the others have."""

from typing import Any

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.engine.exchange import giving, taking
from memory_butler.engine.exchange.packs import PARTS, Signed
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output


def _scopes(what: str) -> Any:
    return Field(None, min_length=1, max_length=100, description=what)


class ExchangeStateInput(Input):
    """Of which scopes, and who asks."""

    scopes: list[str] | None = _scopes("Of these scopes; null: of all that you may have.")
    to: str | None = Field(
        None, pattern="^[0-9a-f]{64}$", description="The key of whoever asks; the statement has it."
    )


class ExchangeFactsInput(Input):
    """Which parts, and where to go on."""

    parts: list[int] = Field(
        min_length=1, max_length=PARTS, description=f"Numbers of parts, 0 to {PARTS - 1}."
    )
    after: str | None = Field(
        None, max_length=200, description="`next` of the answer before; null: from the beginning."
    )
    scopes: list[str] | None = _scopes("Of these scopes; null: all that you may have.")


class Statement(Output):
    """What an installation says, and its signature."""

    statement: str = Field(description="JSON, kept to the letter: the signature is of its bytes.")
    signature: str = Field(description="Ed25519, 128 hexadecimal digits.")


class FactsStatement(Statement):
    """Facts or rules of some parts."""

    next: str | None = Field(description="Give it as `after` for what follows; null: that is all.")


class ExchangeTakeInput(Input):
    """A statement of another installation, as it gave it."""

    statement: str = Field(max_length=8_000_000, description="To the letter.")
    signature: str = Field(max_length=200, description="As it came with the statement.")
    scopes: list[str] | None = _scopes("Leave other scopes out; null: take all of it.")


class ExchangeTakeOutput(Output):
    """What taking it did."""

    new: int = Field(description="Facts and rules that were not here.")
    changed: int = Field(description="Those that are in another state now, or have another text.")
    conflicts: int = Field(description="Those that wait beside what was said elsewhere.")
    kept: int = Field(description="Those that stay as they are: trusted more, or worded otherwise.")
    gone: int = Field(description="Those that were erased there, and are forgotten here.")
    refused: int = Field(
        description="Those that are erased, undone or not allowed here, or damaged."
    )


@operation(
    "Tell other installations what is here",
    Route("GET", "/api/memory/exchange"),
    needs="read",
    for_peers=True,
)
async def memory_exchange_state(
    memory: Memory, principal: Principal, given: ExchangeStateInput
) -> Statement:
    """Digests of the parts of facts and rules, and ids of what is gone, signed: another
    installation asks for the parts that differ. `memory-butler pull` does all of it."""
    return Statement.copy_of(await giving.state(memory, principal, given.scopes, given.to))


@operation(
    "Give facts and rules to another installation",
    Route("POST", "/api/memory/exchange/facts"),
    needs="read",
    for_peers=True,
)
async def memory_exchange_facts(
    memory: Memory, principal: Principal, given: ExchangeFactsInput
) -> FactsStatement:
    """The facts of some parts, then their rules, in every state, signed; page by page."""
    said, on = await giving.facts(memory, principal, given.parts, given.after, given.scopes)
    return FactsStatement.copy_of(said, next=on)


@operation(
    "Take facts and rules of another installation",
    Route("POST", "/api/memory/exchange"),
    needs="write",
    for_peers=True,
    destructive=True,
    idempotent=True,
)
async def memory_exchange_take(
    memory: Memory, principal: Principal, given: ExchangeTakeInput
) -> ExchangeTakeOutput:
    """Merge what another installation says, signed with a key that somebody accepted here
    (`memory-butler peers accept`); others are refused (403). Safe to repeat. What is trusted more
    than that installation stays as it is, and conflicts are shown."""
    signed = Signed(given.statement, given.signature)
    done = await taking.take(memory, principal, signed, given.scopes)
    return ExchangeTakeOutput.copy_of(done)
