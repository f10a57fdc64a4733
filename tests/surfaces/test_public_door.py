"""What is reached without a token costs little: a small body, no place, a rate."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from memory_butler.surfaces import overload, public_door
from memory_butler.surfaces.public_door import BURST, PublicDoor
from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

SESSION = "/api/session"


async def test_half_a_body_keeps_nobody_out(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overload, "MAX_TOGETHER", 4)
    async with serve(require_token=True) as served, AsyncExitStack() as stack:
        port = int(served.url.rpartition(":")[2])
        for _ in range(12):
            _, write = await asyncio.open_connection("127.0.0.1", port)
            stack.callback(write.close)
            head = f"POST {SESSION} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000\r\n\r\n"
            write.write(head.encode() + b'{"token": "')
            await write.drain()
        await asyncio.sleep(0.2)
        token = await served.make_token()
        async with served.rest() as rest:
            signed_in = await rest.post(SESSION, json={"token": token})
            assert signed_in.status_code == 200
            assert (await rest.get("/api/memory/stats")).status_code == 200


async def test_half_a_body_is_not_waited_for(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public_door, "BODY_SECONDS", 0.2)
    head = f"POST {SESSION} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4000\r\n\r\n"
    assert await served.raw(head + '{"token": "') == 408


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_has_4_kilobytes(serve: Serve, method: str, chunked: bool) -> None:
    async with serve(require_token=True) as served, served.rest() as rest:
        token = await served.make_token()

        async def drip(size: int) -> AsyncIterator[bytes]:
            yield b'{"token": "' + token.encode() + b'"}'
            for _ in range(size):
                yield b" "

        for size, too_large in ((100, False), (5000, True)):
            padded = b'{"token": "' + token.encode() + b'"}' + b" " * size
            content = drip(size) if chunked else padded
            answer = await rest.request(
                method, SESSION, content=content, headers={"content-type": "application/json"}
            )
            assert (answer.status_code == 413) is too_large, answer.text
            assert not too_large or answer.json()["code"] == "too_large"


async def test_each_address_has_a_rate() -> None:
    now = [0.0]
    let_in: list[str] = []

    async def door(scope: Scope, receive: Receive, send: Send) -> None:
        let_in.append(scope["client"][0])

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    answered: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answered.append(message["status"])

    public = PublicDoor(door, door, {SESSION}, lambda: now[0])

    async def ask(address: str, path: str = SESSION) -> None:
        scope = {"type": "http", "path": path, "client": (address, 1), "headers": []}
        await public(scope, receive, send)

    for _ in range(int(BURST) + 5):
        await ask("192.0.2.1")
    assert (len(let_in), answered) == (BURST, [429] * 5)
    await ask("192.0.2.2")
    assert let_in[-1] == "192.0.2.2"
    await ask("192.0.2.1", "/mcp")
    assert let_in[-1] == "192.0.2.1"
    now[0] += 1
    before = len(let_in)
    for _ in range(int(BURST)):
        await ask("192.0.2.1")
    assert len(let_in) - before == public_door.RATE
    # One who has IPv6 has a whole network of addresses.
    before = len(let_in)
    for number in range(int(BURST) + 5):
        await ask(f"2001:db8::{number:x}")
    assert len(let_in) - before == BURST


async def test_the_rate_holds_over_the_wire_and_says_when(served: Served) -> None:
    async with served.rest() as rest:
        answers = [await rest.get(SESSION) for _ in range(int(BURST) + 30)]
        late = [one for one in answers if one.status_code == 429]
        assert late
        assert (late[0].headers["retry-after"], late[0].json()["code"]) == ("2", "too_many")
        # Whoever works is not counted.
        assert (await rest.get("/api/memory/stats")).status_code == 200


async def test_a_client_that_went_away_is_no_error(served: Served) -> None:
    port = int(served.url.rpartition(":")[2])
    for _ in range(3):
        _, write = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST {SESSION} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n\r\n"
        write.write(head.encode() + b"{")
        write.close()
        await write.wait_closed()
    async with httpx.AsyncClient(base_url=served.url, trust_env=False) as rest:
        assert (await rest.get("/healthz")).status_code == 200
