"""The certificate of an erasure: JSON, signed with a key of the installation, checked offline.

The signature is Ed25519 over the canonical JSON of everything but itself: keys sorted, no spaces,
UTF-8. It proves that this installation said so, and that nobody changed a word since.
"""

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from memory_butler.domain.errors import ConfigurationError, InvalidInput
from memory_butler.files import replaced

FOLDER: Final = "erasures"
_KEY: Final = "signing-key"
_KEY_BYTES: Final = 32
# A certificate has a few kilobytes; more than this is something else.
_MAX_BYTES: Final = 16 * 1024 * 1024

Certificate = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verified:
    """A certificate whose signature holds; `pinned`: by the key that was expected."""

    certificate: Certificate
    public_key: str
    pinned: bool


def signed(said: Mapping[str, Any], data_dir: Path) -> Certificate:
    """What is said, with the public key and the signature of this installation."""
    key = _key(data_dir)
    whole = {**said, "public_key": _text(key.public_key().public_bytes_raw())}
    return {**whole, "signature": _text(key.sign(_canonical(whole)))}


def since(data_dir: Path, moment: datetime) -> list[Certificate]:
    """The certificates of what this installation has erased since then, the oldest first.

    One that cannot be read is passed over, and signatures are not checked: who asks wants to know
    what to erase again.
    """
    found = []
    for path in (data_dir / FOLDER).glob("*.json"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(path.read_bytes())
            when = datetime.fromisoformat(said["erased_at"])
            if when >= moment and said["target"]["by"] and said["tenant"]:
                found.append((when, said))
    return [said for _, said in sorted(found, key=lambda one: one[0])]


def text_of(certificate: Certificate) -> str:
    """What its file says; to be kept to the letter: the signature is of each number as written."""
    return json.dumps(certificate, ensure_ascii=False, indent=2) + "\n"


def written(certificate: Certificate, data_dir: Path) -> Path:
    """The file of a certificate, on disk when this returns; readable for its owner alone."""
    path = data_dir / FOLDER / f"{certificate['id']}.json"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replaced(path) as file:
        file.write(text_of(certificate).encode())
    return path


def verify(file: Path, key: str | None = None) -> Verified:
    """Check a certificate without network or database.

    Args:
        key: the public key that is expected, as base64, or a file that holds it; None: whichever
            the certificate names, which proves only that nobody changed it afterwards.

    Raises:
        InvalidInput: it is no certificate, was changed, or is signed with another key.
    """
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise InvalidInput(f"{file} is too large for a certificate")
        said = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_each_once)
        named, signature = said["public_key"], said["signature"]
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(named, validate=True))
        unsigned = {name: value for name, value in said.items() if name != "signature"}
        public.verify(base64.b64decode(signature, validate=True), _canonical(unsigned))
    except InvalidSignature:
        raise InvalidInput(f"{file} was changed after it was signed: do not rely on it") from None
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{file} is not an erasure certificate") from error
    if key is not None and _expected(key) != named:
        raise InvalidInput(
            f"{file} is signed with the key {fingerprint(named)}, not with the one expected"
        )
    return Verified(said, named, pinned=key is not None)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a key that stands twice a reader and this check could take another value."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def public_key(data_dir: Path) -> str:
    """The public key of this installation, as base64, to be pinned elsewhere."""
    return _text(_key(data_dir).public_key().public_bytes_raw())


def fingerprint(named: str) -> str:
    """A short name for a public key, to be read out."""
    return hashlib.sha256(named.encode()).hexdigest()[:16]


def _expected(key: str) -> str:
    path = Path(key)
    with suppress(OSError):
        if path.is_file():
            return path.read_text(encoding="utf-8").strip()
    return key.strip()


def _key(data_dir: Path) -> Ed25519PrivateKey:
    """The installation's own key, made when it is first wanted; 0600."""
    path = data_dir / FOLDER / _KEY
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        # Whole or not at all: another process may want it at the same time.
        unfinished = path.with_name(f".{_KEY}.{os.getpid()}")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(Ed25519PrivateKey.generate().private_bytes_raw())
                file.flush()
                os.fsync(file.fileno())
            os.link(unfinished, path)
            shown = path.with_suffix(".pub")
            shown.write_text(
                _text(_read(path).public_key().public_bytes_raw()) + "\n", encoding="ascii"
            )
        finally:
            unfinished.unlink(missing_ok=True)
    return _read(path)


def _read(path: Path) -> Ed25519PrivateKey:
    raw = path.read_bytes()
    if len(raw) != _KEY_BYTES:
        raise ConfigurationError(
            f"{path} is not a signing key of 32 bytes; move it away, and a new one is made"
        )
    return Ed25519PrivateKey.from_private_bytes(raw)


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
