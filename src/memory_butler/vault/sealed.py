"""A sealed file: sections, each under the key of a tenant, read and written as a stream.

The first line says what the file is, with an id of its own. Then come records: the id of a key, a
length, and so many bytes of AES-256-GCM. A record holds the head of a section, a piece of it
(deflated), or the end. The nonce is the record's number and the key that of this file alone, so a
record fits in one place of one file; the end holds the SHA-256 of all before it. Hence nothing can
be changed, moved, left out or cut off, not even a record whose key is gone.
"""

import hashlib
import io
import json
import re
import secrets
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from memory_butler.domain.errors import InvalidInput
from memory_butler.vault.keyring import DataKey
from memory_butler.vault.master import KEY_BYTES

# Bytes of a section in one record; what a reader and a writer hold at once.
PIECE_BYTES: Final = 1024 * 1024
_MAX_RECORD_BYTES: Final = 2 * PIECE_BYTES
# The commands, for whoever takes one file for the other.
_READ_BY: Final = {"backup": "restore-backup", "export": "import"}
_FIRST: Final = re.compile(rb"memory-butler sealed (?P<format>\d{1,9}) (?P<kind>[a-z]{1,20}) ")
_FORMAT: Final = 1
_MAX_FIRST_BYTES: Final = 200
_RECORD: Final = struct.Struct(">8sI")
_HEAD, _PIECE, _END = b"H", b"D", b"E"
# Level 6 makes a backup a tenth smaller, and takes three times as long (bench/sealing.py).
_LEVEL: Final = 1


class Keys(Protocol):
    """Where keys come from: a keyring."""

    def key_of(self, tenant: str, now: datetime) -> DataKey:
        """The key of a tenant, made when it is first wanted."""

    def key(self, id: str) -> DataKey | None:
        """The key of an id; None: it was destroyed."""


def is_sealed(start: bytes) -> bool:
    """Whether a file that begins so is a sealed one, of whatever format."""
    return _FIRST.match(start) is not None


class Writer:
    """Writes a sealed file; without `close` it has no end, and no reader takes it.

    Args:
        kind: what the file is, one word of small letters.
        owner: the tenant whose key seals the end; "" for a file of several.
    """

    def __init__(
        self, file: BinaryIO, kind: str, keys: Keys, now: datetime, *, owner: str = ""
    ) -> None:
        self._file, self._keys, self._now, self._owner = file, keys, now, owner
        first = f"memory-butler sealed {_FORMAT} {kind} {secrets.token_hex(32)}\n".encode()
        self._ciphers = _Ciphers(first)
        self._digest = hashlib.sha256()
        self._number = 0
        self._key: DataKey | None = None
        self._keys_used: dict[str, DataKey] = {}
        self._buffer = bytearray()
        self._put(first)

    def begin(self, tenant: str, head: Mapping[str, Any]) -> None:
        """Begin a section of a tenant; `head` is JSON, and as secret as the section."""
        self._flush()
        self._use(tenant)
        self._record(_HEAD + json.dumps(head, ensure_ascii=False).encode())

    def write(self, data: bytes) -> int:
        """Add bytes to the section; how many."""
        self._buffer += data
        while len(self._buffer) >= PIECE_BYTES:
            self._piece(bytes(self._buffer[:PIECE_BYTES]))
            del self._buffer[:PIECE_BYTES]
        return len(data)

    def close(self) -> None:
        """Write the end."""
        self._flush()
        self._use(self._owner)
        self._record(_END + self._digest.digest())

    def _use(self, tenant: str) -> None:
        if tenant not in self._keys_used:
            self._keys_used[tenant] = self._keys.key_of(tenant, self._now)
        self._key = self._keys_used[tenant]

    def _flush(self) -> None:
        if self._buffer:
            self._piece(bytes(self._buffer))
            self._buffer.clear()

    def _piece(self, data: bytes) -> None:
        self._record(_PIECE + zlib.compress(data, _LEVEL))

    def _record(self, plain: bytes) -> None:
        assert self._key is not None  # noqa: S101 -- a section was begun
        sealed = self._ciphers.of(self._key).encrypt(_nonce(self._number), plain, None)
        self._put(_RECORD.pack(bytes.fromhex(self._key.id), len(sealed)))
        self._put(sealed)
        self._number += 1

    def _put(self, data: bytes) -> None:
        self._digest.update(data)
        self._file.write(data)


@dataclass(frozen=True, slots=True)
class Section:
    """A section on its way in: its pieces are read once, before the next section."""

    head: Mapping[str, Any]
    pieces: Iterator[bytes]

    def whole(self) -> bytes:
        """All of it, at once: for what is known to be small."""
        return b"".join(self.pieces)


class Reader:
    """Reads a sealed file from its beginning; only what `sections` has come to the end of is whole.

    Raises:
        InvalidInput: it is not sealed, of another kind, or of a later format.
    """

    def __init__(self, file: BinaryIO, kind: str, keys: Keys) -> None:
        self._file, self._keys = file, keys
        first = file.readline(_MAX_FIRST_BYTES)
        found = _FIRST.match(first)
        if found is None:
            raise InvalidInput("this is not a sealed file of memory-butler")
        if int(found["format"]) != _FORMAT:
            raise InvalidInput(
                f"the file has format {int(found['format'])}, this version reads {_FORMAT}: "
                "install a later version of memory-butler"
            )
        if found["kind"].decode() != kind:
            other = found["kind"].decode()
            hint = f": `memory-butler {_READ_BY[other]}` reads it" if other in _READ_BY else ""
            raise InvalidInput(f"this is a sealed {other}{hint}")
        self._ciphers = _Ciphers(first)
        self._digest = hashlib.sha256(first)
        self._keys_read: dict[str, DataKey | None] = {}
        self._number = self._passed_over = 0
        self._ahead = b""

    def sections(self) -> Iterator[Section]:
        """The sections in their order, without those whose key was destroyed.

        Raises:
            InvalidInput: the file was changed, or ends before its end.
            ConfigurationError: a key is not in the keyring.
        """
        self._ahead = self._next()
        while (record := self._ahead)[:1] == _HEAD:
            pieces = self._pieces()
            yield Section(json.loads(record[1:]), pieces)
            for _ in pieces:  # what nobody wanted to read
                pass
        if record[:1] != _END or self._file.read(1):
            raise _damaged()

    def _pieces(self) -> Iterator[bytes]:
        while (record := self._next())[:1] == _PIECE:
            yield _inflated(record[1:])
        self._ahead = record

    def _next(self) -> bytes:
        """The next record that can be read."""
        while True:
            before = self._digest.digest()
            header = self._file.read(_RECORD.size)
            if not header and self._number and self._number == self._passed_over:
                raise InvalidInput(
                    f"the key {min(self._keys_read)} of this file was destroyed when its tenant "
                    "was erased: nobody can read it again"
                )
            if len(header) < _RECORD.size:
                raise _cut_off()
            raw, length = _RECORD.unpack(header)
            if length > _MAX_RECORD_BYTES:
                raise _damaged()
            sealed = self._file.read(length)
            if len(sealed) < length:
                raise _cut_off()
            self._digest.update(header)
            self._digest.update(sealed)
            number, self._number = self._number, self._number + 1
            key = self._key(raw.hex())
            if key is None:
                self._passed_over += 1
                continue
            try:
                plain = self._ciphers.of(key).decrypt(_nonce(number), sealed, None)
            except InvalidTag:
                raise _damaged() from None
            if plain[:1] == _END and plain[1:] != before:
                raise _damaged()
            return plain

    def _key(self, id: str) -> DataKey | None:
        if id not in self._keys_read:
            self._keys_read[id] = self._keys.key(id)
        return self._keys_read[id]


class SealedFile(io.RawIOBase):
    """The sections of a sealed file as one file to be read; it can be begun again, by `seek(0)`."""

    def __init__(self, file: BinaryIO, kind: str, keys: Keys) -> None:
        self._file, self._kind, self._keys = file, kind, keys
        self._at = 0
        self._left = memoryview(b"")
        self._pieces = self._read()

    def _read(self) -> Iterator[bytes]:
        for section in Reader(self._file, self._kind, self._keys).sections():
            yield from section.pieces

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if (offset, whence) != (0, io.SEEK_SET):
            raise io.UnsupportedOperation("a sealed file is read from its beginning")
        self._file.seek(0)
        self._at, self._left, self._pieces = 0, memoryview(b""), self._read()
        return 0

    def readinto(self, buffer: Any) -> int:
        if not self._left:
            self._left = memoryview(next(self._pieces, b""))
        count = min(len(buffer), len(self._left))
        buffer[:count] = self._left[:count]
        self._left = self._left[count:]
        self._at += count
        return count

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class SealedOutput(io.RawIOBase):
    """One section of a tenant, as a file to be written; closed, it has its end."""

    def __init__(
        self, file: BinaryIO, kind: str, keys: Keys, now: datetime, *, tenant: str
    ) -> None:
        self._file = file
        self._writer = Writer(file, kind, keys, now, owner=tenant)
        self._writer.begin(tenant, {})

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._writer.write(bytes(data))

    def close(self) -> None:
        if not self.closed:
            self._writer.close()
            self._file.close()
        super().close()


def seal(data: bytes, kind: str, keys: Keys, now: datetime, *, tenant: str = "") -> bytes:
    """Something small as a sealed file, at once."""
    file = io.BytesIO()
    writer = Writer(file, kind, keys, now, owner=tenant)
    writer.begin(tenant, {})
    writer.write(data)
    writer.close()
    return file.getvalue()


def unseal(data: bytes, kind: str, keys: Keys) -> bytes:
    """What `seal` was given.

    Raises:
        InvalidInput: it is damaged, or of another kind.
        ConfigurationError: its key is not in the keyring.
    """
    return b"".join(one.whole() for one in Reader(io.BytesIO(data), kind, keys).sections())


class _Ciphers:
    """The ciphers of one file, each of a key of its own: no nonce is used twice with a key."""

    def __init__(self, first: bytes) -> None:
        self._first = first
        self._made: dict[str, AESGCM] = {}

    def of(self, key: DataKey) -> AESGCM:
        if key.id not in self._made:
            derive = HKDF(SHA256(), KEY_BYTES, salt=None, info=self._first + key.id.encode())
            self._made[key.id] = AESGCM(derive.derive(key.secret))
        return self._made[key.id]


def _nonce(number: int) -> bytes:
    return number.to_bytes(12, "big")


def _inflated(data: bytes) -> bytes:
    inflate = zlib.decompressobj()
    try:
        plain = inflate.decompress(data, PIECE_BYTES + 1)  # a whole one ends before that
    except zlib.error:
        raise _damaged() from None
    if not inflate.eof:
        raise _damaged()
    return plain


def _damaged() -> InvalidInput:
    return InvalidInput("the sealed file is damaged: it is not what was written")


def _cut_off() -> InvalidInput:
    return InvalidInput("the sealed file is cut off: it ends before its end")
