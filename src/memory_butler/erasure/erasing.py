"""Erasing: look, erase in one transaction, overwrite the bytes, certify.

What the database holds goes in one transaction, with the record of it and the probes. The rest (the
journal's messages, what waits in a spool, the bytes in files) follows, each step so that it may be
done again; an erasure that was cut off is finished by the next one, or by `finish`.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

from memory_butler import __version__
from memory_butler.companions import opening
from memory_butler.domain.errors import Conflict, IntegrityViolation, NotFound
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine import leftovers, sealing
from memory_butler.engine.browse.provenance import labels as labels_of
from memory_butler.engine.exchange import peers
from memory_butler.engine.memory import Memory
from memory_butler.erasure import certificate, spools
from memory_butler.erasure.certificate import Certificate
from memory_butler.erasure.probes import MAX_PROBED, MAX_SEARCHED, Probe, probe
from memory_butler.erasure.scope import Scope, Target, scope_of
from memory_butler.journal import erasing as journal
from memory_butler.journal.file import JournalFile, journal_path
from memory_butler.store import entities, erasure, receipts, scrubbing
from memory_butler.store.rows import Row
from memory_butler.store.schema import database_of
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction
from memory_butler.vault import keyring

Tell = Callable[[str], None]

# Kept memories that a certificate names; the count is of all.
MAX_NAMED: Final = 1000
# Memories of each kind that a preview shows.
MAX_SHOWN: Final = 200

_BEYOND: Final = (
    "what agents, models and other programs were told, and what they wrote down",
    "other installations that took it, and folders of `push`: erase it there too, and push again",
    "queries that other running processes remember, until they end",
    "spools of butlers and hooks outside of this data directory: what waits there may still arrive",
    "log files, and the working folders and transcripts of agents' sessions",
    "blocks that the file system freed, until they are used again",
)
_BACKUPS: Final = "backups and exports made before: delete or renew them"
_PLAIN_BACKUPS: Final = (
    "backups and exports made before that are not encrypted: delete or renew them",
    "copies of the keyring made before: with the master key and one of them, encrypted backups and "
    "exports can still be read. Export the keyring anew and delete them",
)
_OTHERS_SPOOLED: Final = (
    "episodes that wait in the spools of this data directory (`spooled_left`) and are of no erased "
    "session: a spool does not say whose they are, so look at them"
)
_KEPT_BY_RESTORE: Final = "what a restore keeps of before, until you delete it"
_NOT_REMOVED: Final = "what a backup or a restore left or still loads"
_LEFT_ON_SERVER: Final = (
    "databases beside this one whose names begin with its own, which restores may have left"
)
_SERVER_OF_YOURS: Final = (
    "the files of the PostgreSQL server, where `bytes` does not say that they were rewritten",
    "archives and replicas of the PostgreSQL server",
)


@dataclass(frozen=True, slots=True)
class Preview:
    """What an erasure would take.

    `labels`: what a person knows it by, of the first of each kind, and of what stays; by the ids.
    """

    scope: Scope
    journals: tuple[str, ...]
    labels: Mapping[UUID, str]
    message: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Erased:
    """A finished erasure: its certificate, and where it lies."""

    certificate: Certificate
    path: Path


async def preview(memory: Memory, principal: Principal, target: Target) -> Preview:
    """Tell what would go, and what was looked at and stays; nothing is changed.

    Raises:
        NotFound: there is nothing of that name.
    """
    await _find_message(memory, principal, target)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        scope = await scope_of(tx, target)
        labels = await _labels(tx, scope, memory.clock())
    found: tuple[str, ...] = ()
    if target.everything and memory.data_dir is not None:
        found = tuple(opening.names(memory.data_dir, principal.tenant))
    return Preview(scope, found, labels, target.message)


async def _labels(tx: Transaction, scope: Scope, now: datetime) -> dict[UUID, str]:
    kinds: tuple[MemoryType, ...] = ("episode", "fact", "rule")
    items = {id: kind for kind in kinds for id in scope.doomed.of(kind)[:MAX_SHOWN]}
    named = list(scope.doomed.entities[:MAX_SHOWN])
    for one in scope.kept[:MAX_SHOWN]:
        if one.kind == "entity":
            named.append(one.id)
        else:
            items[one.id] = one.kind
    found = [
        *(await labels_of(tx, items, now)).values(),
        *await entities.labels(tx, named),
    ]
    labels = {row["id"]: row["label"] for row in found}
    missing = items.keys() - labels.keys()
    undone = await erasure.removed(tx, erasure.Traces(ids=missing)) if missing else []
    return labels | {row["id"]: row["label"] for row in undone}


async def erase(
    memory: Memory,
    principal: Principal,
    target: Target,
    *,
    admin_dsn: str | None = None,
    tell: Tell = lambda _: None,
) -> Erased:
    """Erase, and certify; one of the same target that was cut off is finished instead.

    Raises:
        NotFound: there is nothing of that name.
        Conflict: an erasure of everything was cut off, and this is not of everything.
        IntegrityViolation: a probe still found it; nothing was erased.
        Frozen: the tenant is moving, or has moved and this is not all that it left behind.
        ConfigurationError: there is no data directory for the certificate; nothing was erased.
        Unavailable: the memories are erased, but something that must follow could not be done;
            erase again to finish.
    """
    opening.data_dir(memory)
    done = await finish(memory, principal, target, admin_dsn=admin_dsn, tell=tell)
    for one in done:
        if one.certificate["target"] == target.as_json():
            return one
    await _find_message(memory, principal, target)
    id = uuid4()
    tell("erasing")
    async with transaction(memory.pool, principal.tenant, after_move=target.everything) as tx:
        await one_bulk_writer(tx)
        scope = await scope_of(tx, target)
        chained = await sealing.before_erasing(memory, tx)
        texts = await erasure.texts(tx, scope.doomed, MAX_PROBED)
        messages = (
            [_one_message(*target.message)]
            if target.message is not None
            else await erasure.messages(tx, scope.doomed.episodes)
        )
        if target.everything:
            counts = await erasure.erase_tenant(tx)
            if not any(counts.values()):
                await asyncio.to_thread(_refuse_nothing, opening.data_dir(memory), principal.tenant)
            goes_on = await sealing.erased_everything(memory, tx, id, chained)
        else:
            counts = await erasure.erase_memories(tx, id, scope.doomed)
            # Which of them repeats what goes, nobody can tell.
            counts["context_receipts"] += await receipts.forget_prompts(tx)
            await sealing.erased_memories(memory, tx, principal.actor, id)
            goes_on = None
        tell("looking for it on every path")
        now = memory.clock()
        probes = await probe(tx, texts, now, memory.embedding_version_id)
        _refuse_found(probes)
        report = _report(principal, target, scope, counts, probes, messages)
        await erasure.record(tx, id, target.as_json(), principal.actor, now, report)
    if goes_on is not None and memory.audit is not None:
        await asyncio.to_thread(memory.audit.keep, principal.tenant, goes_on)
    (erased,) = [
        one
        for one in await finish(memory, principal, target, admin_dsn=admin_dsn, tell=tell)
        if one.certificate["id"] == str(id)
    ]
    return erased


async def _find_message(memory: Memory, principal: Principal, target: Target) -> None:
    if target.message is None:
        return
    companion, id = target.message
    await opening.use(memory, principal, companion, lambda one: require_message(one, id))


def require_message(companion: opening.Companion, id: int) -> None:
    """Raise `NotFound` where a journal has no message of this id."""
    if not journal.count_messages(companion.file, id, id):
        raise NotFound(
            f"{companion.name} has no message {id}; it may have been erased already. "
            "`memory-butler journal export` shows the ids"
        )


def _refuse_nothing(data_dir: Path, tenant: str) -> None:
    """A certificate for a mistyped name would say that what is still there is gone."""
    keys = data_dir / keyring.FOLDER
    has_key = keyring.is_there(keys) and any(
        key.tenant == tenant for key in keyring.read(keys).keys.values()
    )
    has_more = opening.names(data_dir, tenant) or peers.accepted(data_dir, tenant)
    if not has_key and not has_more:
        raise NotFound(
            f"there is nothing of tenant {tenant} in {data_dir}; it may have been erased already"
        )


def _one_message(companion: str, id: int) -> Row:
    return {"companion": companion, "first": id, "last": id}


def _refuse_found(probes: Sequence[Probe]) -> None:
    found = [one.path for one in probes if one.found]
    if found:
        raise IntegrityViolation(
            f"what was to be erased is still found by {', '.join(found)}; nothing was erased"
        )


def _report(
    principal: Principal,
    target: Target,
    scope: Scope,
    counts: Mapping[str, int],
    probes: Sequence[Probe],
    messages: Sequence[Row],
) -> dict[str, Any]:
    """What the certificate will say, and what is still to be done; ids and numbers only."""
    return {
        "tenant": principal.tenant,
        "rows": dict(counts),
        "kept": {
            "total": len(scope.kept),
            "items": [
                {
                    "kind": one.kind,
                    "id": str(one.id),
                    "why": one.why,
                    "episodes_left": one.left,
                    "closest": None if one.closest is None else round(one.closest, 3),
                }
                for one in scope.kept[:MAX_NAMED]
            ],
        },
        "probes": [asdict(one) for one in probes],
        "probed_at_most": {"of_each_kind": MAX_PROBED, "by_search": MAX_SEARCHED},
        "messages": list(messages),
        "episodes": [str(id) for id in scope.doomed.episodes],
        # So that no exchange or import brings them back; of a whole tenant, when it was is enough.
        "facts": [] if target.everything else [str(id) for id in scope.doomed.facts],
        "rules": [] if target.everything else [str(id) for id in scope.doomed.rules],
        "entities": [] if target.everything else [str(id) for id in scope.doomed.entities],
    }


async def finish(
    memory: Memory,
    principal: Principal,
    wanted: Target,
    *,
    admin_dsn: str | None = None,
    tell: Tell = lambda _: None,
) -> list[Erased]:
    """Finish what was erased and then cut off; the certificates of these.

    Raises:
        Conflict: one of them is of everything, and what is `wanted` is not: all journals would go,
            those that the tenant has begun since too.
    """
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        waiting = await erasure.unfinished(tx)
    if not wanted.everything and any(row["target"]["by"] == "tenant" for row in waiting):
        raise Conflict(
            "an erasure of everything was cut off: finish it first with `memory-butler erase "
            f"--everything --tenant {principal.tenant}`, which takes all journals, new ones too"
        )
    done = []
    for row in waiting:
        said = await _complete(memory, principal, row, admin_dsn or memory.admin_dsn, tell)
        path = await asyncio.to_thread(certificate.written, said, opening.data_dir(memory))
        async with transaction(memory.pool, principal.tenant, after_move=True) as tx:
            await erasure.finish(tx, row["id"], memory.clock())
        done.append(Erased(said, path))
    return done


async def _complete(
    memory: Memory, principal: Principal, row: Row, admin_dsn: str | None, tell: Tell
) -> Certificate:
    data_dir = opening.data_dir(memory)
    report, everything = row["report"], row["target"]["by"] == "tenant"
    memory.embedder.forget_queries()
    memory.spoken.pop(principal.tenant, None)
    tell("erasing messages of journals, and what waits in spools")
    journals = await asyncio.to_thread(
        _erase_journals, memory, principal.tenant, report, everything
    )
    spooled = await asyncio.to_thread(
        spools.erase, data_dir / "spool", _spooled(row["target"], report)
    )
    # Any copy that lies there is an old one: while a move makes it, nothing is erased.
    removed = await asyncio.to_thread(leftovers.remove_arriving, data_dir, principal.tenant)
    destroyed: list[str] = []
    if everything:
        await asyncio.to_thread(peers.forget, data_dir, principal.tenant)
        folder = data_dir / keyring.FOLDER
        destroyed = await asyncio.to_thread(
            keyring.destroy, folder, principal.tenant, str(row["id"]), memory.clock()
        )
    scrubbed = None
    left: leftovers.Found | None = None
    if admin_dsn is not None:
        tell("removing what restores have left")
        name = database_of(admin_dsn)
        removed += await leftovers.remove_unfinished(data_dir, admin_dsn, name)
        left = await leftovers.find(data_dir, admin_dsn, name)
        touched = {name for name, count in report["rows"].items() if count} - {"tokens"}
        # The state of a fact that was rewritten in place is in its old row, too.
        scrubbed = await scrubbing.scrub(admin_dsn, touched | {"memory_versions"}, tell)
    return await asyncio.to_thread(
        certificate.signed,
        {
            "kind": "memory-butler-erasure",
            "version": __version__,
            "id": str(row["id"]),
            "tenant": report["tenant"],
            "target": row["target"],
            "erased_by": row["actor"],
            "erased_at": row["erased_at"].isoformat(),
            "certified_at": memory.clock().isoformat(),
            "rows": report["rows"],
            "journals": journals,
            "spooled_episodes": spooled.erased,
            "spooled_left": spooled.left,
            "kept": report["kept"],
            "probes": report["probes"],
            "probed_at_most": report["probed_at_most"],
            "bytes": _bytes(scrubbed),
            "leftovers_removed": list(removed),
            "keys_destroyed": destroyed,
            "cannot_reach": [
                *(_PLAIN_BACKUPS if destroyed else (_BACKUPS,)),
                *_BEYOND,
                *((_OTHERS_SPOOLED,) if spooled.left else ()),
                *(() if left is None else (f"{_KEPT_BY_RESTORE}: {one}" for one in left.kept)),
                *(() if left is None else (f"{_NOT_REMOVED}: {one}" for one in left.unfinished)),
                *((_LEFT_ON_SERVER,) if left is None else ()),
                *(() if scrubbed and scrubbed.log else _SERVER_OF_YOURS),
            ],
        },
        data_dir,
    )


def _bytes(scrubbed: scrubbing.Scrubbed | None) -> dict[str, Any]:
    if scrubbed is None:
        return {"tables_rewritten": [], "statistics_rewritten": False, "log_renewed": False}
    return {
        "tables_rewritten": list(scrubbed.tables),
        "statistics_rewritten": scrubbed.statistics,
        "log_renewed": scrubbed.log,
    }


def _spooled(target: Mapping[str, Any], report: Mapping[str, Any]) -> spools.Wanted:
    session = target["id"] if target["by"] == "session" else None
    return spools.Wanted(frozenset(report["episodes"]), session)


def _erase_journals(
    memory: Memory, tenant: str, report: Mapping[str, Any], everything: bool
) -> list[dict[str, Any]]:
    """Erase messages, or the tenant's journals as a whole; what went, by companion."""
    data_dir = opening.data_dir(memory)
    if everything:
        return [
            {
                "companion": name,
                "whole": journal.erase_journal(journal_path(data_dir, tenant, name)),
            }
            for name in opening.names(data_dir, tenant)
        ]
    found = []
    for one in report["messages"]:
        path = journal_path(data_dir, tenant, one["companion"])
        if not path.is_file():
            continue
        with JournalFile(path, memory.keys) as file:
            gone = journal.erase_messages(file, one["first"], one["last"])
            left = journal.count_messages(file, one["first"], one["last"])
        if left:
            raise Conflict(f"the journal {path.name} still has {left} of the messages; erase again")
        journal.scrub(path)
        found.append(
            {
                "companion": one["companion"],
                "messages": gone.events,
                "items": gone.items,
                "fragments": len(gone.fragments),
                "fragments_kept": list(gone.kept),
            }
        )
    return found
