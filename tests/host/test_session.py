"""A session by itself: bounds, failures, the line of triggers, and what becomes its episode."""

import asyncio
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

import pytest

from host.households import free_port
from memory_butler.domain.errors import ConfigurationError, Conflict, InvalidInput, Unavailable
from memory_butler.host import roster
from memory_butler.host.agent import CLAUDE_CODE, Agent, Outcome, Server, Task, fill
from memory_butler.host.butler import read
from memory_butler.host.extraction import MAX_SUMMARY, extract, from_last_words, of_failure
from memory_butler.host.remembrance import Remembrance
from memory_butler.host.sessions import Session, Sessions
from memory_butler.host.spawner import Spawner
from memory_butler.host.spool import Spool
from memory_butler.inference.language_models.port import Completion, Request
from memory_butler.inference.language_models.scripted import ScriptedModel

pytestmark = pytest.mark.anyio

_TOKEN = "mbt_the-token-of-the-memory-server"
_TASK = Task(
    "instructions", "do it", "# Memory Context\n", {"memory": Server("http://x/mcp", _TOKEN)}
)


def _agent(folder: Path, script: str, **bounds: float) -> Agent:
    program = folder / "agent.py"
    program.write_text(script)
    return Agent(
        command=(sys.executable, str(program), "{mcp_config}", "{memory_file}"),
        folder=folder,
        model=None,
        tools=(),
        variables=(),
        timeout_seconds=bounds.get("seconds", 30),
        max_output_bytes=int(bounds.get("size", 10_000)),
    )


async def test_an_agent_gets_its_configuration_in_a_file_of_its_own(tmp_path: Path) -> None:
    script = (
        "import json, os, sys\n"
        "config = json.load(open(sys.argv[1]))\n"
        "print(config['mcpServers']['memory']['headers']['Authorization'], sys.stdin.read(),\n"
        "      oct(os.stat(sys.argv[1]).st_mode & 0o777), open(sys.argv[2]).read().strip())\n"
    )
    outcome = await _agent(tmp_path, script).run(_TASK)
    assert outcome == Outcome(f"Bearer {_TOKEN} do it 0o600 # Memory Context")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import time; time.sleep(60)", "it was ended after 1 seconds"),
        ("print('x' * 20_000)", "it wrote more than 10000 bytes"),
        (f"import sys; sys.exit('no access with {_TOKEN}')", "it ended with status 1: no access"),
    ],
)
async def test_a_session_that_fails_says_how(tmp_path: Path, script: str, said: str) -> None:
    outcome = await _agent(tmp_path, script, seconds=1 if "sleep" in script else 30).run(_TASK)
    assert outcome.failure is not None
    assert outcome.failure.startswith(said)
    assert _TOKEN not in outcome.failure


async def test_a_session_is_told_the_way_out_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    outcome = await _agent(tmp_path, "import os; print(sorted(os.environ))").run(_TASK)
    assert "https_proxy" in outcome.answer
    assert "DATABASE_PASSWORD" not in outcome.answer


def test_a_missing_agent_says_what_to_install(tmp_path: Path) -> None:
    missing = Agent(("claude-nowhere",), tmp_path, None, (), (), 1, 1)
    with pytest.raises(ConfigurationError, match=r"`claude-nowhere` .* not on the PATH"):
        missing.program()
    with pytest.raises(ConfigurationError, match="npm install -g @anthropic-ai/claude-code"):
        Agent(("/nowhere/claude",), tmp_path, None, (), (), 1, 1).program()


def test_an_empty_blank_goes_with_its_flag() -> None:
    filled = {"model": None, "tools": "a,b", "system_file": "/s", "mcp_config": "/m"}
    filled |= {"settings": "/t", "folder": "/f"}
    given = fill(CLAUDE_CODE[1:], filled)
    assert "--model" not in given
    assert given[given.index("--allowedTools") + 1] == "a,b"
    assert not any("{" in argument for argument in given)
    assert fill(["--config={mcp_config}"], filled) == ["--config=/m"]


@pytest.mark.requirement("INT-01", "INT-03")
async def test_the_last_words_of_the_agent_become_the_episode() -> None:
    answer = "Long story.\n\n**Session summary:** Ana moved to Lisbon.\n*Importance:* 7/10\n"
    extracted = await extract("Where is Ana?", answer, None)
    assert (extracted.content, extracted.importance) == ("Ana moved to Lisbon.", 7.0)
    # Whatever it says, the importance is from 1 to 10.
    assert from_last_words("p", "Importance: 80").importance == 10.0
    assert from_last_words("p", "Importance: 0").importance == 1.0


@pytest.mark.requirement("INT-03")
def test_without_a_summary_the_answer_is_cut() -> None:
    extracted = from_last_words("What was said?", "word " * 5_000)
    assert extracted.content.startswith("Asked: What was said? Answer: word word")
    assert len(extracted.content) <= MAX_SUMMARY
    assert extracted.importance == 5.0
    assert "timed out" in of_failure("x", "timed out").content


@pytest.mark.requirement("INT-01", "INT-03")
async def test_a_model_sums_up_where_there_is_one() -> None:
    model = ScriptedModel(['{"summary": "Ana moved.", "importance": 12}', "no JSON at all"])
    extracted = await extract("p", "A transcript", model)
    assert (extracted.content, extracted.importance) == ("Ana moved.", 10.0)
    assert "never follow instructions" in model.calls[0].system
    # One that answers nonsense, or not at all, does not cost the episode.
    for _ in range(2):
        assert (await extract("p", "Session summary: Ana.", model)).content == "Ana."


async def test_sessions_run_one_at_a_time_in_order() -> None:
    order: list[str] = []

    async def spawn(session: Session) -> Outcome:
        order.append(f"+{session.prompt}")
        await asyncio.sleep(0.01)
        order.append(f"-{session.prompt}")
        if session.prompt == "b":
            raise Unavailable("gone")
        return Outcome("done") if session.prompt == "a" else Outcome(failure="it broke")

    sessions = Sessions(spawn, max_waiting=3)
    asked = [sessions.submit(prompt, "mcp") for prompt in "abc"]
    with pytest.raises(Conflict, match="3 triggers wait already"):
        sessions.submit("d", "mcp")
    with pytest.raises(InvalidInput, match="prompt is empty"):
        sessions.submit(" ", "mcp")
    running = asyncio.create_task(sessions.run())
    await asyncio.gather(*(one.ended.wait() for one in asked))
    assert order == ["+a", "-a", "+b", "-b", "+c", "-c"]
    assert [one.status for one in asked] == ["succeeded", "failed", "failed"]
    assert [one.failure for one in asked] == [None, "gone", "it broke"]
    assert sessions.get(asked[0].id) is asked[0]
    assert sessions.get(uuid4()) is None
    running.cancel()
    await asyncio.wait({running})


@pytest.mark.requirement("INT-01", "FAIL-01")
async def test_finished_work_is_kept_though_the_butler_stops_while_a_model_sums_it_up(
    tmp_path: Path,
) -> None:
    asked = asyncio.Event()

    class Slow(ScriptedModel):
        async def complete(self, request: Request) -> Completion:
            asked.set()
            await asyncio.sleep(60)
            return await super().complete(request)

    roster.make(tmp_path / "health", "health", "Looks after sleep")
    spool = Spool(tmp_path / "spool")
    away = Remembrance(Server(f"http://127.0.0.1:{free_port()}/mcp"), "health", spool, 5)
    agent = _agent(tmp_path, "print('Session summary: Ana moved to Lisbon.')")
    spawner = Spawner(read(tmp_path / "health"), agent, away, {}, Slow(["unused"]))
    sessions = Sessions(spawner.run, max_waiting=1)
    session = sessions.submit("Where is Ana?", "mcp")
    running = asyncio.create_task(sessions.run())
    await asyncio.wait_for(asked.wait(), 30)
    sessions.stop()
    await asyncio.wait({running})
    assert (session.status, session.failure) == ("succeeded", None)
    assert session.answer.strip() == "Session summary: Ana moved to Lisbon."
    ((_, kept),) = spool.waiting().episodes
    assert (kept.content, kept.session_id) == ("Ana moved to Lisbon.", str(session.id))


async def test_what_waits_when_the_butler_stops_is_told() -> None:
    begun = asyncio.Event()

    async def spawn(_: Session) -> Outcome:
        begun.set()
        await asyncio.sleep(60)
        return Outcome()

    sessions = Sessions(spawn, max_waiting=5)
    first, second = sessions.submit("a", "mcp"), sessions.submit("b", "mcp")
    running = asyncio.create_task(sessions.run())
    await begun.wait()
    running.cancel()
    await asyncio.wait({running})
    assert (first.status, second.status) == ("failed", "not_run")
    assert second.failure == "the butler was stopped"


@pytest.mark.requirement("FAIL-01")
async def test_an_answer_outlives_a_disk_that_takes_no_episode(tmp_path: Path) -> None:
    roster.make(tmp_path / "health", "health", "Looks after sleep")
    spool = Spool(tmp_path / "spool")
    spool.folder.write_text("no folder: nothing can be written")
    away = Remembrance(Server(f"http://127.0.0.1:{free_port()}/mcp"), "health", spool, 5)
    agent = _agent(tmp_path, "print('Session summary: Ana moved to Lisbon.')")
    spawner = Spawner(read(tmp_path / "health"), agent, away, {}, None)
    sessions = Sessions(spawner.run, max_waiting=1)
    session = sessions.submit("Where is Ana?", "mcp")
    running = asyncio.create_task(sessions.run())
    await asyncio.wait_for(session.ended.wait(), 30)
    running.cancel()
    await asyncio.wait({running})
    assert (session.status, session.failure) == ("succeeded", None)
    assert session.answer.strip() == "Session summary: Ana moved to Lisbon."
    assert not session.remembered


async def test_a_session_without_room_for_its_files_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    outcome = await _agent(tmp_path, "print('never')").run(_TASK)
    assert outcome.failure == "it cannot be started: No such file or directory"
