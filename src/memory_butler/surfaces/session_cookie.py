"""What the dashboard's cookie holds: a token, encrypted, of use as that cookie alone.

The key follows from the secret of the audit, which servers of one database share already, so that
people stay signed in over a restart and at each of them. Without that secret it is of this process.
"""

import base64
import hmac
import os
from datetime import datetime
from typing import Final

from memory_butler.engine.memory import Memory

# A month; the token behind it may end sooner, and then so does the session.
SECONDS: Final = 30 * 24 * 3600

_PURPOSE: Final = b"dashboard session"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_TIME_BYTES: Final = 8


class SessionCookie:
    """Encrypts the tokens of those who sign in, and reads them back until their month is over."""

    def __init__(self, memory: Memory) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        secret = os.urandom(_KEY_BYTES) if memory.audit is None else memory.audit.secret
        self._cipher = AESGCM(hmac.digest(secret, _PURPOSE, "sha256"))
        self._clock = memory.clock

    def sealed(self, token: str) -> str:
        """The value of a cookie that stands for the token from now on."""
        nonce = os.urandom(_NONCE_BYTES)
        content = _seconds(self._clock()).to_bytes(_TIME_BYTES) + token.encode()
        sealed = nonce + self._cipher.encrypt(nonce, content, _PURPOSE)
        return base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()

    def token(self, value: str) -> str | None:
        """The token that a cookie stands for; None: it was not made here, or its month is over."""
        from cryptography.exceptions import InvalidTag

        try:
            sealed = base64.urlsafe_b64decode(value + "==")
            nonce, content = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
            content = self._cipher.decrypt(nonce, content, _PURPOSE)
        except (ValueError, InvalidTag):
            return None
        issued = int.from_bytes(content[:_TIME_BYTES])
        over = _seconds(self._clock()) >= issued + SECONDS
        return None if over else content[_TIME_BYTES:].decode()


def _seconds(moment: datetime) -> int:
    return int(moment.timestamp())
