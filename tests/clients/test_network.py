"""What is started as a program finds loopback, and nothing beyond it."""

import os
import sys
from pathlib import Path

import pytest

from clients import programs
from clients.network import Network
from clients.programs import Person, finish

pytestmark = pytest.mark.anyio

# No packet is sent: to connect a socket for datagrams only looks for a way.
_LOOK = f"""#!{sys.executable}
import socket
import sys
import urllib.request

for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        try:
            one.connect((address, 9))
        except OSError as error:
            print("no way:", error.strerror)
        else:
            print("a way to", address)
print(urllib.request.urlopen(sys.argv[1]).status)
"""


async def test_a_program_reaches_loopback_alone(
    person: Person, apart: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if apart.refused is not None and "CI" not in os.environ:
        pytest.skip(f"no network of their own, a proxy that is not there instead: {apart.refused}")
    look = tmp_path / "look"
    look.write_text(_LOOK)
    look.chmod(0o755)
    monkeypatch.setattr(programs, "command", lambda _: (str(look),))
    ran = await finish(await person.start("look", person.endpoint.url))
    told = ran.out.splitlines()
    assert told == [*["no way: Network is unreachable"] * 2, "200"], apart.refused
