"""From trigger to recall in the next session, with every part a real process (M4)."""

import json
import os
from typing import Any

import pytest

from host.conftest import Household
from host.households import notes, until

pytestmark = pytest.mark.anyio


@pytest.mark.requirement(
    "MS-04",
    "SPN-01",
    "SPN-02",
    "SPN-03",
    "INT-01",
    "INT-02",
    "INT-03",
    "CTX-09",
    "GEN-06",
    "SCP-04",
)
async def test_what_is_said_in_one_session_is_known_in_the_next(household: Household) -> None:
    def trigger(prompt: str) -> str:
        said = household.installation.apart(
            "butler", "trigger", str(household.health_folder), prompt,
            "--port", household.health.port,
        )  # fmt: skip
        return said.out

    # A first session: memory knows nothing yet.
    assert trigger("I am lactose intolerant, remember that.").startswith("Noted.")
    first = notes(household.installation)
    assert first["servers"] == ["health", "memory"]
    assert first["recalled"] == []
    assert first["sessions"] == 1  # it has called the butler's own server too

    # What it was given: private, and gone with it.
    assert first["mode"] == "0o600"
    assert _left(first["files"]) == []
    assert not any("lactose" in argument for argument in first["arguments"])
    assert first["folder"] == []
    assert "MEMORY_BUTLER_DATA_DIR" not in first["environment"]

    # Its episode: a summary with the agent's own rating, that expires.
    # The memory butler may have had a tick of its own meanwhile, and kept what came of it.
    (episode,) = [one for one in await _episodes(household) if one["butler"] == "health"]
    assert episode["content"] == "User mentioned they are lactose intolerant."
    assert (episode["butler"], episode["importance"]) == ("health", 8.0)
    assert episode["expires_at"] > episode["created_at"]

    # Consolidation, its model played by hand.
    done = await household.memory.call("memory_run_consolidation")
    assert done["facts_created"] == 1, done

    # The next session has it in its instructions, after CLAUDE.md, and over MCP.
    assert trigger("Is there lactose in my breakfast?").startswith("No milk for you")
    second = notes(household.installation)
    assert second["recalled"] == ["Lactose intolerant"]
    assert second["sessions"] == 2
    system = second["system"]
    places = [
        system.index(part)
        for part in (
            "# You are the health butler",
            "# Memory Context",
            "Lactose intolerant",
            "Pass your own name, `health`, as `scope`",
            "Doses are in milligrams.",
            "- doses: How doses are counted.",
        )
    ]
    assert places == sorted(places)

    # When it compresses its context, it is told its memory again.
    assert "Lactose intolerant" in second["block"]
    assert second["compacted"] == second["block"]
    assert os.listdir(household.installation.data_dir / "spool" / "health") == []


def _left(files: list[str]) -> list[str]:
    return [file for file in files if os.path.exists(file)]


async def _episodes(household: Household) -> list[dict[str, Any]]:
    found = await household.memory.call("memory_search", query="lactose", types=["episode"])
    return list(found["results"])


@pytest.mark.requirement("SPN-04")
async def test_a_butler_is_announced_though_the_switchboard_came_later(
    household: Household,
) -> None:
    def announced() -> Any:
        book = json.loads(household.book.read_text()) if household.book.exists() else {}
        return book if {"memory", "health"} <= book.keys() else None

    known = until(announced)
    # As it is shipped, the memory butler announces itself; the port alone is that of the test.
    assert known["memory"]["url"] == household.memory.url
    assert {"memory_recall", "memory_store_fact"} <= set(known["memory"]["tools"])
    assert known["health"]["url"] == household.health.url
    assert known["health"]["port"] == int(household.health.port)
    assert known["health"]["description"] == "Looks after health"
    assert {"trigger", "tick", "session", "state_get"} <= set(known["health"]["tools"])
