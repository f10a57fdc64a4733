"""The one error tree. Codes are stable; messages tell a person (or a model) what to do.

Each surface maps a code once: see `memory_butler.surfaces.errors`.
"""

import errno
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

# Of a disk that takes no more: whoever has the machine has to act.
DISK_ERRORS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
# Of a file or folder that somebody else's rights, or a mistyped name, keep from us.
OUT_OF_REACH: Final = frozenset({errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR})


class MemoryButlerError(Exception):
    """Root of every error that this package raises on purpose."""

    code: ClassVar[str] = "internal"


class InvalidInput(MemoryButlerError, ValueError):
    """The caller sent something that can never work; sending it again changed may.

    Also a `ValueError`, because the requirements speak of one (STO-07, PERM-07, ENT-01, …).
    """

    code = "invalid_input"


class NotFound(MemoryButlerError):
    """The thing named does not exist for this tenant."""

    code = "not_found"


class Conflict(MemoryButlerError):
    """The state of the store forbids this now; the message names what stands in the way."""

    code = "conflict"


class StaleRevision(Conflict):
    """Somebody else changed it since the caller looked; `current` is the row as it is now."""

    def __init__(
        self,
        message: str,
        kind: Literal["fact", "rule"],
        current: Mapping[str, Any],
        current_revision: str,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.current = current
        self.current_revision = current_revision

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is rebuilt from its message alone; without the rest, a pool of processes that
        # is to hand it over waits for ever.
        return type(self), (str(self), self.kind, self.current, self.current_revision)


class PermissionDenied(MemoryButlerError):
    """The caller is known, but not allowed to do this."""

    code = "permission_denied"


class Unauthenticated(PermissionDenied):
    """The server knows no such token (revoked, expired), or wants one; another token may work."""

    code = "unauthenticated"


class Unavailable(MemoryButlerError):
    """Something this needs is not there now (database, model); trying again later may work."""

    code = "unavailable"


class Frozen(Unavailable):
    """The tenant is moving to another installation, or has moved; the message says where."""


class ConfigurationError(MemoryButlerError):
    """The installation or its configuration is wrong; the message says which setting to change."""

    code = "configuration"


class IntegrityViolation(MemoryButlerError):
    """An invariant of the store was about to be broken; nothing was written (FAIL-02)."""

    code = "integrity"


def unwritable(path: object, error: OSError) -> MemoryButlerError:
    """The error to raise where a path that somebody named cannot be written.

    `Unavailable` where the disk takes no more, `InvalidInput` where the path is wrong.
    """
    kind = Unavailable if error.errno in DISK_ERRORS else InvalidInput
    return kind(f"{path} cannot be written: {error.strerror}")
