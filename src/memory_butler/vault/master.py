"""The master key: it wraps the keys of tenants, and is never stored beside them in clear.

It is 32 random bytes as base64, in a file or an environment variable; or it stays in a key
management service, which a command asks to wrap and to unwrap.
"""

import base64
import binascii
import hashlib
import os
import secrets
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from memory_butler.domain.errors import ConfigurationError, Conflict
from memory_butler.files import keep_names

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_DIGEST_BYTES: Final = 32
_COMMAND_SECONDS: Final = 60


class Master(Protocol):
    """What wraps keys; `context` says whose key it is, and must be the same for unwrapping."""

    @property
    def id(self) -> str:
        """Names the master key, and tells nothing of it."""

    def wrap(self, secret: bytes, context: str) -> bytes:
        """The secret, readable with this master key alone."""

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        """The secret.

        Raises:
            ConfigurationError: it was wrapped with another master key or for another context.
        """


@dataclass(frozen=True, slots=True)
class LocalMaster:
    """A master key that this process holds: AES-256-GCM, the context authenticated."""

    key: bytes = field(repr=False)

    @property
    def id(self) -> str:
        return hashlib.sha256(b"memory-butler master key\0" + self.key).hexdigest()[:16]

    def wrap(self, secret: bytes, context: str) -> bytes:
        # Imported where something is sealed: every command knows this file.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, secret, context.encode())

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce, sealed = wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:]
        try:
            return AESGCM(self.key).decrypt(nonce, sealed, context.encode())
        except (InvalidTag, ValueError):
            raise _cannot(context) from None


@dataclass(frozen=True, slots=True)
class CommandMaster:
    """A master key that a command wraps with: `COMMAND wrap` and `COMMAND unwrap`.

    The command reads base64 from its standard input and writes base64 to its standard output. What
    it wraps begins with a hash of the context, so that it needs to know nothing of contexts.
    """

    command: Sequence[str]

    @property
    def id(self) -> str:
        return "command"

    def wrap(self, secret: bytes, context: str) -> bytes:
        return self._run("wrap", _digest(context) + secret)

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        found = self._run("unwrap", wrapped)
        if not secrets.compare_digest(found[:_DIGEST_BYTES], _digest(context)):
            raise _cannot(context)
        return found[_DIGEST_BYTES:]

    def _run(self, action: str, data: bytes) -> bytes:
        try:
            ran = subprocess.run(  # noqa: S603 -- the operator's own command
                [*self.command, action],
                input=base64.b64encode(data) + b"\n",
                stdout=subprocess.PIPE,
                # Neither its output nor its complaints are shown: both may hold a key.
                stderr=subprocess.DEVNULL,
                timeout=_COMMAND_SECONDS,
                check=True,
            )
            return base64.b64decode(ran.stdout.strip(), validate=True)
        except subprocess.CalledProcessError as error:
            said = f"ended with code {error.returncode}"
        except subprocess.TimeoutExpired:
            said = f"did not answer within {_COMMAND_SECONDS} seconds"
        except OSError as error:
            said = f"cannot be started: {error.strerror}"
        except binascii.Error:
            said = "did not answer with base64"
        raise ConfigurationError(f"master_key_command with `{action}` {said}")


def master_of_text(text: str, place: str) -> LocalMaster:
    """The master key that a text is; `place` names where it stands, for the error.

    Raises:
        ConfigurationError: it is not the base64 of 32 bytes.
    """
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigurationError(
            f"{place} is not a master key: it must hold the base64 of {KEY_BYTES} bytes, as from "
            f"`openssl rand -base64 {KEY_BYTES}`"
        )
    return LocalMaster(key)


def master_of_file(path: Path) -> LocalMaster:
    """The master key in a file.

    Raises:
        ConfigurationError: it cannot be read, or is no master key.
    """
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise ConfigurationError(
            f"the master key {path} cannot be read: {error.strerror}"
        ) from None
    return master_of_text(text, str(path))


def new_master() -> LocalMaster:
    """A random master key."""
    return LocalMaster(secrets.token_bytes(KEY_BYTES))


def write_master(master: LocalMaster, path: Path) -> None:
    """Write a master key to a new file, on disk when this returns; for its owner alone.

    Raises:
        Conflict: there is a file of that name.
        ConfigurationError: it cannot be written.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Conflict(f"{path} already exists, and is not replaced") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from None
    with open(descriptor, "wb") as file:
        file.write(base64.b64encode(master.key) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    keep_names(path.parent)


def _digest(context: str) -> bytes:
    return hashlib.sha256(context.encode()).digest()


def _cannot(context: str) -> ConfigurationError:
    return ConfigurationError(
        f"the master key does not unwrap {context}: it is another one, or the keyring is damaged"
    )
