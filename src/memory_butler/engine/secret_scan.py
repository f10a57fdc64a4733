"""Looking for secrets in what is stored already, and masking them in place (C-147).

Masking writes over: no past state keeps what was masked. The key of the run restores it for an hour
(`unmasking`). What lies elsewhere is only told, or not looked at: see `NOT_SCANNED`.
"""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from memory_butler.domain.links import MEMORY_TYPES, MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.domain.steps import ItemKind
from memory_butler.engine.indexing import shortened, text_of_row
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import NOTE, Sieve, said_of, sieved
from memory_butler.engine.unmask_keys import UnmaskKey, compared
from memory_butler.store import events, masking, receipts
from memory_butler.store.embeddings import Embedded
from memory_butler.store.masking import Said
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction

NOT_SCANNED: Final = "records of programs (items), journals, spools, backups and exports"

_PAGE: Final = 200
_FIRST: Final = UUID(int=0)
_EVER: Final = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Holding:
    """A memory that holds secrets or invisible characters, and what it says without them.

    `left`: what masking does not take away, because it is in the subject or predicate of a fact,
    in a past state or in an entity.
    """

    memory_type: ItemKind
    id: UUID
    kinds: Mapping[str, int]
    text: str
    left: str | None = None


@dataclass(slots=True)
class ScanReport:
    """What a scan found, in how many memories; `private`: what a household keeps, by kind."""

    scanned: int = 0
    masked: int = 0
    found: list[Holding] = field(default_factory=list)
    private: Counter[str] = field(default_factory=Counter)


async def scan_secrets(
    memory: Memory, principal: Principal, key: UnmaskKey | None = None
) -> ScanReport:
    """Read every episode, fact and rule of a tenant for secrets, whatever its state.

    Args:
        key: write them over, with their embeddings and words, and keep under this key for an hour
            what was masked. A memory that somebody changes meanwhile is left to the next scan.

    Raises:
        Unavailable: the database went away; what was masked stays so. Run it again.
    """
    report = ScanReport()
    for kind in MEMORY_TYPES:
        async for rows in _pages(memory, principal, kind):
            report.scanned += len(rows)
            for row in rows:
                await _look(memory, principal, kind, row, report, key)
        await _look_back(memory, principal, kind, report)
    await _look_at_entities(memory, principal, report)
    if key is not None:  # what their beginnings hold was searched by the patterns of their day
        async with transaction(memory.pool, principal.tenant) as tx:
            await receipts.forget_prompts(tx)
    return report


async def _pages(
    memory: Memory, principal: Principal, kind: MemoryType
) -> AsyncIterator[list[Row]]:
    after = _FIRST
    while True:
        async with memory.reading(principal.tenant, on_primary=True) as tx:
            rows = await masking.page(tx, kind, after, _PAGE)
        if not rows:
            return
        yield rows
        after = rows[-1]["id"]


async def _look(
    memory: Memory,
    principal: Principal,
    kind: MemoryType,
    row: Row,
    report: ScanReport,
    key: UnmaskKey | None,
) -> None:
    head, sieve = Sieve(mask=True), Sieve(mask=True)
    before = ""
    if kind == "fact":
        subject, predicate = head.text(row["subject"]), head.text(row["predicate"])
        before = said_of(subject, predicate)
    clean = sieved(sieve, row, before)
    report.private += sieve.private
    kinds = dict(head.secrets + sieve.secrets)
    invisible = head.invisible + sieve.invisible
    if invisible:
        kinds["invisible character"] = invisible
    if not kinds:
        return
    left = "in its subject or predicate" if head.secrets or head.invisible else None
    report.found.append(Holding(kind, row["id"], kinds, before + clean.content, left))
    if key is not None and (sieve.secrets or sieve.invisible):
        clean.metadata[NOTE] = sieve.note
        report.masked += await _mask(memory, principal, kind, row, clean, key)


async def _mask(
    memory: Memory, principal: Principal, kind: MemoryType, row: Row, clean: Said, key: UnmaskKey
) -> bool:
    text = text_of_row(kind, row, clean.content)
    embedded = await memory.embedded(text, clean.tags)

    async def write(fitting: Embedded) -> bool:
        async with transaction(memory.pool, principal.tenant) as tx:
            await one_bulk_writer(tx)
            return await _write(memory, principal, tx, kind, row, clean, key, fitting)

    return await shortened(embedded, write)


async def _write(
    memory: Memory,
    principal: Principal,
    tx: Transaction,
    kind: MemoryType,
    row: Row,
    clean: Said,
    key: UnmaskKey,
    embedded: Embedded,
) -> bool:
    done = await masking.write_over(tx, kind, row, clean, embedded)
    if done:
        id, now = row["id"], memory.clock()
        await key.keep(tx, (kind, id), compared(row, asdict(clean), in_place=True), now)
        told = events.of_memory("memory_masked", kind, id, **{NOTE: clean.metadata[NOTE]})
        await events.record(tx, principal.actor, [told], now)
    return done


async def _look_back(
    memory: Memory, principal: Principal, kind: MemoryType, report: ScanReport
) -> None:
    """Past states: told, and left as they are."""
    after = (_FIRST, _EVER)
    while True:
        async with memory.reading(principal.tenant, on_primary=True) as tx:
            rows = await masking.former(tx, kind, after, _PAGE)
        if not rows:
            return
        for row in rows:
            _tell(kind, row, "in a past state", report)
        after = (rows[-1]["id"], rows[-1]["known_from"])


async def _look_at_entities(memory: Memory, principal: Principal, report: ScanReport) -> None:
    """Names, aliases and metadata: told, and left as they are."""
    after = _FIRST
    while True:
        async with memory.reading(principal.tenant, on_primary=True) as tx:
            rows = await masking.entities(tx, after, _PAGE)
        if not rows:
            return
        report.scanned += len(rows)
        for row in rows:
            _tell("entity", row, "update it", report)
        after = rows[-1]["id"]


def _tell(kind: ItemKind, row: Row, left: str, report: ScanReport) -> None:
    sieve = Sieve(mask=True)
    said = sieve.json(row["said"])
    if sieve.secrets:
        text = said.get("content") or said.get("name") or ""
        report.found.append(Holding(kind, row["id"], dict(sieve.secrets), text, left))
