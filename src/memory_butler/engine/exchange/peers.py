"""The installations whose facts a tenant takes: their keys, and how far each is trusted.

A file in the data directory, not a table: who may be believed is no memory, and no export or backup
of one installation should decide it for another.
"""

import fcntl
import json
import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_butler.domain.errors import (
    ConfigurationError,
    InvalidInput,
    NotFound,
    PermissionDenied,
)
from memory_butler.domain.exchange import Scopes
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust, TrustName, parse_trust
from memory_butler.engine import inputs
from memory_butler.files import replaced

_PLACE: Final = Path("exchange", "peers.json")
_KEY: Final = re.compile(r"[0-9a-f]{64}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")

# How the actor begins where a token acts.
_TOKEN: Final = "token:"  # noqa: S105 -- no secret

_All = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Peer:
    """Another installation.

    Attributes:
        trust: the most that any of its facts is trusted.
        scopes: of which scopes facts are exchanged with it.
    """

    name: str
    key: str
    trust: Trust
    scopes: Scopes = None


def accepted(data_dir: Path | None, tenant: str) -> dict[str, Peer]:
    """The peers of a tenant, by their keys."""
    if data_dir is None:
        return {}
    found = _read(data_dir / _PLACE).get(tenant, {})
    return {
        key: Peer(one["name"], key, parse_trust(one["trust"]), _sorted(one.get("scopes")))
        for key, one in sorted(found.items())
        if not one.get("removed")
    }


def has_scopes(data_dir: Path, tenant: str) -> bool:
    """Whether any peer has agreed on scopes, or had before it was removed.

    From then on an unknown caller no longer gets everything: to remove a peer, or to accept another
    key under its name, must not give access to more.
    """
    return any("scopes" in one for one in _read(data_dir / _PLACE).get(tenant, {}).values())


def chosen(scopes: Collection[str] | None) -> Scopes:
    """Scopes as somebody names them; none: all.

    Raises:
        InvalidInput: a name that no scope can have.
    """
    return _sorted([inputs.scope(one) for one in scopes or ()] or None)


def of_caller(data_dir: Path | None, principal: Principal) -> Peer | None:
    """The peer that a caller is, who may exchange and nothing else; None: it may read everything.

    Raises:
        PermissionDenied: no peer has the name of its token.
    """
    if principal.may("read"):
        return None
    name = principal.actor.removeprefix(_TOKEN)
    for peer in accepted(data_dir, principal.tenant).values():
        if principal.actor == _TOKEN + peer.name:
            return peer
    raise PermissionDenied(
        f"this token is for the peer {name!r}, and nobody has accepted one of that name: "
        f"memory-butler peers accept {name} KEY --trust LEVEL --scope SCOPE"
    )


def accept(
    data_dir: Path,
    tenant: str,
    name: str,
    key: str,
    trust: TrustName,
    scopes: Collection[str] | None = None,
) -> Peer:
    """Take facts that are signed with this key from now on; a known key or name is replaced.

    Args:
        scopes: exchange facts of these alone, in both directions; none: of all.

    Raises:
        InvalidInput: the key is not 64 hexadecimal digits, or a name is none.
    """
    if not _KEY.fullmatch(key):
        raise InvalidInput(
            "a key is 64 hexadecimal digits; `memory-butler peers list` there prints it"
        )
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{name[:60]!r} is no name of a peer; example: laptop")
    agreed = chosen(scopes)
    with _changing(data_dir) as known:
        own = known.setdefault(tenant, {})
        same = [key for key, one in own.items() if one["name"] == name and not one.get("removed")]
        for other in same:
            _take_out(own, other)
        own[key] = {"name": name, "trust": trust}
        if agreed is not None:
            own[key]["scopes"] = list(agreed)
    return Peer(name, key, parse_trust(trust), agreed)


def remove(data_dir: Path, tenant: str, name: str) -> None:
    """Take nothing more from a peer; what it gave stays.

    Raises:
        NotFound: there is no peer of this name.
    """
    with _changing(data_dir) as known:
        own = known.get(tenant, {})
        keys = [
            key for key, said in own.items() if said["name"] == name and not said.get("removed")
        ]
        if not keys:
            raise NotFound(f"there is no peer {name!r}; `memory-butler peers list` names them")
        for key in keys:
            _take_out(own, key)


def _take_out(own: dict[str, dict[str, Any]], key: str) -> None:
    """Remove a peer; one that had scopes stays in the file as removed (see `has_scopes`)."""
    if "scopes" in own[key]:
        own[key]["removed"] = True
    else:
        del own[key]


def copy(source: Path, target: Path, tenant: str) -> None:
    """Take from the same peers, each trusted as far, in another data directory."""
    if found := _read(source / _PLACE).get(tenant):
        with _changing(target) as known:
            known[tenant] = found


def forget(data_dir: Path, tenant: str) -> None:
    """Take nothing more from anybody: the tenant was erased."""
    if tenant in _read(data_dir / _PLACE):
        with _changing(data_dir) as known:
            known.pop(tenant, None)


def _sorted(scopes: Collection[str] | None) -> Scopes:
    return None if scopes is None else tuple(sorted(set(scopes)))


def _read(path: Path) -> _All:
    try:
        found: _All = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read; it has the keys of peers") from error
    return found


@contextmanager
def _changing(data_dir: Path) -> Iterator[_All]:
    path = data_dir / _PLACE
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        known = _read(path)
        yield known
        with replaced(path) as file:
            file.write(json.dumps(known, indent=1, sort_keys=True).encode() + b"\n")
    finally:
        os.close(folder)
