"""The page on REST: its commands do what they are shown for."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from surfaces.serving import Served

PAGE = Path(__file__).parents[3] / "docs" / "rest.md"
_EXAMPLE = re.compile(r"<!-- The tests run these lines. -->\n```sh\n(.*?)```", re.DOTALL)


@pytest.mark.anyio
async def test_the_commands_of_the_page_work(served: Served) -> None:
    found = _EXAMPLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    answers = []
    for line in found.group(1).strip().splitlines():
        command = line.replace("http://127.0.0.1:8150", served.url).replace("-s", "-sf", 1)
        process = await asyncio.create_subprocess_shell(command, stdout=asyncio.subprocess.PIPE)
        printed, _ = await asyncio.wait_for(process.communicate(), 30)
        assert process.returncode == 0, line
        answers.append(json.loads(printed))
    stored, listed, searched, _ = answers
    assert [one["id"] for one in listed["items"]] == [stored["id"]]
    assert [one["id"] for one in searched["results"]] == [stored["id"]]
