"""The journals of a tenant that moves: frozen, copied aside, compared, put in place as a whole."""

import os
import shutil
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path

from memory_butler.companions import opening
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    IntegrityViolation,
    Unavailable,
)
from memory_butler.engine import leftovers
from memory_butler.files import keep_names, replaced
from memory_butler.journal import converting, snapshots
from memory_butler.journal.erasing import at_rest, erase_journal
from memory_butler.journal.file import (
    BUSY_SECONDS,
    FROZEN,
    JournalFile,
    is_current,
    journal_path,
)
from memory_butler.journal.sealing import mark_in
from memory_butler.vault.keyring import KeySource


def freeze(data_dir: Path, tenant: str, said: str) -> None:
    """Let nobody write to the tenant's journals, nor begin one, from now on; again: say this.

    Raises:
        Conflict: a reply is being written to one, or a run compiles it.
        Unavailable: another process writes to one for too long.
    """
    folder = _folder(data_dir, tenant)
    for made in (folder.parent, folder):
        if not made.is_dir():
            made.mkdir(mode=0o700)
            _give(made, data_dir)
    with ExitStack() as held:
        paths = [journal_path(data_dir, tenant, one) for one in opening.names(data_dir, tenant)]
        for path in paths:
            try:
                held.enter_context(at_rest(path))
            except Conflict:
                raise Conflict(
                    f"somebody answers or compiles the journal {path.stem} just now: stop that or "
                    "wait for its end, then move again"
                ) from None
        _say(folder, said)
        for path in paths:
            _let_end(path)


def thaw(data_dir: Path, tenant: str) -> None:
    """Let them be written to again."""
    (_folder(data_dir, tenant) / FROZEN).unlink(missing_ok=True)


def refuse_unreadable(
    data_dir: Path, tenant: str, keys: KeySource, target_keys: KeySource, *, upgrade: bool
) -> None:
    """Raise `ConfigurationError` where a journal cannot be read, or would be encrypted no more.

    `upgrade`: bring one of an older version to this one, which cannot be done while it is frozen.
    Without, nothing is changed, and of an older one is only seen whether it is encrypted.
    """
    for name in opening.names(data_dir, tenant):
        path = journal_path(data_dir, tenant, name)
        if upgrade or is_current(path):
            with JournalFile(path, keys) as file:
                sealed = file.is_sealed
        else:
            sealed = mark_in(path) is not None
        if sealed and target_keys() is None:
            raise ConfigurationError(
                f"the journal {name} is encrypted, and the other place has no keys: set them "
                "up there with `memory-butler keys init`"
            )


def refuse_there(data_dir: Path, tenant: str) -> None:
    """Raise `Conflict` where the folder of the tenant's journals is not free for others."""
    folder = _folder(data_dir, tenant)
    there = {one.name for one in folder.iterdir()} if folder.is_dir() else set[str]()
    if there - {FROZEN}:
        raise Conflict(f"{folder} is there already, and is not empty: move it away first")


def copy(
    source: Path, target: Path, tenant: str, keys: KeySource, target_keys: KeySource, said: str
) -> list[str]:
    """Bring the frozen journals to another data directory, frozen too, as they are; their names.

    What is encrypted there is so with the keys of there. They stay frozen, with these words, until
    `thaw`. Safe to repeat.

    Raises:
        IntegrityViolation: a copy is not what was copied; nothing is in place.
        Conflict: they are not frozen there any more.
    """
    aside = leftovers.arriving(target, tenant)
    leftovers.remove_arriving(target, tenant)
    aside.mkdir(mode=0o700)  # what is encrypted is not for a moment
    names = opening.names(source, tenant)
    try:
        snapshots.copy_all(source, aside / "journal", tenant)
        moved = _folder(aside, tenant)
        moved.mkdir(mode=0o700, parents=True, exist_ok=True)
        (moved / FROZEN).unlink(missing_ok=True)
        for name in names:
            path = journal_path(aside, tenant, name)
            converting.unseal(path, keys)
            if target_keys() is not None:
                converting.seal(path, target_keys)
            _compare(journal_path(source, tenant, name), keys, path, target_keys)
        _say(moved, said)
        for path in (aside, *aside.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
            _give(path, target)
        place = _folder(target, tenant)
        if not (place / FROZEN).exists():
            raise Conflict(f"{place} takes writes again: another process has ended this move")
        # The mark stays where it is all the while, so that nobody begins a journal in between.
        for one in place.iterdir():
            if one.name != FROZEN:
                shutil.rmtree(one) if one.is_dir() else one.unlink()
        for one in moved.iterdir():
            os.replace(one, place / one.name)
        keep_names(place)
    finally:
        leftovers.remove_arriving(target, tenant)
    return names


def remove(data_dir: Path, tenant: str) -> None:
    """Take away what `copy` brought; nothing is begun there before `thaw`."""
    leftovers.remove_arriving(data_dir, tenant)
    for name in opening.names(data_dir, tenant):
        erase_journal(journal_path(data_dir, tenant, name))


def _compare(one: Path, keys: KeySource, other: Path, other_keys: KeySource) -> None:
    with JournalFile(one, keys) as source, JournalFile(other, other_keys) as target:
        wanted, found = snapshots.digest(source), snapshots.digest(target)
    different = sorted(name for name in wanted if wanted[name] != found[name])
    if different:
        raise IntegrityViolation(
            f"the copy of the journal {one.stem} differs in {', '.join(different)}; nothing of it "
            "is in place"
        )


def _let_end(path: Path) -> None:
    """Wait for whoever has begun to write: who comes later is told that it is frozen."""
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise Unavailable(f"the journal {path.name} is busy: {error}; move again") from error


def _say(folder: Path, said: str) -> None:
    with replaced(folder / FROZEN) as file:
        file.write(said.encode())
    _give(folder / FROZEN, folder)


def _give(path: Path, like: Path) -> None:
    """Give a file to the owner of another: servers may run as another user than this command."""
    info = like.stat()
    if os.geteuid() == 0:
        shutil.chown(path, info.st_uid, info.st_gid)


def _folder(data_dir: Path, tenant: str) -> Path:
    return data_dir / "journal" / tenant
