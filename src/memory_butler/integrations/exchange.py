"""Facts and rules carried between installations: over REST, or as files that a file sync carries.

Over either way a statement is taken as it was signed; who may be believed decides the installation
that takes it.
"""

import json
import os
import re
import stat
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memory_butler.client.endpoint import UNSET, Unset
from memory_butler.domain.errors import InvalidInput, MemoryButlerError, unwritable
from memory_butler.domain.exchange import Scopes, common
from memory_butler.files import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memory_butler.client import MemoryClient, shapes

COUNTS: Final = ("new", "changed", "conflicts", "kept", "gone", "refused")
_STATE: Final = "state.json"
_FACTS: Final = re.compile(r"(\d{3})-([0-9a-f]{32})\.facts")
# What a killed push leaves beside the file that it wrote.
_CUT_OFF: Final = re.compile(r"\.(?:\d{3}-[0-9a-f]{32}\.facts|state\.json)\.\w+")
_OWNER: Final = re.compile(r"[0-9a-f]{32}")
# Of one part in 256; a page of it has 2 MB.
MAX_FILE_BYTES: Final = 64 * 1024 * 1024


@dataclass(slots=True)
class Report:
    """What came of it, by the names of `exchange_take`; `problems`: what could not be taken.

    `others`: of how many other installations a folder has files; None where there is no folder.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    problems: list[str] = field(default_factory=list)
    others: int | None = None

    def add(self, taken: Any) -> None:
        """Count what else was taken."""
        for name in COUNTS:
            self.counts[name] += getattr(taken, name)


@dataclass(frozen=True, slots=True)
class Sealing:
    """How files are encrypted on their way, where keys are set up."""

    seal: "Callable[[bytes], bytes]"
    unseal: "Callable[[bytes], bytes]"
    # Whether a file is as this one would write it: encrypted, or plain.
    is_alike: "Callable[[bytes], bool]"


PLAIN: Final = Sealing(lambda data: data, lambda data: data, lambda data: data[:1] == b"{")


async def carry(
    giver: "MemoryClient",
    taker: "MemoryClient",
    scopes: Sequence[str] | None = None,
    *,
    giver_state: "shapes.Statement | None" = None,
    taker_state: "shapes.Statement | None" = None,
) -> Report:
    """Let one installation take what another has and it has not.

    Args:
        scopes: these alone; None: all that each lets the other have.
        giver_state: what that side has just told, if it was asked already.
        taker_state: likewise.

    Raises:
        PermissionDenied: the taker has not accepted the giver's key, or they agree on no scope.
    """
    report = Report()
    state = _of_scopes(giver_state, scopes) or await giver.exchange_state(scopes=_named(scopes))
    given = _narrowed(scopes, state.statement)
    report.add(await taker.exchange_take(state.statement, state.signature, scopes=_named(given)))
    mine = None if report.counts["gone"] else _of_scopes(taker_state, given)
    mine = mine or await taker.exchange_state(scopes=_named(given))
    agreed = _narrowed(given, mine.statement)
    if agreed != given:
        # The taker takes less: digests are compared of the same scopes.
        state = await giver.exchange_state(scopes=_named(agreed))
    parts = _differing(mine.statement, state.statement)
    after: str | None = None
    while parts:
        page = await giver.exchange_facts(parts, after=after, scopes=_named(agreed))
        taken = await taker.exchange_take(page.statement, page.signature, scopes=_named(agreed))
        report.add(taken)
        after = page.next
        if after is None:
            break
    return report


async def write_files(
    here: "MemoryClient",
    folder: Path,
    sealing: Sealing = PLAIN,
    scopes: Sequence[str] | None = None,
) -> int:
    """Write what this installation has into a folder of its own there; how many files changed.

    Args:
        scopes: facts of these alone; files that say more are removed. None: of all.

    Raises:
        InvalidInput: the folder cannot be written.
        Unavailable: its disk is full.
    """
    state = await here.exchange_state(scopes=_named(scopes))
    own = folder / _owner(state.statement)
    parts = _parts(state.statement)
    wanted = {f"{part:03}-{digest[:32]}.facts": part for part, digest in parts.items()}
    try:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = {one.name for one in own.iterdir()}
        changed = 0
        for name, part in sorted(wanted.items()):
            if name not in there or not _opens(own / name, sealing):
                lines = [line async for line in _lines(here, part, scopes)]
                _write(own / name, sealing.seal("".join(lines).encode()))
                changed += 1
        # The facts first: whoever finds the state finds what it tells of.
        said = json.dumps({"statement": state.statement, "signature": state.signature})
        if changed or not _same(own / _STATE, said, sealing):
            _write(own / _STATE, sealing.seal(said.encode()))
            changed += 1
        for name in there - wanted.keys():
            if _FACTS.fullmatch(name) or _CUT_OFF.fullmatch(name):
                (own / name).unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None
    return changed


async def read_files(
    here: "MemoryClient",
    folder: Path,
    sealing: Sealing = PLAIN,
    scopes: Sequence[str] | None = None,
    agreed: "Mapping[str, Scopes] | None" = None,
) -> Report:
    """Take what the other installations have written into a folder.

    Args:
        scopes: these alone; None: all that was agreed with whoever wrote it.
        agreed: by key, what was agreed; a folder may have more, which is left out.

    Raises:
        InvalidInput: the folder cannot be read.
    """
    report = Report()
    own = _owner((await here.exchange_state()).statement)
    may_say = {key[:32]: known for key, known in (agreed or {}).items()}
    for owner in (owners := _owners(folder)):
        if owner != own:
            try:
                asked = common(None if scopes is None else tuple(scopes), may_say.get(owner))
                await _read(here, folder / owner, sealing, asked, report)
            except MemoryButlerError as error:
                report.problems.append(f"{owner}: {error}")
    report.others = len(set(owners) - {own})
    return report


async def _read(
    here: "MemoryClient",
    place: Path,
    sealing: Sealing,
    scopes: Scopes,
    report: Report,
) -> None:
    found = _bytes(place / _STATE)
    if found is None:
        report.problems.append(f"{place.name}: it has no {_STATE} yet; pull again later")
        return
    state = _statement(sealing.unseal(found))
    asked = _named(scopes)
    report.add(await here.exchange_take(**state, scopes=asked))
    theirs = _parts(state["statement"])
    mine = await here.exchange_state(scopes=_named(_scopes(state["statement"])))
    for part in _differing(mine.statement, state["statement"]):
        name = f"{part:03}-{theirs[part][:32]}.facts"
        try:
            data = _bytes(place / name)
            lines = None if data is None else sealing.unseal(data).splitlines()
        except MemoryButlerError as error:
            report.problems.append(f"{place.name}: {name}: {error}")
            continue
        if lines is None:
            report.problems.append(f"{place.name}: {name} is not here yet; pull again later")
            continue
        for line in lines:
            try:
                report.add(await here.exchange_take(**_statement(line), scopes=asked))
            except MemoryButlerError as error:
                report.problems.append(f"{place.name}: {name}: {error}")


def _differing(mine: str, theirs: str) -> list[int]:
    """The parts that differ, of two states of the same scopes."""
    known = _parts(mine)
    return sorted(part for part, digest in _parts(theirs).items() if known.get(part) != digest)


async def _lines(
    here: "MemoryClient", part: int, scopes: Sequence[str] | None
) -> AsyncIterator[str]:
    after: str | None = None
    while True:
        page = await here.exchange_facts([part], after=after, scopes=_named(scopes))
        yield json.dumps({"statement": page.statement, "signature": page.signature}) + "\n"
        after = page.next
        if after is None:
            return


def _named(scopes: Sequence[str] | None) -> list[str] | Unset:
    """Scopes as a request has them, which says nothing of all."""
    return UNSET if scopes is None else list(scopes)


def _of_scopes(
    state: "shapes.Statement | None", scopes: Sequence[str] | None
) -> "shapes.Statement | None":
    """A state that was told before, where it is of just these scopes."""
    wanted = None if scopes is None else tuple(sorted(scopes))
    return state if state is not None and _scopes(state.statement) == wanted else None


def _narrowed(own: Sequence[str] | None, statement: str) -> Scopes:
    """Scopes that both sides name: what the other side says can take some away, and add none.

    Raises:
        PermissionDenied: there are none.
    """
    return common(None if own is None else tuple(own), _scopes(statement))


def _scopes(statement: str) -> Scopes:
    """The scopes that a state is of; None: all, as those of versions that knew of none."""
    try:
        found = json.loads(statement).get("scopes")
        return None if found is None else tuple(str(one) for one in found)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InvalidInput("it is no state of an exchange") from None


def _parts(statement: str) -> dict[int, str]:
    """The digests of a state's parts. Whoever takes the statement checks who signed it."""
    try:
        return {int(part): str(digest) for part, digest in json.loads(statement)["parts"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InvalidInput("it is no state of an exchange") from None


def _owners(folder: Path) -> list[str]:
    try:
        return sorted(one.name for one in folder.iterdir() if _OWNER.fullmatch(one.name))
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be read: {error.strerror}") from None


def _owner(statement: str) -> str:
    """The folder of whoever signed a statement."""
    key: str = json.loads(statement)["key"]
    return key[:32]


def _statement(data: bytes) -> dict[str, str]:
    try:
        found = json.loads(data)
        return {"statement": str(found["statement"]), "signature": str(found["signature"])}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInput("it is no statement of an exchange; is it still being copied?") from None


def _bytes(path: Path) -> bytes | None:
    """What a file holds; None: there is none. No link is followed out of the folder."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidInput(f"{path.name} is no file")
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"{path.name} cannot be read: {error.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise InvalidInput(f"{path.name} has more than {MAX_FILE_BYTES // 2**20} MB")
    return data


def _same(path: Path, said: str, sealing: Sealing) -> bool:
    """Whether the file says this; Ed25519 signs the same text alike each time."""
    try:
        found = _bytes(path)
        if found is None or not sealing.is_alike(found):
            return False
        return sealing.unseal(found) == said.encode()
    except MemoryButlerError:
        return False


def _opens(path: Path, sealing: Sealing) -> bool:
    """Whether a file that was written before is whole, and encrypted if it is to be now."""
    try:
        found = _bytes(path)
        if found is None or not sealing.is_alike(found):
            return False
        for line in sealing.unseal(found).splitlines():
            _statement(line)
    except MemoryButlerError:
        return False
    return True


def _write(path: Path, data: bytes) -> None:
    with replaced(path) as file:
        file.write(data)
