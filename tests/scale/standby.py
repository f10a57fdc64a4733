"""A PostgreSQL and a streaming standby of it, by the embedded server's own programs."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from folders import open_folder
from memory_butler.store import embedded
from memory_butler.store.embedded_cluster import reachable_binaries, server_user
from memory_butler.store.embedded_postmaster import PORT
from memory_butler.store.embedded_programs import ServerUser, run

_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "replica",
    "max_wal_senders": "2",
    "autovacuum": "off",
}
_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Pair:
    """A primary, and its standby in `folder`, which can be stopped and started."""

    primary: embedded.Endpoint
    folder: Path
    _programs: Path
    _user: ServerUser | None = field(repr=False)

    def at_standby(self, dsn: str) -> str:
        """The same login and database, at the standby."""
        host = quote(str(self.folder), safe="")
        return f"{dsn.partition('?')[0]}?host={host}&port={PORT}"

    def copy(self) -> None:
        """Make the standby of what the primary holds now."""
        source = self.primary.dsn("postgres")
        self._run("pg_basebackup", "-d", source, "-R", "-X", "stream", "--checkpoint=fast")

    def start(self) -> None:
        own = f"-c unix_socket_directories={self.folder} -c listen_addresses= -c port={PORT}"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", own, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        command: list[str | Path] = [
            self._programs / program,
            "-D",
            self.folder / "data",
            *arguments,
        ]
        run(command, user=self._user, place=self.folder, seconds=_SECONDS)


@contextmanager
def streaming() -> Iterator[Pair]:
    """A new primary without databases of ours; the standby is made by `copy` and `start`."""
    with open_folder() as folder:
        root = folder / "clusters"
        with embedded.acquire(folder / "data", settings=_SETTINGS, cluster_root=root) as lease:
            user = server_user(lease.endpoint.socket_dir)
            standby = folder / "standby"
            standby.mkdir(mode=0o700)
            if user is not None:
                os.chown(standby, user.uid, user.gid)
            yield Pair(lease.endpoint, standby, reachable_binaries(user, root), user)
