"""The embedded PostgreSQL server: shared by the processes that need it, stopped by the last.

`acquire(data_dir)` makes the cluster if need be, starts the server unless it runs, and returns a
`Lease`; whoever releases the last lease stops the server. It is synchronous: call it through
`asyncio.to_thread`.

Two flocks make this safe against SIGKILL, since the kernel drops a dead process's locks:
`postgres.lock` is held exclusively while anything is made, started or stopped, and `postgres.users`
is held shared for the life of a lease. A releaser that can turn its shared lock into an exclusive
one without waiting was the last. A server left running by killed holders is adopted by the next
`acquire` and stopped by its release.

The postmaster is started by a shell that ends at once, in a session of its own: it must outlive the
process that happened to start it, must not get that process's Ctrl-C, and is never its child to be
reaped (except for PID 1 of a container, see `embedded_postmaster.reap`). `pg_ctl start` would do
the same, but looks only ten times a second whether the server answers.

Every connection is by a Unix socket with scram-sha-256. Nothing here knows the application's tables
or roles. Layout and place of the files: see `embedded_cluster`.
"""

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, assert_never
from urllib.parse import quote

from memory_butler.domain.errors import Conflict, Unavailable
from memory_butler.logs import get_logger
from memory_butler.store import embedded_cluster as clusters
from memory_butler.store import embedded_postmaster as postmaster
from memory_butler.store.embedded_cluster import ADMIN_USER, Cluster
from memory_butler.store.embedded_programs import (
    ProgramFailed,
    ServerUser,
    binaries,
    binaries_version,
    explained,
    raise_if_full,
    run,
)
from memory_butler.store.embedded_settings import refuse_forbidden, server_settings

__all__ = ["Endpoint", "Lease", "Status", "acquire", "binaries", "destroy", "status"]

log = get_logger()

_FAST_STOP_SECONDS = 30.0
_IMMEDIATE_STOP_SECONDS = 10.0
_RELEASE_LOCK_SECONDS = 60.0
_LOCK_POLL_SECONDS = 0.02
_RETRY_SECONDS = 0.2
_TAIL_BYTES = 2000
_FIRST_DATABASE = 16_384  # smaller numbers are those of its templates
_LOGS_SECONDS = 6 * 86_400.0  # with today's, the seven files of `embedded_settings`
# Backends of a killed postmaster notice within moments; until then a new one may not start.
_TRANSIENT = ("pre-existing shared memory block", "lock file")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom to connect for administration."""

    socket_dir: Path
    port: int
    admin_user: str
    admin_password: str = field(repr=False)

    def dsn(self, database: str, *, user: str | None = None, password: str | None = None) -> str:
        """A postgresql:// URL for libpq and asyncpg; the administrator's unless `user` is given."""
        if user is None:
            user, password = self.admin_user, self.admin_password
        login = quote(user, safe="")
        if password is not None:
            login += f":{quote(password, safe='')}"
        host = quote(str(self.socket_dir), safe="")
        return f"postgresql://{login}@/{quote(database, safe='')}?host={host}&port={self.port}"


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of an embedded server without touching it."""

    running: bool
    pid: int | None
    cluster_version: str | None  # major version of the cluster; None: not made yet
    binaries_version: str
    place: Path | None
    socket_dir: Path | None
    size_bytes: int


class Lease:
    """The right to use the server until `release`; also a context manager.

    A lease belongs to the process that acquired it: in a forked child it releases nothing. A
    process that exits without releasing leaves the server running for the next one to adopt.
    """

    def __init__(self, endpoint: Endpoint, cluster: Cluster, users: int, *, started: bool) -> None:
        self.endpoint = endpoint
        self.data_dir = cluster.data_dir
        self.started = started  # False: the server ran already
        self._cluster = cluster
        self._users: int | None = users
        self._pid = os.getpid()
        self._guard = threading.Lock()

    def running(self) -> bool:
        """Whether the server still runs and can be reached; somebody may have killed it."""
        process = postmaster.find(self._cluster.pgdata, self._cluster.birth_note)
        return process is not None and _has_socket(self._cluster)

    def release(self) -> None:
        """Give the server up and stop it if nobody else uses it; a second call does nothing.

        Takes up to about 100 s at worst. Raises Unavailable when the server did not stop; the lease
        is given up in any case.
        """
        with self._guard:
            users, self._users = self._users, None
        if users is None or os.getpid() != self._pid:
            return
        try:
            with _locked(self.data_dir, time.monotonic() + _RELEASE_LOCK_SECONDS):
                if _try_lock(users, fcntl.LOCK_EX):
                    _stop(self._cluster)
        finally:
            # Unlock before closing: a forked child may hold a copy of the descriptor.
            fcntl.flock(users, fcntl.LOCK_UN)
            os.close(users)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def acquire(
    data_dir: Path,
    *,
    settings: Mapping[str, str] | None = None,
    cluster_root: Path | None = None,
    timeout: float = 120.0,
) -> Lease:
    """Make and start the embedded server as needed, and hold it running until the lease's release.

    `settings` are PostgreSQL settings for a server started by this call; one already running
    keeps its own. `cluster_root` (default: MEMORY_BUTLER_CLUSTER_ROOT) is where a new cluster goes
    instead of into the data directory. `timeout` is in seconds.

    Raises ConfigurationError (binaries missing, data directory not writable, cluster of another
    version, …) or Unavailable (time-out, disk full, the server does not start).
    """
    deadline = time.monotonic() + timeout
    own = settings or {}
    refuse_forbidden(own)
    root = cluster_root or _root_from_environment()
    binaries()  # fail before anything is made
    data_dir = clusters.open_data_dir(data_dir)
    with _locked(data_dir, deadline), explained(f"use the data directory {data_dir}"):
        cluster = clusters.locate(data_dir, root)
        user, password, folder = clusters.prepare(cluster, root)
        launch = _Launch(cluster, user, folder, own)
        started = _ensure_running(launch, deadline)
        claim = postmaster.read_pid_file(cluster.pgdata)
        if claim is None or claim.socket_dir is None:
            raise Unavailable(f"The server on {cluster.pgdata} went away; try again.")
        users = _open_lock(data_dir / "postgres.users")
        # Never waits: an exclusive holder holds postgres.lock too, and that is ours now.
        fcntl.flock(users, fcntl.LOCK_SH | fcntl.LOCK_NB)
    endpoint = Endpoint(claim.socket_dir, claim.port, ADMIN_USER, password)
    return Lease(endpoint, cluster, users, started=started)


def is_made(data_dir: Path) -> bool:
    """Whether a data directory has a cluster; nothing is locked, made or changed.

    Raises ConfigurationError when the files may not be read.
    """
    data_dir = data_dir.expanduser().resolve()
    with explained(f"read {data_dir}"):
        cluster = clusters.recorded(data_dir)
        return cluster is not None and cluster.pgdata.exists()


def status(data_dir: Path) -> Status:
    """Look without locking, making or changing anything.

    Raises ConfigurationError when the binaries are missing or the files may not be read.
    """
    data_dir = data_dir.expanduser().resolve()
    version = binaries_version()
    with explained(f"read {data_dir}"):
        cluster = clusters.recorded(data_dir)
        if cluster is None or not cluster.pgdata.exists():
            place = cluster.place if cluster else None
            return Status(False, None, None, version, place, None, 0)
        process = postmaster.find(cluster.pgdata, cluster.birth_note)
        claim = postmaster.read_pid_file(cluster.pgdata) if process else None
        marker = cluster.pgdata / "PG_VERSION"
        return Status(
            running=process is not None,
            pid=process.pid if process else None,
            cluster_version=marker.read_text().strip() if marker.exists() else None,
            binaries_version=version,
            place=cluster.place,
            socket_dir=claim.socket_dir if claim else None,
            size_bytes=_size(cluster.place),
        )


def destroy(data_dir: Path, *, timeout: float = 60.0) -> None:
    """Delete the cluster and this module's files of a data directory; all its content is lost.

    Other files and the directory itself stay, and so do linked binaries in the cluster root. Does
    nothing when there is no cluster. Raises Conflict while somebody holds a lease.
    """
    data_dir = data_dir.expanduser().resolve()
    if not (data_dir / "postgres.lock").exists():
        return
    with (
        _locked(data_dir, time.monotonic() + timeout),
        explained(f"delete the cluster of {data_dir}"),
    ):
        users = _open_lock(data_dir / "postgres.users")
        try:
            if not _try_lock(users, fcntl.LOCK_EX):
                raise Conflict(f"The server of {data_dir} is in use: stop what uses it first.")
            cluster = clusters.recorded(data_dir)
            if cluster is not None:
                _stop(cluster)
                if postmaster.keeps_answering(cluster.socket_dir):
                    raise Conflict(_foreign(cluster))
                for folder in (cluster.socket_dir, cluster.place):
                    if folder.exists():
                        shutil.rmtree(folder)
            # The lock files go last: a waiter notices that it locked a deleted file.
            for name in ("process", "password", "place", "users", "lock"):
                (data_dir / f"postgres.{name}").unlink(missing_ok=True)
        finally:
            os.close(users)


# --- start and stop, called with the lock held --------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Launch:
    cluster: Cluster
    user: ServerUser | None
    folder: Path
    own: Mapping[str, str]  # settings


def _ensure_running(launch: _Launch, deadline: float) -> bool:
    """Adopt the running server or start one; whether this call started it."""
    cluster = launch.cluster
    started = False
    failure = ""
    while time.monotonic() < deadline:
        process = postmaster.find(cluster.pgdata, cluster.birth_note)
        if process is None:
            _clear_stale(cluster)
            refusal = _start(launch, deadline)
            if refusal:
                failure = refusal
                # Somebody killed while starting may have left a server that starts: look again.
                if not any(sign in failure for sign in _TRANSIENT):
                    break
                time.sleep(_RETRY_SECONDS)
            else:
                started = True
            continue
        settled = postmaster.wait_until_settled(cluster.pgdata, process, deadline)
        match settled:
            case "ready" if not _has_socket(cluster):
                log.warning("the embedded database has lost its socket; starting it again")
                _end(process)
            case "ready":
                if not postmaster.is_noted(process, cluster.birth_note):  # else spare the disk
                    clusters.write_private(cluster.birth_note, postmaster.birth_line(process))
                if started:
                    log.info("server_started", pid=process.pid, place=str(cluster.place))
                return started
            case "gone":
                continue
            case "timeout":
                raise _still_starting(cluster)
            case _:
                assert_never(settled)
    raise Unavailable(
        f"The server on {cluster.pgdata} did not start. If it never does, "
        f"{clusters.instead_of(cluster.place)}. {failure}".strip()
    )


def _has_socket(cluster: Cluster) -> bool:
    """Whether the socket of a server that runs is still there: without it nobody can connect.

    One in a temporary folder counts as there: a service may have a /tmp of its own.
    """
    claim = postmaster.read_pid_file(cluster.pgdata)
    if claim is None or claim.socket_dir is None:
        return True  # it is starting
    if not claim.socket_dir.is_relative_to(cluster.place):
        return True
    return (claim.socket_dir / postmaster.SOCKET_NAME).exists()


# Ends at once, with the PID of what it started.
_LAUNCHER = 'exec "$@" </dev/null >>log/start.log 2>&1 & echo $!'


def _start(launch: _Launch, deadline: float) -> str:
    """Start a server and wait for it; empty when it answers, else why not, with the end of its log.

    Raises Unavailable when it neither answers nor ends in time, or the disk is full, and
    ConfigurationError when the cluster is of another version.
    """
    cluster = launch.cluster
    before = cluster.log_dir / "start.log"  # what is said before the log collector runs
    before.unlink(missing_ok=True)
    _remove_old_logs(cluster)
    socket_dir = str(cluster.socket_dir).replace('"', '""')
    options = {
        **server_settings(launch.own, _stored(cluster)),
        "unix_socket_directories": f'"{socket_dir}"',  # a list: quoted, for blanks and quotes
        "log_directory": str(cluster.log_dir),
    }
    server: list[str | Path] = [launch.folder / "postgres", "-D", cluster.pgdata]
    server += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
    try:
        launched = run(
            ["/bin/sh", "-c", _LAUNCHER, "sh", *server],
            user=launch.user,
            place=cluster.place,
            seconds=max(deadline - time.monotonic(), 1.0),
        )
    except ProgramFailed as problem:  # no process to be had
        return str(problem)
    process = postmaster.inspect(int(launched.stdout))
    settled = (
        postmaster.wait_until_settled(cluster.pgdata, process, deadline) if process else "gone"
    )
    match settled:
        case "ready":
            return ""
        case "gone":
            clusters.check_version(cluster)  # asked only now, as it takes a program's run
            tail = _log_tail(cluster)
            raise_if_full(tail, cluster.place)
            return f"It ended at once. The end of its log:\n{tail}"
        case "timeout":
            raise _still_starting(cluster)
        case _:
            assert_never(settled)


def _still_starting(cluster: Cluster) -> Unavailable:
    return Unavailable(
        f"The server on {cluster.pgdata} is still starting, perhaps recovering after a crash; try "
        "again later."
    )


def _remove_old_logs(cluster: Cluster) -> None:
    """Remove what was logged a week ago: the collector empties a file at midnight only, and adds to
    one that a server finds when it starts."""
    for path in cluster.log_dir.glob("server-*.log"):
        with suppress(OSError):
            if time.time() - path.lstat().st_mtime > _LOGS_SECONDS:
                path.unlink()


def _log_tail(cluster: Cluster) -> str:
    """The end of what the server said before and after its log collector started."""
    logs = sorted(cluster.log_dir.glob("server-*.log"), key=lambda path: path.stat().st_mtime)
    text = ""
    for path in (*logs[-1:], cluster.log_dir / "start.log"):
        with suppress(OSError), path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            text += file.read(_TAIL_BYTES).decode(errors="replace")
    return text.strip()


def _clear_stale(cluster: Cluster) -> None:
    """Remove a dead server's lock files when their PID is taken.

    PostgreSQL itself deals with a PID that is gone, but refuses to start while the PID belongs to
    any process of its user, or to a zombie. Its check of the shared memory still stands guard.
    """
    claim = postmaster.read_pid_file(cluster.pgdata)
    if claim is None:
        return
    socket_dir = claim.socket_dir or cluster.socket_dir
    if postmaster.keeps_answering(socket_dir):
        # Not verifiable, yet alive: in another container, for one. Two servers on one cluster
        # would destroy it.
        raise Unavailable(_foreign(cluster))
    holder = postmaster.inspect(claim.pid)
    if holder is None:
        return
    if holder.zombie:
        postmaster.reap(claim.pid)
    log.warning("stale_postmaster_pid_removed", pid=claim.pid, place=str(cluster.place))
    for path in (
        cluster.pgdata / "postmaster.pid",
        socket_dir / f"{postmaster.SOCKET_NAME}.lock",
    ):
        path.unlink(missing_ok=True)


def _foreign(cluster: Cluster) -> str:
    return (
        f"A server answers for {cluster.place} that is not visible to this process (it may run in "
        "another container): stop it there."
    )


def _stop(cluster: Cluster) -> None:
    process = postmaster.find(cluster.pgdata, cluster.birth_note)
    if process is not None:
        claim = postmaster.read_pid_file(cluster.pgdata)
        _end(process)
        log.info("server_stopped", pid=process.pid, place=str(cluster.place))
        if claim is not None and claim.socket_dir is not None:
            with suppress(OSError):  # one of a later start may be elsewhere: leave no empty folder
                claim.socket_dir.rmdir()
    cluster.birth_note.unlink(missing_ok=True)


def _end(process: postmaster.Process) -> None:
    if not postmaster.stop(
        process, fast_seconds=_FAST_STOP_SECONDS, immediate_seconds=_IMMEDIATE_STOP_SECONDS
    ):
        raise Unavailable(f"The server with PID {process.pid} does not stop.")


# --- small parts ----------------------------------------------------------------------------------


def _root_from_environment() -> Path | None:
    value = os.environ.get(clusters.CLUSTER_ROOT_VARIABLE)
    return Path(value) if value else None


def _size(folder: Path) -> int:
    """Bytes on disk below a folder; files that vanish meanwhile do not count."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
    return total


def _stored(cluster: Cluster) -> int:
    """Bytes of the databases that are not PostgreSQL's own."""
    made = (cluster.pgdata / "base").glob("[0-9]*")
    return sum(_size(folder) for folder in made if int(folder.name) >= _FIRST_DATABASE)


def _open_lock(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    clusters.give_to_folder_owner(descriptor, path.parent)
    return descriptor


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _locked(data_dir: Path, deadline: float) -> Iterator[None]:
    """Hold postgres.lock exclusively; raise Unavailable at `deadline` (monotonic)."""
    path = data_dir / "postgres.lock"
    while True:
        with explained(f"lock {path}"):
            descriptor = _open_lock(path)
        try:
            while not _try_lock(descriptor, fcntl.LOCK_EX):
                if time.monotonic() >= deadline:
                    raise Unavailable(
                        f"Another process has been making, starting or stopping the server of "
                        f"{data_dir} for too long; try again, or end it."
                    )
                time.sleep(_LOCK_POLL_SECONDS)
            if _is_still(path, descriptor):
                yield
                return
        finally:
            os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the locked file is the one of that name, and not one that `destroy` removed."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    return False
