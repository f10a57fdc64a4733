"""Letters: what somebody without a key seals for a tenant, and only the tenant's key opens.

The address of a tenant is a public key (X25519) whose private half follows from the tenant's data
key, so that it needs no place of its own, and is gone with that key. A letter is a byte for the
format, the id of the data key, the public half of a key of its own, and ChaCha20-Poly1305 under
what the two make together (HKDF with SHA-256). The hooks of agents' programs write letters
(`integrations/claude_code/plugin/hooks/memory_hook.py`); who wrote one, it does not tell.
"""

import base64
import binascii
from typing import TYPE_CHECKING, Final

from memory_butler.domain.errors import ConfigurationError, InvalidInput
from memory_butler.vault.keyring import DataKey, Keyring
from memory_butler.vault.master import KEY_BYTES

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

_FORMAT: Final = b"\x01"
_ID_BYTES: Final = 8
_HEAD_BYTES: Final = len(_FORMAT) + _ID_BYTES + KEY_BYTES
_PURPOSE: Final = b"memory-butler letter"


def address_of(key: DataKey) -> str:
    """To whom letters for a tenant are sealed: the id of its key, and a public key."""
    public = base64.urlsafe_b64encode(_private(key).public_key().public_bytes_raw()).decode()
    return f"{key.id}.{public}"


def opened(letter: str, tenant: str, keys: Keyring | None) -> bytes:
    """What a letter for this tenant says; `letter` is base64.

    Raises:
        InvalidInput: it is none, was changed, or its key was destroyed.
        PermissionDenied: it is to another tenant.
        ConfigurationError: its key is not in the keyring, or no keys are set up, or the master key
            is away.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    try:
        data = base64.b64decode(letter, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    head, text = data[:_HEAD_BYTES], data[_HEAD_BYTES:]
    if not head.startswith(_FORMAT) or len(head) < _HEAD_BYTES:
        raise InvalidInput("this is not a letter, or one of a later version of memory-butler")
    if keys is None:
        raise ConfigurationError("no keys are set up here, so no letter can be opened")
    id = head[len(_FORMAT) :][:_ID_BYTES].hex()
    key = keys.key(id, of=tenant)
    if key is None:
        raise InvalidInput(
            f"the key {id} of this letter was destroyed when its tenant was erased: nobody can "
            "read it again"
        )
    private = _private(key)
    to = private.public_key().public_bytes_raw()
    try:
        shared = private.exchange(X25519PublicKey.from_public_bytes(head[-KEY_BYTES:]))
        cipher = ChaCha20Poly1305(_derived(shared, _PURPOSE + head + to))
        # The key is of this letter alone, and so is its nonce.
        return cipher.decrypt(bytes(12), text, head)
    except (InvalidTag, ValueError):
        raise InvalidInput("the letter is damaged: it is not what was written") from None


def _private(key: DataKey) -> "X25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    secret = _derived(key.secret, b"memory-butler address" + key.id.encode())
    return X25519PrivateKey.from_private_bytes(secret)


def _derived(secret: bytes, info: bytes) -> bytes:
    # Imported where something is sealed: every command knows this file.
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(secret)
