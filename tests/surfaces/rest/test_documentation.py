"""The page on REST: its commands do what they are shown for."""

import asyncio
import json
import re
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from surfaces.serving import Served

PAGE = Path(__file__).parents[3] / "docs" / "rest.md"
_EXAMPLE = re.compile(r"<!-- The tests run these lines. -->\n```sh\n(.*?)```", re.DOTALL)

pytestmark = pytest.mark.anyio


def _examples(served: Served) -> list[str]:
    """The commands of editing, of listening, and those that store and look."""
    page = PAGE.read_text(encoding="utf-8").replace("http://127.0.0.1:8150", served.url)
    found = _EXAMPLE.findall(page)
    assert len(found) == 3
    return found


async def _printed(commands: str) -> str:
    process = await asyncio.create_subprocess_shell(commands, stdout=PIPE)
    printed, _ = await asyncio.wait_for(process.communicate(), 30)
    assert process.returncode == 0, commands
    return printed.decode()


async def test_storing_and_looking(served: Served) -> None:
    answers = [
        json.loads(await _printed(line.replace("-s", "-sf", 1)))
        for line in _examples(served)[2].strip().splitlines()
    ]
    stored, listed, searched, _ = answers
    assert [one["id"] for one in listed["items"]] == [stored["id"]]
    assert [one["id"] for one in searched["results"]] == [stored["id"]]


async def test_of_two_edits_the_second_is_too_late(served: Served) -> None:
    printed = await _printed(_examples(served)[0])
    edited, end = json.JSONDecoder().raw_decode(printed)
    refused: dict[str, Any] = json.loads(printed[end:])
    assert edited["rule"]["content"] == "Write brief letters"
    assert (refused["status"], refused["code"]) == (409, "conflict")
    assert refused["current"]["content"] == "Write brief letters"
    assert refused["current_revision"] == edited["revision"]


async def test_listening(served: Served) -> None:
    _, listen, store = _examples(served)
    # `exec`, so that it is curl which is ended and not the shell around it.
    listening = await asyncio.create_subprocess_shell(f"exec {listen}", stdout=PIPE)
    assert listening.stdout is not None
    try:
        async with asyncio.timeout(30):
            while b"listening" not in await listening.stdout.readline():
                pass
            stored = json.loads(await _printed(store.splitlines()[0]))
            while not (line := await listening.stdout.readline()).startswith(b"data: "):
                pass
    finally:
        listening.terminate()
        await listening.communicate()
    told = json.loads(line.removeprefix(b"data: "))
    assert (told["event_type"], told["payload"]["memory_id"]) == ("rule_created", stored["id"])
