"""Ending a move at one installation while the other one is lost for good.

A move ends with both installations: each asks the other where the tenant is. So where one is lost,
a person must say so. What the other one answers is all that can be asked from here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import asyncpg

from memory_butler.domain.errors import Conflict
from memory_butler.domain.moves import Move
from memory_butler.moving.sides import CHANGED, Side
from memory_butler.store import moves

_CONNECT_SECONDS: Final = 10.0
# It refuses, it wants a password that there is not, or it is no PostgreSQL server.
_ANSWERS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


@dataclass(frozen=True, slots=True)
class GivingUp:
    """The one installation that is left, and the place of the other one, as its mark names it.

    `login` is the DSN of the other one's runtime login, where its server is there and its database
    is not.
    """

    side: Side
    place: str
    login: str | None = None

    async def look(self) -> Move:
        """Look whether the other one may be given up; where the move stands.

        Raises:
            Conflict: no move is under way, or one with another place, or that place answers.
        """
        found = await self.side.mark()
        if found is None:
            raise Conflict(f"tenant {self.side.tenant} is not moving: there is nothing to give up")
        if found.place != self.place:
            raise Conflict(
                f"tenant {self.side.tenant} moves between here and {found.place}, not "
                f"{self.place}: name it as it stands here"
            )
        await _refuse_answering(self.place, self.login)
        return found

    async def end(self, seen: Move) -> None:
        """End the move that `look` found: the tenant is here alone, and takes writes.

        What was copied is deleted, where not all had come. Safe to repeat.

        Raises:
            Conflict: the move has changed, the other one answers, or another process moves this
                tenant just now.
        """
        side = self.side
        side.let_in()
        async with moves.turn(side.memory.pool, side.tenant) as ours:
            if not ours:
                raise Conflict("another process moves this tenant just now")
            # A person has thought about it meanwhile.
            if await side.mark() != seen:
                raise Conflict(CHANGED)
            await _refuse_answering(self.place, self.login)
            if seen.state in ("arriving", "returning"):
                await side.take_back(seen, None)
                return
            if seen.state == "arrived":
                await side.settle()
            else:
                await side.thaw()
            await side.set(seen, None)


async def _refuse_answering(place: str, login: str | None) -> None:
    """Raise `Conflict` where an installation answers, or where that cannot be told."""
    if _holds_something(place):
        raise Conflict(
            f"the folder {place} is there: go on with the move, or --cancel it. If what it held is "
            "lost, rename the folder first"
        )
    if (address := login or _address(place)) is None:
        return
    try:
        connection = await asyncpg.connect(address, timeout=_CONNECT_SECONDS)
    except (OSError, TimeoutError, asyncpg.InvalidCatalogNameError):
        return
    except _ANSWERS:
        more = "" if login else ". If only its database is lost, give the login with --to-dsn"
        raise Conflict(
            f"the server of {place} answers: go on with the move, or --cancel it{more}"
        ) from None
    await connection.close()
    raise Conflict(
        f"{place} answers: go on with the move, or --cancel it. If its database was made anew, "
        "drop it first"
    )


def _holds_something(place: str) -> bool:
    try:
        return place.startswith("/") and any(Path(place).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # it is there, and not ours to read


def _address(place: str) -> str | None:
    """The address of a server by the name of its place; None: it is a folder.

    HOST:PORT/DATABASE, where HOST may be the folder of a socket; or several hosts, with ports or
    without.
    """
    hosts, _, name = place.rpartition("/")
    if not hosts or not name:
        return None
    database = quote(name)
    if "," in hosts and not hosts.startswith("/"):
        return f"postgresql://{hosts}/{database}"
    host, _, port = hosts.rpartition(":")
    if not port.isdigit():
        return None
    return f"postgresql:///{database}?host={quote(host, safe='')}&port={port}"
