"""100 MB sent to a server: refused early, whether announced or not, and not kept."""

import asyncio

import psutil
import pytest

from surfaces.serving import Served

pytestmark = pytest.mark.anyio

MEGABYTE = 1024 * 1024
SENT = 100 * MEGABYTE
# The bound on a body is 8 MB, and the answer comes once it is passed: that much is held, by both
# ends of the connection, which are in one process.
MOST_HELD = 40 * MEGABYTE


async def _send(served: Served, path: str, header: str, chunked: bool) -> tuple[bytes, int, int]:
    """The status line, how much was sent until it came, and by how much the process grew."""
    process = psutil.Process()
    before, most, sent = process.memory_info().rss, 0, 0
    port = int(served.url.rpartition(":")[2])
    read, write = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\n{header}\r\n\r\n"
    )
    write.write(head.encode())
    status = asyncio.ensure_future(read.readline())
    block = b"x" * MEGABYTE
    try:
        while sent < SENT and not status.done():
            write.write(b"%x\r\n%b\r\n" % (MEGABYTE, block) if chunked else block)
            await asyncio.wait_for(write.drain(), 30)
            await asyncio.sleep(0)
            sent += MEGABYTE
            most = max(most, process.memory_info().rss - before)
    except ConnectionError:
        pass  # it was refused, and the server closed the connection
    try:
        return await asyncio.wait_for(status, 30), sent, most
    finally:
        write.close()


@pytest.mark.parametrize("path", ["/mcp", "/api/memory/episodes"])
@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "unannounced"])
async def test_a_hundred_megabytes_are_refused_early(
    served: Served, path: str, chunked: bool
) -> None:
    header = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {SENT}"
    status, sent, grown = await _send(served, path, header, chunked)
    print(f"{path}: {status!r} after {sent / MEGABYTE:.0f} MB, {grown / MEGABYTE:.0f} MB held")
    assert status.split()[1:2] == [b"413"]
    assert sent < SENT
    assert grown < MOST_HELD
    async with served.rest() as rest:
        assert (await rest.get("/healthz")).status_code == 200


async def test_a_body_announced_as_too_large_is_refused_before_any_of_it_comes(
    served: Served,
) -> None:
    assert (
        await served.raw(
            "POST /api/memory/episodes HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {SENT}\r\n\r\n"
        )
        == 413
    )
