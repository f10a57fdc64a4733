"""Who asks, and what they may do."""

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from memory_butler.domain.choices import choose
from memory_butler.domain.errors import InvalidInput, PermissionDenied

# read: search and look at memories; write: store, confirm, forget, give feedback; admin: cleanup
# and whatever else touches the whole tenant. Each includes the ones before it. metrics: the figures
# of the whole server, which are no tenant's; it includes nothing and is included in nothing.
# exchange: what was agreed with the peer of the token's name, and nothing else.
Scope = Literal["read", "write", "admin", "metrics", "exchange"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
_RANKS: Final[tuple[Scope, ...]] = ("read", "write", "admin")

DEFAULT_TENANT: Final = "default"

TENANT_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$"
_TENANT = re.compile(TENANT_PATTERN)


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller: the tenant whose memory it sees, its name in events, its rights."""

    tenant: str = DEFAULT_TENANT
    actor: str = "local"
    scopes: frozenset[Scope] = frozenset(SCOPES)

    def may(self, needed: Scope) -> bool:
        """Whether one of the caller's scopes is the needed one, or includes it."""
        if needed not in _RANKS:
            return needed in self.scopes
        return not self.scopes.isdisjoint(_RANKS[_RANKS.index(needed) :])

    def require(self, needed: Scope, what: str) -> None:
        """`PermissionDenied`, which names `what` needs the scope, unless the caller has it."""
        if not self.may(needed):
            raise PermissionDenied(
                f"{what} needs the scope {needed!r}, which this token does not have"
            )


# Who is not signed in where that is allowed, as to sign in: of no tenant, with no right.
NOBODY: Final = Principal(tenant="", actor="nobody", scopes=frozenset())


def parse_tenant(value: str) -> str:
    """A tenant name: letters, digits, `_`, `.` and `-`, at most 63, beginning with one of the
    first two; anything else is `InvalidInput`."""
    if not _TENANT.fullmatch(value):
        raise InvalidInput(
            f"{value[:60]!r} is no tenant name; use 1 to 63 letters, digits, '_', '.' or '-', "
            "beginning with a letter or digit"
        )
    return value


def parse_scope(value: str) -> Scope:
    """The scope named `value`; `InvalidInput` lists all."""
    return choose(value, SCOPES, "scope")
