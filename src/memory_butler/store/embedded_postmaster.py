"""Which process is the postmaster of a cluster: find it, wait for it, stop it, never another.

A PID alone proves nothing: it may be stale, reused by an innocent process, or a zombie that still
answers `kill(pid, 0)`. A process counts as the postmaster of a cluster only when `postmaster.pid`
names it, it is not a zombie, its command line is `postgres -D <that cluster>`, and it was born when
`postmaster.pid` (or the birth noted by whoever started it) says. Only such a process is signalled.
"""

import os
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

PORT = 5432  # names the socket file only: no TCP port is opened
SOCKET_NAME = f".s.PGSQL.{PORT}"

# `postmaster.pid` holds the time main() ran, the kernel the time of the fork: on a busy machine
# they differ by seconds. A reused PID is caught by the command line anyway.
_BIRTH_TOLERANCE_SECONDS = 30.0
_POLL_SECONDS = 0.01
_PROBE_SECONDS = 2.0
_DYING_SECONDS = 1.0  # between a killed server's loss of its command line and that of its socket

Settled = Literal["ready", "gone", "timeout"]


@dataclass(frozen=True, slots=True)
class PidFile:
    """What `postmaster.pid` says; a claim about a process, not yet a fact."""

    pid: int
    started_at: float  # seconds since the epoch
    port: int
    socket_dir: Path | None  # None until the postmaster has opened its socket
    status: str  # starting, ready, stopping, standby or empty


@dataclass(frozen=True, slots=True)
class Process:
    """A process as the operating system shows it."""

    pid: int
    zombie: bool
    command: str
    started_at: float  # seconds since the epoch, exact to a second
    birth: str  # differs between two processes that had the same PID; unmoved by clock changes


def read_pid_file(pgdata: Path) -> PidFile | None:
    """Read `postmaster.pid`; None when there is none or it is torn.

    Line order is PostgreSQL's `pidfile.h`: pid, data directory, start time, port, socket directory,
    listen address, shared memory key, status.
    """
    try:
        # The cluster belongs to a less trusted user than a root caller: follow no link of his.
        descriptor = os.open(pgdata / "postmaster.pid", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            lines = os.fsdecode(file.read(4096)).splitlines()  # paths, as this process has them
        lines += [""] * (8 - len(lines))
        return PidFile(
            pid=abs(int(lines[0])),
            started_at=float(lines[2]),
            port=int(lines[3]),
            socket_dir=Path(lines[4]) if lines[4] else None,
            status=lines[7].strip(),
        )
    except (OSError, ValueError):
        return None


def inspect(pid: int) -> Process | None:
    """Look a process up; None when it does not exist or may not be seen."""
    return _inspect_proc(pid) if sys.platform == "linux" else inspect_with_psutil(pid)


def _inspect_proc(pid: int) -> Process | None:
    try:
        # The name in field 2 may hold blanks and parentheses: count from its last parenthesis.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        system = Path("/proc/stat").read_text().splitlines()
        booted_at = next(int(line.split()[1]) for line in system if line.startswith("btime "))
    except (OSError, StopIteration):
        return None
    state, start_ticks = fields[0], int(fields[19])  # fields 3 and 22 of proc(5)
    return Process(
        pid=pid,
        zombie=state in "ZX",
        command=os.fsdecode(b" ".join(arguments)).strip(),
        started_at=booted_at + start_ticks / os.sysconf("SC_CLK_TCK"),
        birth=f"{boot}:{start_ticks}",
    )


def inspect_with_psutil(pid: int) -> Process | None:
    """The same for systems without /proc: psutil takes longer to import than all of this to run."""
    import psutil

    try:
        process = psutil.Process(pid)
        zombie = process.status() == psutil.STATUS_ZOMBIE
        command = "" if zombie else " ".join(process.cmdline())
        started_at = process.create_time()
    except (psutil.Error, OSError):
        return None
    return Process(pid, zombie, command, started_at, f"created:{started_at:.2f}")


def _runs_postgres_on(command: str, pgdata: Path) -> bool:
    program, found, rest = command.partition(" -D ")
    return (
        bool(found)
        and os.path.basename(program) == "postgres"
        and (rest == str(pgdata) or rest.startswith(f"{pgdata} "))
    )


def find(pgdata: Path, birth_note: Path) -> Process | None:
    """The verified postmaster of this cluster, or None.

    `birth_note` holds the `birth_line` of the last start; while it names the same PID it is
    preferred to the wall clock, which a time server may have moved since the start.
    """
    claim = read_pid_file(pgdata)
    process = inspect(claim.pid) if claim else None
    if claim is None or process is None or process.zombie:
        return None
    if not _runs_postgres_on(process.command, pgdata):
        return None
    noted = _read_birth(birth_note)
    if noted is not None and noted[0] == process.pid:
        return process if noted[1] == process.birth else None
    late = abs(process.started_at - claim.started_at) > _BIRTH_TOLERANCE_SECONDS
    return None if late else process


def birth_line(process: Process) -> str:
    """What to keep in the birth note of a postmaster just started."""
    return f"{process.pid} {process.birth}\n"


def is_noted(process: Process, birth_note: Path) -> bool:
    """Whether the birth note holds the `birth_line` of this postmaster."""
    return _read_birth(birth_note) == (process.pid, process.birth)


def _read_birth(birth_note: Path) -> tuple[int, str] | None:
    try:
        pid, birth = birth_note.read_text(encoding="utf-8").split()
        return int(pid), birth
    except (OSError, ValueError):
        return None


def answers(socket_dir: Path) -> bool:
    """Whether anything accepts connections on this socket, visible to us as a process or not."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(str(socket_dir / SOCKET_NAME))
        except TimeoutError:
            return True  # a full backlog: somebody listens
        except OSError:
            return False
        return True


def keeps_answering(socket_dir: Path) -> bool:
    """Whether anything accepts connections there for longer than a server takes to die."""
    deadline = time.monotonic() + _DYING_SECONDS
    while answers(socket_dir):
        if time.monotonic() >= deadline:
            return True
        time.sleep(_POLL_SECONDS)
    return False


def wait_until_settled(pgdata: Path, process: Process, deadline: float) -> Settled:
    """Wait until the postmaster takes connections, is gone, or `deadline` (monotonic) passes."""
    while _alive(process):
        claim = read_pid_file(pgdata)
        if claim is not None and claim.pid == process.pid and claim.status == "ready":
            return "ready"
        if time.monotonic() >= deadline:
            return "timeout"
        time.sleep(_POLL_SECONDS)
    return "gone"


def stop(process: Process, *, fast_seconds: float, immediate_seconds: float) -> bool:
    """Stop a verified postmaster; whether it is gone.

    A fast shutdown (SIGINT: roll back, checkpoint) first; when that exceeds its bound, an immediate
    one (SIGQUIT), which loses nothing committed but costs crash recovery at the next start.
    """
    for number, seconds in ((signal.SIGINT, fast_seconds), (signal.SIGQUIT, immediate_seconds)):
        deadline = time.monotonic() + seconds
        _send(process, number)
        while _alive(process):
            if time.monotonic() >= deadline:
                break
            time.sleep(_POLL_SECONDS)
        else:
            return True
    return False


def _alive(process: Process) -> bool:
    now = inspect(process.pid)
    if now is not None and now.zombie:
        reap(process.pid)
    return now is not None and not now.zombie and now.birth == process.birth


def reap(pid: int) -> None:
    """Collect a dead postmaster that was handed to us, as PID 1 of a container; else nothing."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except (ChildProcessError, PermissionError):
        return


def _send(process: Process, number: signal.Signals) -> None:
    if sys.platform == "linux":
        # The descriptor pins the process: checked after opening, it cannot become another one.
        try:
            descriptor = os.pidfd_open(process.pid)
        except ProcessLookupError:
            return
        except OSError:  # a kernel or sandbox without pidfd
            descriptor = None
        if descriptor is not None:
            try:
                if _alive(process):
                    signal.pidfd_send_signal(descriptor, number)
            except ProcessLookupError:
                return
            finally:
                os.close(descriptor)
            return
    if _alive(process):
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            return
