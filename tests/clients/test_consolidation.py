"""Consolidation through the real command lines: one question, no tools, nothing of the user's."""

import asyncio
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from clients.programs import KEY, Person, finish
from conftest import Connection, Database
from long_profile import by_day
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.engine.remember import store_episode
from memory_butler.inference.language_models.agent_tools import TOOLS
from memory_butler.inference.language_models.command_line import CommandLineModel
from memory_butler.inference.language_models.port import ModelAccessDenied, Request

pytestmark = pytest.mark.anyio

REQUEST: Final = Request(
    "Draw facts from the episodes.",
    "E1: Ana keeps bees on the roof.",
    {"type": "object", "properties": {"topic": {"type": "string"}}},
    500,
)
ANSWER: Final = {"topic": "bees"}
SKILL: Final = "---\nname: bees\ndescription: CANARY-SKILL. Use for bees.\n---\nCANARY\n"
# Whatever a person tells an agent for good, in every place that one of the programs reads.
CANARIES: Final = {
    ".claude/CLAUDE.md": "CANARY-CLAUDE",
    ".claude/skills/bees/SKILL.md": SKILL,
    ".claude/settings.json": json.dumps(
        {
            "hooks": {
                "UserPromptSubmit": [
                    {"hooks": [{"type": "command", "command": "echo CANARY-HOOK"}]}
                ]
            }
        }
    ),
    ".codex/AGENTS.md": "CANARY-CODEX",
    ".codex/skills/bees/SKILL.md": SKILL,
    ".agents/skills/bees/SKILL.md": SKILL,
    ".gemini/GEMINI.md": "CANARY-GEMINI",
    ".gemini/skills/bees/SKILL.md": SKILL,
}
# Claude Code's own, that do nothing but take the answer or hold the place of tools.
_HARMLESS: Final = {"StructuredOutput", "DeferredToolPlaceholder"}


def command_line(person: Person, name: str, tool: str, **less: None) -> CommandLineModel:
    environment = {k: v for k, v in person.environment().items() if k not in less}
    return CommandLineModel(
        TOOLS[tool],
        str(person.command(name)),
        environment=environment,
        timeout_seconds=90,
        max_output_bytes=1_000_000,
        max_cost_usd=1,
    )


def with_canaries(person: Person) -> None:
    for name, text in CANARIES.items():
        path = person.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("name", "tool", "bound"),
    [
        ("claude", "claude", 1_000),
        ("claude for Node 20", "claude", 1_000),
        ("codex", "codex", 1_000),
        ("gemini", "gemini", 500),
    ],
)
async def test_a_question_and_nothing_else(
    person: Person, name: str, tool: str, bound: int
) -> None:
    with_canaries(person)
    person.endpoint.answer = ANSWER
    person.endpoint.script = [json.dumps(ANSWER)]
    before = {path for path in person.home.rglob("*") if path.is_file()}
    done = await command_line(person, name, tool).complete(REQUEST)

    assert json.loads(done.text) == ANSWER
    asked = [one for one in person.endpoint.asked if REQUEST.prompt in one.text]
    assert asked
    for one in asked:
        assert set(one.tools) <= _HARMLESS
        assert "CANARY" not in one.text
        assert REQUEST.system in one.text
        assert len(one.text) / 4 < bound  # tokens
    # Nothing of it is left in the home but what the program notes of itself.
    left = {path for path in person.home.rglob("*") if path.is_file()} - before
    assert not [path for path in left if "bees" in path.read_text(errors="ignore")]


@pytest.mark.parametrize("name", by_day(TOOLS, "claude"))
async def test_what_was_told_becomes_a_fact_by_the_command(
    person: Person,
    database: Database,
    memory: Memory,
    principal: Principal,
    admin: Connection,
    name: str,
) -> None:
    """`memory-butler consolidate` as a person types it, with the program on the PATH."""
    with_canaries(person)
    said = "Ana said that she keeps bees on the roof."
    by_now = replace(memory, clock=utc_now)  # as the command's own
    episode = await store_episode(by_now, principal, said, "concierge")
    learned = {"subject": "Ana", "predicate": "keeps", "content": "Keeps bees on the roof"}
    fact = {**learned, "permanence": "stable", "source_episode_ids": ["E1"]}
    answer: dict[str, list[object]] = {"new_facts": [fact], "updated_facts": [], "new_rules": []}
    person.endpoint.answer = {**answer, "confirmations": [], "contradictions": []}
    person.endpoint.script = [json.dumps(person.endpoint.answer)]
    environment = person.environment()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "memory_butler", "consolidate", "--dsn", database.runtime_dsn),
        env={
            **environment,
            "PATH": f"{person.command(name).parent}{os.pathsep}{environment['PATH']}",
            "MEMORY_BUTLER_MEMORY__CONSOLIDATION__MODEL": f"cli:{name}",
            "MEMORY_BUTLER_DATA_DIR": str(person.home / "butler"),
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert "1 new" in (await finish(process)).out

    row = await admin.fetchrow(
        "SELECT f.subject, f.predicate, f.content, l.target_id FROM facts f"
        " JOIN memory_links l ON l.source_id = f.id WHERE l.relation = 'derived_from'"
    )
    assert tuple(row) == (*learned.values(), episode)
    (asked,) = [one for one in person.endpoint.asked if said in one.text]
    assert set(asked.tools) <= _HARMLESS
    assert "CANARY" not in asked.text
    assert "new_facts" in asked.text
    status = await admin.fetchval("SELECT consolidation_status FROM episodes")
    assert status == "consolidated"


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("claude", "claude"),
        ("claude for Node 20", "claude"),
        ("codex", "codex"),
        pytest.param("gemini", "gemini", marks=pytest.mark.nightly),
    ],
)
async def test_a_companions_reply_is_told_while_it_is_written(
    person: Person, name: str, tool: str
) -> None:
    person.endpoint.script = ["Good morning, Ana."]
    heard: list[str] = []
    asked = Request("You are Luna.", "Good morning!", None, 500, heard=heard.append)
    done = await command_line(person, name, tool).complete(asked)
    assert heard == [done.text] == ["Good morning, Ana."]


async def test_codex_finds_the_login_and_keeps_it(person: Person) -> None:
    login = person.home / ".codex" / "auth.json"
    login.write_text(json.dumps({"OPENAI_API_KEY": KEY}))
    person.endpoint.answer = ANSWER
    model = command_line(person, "codex", "codex", CODEX_API_KEY=None)
    assert json.loads((await model.complete(REQUEST)).text) == ANSWER
    assert json.loads(login.read_text())["OPENAI_API_KEY"] == KEY


@pytest.mark.nightly
async def test_a_missing_key_is_for_a_person_to_mend(person: Person) -> None:
    (person.home / ".gemini" / "settings.json").unlink()
    missing = {"GEMINI_API_KEY": None, "GOOGLE_GEMINI_BASE_URL": None}
    with pytest.raises(ModelAccessDenied, match="GEMINI_API_KEY"):
        await command_line(person, "gemini", "gemini", **missing).complete(REQUEST)


async def test_one_home_serves_two_questions_at_once(person: Person) -> None:
    person.endpoint.answer = ANSWER
    model = command_line(person, "codex", "codex")
    both = await asyncio.gather(model.complete(REQUEST), model.complete(REQUEST))
    assert [json.loads(one.text) for one in both] == [ANSWER, ANSWER]


def test_every_command_line_is_run(request: pytest.FixtureRequest) -> None:
    here = Path(__file__).read_text()
    assert all(f'"{tool}"' in here for tool in TOOLS)
