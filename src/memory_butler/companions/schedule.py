"""What the journals of a server do by themselves: upkeep, handing sessions over, embedding.

The database records none of it: a journal is a file of this machine, and its own rows tell what is
due. Any number of servers may look after one folder.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final
from zlib import crc32

from memory_butler.companions import bridge
from memory_butler.companions.maintaining import (
    RETRY,
    companion_model,
    due_by_itself,
    limits,
    upkeep,
)
from memory_butler.companions.opening import Companion, data_dir, everyone, kept_open
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    Frozen,
    MemoryButlerError,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine.jobs.calendar import NO_CRON, is_cron, previous
from memory_butler.engine.jobs.catalogue import ACTOR
from memory_butler.engine.jobs.schedule import keeping, unrecorded
from memory_butler.engine.memory import Memory
from memory_butler.inference.language_models.port import LanguageModel
from memory_butler.journal.file import journal_path
from memory_butler.journal.fragments import RunType
from memory_butler.journal.maintenance.run import alone, maintain
from memory_butler.journal.meaning import keep, pending
from memory_butler.journal.runs import Run
from memory_butler.journal.sessions import is_over
from memory_butler.journal_config import JournalConfig
from memory_butler.logs import get_logger

log = get_logger()

_LOOK: Final = "* * * * *"
# Messages embedded at one look: at worst half a minute of one core.
_EMBEDDED_AT_ONCE: Final = 2_000
# A journal in which nothing was written is looked into at each so many looks: time alone ends a
# conversation, and makes a run due.
_UNCHANGED_EVERY: Final = 10


@dataclass(slots=True)
class Looks:
    """What former looks found: the state of each journal's file, and what was logged of it.

    A journal that stays damaged is no news every minute.
    """

    number: int = 0
    files: dict[Path, "_Stamp"] = field(default_factory=dict)
    told: set[tuple[str, str, str]] = field(default_factory=set)

    def next(self) -> None:
        self.number += 1

    def is_due(self, path: Path, stamp: "_Stamp") -> bool:
        """Whether a journal has changed, or its turn has come; these are spread over the looks."""
        turn = self.number + crc32(str(path).encode())
        return self.files.get(path) != stamp or turn % _UNCHANGED_EVERY == 0


# When the file and its log of writes were last written, and how large they are.
_Stamp = tuple[tuple[int, int], ...]


def _stamp(path: Path) -> _Stamp:
    """A state of a journal's file; every message and every run changes it."""
    found = []
    for side in (path, path.with_name(f"{path.name}-wal")):
        # Whoever opens it makes an empty log of writes, and another one that is gone.
        with suppress(FileNotFoundError):
            stat = side.stat()
            if stat.st_size:
                found.append((stat.st_mtime_ns, stat.st_size))
    return tuple(found)


@asynccontextmanager
async def running(memory: Memory) -> AsyncIterator[None]:
    """Look after the journals, where there are any, for as long as the block lasts.

    Raises:
        ConfigurationError: a cron expression is none, or there is no model for a configured run.
    """
    model = _model(memory)
    if memory.data_dir is None:
        yield
        return

    looks = Looks()

    async def look(_: datetime) -> None:
        await look_after_once(memory, model, looks)

    async with keeping([unrecorded(memory.clock, "journals", _LOOK, look)], memory.clock):
        yield


def _model(memory: Memory) -> LanguageModel | None:
    """The model of upkeep; None where there is none, and none is scheduled.

    Raises:
        ConfigurationError: a cron expression is none, or there is no model for a scheduled run.
    """
    config = memory.config.journal
    crons = _crons(config)
    for kind, cron in crons:
        if not is_cron(cron):
            raise ConfigurationError(
                f"modules.memory.journal.maintenance.{kind}: {cron!r} {NO_CRON}"
            )
    own = memory.language_model if config.model is None else None
    if own is not None or config.maintenance.daily_token_budget == 0:
        return own
    try:
        return companion_model(memory.config)
    except ConfigurationError:
        if crons:
            raise
        log.info("journals are not compiled by themselves: there is no language model")
        return None


def _crons(config: JournalConfig) -> list[tuple[RunType, str]]:
    """The configured runs; the monthly one first, because it does what a weekly one does."""
    bounds = config.maintenance
    configured: tuple[tuple[RunType, str | None], ...] = (
        ("monthly", bounds.monthly),
        ("weekly", bounds.weekly),
    )
    return [(kind, cron) for kind, cron in configured if cron]


async def look_after_once(
    memory: Memory, model: LanguageModel | None, looks: Looks | None = None
) -> None:
    """Do what is due in every journal; one that fails is logged, and the others go on.

    With `looks`, journals in which nothing was written since are opened at one look of ten.
    """
    looks = looks or Looks()
    looks.next()
    folder = data_dir(memory)
    for tenant, name in await asyncio.to_thread(everyone, folder):
        path = journal_path(folder, tenant, name)
        stamp = await asyncio.to_thread(_stamp, path)
        if looks.is_due(path, stamp):
            looks.files.pop(path, None)
            if await _is_quiet(memory, model, tenant, name, looks.told):
                looks.files[path] = stamp


async def _is_quiet(
    memory: Memory,
    model: LanguageModel | None,
    tenant: str,
    name: str,
    told: set[tuple[str, str, str]],
) -> bool:
    """Do what is due in a journal; whether there was nothing to do, and nothing waits."""
    quiet = True
    # Each by itself: what cannot be embedded can be compiled, and handed over.
    for work in _works(memory, model, tenant, name):
        try:
            quiet &= not await work()
        except Frozen:
            pass  # the place that it moves to does it
        except Conflict:
            quiet = False
            log.info("a journal is being maintained already", tenant=tenant, companion=name)
        except MemoryButlerError as error:
            quiet = False
            if (tenant, name, error.code) not in told:
                told.add((tenant, name, error.code))
                log.warning("a journal waits", tenant=tenant, companion=name, code=error.code)
        except Exception:
            quiet = False
            log.exception("a journal failed", tenant=tenant, companion=name)
    return quiet


def _works(
    memory: Memory, model: LanguageModel | None, tenant: str, name: str
) -> Iterator[Callable[[], Awaitable[object]]]:
    """What may be due; each answers with what it did, or with nothing."""
    yield partial(embed_new, memory, tenant, name)
    if model is not None:
        yield partial(maintain_if_due, memory, model, tenant, name)
    if memory.config.journal.bridge.episodes:
        yield partial(_hand_over, memory, tenant, name)


async def _hand_over(memory: Memory, tenant: str, name: str) -> bool:
    done = await bridge.hand_over(memory, Principal(tenant, ACTOR), name)
    return done.stored > 0 or done.problem is not None


async def embed_new(memory: Memory, tenant: str, name: str) -> int:
    """Embed what was said in a journal since the last time, so that it is found by its meaning.

    At most so much as fits between two looks; how many messages it was. Whoever waits for an
    embedding goes first.
    """
    model = memory.embedder.engine.model_version
    done = 0
    async with kept_open(memory, Principal(tenant, ACTOR), name) as companion:
        while done < _EMBEDDED_AT_ONCE:
            batch = await asyncio.to_thread(pending, companion.file, companion.policy, model)
            if not batch:
                break
            vectors = await memory.embedder.embed_many([one.text for one in batch])
            await asyncio.to_thread(keep, companion.file, batch, vectors, model)
            done += len(batch)
    return done


async def maintain_if_due(
    memory: Memory, model: LanguageModel, tenant: str, name: str
) -> RunType | None:
    """Run the maintenance of one journal that is due now; which it was, or None.

    Raises:
        Conflict: another run is at work on it.
        ModelError: the model failed; the run is noted, and tried again some hours later.
    """
    config = memory.config.journal
    async with kept_open(memory, Principal(tenant, ACTOR), name) as companion:
        with alone(companion.file):
            kind, left = await asyncio.to_thread(_due, companion, config, memory.clock())
            if kind is not None:
                bounds = limits(config, left)
                await maintain(companion.desk, model, kind, companion.policy, bounds)
                log.info("a journal was maintained", tenant=tenant, companion=name, run_type=kind)
    return kind


def _due(companion: Companion, config: JournalConfig, now: datetime) -> tuple[RunType | None, int]:
    """Which run is due, by cron or by what was said, and the tokens that are left for it."""
    state = upkeep(companion, config, now)
    if state.unread == 0 or state.waits is not None:
        return None, state.left
    if (kind := _due_by_cron(companion, config, state.runs, now)) is not None:
        return kind, state.left
    silence = timedelta(minutes=config.bridge.session_minutes)
    ended = is_over(companion.file, now, silence)
    return due_by_itself(state, now, ended=ended), state.left


def _due_by_cron(
    companion: Companion, config: JournalConfig, runs: Sequence[Run], now: datetime
) -> RunType | None:
    first = companion.live.events(limit=1)
    for kind, cron in _crons(config):
        tick = previous(cron, now)
        # A new journal waits for its first tick.
        if first[0].ts < tick and is_due(kind, tick, runs, now):
            return kind
    return None


def is_due(kind: RunType, tick: datetime, runs: Sequence[Run], now: datetime) -> bool:
    """Whether nothing has been done for `tick`, nor tried within the last hours."""
    counts = ("monthly",) if kind == "monthly" else ("weekly", "monthly")
    since = [one for one in runs if one.run_type in counts and one.started_at >= tick]
    return not any(one.completed_at or now - one.started_at < RETRY for one in since)
