"""The keyring: a key for each tenant, wrapped with the master key, in a file beside the data.

The file is in no backup. So a key that is destroyed here is in none either, and what was sealed
with it stays unreadable, whoever has the master key. Ids of destroyed keys are kept, so that a copy
of the keyring from before cannot bring one back by mistake.

The key of the tenant "" seals what belongs to no tenant.
"""

import base64
import binascii
import fcntl
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ValidationError

from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    InvalidInput,
    PermissionDenied,
)
from memory_butler.files import replaced
from memory_butler.vault.master import KEY_BYTES, Master

FOLDER: Final = "keys"
FILE: Final = "keyring.json"
_LOCK: Final = ".lock"
_ID_BYTES: Final = 8


# The schemas of these are built when a keyring is read: every command imports this, few read one.
class WrappedKey(BaseModel, defer_build=True):
    """The key of a tenant, as the master key wrapped it (base64)."""

    tenant: str
    made_at: AwareDatetime
    wrapped: str


class DestroyedKey(BaseModel, defer_build=True):
    """What is kept of a key that was destroyed."""

    erasure: str
    at: AwareDatetime


class Content(BaseModel, defer_build=True):
    """What the file says. `exported`: whether it has been exported since it was last changed."""

    format: Literal[1] = 1
    master: str
    keys: dict[str, WrappedKey] = {}
    destroyed: dict[str, DestroyedKey] = {}
    exported: bool = False


@dataclass(frozen=True, slots=True, weakref_slot=True)
class DataKey:
    """The key of one tenant; `id` is 16 hexadecimal digits."""

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys of an installation; `folder` is `keys` in its data directory."""

    folder: Path
    master: Master
    _unwrapped: dict[str, DataKey] = field(default_factory=dict, repr=False)
    # What the file said, by its inode, time and size.
    _seen: dict[tuple[int, int, int], Content] = field(default_factory=dict, repr=False)

    def key_of(self, tenant: str, now: datetime) -> DataKey:
        """The key of a tenant, made when it is first wanted.

        Raises:
            ConfigurationError: the master key is not the one of the keyring.
        """
        return self.held([tenant], now).by_tenant[tenant]

    def held(self, tenants: Iterable[str], now: datetime) -> "HeldKeys":
        """The keys of tenants, to be used without asking again; those missing are made at once.

        Raises:
            ConfigurationError: the master key is not the one of the keyring.
        """
        wanted = frozenset(tenants)
        found = self._found(self._content(), wanted)
        if len(found) < len(wanted):
            with _changing(self.folder) as content:
                found = self._found(content, wanted)
                for tenant in sorted(wanted - found.keys()):
                    id, secret = secrets.token_hex(_ID_BYTES), secrets.token_bytes(KEY_BYTES)
                    content.keys[id] = self._wrapped(self.master, id, tenant, secret, now)
                    content.exported = False
                    found[tenant] = DataKey(id, secret)
        return HeldKeys(found, self)

    def _found(self, content: Content, tenants: AbstractSet[str]) -> dict[str, DataKey]:
        self._refuse_other(content)
        found: dict[str, DataKey] = {}
        for id, key in content.keys.items():
            if key.tenant in tenants and key.tenant not in found:
                found[key.tenant] = self._unwrap(id, key)
        return found

    def key(self, id: str, *, of: str | None = None) -> DataKey | None:
        """The key of an id; None: it was destroyed.

        Raises:
            ConfigurationError: the keyring has never had it, or the master key is another one.
            PermissionDenied: it is not `of` this tenant.
        """
        content = self._content()
        if id in content.destroyed:
            return None
        if id not in content.keys:
            raise ConfigurationError(
                f"the key {id} is not in {self.folder / FILE}: import the keyring of the "
                "installation that wrote this, with `memory-butler keys import`"
            )
        self._refuse_other(content)
        if of is not None and content.keys[id].tenant != of:
            raise PermissionDenied(f"the key {id} is of another tenant: use a token of that tenant")
        return self._unwrap(id, content.keys[id])

    def is_current(self) -> bool:
        """Whether the keyring is there, and still needs this master key."""
        return is_there(self.folder) and self._content().master == self.master.id

    def check(self) -> int:
        """Unwrap every key; how many there are.

        Raises:
            ConfigurationError: one cannot be unwrapped.
        """
        content = read(self.folder)
        self._refuse_other(content)
        for id, key in content.keys.items():
            self._unwrap(id, key)
        return len(content.keys)

    def rewrap(self, master: Master) -> "Keyring":
        """The same keys under another master key; from now on the file needs that one."""
        with _changing(self.folder) as content:
            self._refuse_other(content)
            for id, key in content.keys.items():
                secret = self._unwrap(id, key).secret
                content.keys[id] = self._wrapped(master, id, key.tenant, secret, key.made_at)
            content.master, content.exported = master.id, False
        return Keyring(self.folder, master)

    def _content(self) -> Content:
        """What the file says, to be read alone; parsed again when the file was replaced."""
        try:
            info = (self.folder / FILE).stat()
        except OSError:
            return read(self.folder)  # says why not
        state = (info.st_ino, info.st_mtime_ns, info.st_size)
        content = self._seen.get(state)
        if content is None:
            content = read(self.folder)
            self._seen.clear()
            self._seen[state] = content
            # What was destroyed meanwhile, in whichever process, is to be in none.
            for id in self._unwrapped.keys() - content.keys:
                self._unwrapped.pop(id, None)
        return content

    def _refuse_other(self, content: Content) -> None:
        if content.master != self.master.id:
            raise ConfigurationError(
                f"the keyring needs the master key {content.master}, and this one is "
                f"{self.master.id}"
            )

    def _unwrap(self, id: str, key: WrappedKey) -> DataKey:
        if id not in self._unwrapped:
            try:
                wrapped = base64.b64decode(key.wrapped, validate=True)
            except binascii.Error:
                wrapped = b""
            secret = self.master.unwrap(wrapped, _context(id, key.tenant))
            self._unwrapped[id] = DataKey(id, secret)
        return self._unwrapped[id]

    @staticmethod
    def _wrapped(master: Master, id: str, tenant: str, secret: bytes, at: datetime) -> WrappedKey:
        wrapped = base64.b64encode(master.wrap(secret, _context(id, tenant))).decode()
        return WrappedKey(tenant=tenant, made_at=at, wrapped=wrapped)


@dataclass(frozen=True, slots=True)
class HeldKeys:
    """Keys of tenants, asked for before: they work while the keyring or its master key is away."""

    by_tenant: Mapping[str, DataKey] = field(repr=False)
    keyring: Keyring

    def key_of(self, tenant: str, now: datetime) -> DataKey:
        """The key of a tenant.

        Raises:
            Conflict: it is not among them.
        """
        if tenant not in self.by_tenant:
            raise Conflict(f"tenant {tenant} appeared meanwhile: try again")
        return self.by_tenant[tenant]

    def key(self, id: str) -> DataKey | None:
        """The key of an id, one of them or else the keyring's."""
        own = (key for key in self.by_tenant.values() if key.id == id)
        return next(own, None) or self.keyring.key(id)


# Where it is not known yet whether keys are needed: asked when they are; None: none are set up.
KeySource = Callable[[], Keyring | None]


def no_keys() -> None:
    """Where no keys are set up."""


def is_there(folder: Path) -> bool:
    """Whether there is a keyring."""
    return (folder / FILE).is_file()


def create(folder: Path, master: Master) -> Keyring:
    """Make an empty keyring.

    Raises:
        Conflict: there is one.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(folder):
        if is_there(folder):
            raise Conflict(f"there is a keyring already: {folder / FILE}")
        _write(folder / FILE, Content(master=master.id))
    return Keyring(folder, master)


def read(folder: Path) -> Content:
    """What the keyring says, the keys wrapped.

    Raises:
        ConfigurationError: it is not there, or damaged.
    """
    try:
        return _parsed(folder / FILE)
    except FileNotFoundError:
        raise _none(folder) from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{folder / FILE} is damaged: restore your copy of it") from error


def destroy(folder: Path, tenant: str, erasure: str, now: datetime) -> list[str]:
    """Destroy the key of a tenant, for an erasure; the ids of what that erasure has destroyed.

    It needs no master key. Asked again for the same erasure, it answers the same.
    """
    if not is_there(folder):
        return []
    with _changing(folder) as content:
        for id in [id for id, key in content.keys.items() if key.tenant == tenant]:
            del content.keys[id]
            content.destroyed[id] = DestroyedKey(erasure=erasure, at=now)
            content.exported = False
    return sorted(id for id, one in content.destroyed.items() if one.erasure == erasure)


def export(folder: Path, target: Path) -> int:
    """Write a copy of the keyring, its keys wrapped as they are; how many there are.

    Raises:
        ConfigurationError: there is no keyring, or the file cannot be written.
    """
    with _changing(folder) as content:
        content.exported = True
        try:
            _write(target, content)
        except OSError as error:
            raise ConfigurationError(f"{target} cannot be written: {error.strerror}") from None
    return len(content.keys)


def bring_back(folder: Path, source: Path) -> int:
    """Add the keys of a copy to the keyring, which is made where there is none; how many are new.

    A key that was destroyed here stays destroyed.

    Raises:
        InvalidInput: the file is no keyring.
        Conflict: its keys are wrapped with another master key.
    """
    try:
        copy = _parsed(source)
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(f"{source} is not a keyring") from error
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(folder):
        content = read(folder) if is_there(folder) else Content(master=copy.master)
        if content.master != copy.master:
            raise Conflict(
                f"the keys in {source} need the master key {copy.master}, those here "
                f"{content.master}"
            )
        content.destroyed = {**copy.destroyed, **content.destroyed}
        before = set(content.keys)
        content.keys = {
            id: key
            for id, key in {**copy.keys, **content.keys}.items()
            if id not in content.destroyed
        }
        _write(folder / FILE, content)
    return len(set(content.keys) - before)


@contextmanager
def _changing(folder: Path) -> Iterator[Content]:
    """The keyring, written when the block ends, if it was changed; one process at a time.

    Raises:
        ConfigurationError: it is not there, or cannot be written.
    """
    if not is_there(folder):
        raise _none(folder)
    try:
        with _locked(folder):
            content = read(folder)
            before = content.model_dump_json()
            yield content
            if content.model_dump_json() != before:
                _write(folder / FILE, content)
    except OSError as error:
        raise ConfigurationError(f"{folder / FILE} cannot be written: {error.strerror}") from error


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _parsed(path: Path) -> Content:
    try:
        return Content.model_validate_json(path.read_bytes())
    except ValidationError:
        # Not its own message: that quotes what it read.
        raise ValueError("not a keyring") from None


def _write(path: Path, content: Content) -> None:
    with replaced(path) as file:
        file.write(content.model_dump_json(indent=1).encode() + b"\n")


def _none(folder: Path) -> ConfigurationError:
    return ConfigurationError(
        f"there is no keyring in {folder}: `memory-butler keys init` makes one, "
        "`memory-butler keys import` brings one back"
    )


def _context(id: str, tenant: str) -> str:
    return f"the key {id} of {tenant or 'the installation'}"
