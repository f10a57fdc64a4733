"""Opening a journal by tenant and name, as the configuration has it.

Every use opens the file and closes it again: a few milliseconds, and nobody holds what another
process may want to move away.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory_butler.domain.errors import ConfigurationError, InvalidInput, NotFound
from memory_butler.domain.principals import Principal, parse_tenant
from memory_butler.journal.assembly import Texts
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile, journal_path
from memory_butler.journal.introduction import Introduction, introduction_of
from memory_butler.journal.live import LiveJournal, utc_now
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import Questions
from memory_butler.journal.texts import first_wake, name_by_file, read_texts
from memory_butler.journal_config import JournalConfig
from memory_butler.vault.keyring import KeySource

if TYPE_CHECKING:  # a command that needs no memory must not wait for it
    from memory_butler.engine.memory import Memory
    from memory_butler.inference.embedder import Embedder

DEFAULT_COMPANION: Final = "default"
# How many are named to somebody who may have mistyped one.
_MOST_NAMES: Final = 20

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Companion:
    """An open journal with both of its sides."""

    tenant: str
    name: str
    file: JournalFile
    policy: JournalPolicy
    live: LiveJournal
    desk: MaintenanceDesk


@contextmanager
def opened(
    data_dir: Path,
    tenant: str,
    name: str,
    config: JournalConfig,
    keys: KeySource,
    *,
    create: bool = False,
    now: Callable[[], datetime] = utc_now,
    known_at: datetime | None = None,
    embedder: "Callable[[], Embedder] | None" = None,
) -> Iterator[Companion]:
    """The journal `name` of a tenant; `create` makes it where there is none, sealed by `keys`.

    With `known_at` both sides are as they were known then, for looking only. With an `embedder`,
    which is found when it is needed, the log is searched by meaning, too.

    Raises:
        InvalidInput: a name that is no name, or a moment without a time zone.
        NotFound: there is no such journal.
        Unavailable: the file cannot be opened.
        ConfigurationError: it is sealed, and its key is not to be had.
    """
    path = journal_path(data_dir, tenant, name)
    if not create and not path.is_file():
        raise unknown(data_dir, tenant, name)
    with JournalFile(path, keys) as file:
        policy = policy_of(config, name, introduction_of(file))
        questions = None if embedder is None else Questions(embedder)
        live, desk = LiveJournal(file, policy, now, questions), MaintenanceDesk(file, now)
        if known_at is not None:
            live, desk = live.at(known_at), desk.at(known_at)
        yield Companion(tenant, name, file, policy, live, desk)


def is_unused(companion: Companion) -> bool:
    """Whether nobody has said anything to it, nor who is there, nor who it is."""
    file = companion.file
    blank = Introduction(name_by_file(file.path.stem))
    return (
        not companion.live.extent()[0]
        and introduction_of(file) == blank
        and read_texts(file.texts_dir) == Texts(first_wake(file.path.stem), "", "")
    )


def unknown(data_dir: Path, tenant: str, name: str) -> NotFound:
    """The error for a name that no companion of a tenant has; it names those that there are."""
    known = names(data_dir, tenant)
    shown = [*known[:_MOST_NAMES], *(["…"] if len(known) > _MOST_NAMES else [])]
    others = f"; there are: {', '.join(shown)}" if shown else ""
    return NotFound(f"no companion {name!r}; its first message creates it{others}")


def introduced(companion: Companion, given: Introduction, config: JournalConfig) -> Companion:
    """The same journal, from now on by the policy that `given` makes."""
    policy = policy_of(config, companion.name, given)
    former = companion.live
    live = LiveJournal(companion.file, policy, former.clock, former.questions)
    return replace(companion, policy=policy, live=live)


async def use(
    memory: "Memory",
    principal: Principal,
    name: str,
    work: Callable[[Companion], Result],
    *,
    create: bool = False,
) -> Result:
    """Do `work` with a journal of the caller's tenant, off the event loop.

    It is seen from where the memory is looked at; a journal has no periods, so that only what was
    known matters.
    """

    def run() -> Result:
        known_at = memory.standpoint.known_at if memory.standpoint else None
        with _opened_for(memory, principal, name, create=create, known_at=known_at) as companion:
            return work(companion)

    return await asyncio.to_thread(run)


def kept_open(
    memory: "Memory", principal: Principal, name: str, *, create: bool = False
) -> AbstractAsyncContextManager[Companion]:
    """A journal for work that takes longer than a moment; opened and closed off the event loop."""
    return off_loop(_opened_for(memory, principal, name, create=create))


def _opened_for(
    memory: "Memory",
    principal: Principal,
    name: str,
    *,
    create: bool,
    known_at: datetime | None = None,
) -> AbstractContextManager[Companion]:
    return opened(
        data_dir(memory),
        principal.tenant,
        name,
        memory.config.journal,
        memory.keys,
        create=create,
        now=memory.clock,
        known_at=known_at,
        embedder=lambda: memory.embedder.engine,
    )


@asynccontextmanager
async def off_loop(held: AbstractContextManager[Result]) -> AsyncIterator[Result]:
    """What is entered and left in a thread, because both wait for the disk."""
    entered = await asyncio.to_thread(held.__enter__)
    try:
        yield entered
    finally:
        await asyncio.to_thread(held.__exit__, None, None, None)


def data_dir(memory: "Memory") -> Path:
    """Where the journals of this installation lie."""
    if memory.data_dir is None:
        raise ConfigurationError("this memory was opened without a data directory for journals")
    return memory.data_dir


def policy_of(
    config: JournalConfig,
    companion: str = DEFAULT_COMPANION,
    given: Introduction = Introduction(),  # noqa: B008  it never changes
) -> JournalPolicy:
    """What the configuration says of a journal's rules; a companion's name is one of its actors.

    What its user has said goes before: the time zone, and how the two are called.
    """
    assistants = config.assistant_actors
    taken = {one.casefold() for one in (*assistants, *config.user_actors, DEFAULT_COMPANION)}
    if companion.casefold() not in taken:
        assistants = (*assistants, companion)
    names = {config.assistant_actors[0]: given.name, config.user_actors[0]: given.user}
    return JournalPolicy(
        assistant_actors=assistants,
        user_actors=config.user_actors,
        names={actor: name for actor, name in names.items() if name},
        zone=zone_of(config, given.zone),
        languages=config.languages,
        untagged_reply_is_say=config.untagged_reply_is_say,
    )


def zone_of(config: JournalConfig, said: str = "") -> ZoneInfo:
    """The time zone that a user has `said`, else that of the configuration, else the machine's."""
    if said:
        # Another machine may not know it, after a move.
        with suppress(ZoneInfoNotFoundError, ValueError, OSError):
            return ZoneInfo(said)
    if config.time_zone is not None:
        return ZoneInfo(config.time_zone)
    from tzlocal import get_localzone_name

    try:
        return ZoneInfo(get_localzone_name() or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # A machine that is set up by an offset, or not at all.
        return ZoneInfo("UTC")


def names(data_dir: Path, tenant: str) -> list[str]:
    """The companions of a tenant, by name."""
    folder = data_dir / "journal" / parse_tenant(tenant)
    return sorted(one.stem for one in folder.glob("*.sqlite") if _is_journal(data_dir, one))


def everyone(data_dir: Path) -> list[tuple[str, str]]:
    """Tenant and name of every companion of the installation."""
    found = (data_dir / "journal").glob("*/*.sqlite")
    return sorted((one.parent.name, one.stem) for one in found if _is_journal(data_dir, one))


def _is_journal(data_dir: Path, path: Path) -> bool:
    """Whether it lies where a journal of its name would: people keep copies there, too."""
    try:
        return journal_path(data_dir, path.parent.name, path.stem) == path and path.is_file()
    except InvalidInput:
        return False
