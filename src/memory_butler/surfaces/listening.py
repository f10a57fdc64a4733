"""The listening socket, and whom it belongs to when it is taken."""

import errno
import socket
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath
from typing import Final

from memory_butler.domain.errors import ConfigurationError

# To be bound to, and no address that a client could ask for.
EVERY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 -- compared with, not bound to
_BACKLOG = 2048
_TAKEN = " Choose another port with --port, or end what runs there."
# Of other errors, what to do; those of names have numbers of their own.
_ADVICE = {
    errno.EACCES: " Choose a port from 1024 on with --port.",
    errno.EADDRNOTAVAIL: " Name an address of this machine with --host.",
    socket.EAI_NONAME: " Name an address of this machine with --host.",
}
# Enough of a command line to know the program by.
_MAX_COMMAND = 80


def listen(host: str, port: int) -> socket.socket:
    """The listening socket: taken first, so that a second server fails before it begins.

    Raises:
        ConfigurationError: it cannot be had; names the process that holds the port, if seen.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio turns off Nagle's algorithm only where it is named:
    # with it on, every answer waited 40 ms for an acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        taken = error.errno == errno.EADDRINUSE
        by, advice = (_taken_by(port), _TAKEN) if taken else ("", _ADVICE.get(error.errno or 0, ""))
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {error.strerror}{by}.{advice}"
        ) from error
    return listening


def url_of(listening: socket.socket, host: str) -> str:
    """The base URL under which a listening socket is reached on this machine."""
    return url_at(host, listening.getsockname()[1])


def url_at(host: str, port: int) -> str:
    """The base URL under which this machine reaches what is bound to a host."""
    shown = "127.0.0.1" if host in EVERY_ADDRESS else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def address_in_network() -> str | None:
    """This machine's address in its network, for others to reach it; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(("192.0.2.1", 9))  # of the documentation's; nothing is sent
        except OSError:
            return None
        address: str = asking.getsockname()[0]
        return address


def program_of(command: Sequence[str]) -> str:
    """The program of a command line, up to what may hold a password: an option or an address."""
    words = takewhile(lambda one: not one.startswith("-") and not set("@=:") & set(one), command)
    return " ".join(PurePath(one).name for one in words)[:_MAX_COMMAND]


def _taken_by(port: int) -> str:
    """`, by process 123 (command)`; nothing where the system does not tell."""
    import psutil  # here, because only this failure needs it

    try:
        for one in psutil.net_connections(kind="tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr.port == port and one.pid:
                process = psutil.Process(one.pid)
                command = program_of(process.cmdline()) or process.name()
                return f", by process {one.pid} ({command or 'unnamed'})"
    except (psutil.Error, OSError):
        pass  # other users' processes are not shown to everybody
    return ""
