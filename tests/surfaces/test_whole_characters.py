"""Half an emoji in JSON: as programs write it that cut a text by UTF-16 units."""

import json

import httpx
import pytest

from memory_butler.surfaces.whole_characters import whole
from surfaces.serving import Served


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (r"half \ud83d", "half \ufffd"),
        (r"the other half \uDE00.", "the other half \ufffd."),
        (r"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (r"\ude00\ud83d", "\ufffd\ufffd"),
        (r"\ud83d\n", "\ufffd\n"),
        # Whole ones, and what only looks like one.
        (r"\ud83d\ude00 \u00e9 \"", '\U0001f600 \u00e9 "'),
        (r"\\ud83d", r"\ud83d"),
        (r"\\ud83d \ud83d", "\\ud83d \ufffd"),
        (r"\\\ud83d", "\\\ufffd"),
        ("\U0001f600 ud83d", "\U0001f600 ud83d"),
    ],
)
def test_half_a_character_is_replaced(said: str, read: str) -> None:
    made = whole(f'"{said}"'.encode())
    assert json.loads(made) == read
    assert len(made) == len(f'"{said}"'.encode())


@pytest.mark.anyio
@pytest.mark.parametrize("way", ["application/json", "application/json; charset=utf-8"])
async def test_a_call_over_http_is_answered(served: Served, way: str) -> None:
    call = {"name": "memory_recall", "arguments": {"topic": "half \ud83d"}}
    said = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}
    headers = {"Content-Type": way, "Accept": "application/json, text/event-stream"}
    async with httpx.AsyncClient(base_url=served.url) as client:
        answer = await client.post("/mcp", content=json.dumps(said), headers=headers)
    assert answer.status_code == 200
    assert (answer.json()["id"], answer.json()["result"]["isError"]) == (7, False)
