"""The network that programs run in: loopback and nothing else, by a network namespace of Linux.

A process holds the namespace and opens listening sockets in it, which are handed over to the tests:
a socket stays in the namespace that it was made in, whoever accepts. So the tests, the server and
its database stay where they are, and what they listen on can be reached from within.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from memory_butler.surfaces.listening import listen

# Whoever is not root gets a user namespace too, in which it may make one of the network.
_NAMESPACES: Final = ("--net",) if os.geteuid() == 0 else ("--user", "--map-root-user", "--net")
_JOINED: Final = ("--net",) if os.geteuid() == 0 else ("--user", "--preserve-credentials", "--net")
_SECONDS: Final = 20


@dataclass(frozen=True, slots=True)
class Network:
    """Where programs run. `within` starts a command there; `refused` says why it is not apart."""

    within: tuple[str, ...] = ()
    refused: str | None = None
    holder: socket.socket | None = field(default=None, repr=False)

    def listen(self) -> socket.socket:
        """A socket that listens on a free port of the loopback which programs see."""
        if self.holder is None:
            return listen("127.0.0.1", 0)
        self.holder.sendall(b"!")
        _, (file,), _, _ = socket.recv_fds(self.holder, 1, 1)
        return socket.socket(fileno=file)


@contextmanager
def network() -> Iterator[Network]:
    """Loopback alone; where the machine does not allow it, the machine's own network."""
    ours, its = socket.socketpair()
    ours.settimeout(_SECONDS)
    with ours:
        with its:
            command = [sys.executable, __file__, str(its.fileno())]
            try:
                process = subprocess.Popen(
                    ["unshare", *_NAMESPACES, *command],
                    pass_fds=(its.fileno(),),
                    stderr=subprocess.PIPE,
                    text=True,
                )
            except FileNotFoundError as error:
                yield Network(refused=str(error))
                return
        with process:  # it ends when our end of the pair is closed
            try:
                if ours.recv(1):
                    nsenter = ("nsenter", "--target", str(process.pid), *_JOINED)
                    yield Network((*nsenter, "--"), holder=ours)
                else:
                    assert process.stderr is not None
                    yield Network(refused=process.stderr.read().strip())
            finally:
                ours.close()


def _hold(file: int) -> None:
    """Switch loopback on, say so, and open a socket whenever asked."""
    up: Final = 0x1  # IFF_UP
    with socket.socket(fileno=file) as asked:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            change: Final = 0x8914  # SIOCSIFFLAGS
            fcntl.ioctl(one, change, struct.pack("16sH14x", b"lo", up))
        asked.sendall(b"!")
        while asked.recv(1):
            with listen("127.0.0.1", 0) as listening:
                socket.send_fds(asked, [b"!"], [listening.fileno()])


if __name__ == "__main__":
    _hold(int(sys.argv[1]))
