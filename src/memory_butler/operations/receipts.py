"""ReceiptList of contexts: what each was made of, made again, and explained."""

from uuid import UUID

from pydantic import Field

from memory_butler.domain.json_values import Moment
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.domain.receipts import Place
from memory_butler.engine.inputs import MAX_LIMIT
from memory_butler.engine.memory import Memory
from memory_butler.engine.receipts import Explained, explain, list_receipts, replay
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output, ShownTrust
from memory_butler.store.receipts import Kept


class ReceiptsInput(Input):
    """Whose."""

    butler: str | None = Field(None, description="Of this butler's contexts; all when left out.")
    limit: int = Field(20, ge=1, le=MAX_LIMIT, description="How many of the newest.")


class Receipt(Output):
    """A context that was built."""

    id: UUID
    butler: str
    session_id: UUID | None
    created_at: Moment
    sha256: str = Field(description="Of the block, as UTF-8.")
    prompt: str | None = Field(description="The beginning of the prompt; null where none is kept.")


class ListedReceipt(Receipt):
    """A context in a list."""

    items: int = Field(description="How many memories were weighed.")


class ReceiptList(Output):
    """The newest first."""

    receipts: list[ListedReceipt]


@operation("List the receipts of contexts", Route("GET", "/api/memory/contexts"), needs="read")
async def memory_receipts(
    memory: Memory, principal: Principal, given: ReceiptsInput
) -> ReceiptList:
    """List recent contexts, and for whom; each can be explained and replayed."""
    found = await list_receipts(memory, principal, given.butler, given.limit)
    return ReceiptList(
        receipts=[ListedReceipt(**row | {"sha256": row["sha256"].hex()}) for row in found]
    )


class ReceiptReference(Input):
    """Which context."""

    receipt_id: UUID


def _receipt(kept: Kept) -> Receipt:
    return Receipt.copy_of(kept, kept.receipt, sha256=kept.sha256.hex())


class Replayed(Output):
    """The block, made again from what memory keeps."""

    receipt: Receipt
    context: str
    identical: bool = Field(description="Whether its SHA-256 is that of the receipt.")


@operation(
    "Make a context again",
    Route("GET", "/api/memory/contexts/{receipt_id}/replay", may_conflict=True),
    needs="read",
)
async def memory_replay(memory: Memory, principal: Principal, given: ReceiptReference) -> Replayed:
    """The block that a session got, byte for byte, from its receipt and from memory as it was then.
    Refused (409) when a memory that was weighed is gone."""
    again = await replay(memory, principal, given.receipt_id)
    return Replayed(receipt=_receipt(again.kept), context=again.text, identical=again.identical)


class WeighedMemory(Output):
    """A memory that was weighed for a block, and every number that decided its place."""

    memory_type: MemoryType
    id: UUID
    revision: str = Field(description="Names the state that it was in.")
    place: Place = Field(
        description=(
            "in: a line of the block; no_room: recalled, but the budget was spent; repeats: a "
            "better one says the same; missed: just below the limit."
        )
    )
    repeats: UUID | None = Field(description="The better one that says the same.")
    text: str | None = Field(description="What it said then; null where it is gone.")
    trust: ShownTrust | None = Field(description="How far it was trusted then; null likewise.")
    score: float
    parts: dict[str, float | int | bool | None]


class ExplainedContext(Output):
    """What is in the block from the best, what found no room, what just missed."""

    receipt: Receipt
    taken_at: Moment = Field(description="The moment of memory that it shows.")
    as_of: Moment | None
    token_budget: int
    weights: dict[str, float]
    memories: list[WeighedMemory]


def _memory(one: Explained) -> WeighedMemory:
    said = trust = None
    if one.text is not None:
        trust = one.text["trust"]
        said = " ".join(
            one.text[part] for part in ("subject", "predicate", "content") if part in one.text
        )
    return WeighedMemory.copy_of(one.weighed, text=said, trust=trust)


@operation("Explain a context", Route("GET", "/api/memory/contexts/{receipt_id}"), needs="read")
async def memory_explain(
    memory: Memory, principal: Principal, given: ReceiptReference
) -> ExplainedContext:
    """Why each line is in a context, and what just missed: every memory that was weighed, with
    every part of its score, as it was when the context was built."""
    kept, memories = await explain(memory, principal, given.receipt_id)
    return ExplainedContext.copy_of(
        kept.receipt, receipt=_receipt(kept), memories=[_memory(one) for one in memories]
    )
