"""The keys of the audit, and the checkpoints kept outside of the database, in a folder.

One secret of 32 bytes gives the key of the chains and the key that signs checkpoints. Whoever has
`verify.key` can check a log, and could forge links, but cannot sign. No key is in the database.
"""

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from memory_butler.audit import canonical, parsed
from memory_butler.domain.errors import ConfigurationError
from memory_butler.files import keep_names, replaced
from memory_butler.logs import get_logger

FOLDER: Final = "audit"
_OWN: Final = "signing-secret"
VERIFY: Final = "verify.key"
_KEY_BYTES: Final = 32
_CHECKPOINTS: Final = "checkpoints"

log = get_logger()

Checkpoint = dict[str, str]


@dataclass(frozen=True, slots=True)
class AuditKeys:
    """The keys of one installation, and the folder that they lie in.

    `made`: they were made just now, and have signed nothing yet.
    """

    folder: Path
    secret: bytes = field(repr=False)
    made: bool = False

    @property
    def chain(self) -> bytes:
        """The key of events and links, 32 bytes."""
        return hmac.digest(self.secret, b"chain", "sha256")

    @property
    def public(self) -> bytes:
        """The public key of checkpoints, 32 bytes."""
        raw: bytes = self._signer().public_key().public_bytes_raw()
        return raw

    def exchange(self, tenant: str) -> Any:
        """The private key (Ed25519) that signs a tenant's facts for other installations."""
        return _private(hmac.digest(self.secret, b"exchange " + tenant.encode(), "sha256"))

    def signed(self, statement: Mapping[str, Any]) -> Checkpoint:
        """A checkpoint that says this."""
        text = canonical(statement)
        return {"statement": text, "signature": self._signer().sign(text.encode()).hex()}

    def holds(self, checkpoint: Mapping[str, str]) -> bool:
        """Whether these keys signed a checkpoint."""
        from cryptography.exceptions import InvalidSignature

        try:
            signature = bytes.fromhex(checkpoint["signature"])
            self._signer().public_key().verify(signature, checkpoint["statement"].encode())
        except (InvalidSignature, ValueError):
            return False
        return True

    def kept(self, tenant: str) -> Checkpoint | None:
        """The latest checkpoint that was kept outside of the database; None: there is none."""
        return read_checkpoint(self._place(tenant))

    def kept_of(self) -> list[str]:
        """The tenants of which a checkpoint was kept."""
        return sorted(path.stem for path in (self.folder / _CHECKPOINTS).glob("*.json"))

    def is_behind(self, kept: Checkpoint | None, found: Checkpoint | None) -> bool:
        """Whether the database's checkpoint is older than the kept one, which these keys signed."""
        if kept is None or not self.holds(kept):
            return False
        return found is None or _number(found) < _number(kept)

    def keep(self, tenant: str, checkpoint: Mapping[str, str], *, replace: bool = False) -> None:
        """Keep a checkpoint in the folder, unless a newer one is there; `replace`: even then."""
        there = None if replace else self.kept(tenant)
        if there is not None and _number(there) >= _number(checkpoint):
            return
        try:
            write_checkpoint(self._place(tenant), checkpoint)
        except OSError as error:
            reason = error.strerror
            log.warning("a checkpoint is kept in the database alone", tenant=tenant, reason=reason)

    def _place(self, tenant: str) -> Path:
        return self.folder / _CHECKPOINTS / f"{tenant}.json"

    def _signer(self) -> Any:
        return _private(hmac.digest(self.secret, b"checkpoints", "sha256"))


def _private(seed: bytes) -> Any:
    # Imported when something is signed: a command that only stores does without.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def open_keys(folder: Path) -> AuditKeys:
    """The keys in a folder, made when they are first wanted; 0600.

    Raises:
        ConfigurationError: the file of the secret does not hold 32 bytes as hex, or the folder has
            none and cannot be written.
    """
    folder = folder.expanduser()
    try:
        return _opened(folder)
    except OSError as error:
        raise ConfigurationError(
            f"the audit's keys cannot be kept in {folder} ({error.strerror}); set audit_dir to a "
            "folder that holds them or can be written, such as /var/lib/memory-butler/audit"
        ) from error


def read_keys(folder: Path) -> AuditKeys | None:
    """The keys in a folder; None where there are none. Nothing is made.

    Raises:
        ConfigurationError: the file of the secret cannot be read or does not hold 32 bytes as hex.
    """
    path = folder / _OWN
    try:
        secret = bytes.fromhex(path.read_text(encoding="ascii"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError:
        secret = b""
    if len(secret) != _KEY_BYTES:
        raise ConfigurationError(
            f"{path} is not a secret of {_KEY_BYTES} bytes as hex; copy the file of the "
            "installation that made the database, or move it away to begin with a new one"
        )
    return AuditKeys(folder, secret)


def _opened(folder: Path) -> AuditKeys:
    keys, made = read_keys(folder), False
    while keys is None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Whole or not at all: another process may make them at the same time.
        unfinished = folder / f".{_OWN}.{secrets.token_hex(8)}"
        _write(unfinished, secrets.token_hex(_KEY_BYTES))
        with suppress(FileExistsError):
            os.link(unfinished, folder / _OWN)
            made = True
        unfinished.unlink()
        keep_names(folder)
        keys = read_keys(folder)
    _write_public(keys)
    return replace(keys, made=made)


def _write_public(keys: AuditKeys) -> None:
    """Write `verify.key`, unless it is that of this secret: a copied secret brings another."""
    path = keys.folder / VERIFY
    # The key of the chain tells; the public key would need a library that takes long to load.
    with suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads(path.read_text(encoding="utf-8"))["chain"] == keys.chain.hex():
            return
    text = json.dumps({"chain": keys.chain.hex(), "public": keys.public.hex()})
    with suppress(OSError):  # where secrets are mounted for reading only
        _write(path, text)


def read_checkpoint(path: Path) -> Checkpoint | None:
    """A checkpoint that was kept in a file; None where there is no file.

    Raises:
        ConfigurationError: the file is no checkpoint.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {name: str(found[name]) for name in ("statement", "signature")}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path} is not a checkpoint of the audit") from error


def write_checkpoint(path: Path, checkpoint: Mapping[str, str]) -> None:
    """Keep a checkpoint in a file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(path, json.dumps(dict(checkpoint)))


def _number(checkpoint: Mapping[str, str]) -> int:
    return int(parsed(checkpoint["statement"])["number"])


def _write(path: Path, text: str) -> None:
    with replaced(path) as file:
        file.write(text.encode() + b"\n")
