"""The hooks in a developer's days: projects, accounts, broken files, and what stays on disk."""

import asyncio
import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conftest import Connection
from engine.importers import exports
from integrations.test_hooks import NOWHERE, Session, session  # noqa: F401 -- a fixture
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact, store_rule
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

LATER = {"session_id": "3f0a2c1e-3a55-4c21-9d0d-0d9a0d7c1f11", "transcript_path": ""}


def said(who: str, text: str, when: str | None = None) -> str:
    """A line of a transcript, said now if no time is given."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    content: Any = text if who == "user" else [{"type": "text", "text": text}]
    return exports._line(who, "n1", content, timestamp=when or now) + "\n"


async def contents(admin: Connection, tenant: str = "default") -> list[str]:
    query = "SELECT content FROM episodes WHERE tenant_id = $1 ORDER BY created_at"
    return [row[0] for row in await admin.fetch(query, tenant)]


async def emptied(session: Session) -> None:  # noqa: F811
    async with asyncio.timeout(20):
        while session.waiting:  # noqa: ASYNC110 -- another process does it
            await asyncio.sleep(0.05)


# What a session begins with


async def _of_three_projects(memory: Memory, principal: Principal) -> None:
    for subject, predicate, content in (
        ("shop", "prices", "Prices in the shop are Decimal, never float"),
        ("shop", "deploy", "The shop is deployed on Fridays by make ship to Hetzner"),
        ("atlas", "language", "Atlas is a Rust service with axum and sqlx"),
        ("blog", "generator", "The blog is built by Hugo with the theme Paper"),
        ("Kunde Becker", "Rechnung", "Kunde Becker möchte Rechnungen nur als ZUGFeRD-PDF"),
        ("user", "dentist", "Ana's dentist is Dr. Weber, appointments on Thursdays"),
        ("user", "daughter", "Ana's daughter Mia plays the violin"),
        ("user", "editor", "Ana uses Neovim with vim-slime"),
    ):
        await store_fact(memory, principal, subject, predicate, content)
    await store_rule(memory, principal, "Run ruff and mypy before every commit in the shop")
    await store_rule(memory, principal, "Never push to main of atlas directly")


def _lines(told: str) -> list[str]:
    return [line for line in told.splitlines() if line.startswith("- ")]


async def test_a_session_begins_with_its_project_alone(
    served: Served,
    memory: Memory,
    principal: Principal,
    session: Session,  # noqa: F811
) -> None:
    """Nothing of another project, and nothing for a word of the path, such as the user's login."""
    await _of_three_projects(memory, principal)
    for number, (folder, about) in enumerate(
        (
            ("/home/ana/code/shop", "shop"),
            ("/Users/ana/src/atlas", "atlas"),
            ("/srv/my-blog", "blog"),
            ("/home/ana/code/newthing", None),
            ("/Users/ana/Documents/work/memory-server", None),
            ("/home/ana/work/react-native-demo", None),
        )
    ):
        told = await session.told(
            "SessionStart",
            served.url,
            source="startup",
            cwd=folder,
            session_id=f"3f0a2c1e-3a55-4c21-9d0d-0d9a0d7c1f{number:02}",
        )
        assert [line for line in _lines(told) if (about or "") not in line.lower()] == []
        assert bool(told) == (about is not None), folder


@pytest.mark.parametrize("kind", ["folder", "work tree"])
async def test_a_session_in_a_part_of_a_repository_begins_with_the_repository(
    served: Served,
    memory: Memory,
    principal: Principal,
    session: Session,  # noqa: F811
    tmp_path: Path,
    kind: str,
) -> None:
    await _of_three_projects(memory, principal)
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    if kind == "work tree":
        root, main = tmp_path / "discount", root
        root.mkdir()
        (root / ".git").write_text(f"gitdir: {main}/.git/worktrees/discount\n")
    inside = root / "packages" / "pages"
    inside.mkdir(parents=True)
    told = await session.told("SessionStart", served.url, source="startup", cwd=str(inside))
    assert "Decimal" in told
    assert "dentist" not in told


async def test_a_prompt_is_asked_where_it_is_typed(
    served: Served,
    memory: Memory,
    principal: Principal,
    session: Session,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Each repository has a way to run its tests; that of the folder comes first."""
    for subject, content in (
        ("ledger", "Run tests with `make test` (go test ./... -race)"),
        ("web-shop", "Run tests with `uv run pytest -n 4 -x`; a single file without -n"),
        ("app", "Run tests with `pnpm vitest run`; watch mode with `pnpm vitest`"),
    ):
        await store_fact(memory, principal, subject, "test_command", content)
    for number, (name, inside) in enumerate(
        (("ledger", "cmd/ledger"), ("web-shop", ""), ("app", "src/pages"))
    ):
        root = tmp_path / name
        (root / ".git").mkdir(parents=True)
        (root / inside).mkdir(parents=True, exist_ok=True)
        told = await session.told(
            "UserPromptSubmit",
            served.url,
            prompt="run the tests",
            cwd=str(root / inside),
            session_id=f"3f0a2c1e-3a55-4c21-9d0d-0d9a0d7c1e{number:02}",
        )
        assert f"[{name}]" in _lines(told)[0]


async def test_a_server_of_before_is_asked_without_the_folder(
    session: Session,  # noqa: F811
) -> None:
    asked = []

    async def of_before(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = int(head.partition("content-length:")[2].split()[0])
        arguments = json.loads(await reader.readexactly(size))["params"]["arguments"]
        asked.append(sorted(arguments))
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": "invalid_input: about: unknown"}],
            "isError": True,
        }
        if "about" not in arguments:
            block = {"context": "# Memory Context\n\n## Key Facts\n- tea\n", "included": ["1"]}
            result = {"content": [], "structuredContent": block}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + body)
        writer.close()

    async with await asyncio.start_server(of_before, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        told = await session.told("UserPromptSubmit", f"http://{host}:{port}", prompt="what tea?")
    assert "- tea" in told
    assert ["about" in one for one in asked] == [True, False]


# Whose a session is


async def _of(served: Served, session: Session, tenant: str) -> Session:  # noqa: F811
    token = await served.make_token(tenant, "read", "write")
    return replace(session, extra={"MEMORY_BUTLER_TOKEN": token})


async def test_what_waits_goes_to_its_own_tenant_alone(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    """Two tokens on one machine, as for work and at home."""
    ana, firm = await _of(served, session, "ana"), await _of(served, session, "firm")
    await ana.hook("SessionStart", served.url, source="startup")
    await ana.hook("SessionEnd", NOWHERE, reason="other")
    await firm.hook("SessionStart", served.url, source="startup", **LATER)
    await firm.hook("SessionEnd", served.url, reason="other", **LATER)
    assert len(session.waiting) == 1
    # Another token of the same tenant, as after one that expired.
    ana = await _of(served, session, "ana")
    await ana.hook("SessionStart", served.url, source="startup", **LATER)
    await emptied(session)
    assert (await contents(admin, "firm"), len(await contents(admin, "ana"))) == ([], 1)


async def test_a_killed_session_is_told_to_its_own_tenant_alone(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    ana, firm = await _of(served, session, "ana"), await _of(served, session, "firm")
    await ana.hook("SessionStart", served.url, source="startup")
    await ana.hook("UserPromptSubmit", served.url, prompt="Prices must be Decimal.")
    killed = time.time() - 3_600
    os.utime(session.transcript, (killed, killed))
    await firm.hook("SessionStart", served.url, source="startup", **LATER)
    async with asyncio.timeout(20):
        while list((session.folder / "open").iterdir()):  # noqa: ASYNC110 -- as above
            await asyncio.sleep(0.05)
    await ana.hook("SessionEnd", served.url, reason="other", **LATER)
    assert (await contents(admin, "firm"), len(await contents(admin, "ana"))) == ([], 1)


async def test_a_token_that_is_refused_is_told_to_the_user(
    served: Served,
    session: Session,  # noqa: F811
) -> None:
    revoked = replace(session, extra={"MEMORY_BUTLER_TOKEN": "mbt_revoked"})
    out, err = await revoked.hook("SessionStart", served.url, source="startup")
    assert err == ""
    assert "does not accept the token" in json.loads(out)["systemMessage"]
    await revoked.hook("SessionEnd", served.url, reason="other")
    assert len(session.waiting) == 1


async def test_a_server_that_is_away_for_long_is_told_to_the_user(
    session: Session,  # noqa: F811
) -> None:
    """As one that nobody started after the machine was; an evening without it is none of that."""
    await session.hook("SessionEnd", NOWHERE, reason="other")
    assert (await session.hook("SessionStart", NOWHERE, source="startup"))[0] == ""
    (waits,) = session.waiting
    long_ago = time.time() - 3 * 86_400
    os.utime(waits, (long_ago, long_ago))
    out, err = await session.hook("SessionStart", NOWHERE, source="startup")
    assert err == ""
    told = json.loads(out)["systemMessage"]
    assert NOWHERE in told
    assert "1 session waits" in told


# What is read of a transcript


async def test_a_line_that_is_being_written_is_told_the_next_time(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    line = said("user", "Mind the VAT of Ελλάδα.")
    with session.transcript.open("a") as file:
        file.write(line[:40])
    await session.hook("PreCompact", served.url, trigger="auto")
    with session.transcript.open("a") as file:
        file.write(line[40:])
    await session.hook("SessionEnd", served.url, reason="other")
    first, second = await contents(admin)
    assert "VAT" not in first
    assert "- Mind the VAT of Ελλάδα." in second


async def test_what_was_asked_before_a_huge_output_is_told(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "row " * 5_000_000}]
    with session.transcript.open("w") as file:
        file.write(said("user", "Dump the whole database."))
        file.write(exports._line("user", "n2", result) + "\n")
        file.write(said("assistant", "Dumped."))
    await session.hook("SessionEnd", served.url, reason="other")
    (told,) = await contents(admin)
    assert told.splitlines()[1:] == [
        "The user asked:",
        "- Dump the whole database.",
        "Outcome: Dumped.",
    ]


async def test_no_half_of_a_key_or_password_is_left_of_a_long_prompt(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    japanese = "東京案件の締め切りは十二月十五日です。" * 20
    with session.transcript.open("w") as file:
        file.write(said("user", "x " * 92 + key))
        file.write(said("user", "z " * 85 + "password: hunter2-Correct-H0rse!"))
        file.write(said("user", japanese))
        file.write(said("assistant", f"{'y ' * 390} {key}"))
    await session.hook("SessionEnd", served.url, reason="other")
    (told,) = await contents(admin)
    assert "ghp_" not in told
    assert "hunter" not in told
    assert f"- {japanese[:199]}…" in told  # a script without spaces is not lost


async def test_a_session_without_a_word_says_nothing_and_sends_what_waits(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    await session.hook("SessionEnd", NOWHERE, reason="other")
    gone = {**LATER, "transcript_path": "/nowhere/session.jsonl"}
    assert await session.hook("SessionEnd", served.url, reason="other", **gone) == ("", "")
    assert session.waiting == []
    assert len(await contents(admin)) == 1


async def test_a_session_is_told_where_the_clock_was_set_back_after_it_began(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    transcript = session.transcript.read_text()
    session.transcript.unlink()
    await session.hook("SessionStart", served.url, source="startup")
    (state,) = (session.folder / "sessions").iterdir()
    began = {"began": "2099-01-01T00:00:00.000Z"}
    state.write_text(json.dumps(json.loads(state.read_text()) | began))
    session.transcript.write_text(transcript)
    await session.hook("SessionEnd", served.url, reason="other")
    assert len(await contents(admin)) == 1


# What stays on disk


async def test_notes_of_sessions_do_not_pile_up(
    served: Served,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    await session.hook("UserPromptSubmit", served.url, prompt="Prices must be Decimal.")
    await session.hook("SessionEnd", served.url, reason="other")
    (own,) = (session.folder / "sessions").iterdir()
    old, half, of_open = (own.with_name(name) for name in ("old.json", ".half.json.7", "open.json"))
    long_ago = time.time() - 40 * 86_400
    for one in (own, old, half, of_open):
        one.write_text(own.read_text())
        os.utime(one, (long_ago, long_ago))
    (session.folder / "open" / of_open.name).write_text("{}")
    await session.hook("SessionEnd", served.url, reason="other", **LATER)
    assert [one.name for one in own.parent.iterdir()] == [of_open.name]
    # Resumed after it was forgotten, it tells what came since.
    assert await session.hook("SessionStart", served.url, source="resume") == ("", "")
    with session.transcript.open("a") as file:
        file.write(said("user", "And mind the VAT."))
    await session.hook("SessionEnd", served.url, reason="other")
    _, second = await contents(admin)
    assert second.splitlines()[1:] == ["The user asked:", "- And mind the VAT."]
    # And where there are very many, the oldest go.
    for number in range(1_010):
        own.with_name(f"many-{number}.json").write_text("{}")
    await session.hook("SessionEnd", served.url, reason="other", **LATER)
    assert len(list(own.parent.iterdir())) == 1_000


async def test_memory_comes_in_and_an_episode_goes_out_where_nothing_can_be_written(
    served: Served,
    memory: Memory,
    principal: Principal,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    """As on a full disk."""
    await store_fact(memory, principal, "shop", "prices", "Prices are Decimal in the shop")
    session.folder.write_text("")  # a file where the folder would be
    assert "Decimal" in await session.told("SessionStart", served.url, source="startup")
    prompt = "How do we keep prices in the shop?"
    assert "Decimal" in await session.told("UserPromptSubmit", served.url, prompt=prompt)
    _, err = await session.hook("PreCompact", served.url, trigger="auto")
    assert err.startswith("memory: ")
    assert len(await contents(admin)) == 1
    session.folder.unlink()  # what was told is not known to be: better twice than lost
    with session.transcript.open("a") as file:
        file.write(said("user", "Round prices half up."))
    await session.hook("SessionEnd", served.url, reason="other")
    assert "- Round prices half up." in (await contents(admin))[-1]
