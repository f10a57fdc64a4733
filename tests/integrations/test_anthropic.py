"""The memory tool: what it answers, as its documentation has it, with the SDK's own tool runner and
a model whose turns are written by hand, and what memory makes of the files."""

import asyncio
from typing import Any

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError

from clients.endpoint import Call, scripted_endpoint
from conftest import Clock, Connection
from example_programs import example
from memory_butler.client import MemoryClient, SyncMemoryClient
from memory_butler.domain.principals import Principal
from memory_butler.engine import edits, writing
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.undo import undo_change
from memory_butler.integrations import anthropic_files as door
from memory_butler.integrations.anthropic import AsyncMemoryTool, MemoryTool
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

HEAD = "excluding hidden items and node_modules:"


class Tool:
    """The asynchronous tool, called as the SDK's runner calls it."""

    def __init__(self, client: MemoryClient, butler: str | None = None) -> None:
        self.tool = AsyncMemoryTool(client, butler=butler)

    async def __call__(self, command: str, path: str = "", **given: Any) -> str:
        named = {"path": path} if path else {}
        return str(await self.tool.call({"command": command, **named, **given}))

    async def refusal(self, command: str, path: str = "", **given: Any) -> str:
        with pytest.raises(ToolError) as told:
            await self(command, path, **given)
        return str(told.value)


@pytest.fixture
async def client(memory: Memory) -> MemoryClient:
    return MemoryClient.of(memory)


@pytest.fixture
async def tool(client: MemoryClient) -> Tool:
    return Tool(client)


async def test_the_example_keeps_what_claude_writes(
    served: Served, admin: Connection, principal: Principal
) -> None:
    file = "/memories/tea.md"

    def ask(script: list[Call | str]) -> tuple[str, list[str]]:
        """The answer, and what the model was told by the tool."""
        url, prompt = served.url, "How do I take my tea?"
        with (
            scripted_endpoint() as endpoint,
            Anthropic(base_url=endpoint.url, api_key="none", max_retries=0) as claude,
        ):
            endpoint.script = script
            said = example("anthropic_memory_tool").main(url, prompt, claude)
            assert endpoint.asked[0].tools["memory"]["type"] == "memory_20250818"
            blocks = [
                block for one in endpoint.asked[-1].body["messages"] for block in one["content"]
            ]
            return said, [str(one["content"]) for one in blocks if "tool_use_id" in one]

    def calls(*given: dict[str, Any]) -> list[Call | str]:
        return [*(Call("memory", one) for one in given), "Done."]

    said, told = await asyncio.to_thread(
        ask,
        calls(
            {"command": "view", "path": "/memories"},
            {"command": "create", "path": file, "file_text": "Tea:\n- with milk\n"},
        ),
    )
    assert said == "Done."
    assert told == [
        f"Here're the files and directories up to 2 levels deep in /memories, {HEAD}\n"
        "0B\t/memories",
        f"File created successfully at: {file}",
    ]
    _, told = await asyncio.to_thread(
        ask,
        calls(
            {"command": "view", "path": file},
            {"command": "str_replace", "path": file, "old_str": "with", "new_str": "without"},
            {"command": "insert", "path": file, "insert_line": 2, "insert_text": "- no sugar"},
            {"command": "rename", "old_path": file, "new_path": "/memories/drinks/tea.md"},
            {"command": "view", "path": file},
        ),
    )
    assert (
        told[0]
        == f"Here's the content of {file} with line numbers:\n     1\tTea:\n     2\t- with milk"
    )
    assert told[1] == "The memory file has been edited.\n     1\tTea:\n     2\t- without milk"
    assert told[2:4] == [
        f"The file {file} has been edited.",
        f"Successfully renamed {file} to /memories/drinks/tea.md",
    ]
    assert told[4] == f"The path {file} does not exist. Please provide a valid path."
    rows = await admin.fetch("SELECT * FROM facts WHERE validity = 'active'")
    assert [(row["subject"], row["content"]) for row in rows] == [
        ("/memories/drinks/tea.md", "Tea:\n- without milk\n- no sugar\n")
    ]
    (hit,) = await recall(served.memory, principal, "tea without milk or sugar")
    assert hit.row["id"] == rows[0]["id"]


async def test_the_synchronous_tool_clears(served: Served) -> None:
    def run() -> list[str]:
        with SyncMemoryClient.connect(served.url) as client:
            tool = MemoryTool(client)
            for name in ("a", "b/c"):
                path = f"/memories/{name}.md"
                tool.call({"command": "create", "path": path, "file_text": name})
            with pytest.raises(ToolError, match="does not exist"):
                tool.call({"command": "delete", "path": "/memories/none"})
            deleted = tool.call({"command": "delete", "path": "/memories/a.md"})
            return [
                str(deleted),
                str(tool.clear_all_memory()),
                str(tool.call({"command": "view", "path": "/memories/"})),
            ]

    deleted, cleared, seen = await asyncio.to_thread(run)
    assert (deleted, cleared) == ("Successfully deleted /memories/a.md", "All memory cleared")
    assert seen.endswith(f"{HEAD}\n0B\t/memories")


async def test_folders_are_shown_two_levels_deep(tool: Tool) -> None:
    for path, size in {
        "notes.md": 5,
        "project/plan.md": 2048,
        "project/log/2026/may.md": 1536,
        "project/log-book.md": 1,
        ".hidden": 9,
        "node_modules/x/y.md": 9,
    }.items():
        await tool("create", f"/memories/{path}", file_text="x" * size)
    assert (await tool("view", "/memories")).splitlines()[1:] == [
        "3.5K\t/memories",
        "5B\t/memories/notes.md",
        "3.5K\t/memories/project/",
        "1B\t/memories/project/log-book.md",
        "1.5K\t/memories/project/log/",
        "2K\t/memories/project/plan.md",
    ]
    assert (await tool("view", "/memories/project/log")).splitlines()[1:] == [
        "1.5K\t/memories/project/log",
        "1.5K\t/memories/project/log/2026/",
        "1.5K\t/memories/project/log/2026/may.md",
    ]
    assert "9B" not in await tool("view", "/memories")
    assert (await tool("view", "/memories/.hidden")).endswith("\n     1\txxxxxxxxx")


async def test_sizes_are_bytes(tool: Tool) -> None:
    await tool("create", "/memories/short.md", file_text="ä" * 5)
    await tool("create", "/memories/long.md", file_text="ж" * 3_072)
    assert (await tool("view", "/memories")).splitlines()[1:] == [
        "6K\t/memories",
        "6K\t/memories/long.md",
        "10B\t/memories/short.md",
    ]


async def test_lines_are_shown_replaced_and_inserted(tool: Tool) -> None:
    path = "/memories/list.txt"
    head = f"Here's the content of {path} with line numbers:\n"
    text = "one\ntwo\r\nthree  \n\u2028four\ntwo"
    await tool("create", path, file_text=text)
    shown = ["     1\tone", "     2\ttwo\r", "     3\tthree  ", "     4\t\u2028four", "     5\ttwo"]
    assert await tool("view", path) == head + "\n".join(shown)
    for given, part in {
        (2, 3): shown[1:3],
        (4, -1): shown[3:],
        (0, 99): shown,
        (5, 5): shown[4:],
    }.items():
        assert await tool("view", path, view_range=list(given)) == head + "\n".join(part)
    for wrong in ([3, 2], [6, 9], [1]):
        said = await tool.refusal("view", path, view_range=wrong)
        assert said.startswith(f"Error: Invalid `view_range` parameter: {wrong}.")
        assert said.endswith("[1, 5]")
    assert await tool.refusal("str_replace", path, old_str="two", new_str="2") == (
        "No replacement was performed. Multiple occurrences of old_str `two` in lines: 2, 5. "
        "Please ensure it is unique"
    )
    for none in ("six", ""):
        assert await tool.refusal("str_replace", path, old_str=none, new_str="6") == (
            f"No replacement was performed, old_str `{none}` did not appear verbatim in {path}."
        )
    assert await tool("str_replace", path, old_str="three  \n", new_str="3\n3\n") == (
        "The memory file has been edited.\n"
        "     1\tone\n     2\ttwo\r\n     3\t3\n     4\t3\n     5\t\u2028four\n     6\ttwo"
    )
    for at in (-1, 7):
        assert await tool.refusal("insert", path, insert_line=at, insert_text="x") == (
            f"Error: Invalid `insert_line` parameter: {at}. It should be within the range of lines "
            "of the file: [0, 6]"
        )
    assert await tool("insert", path, insert_line=6, insert_text="seven") == (
        f"The file {path} has been edited."
    )
    await tool("insert", path, insert_line=0, insert_text="zero")
    await tool("insert", path, insert_line=1, insert_text="half\n")
    await tool("insert", path, insert_line=9, insert_text="end\n")
    files = await tool.tool._client.facts_list(subject=path)
    assert files.items[0].content == "zero\nhalf\none\ntwo\r\n3\n3\n\u2028four\ntwo\nseven\nend\n"


async def test_what_cannot_be_done_is_said_as_documented(tool: Tool) -> None:
    await tool("create", "/memories/Plan.md", file_text="plan")
    await tool("create", "/memories/home/garden.md", file_text="trees")
    exists = "Error: File {} already exists"
    for path in ("/memories/Plan.md", "/memories/plan.MD", "/memories/home", "/memories"):
        assert await tool.refusal("create", path, file_text="new") == exists.format(path)
    assert await tool.refusal("create", "/memories/plan.md/x", file_text="new") == (
        "Error: /memories/Plan.md is a file, no folder"
    )
    none = "/memories/none.md"
    assert await tool.refusal("view", none) == (
        f"The path {none} does not exist. Please provide a valid path."
    )
    for path in (none, "/memories/home"):
        assert await tool.refusal("str_replace", path, old_str="a", new_str="b") == (
            f"Error: The path {path} does not exist. Please provide a valid path."
        )
        assert await tool.refusal("insert", path, insert_line=0, insert_text="a") == (
            f"Error: The path {path} does not exist"
        )
    assert await tool.refusal("delete", none) == f"Error: The path {none} does not exist"
    assert "cannot be deleted" in await tool.refusal("delete", "/memories")

    async def move(old: str, new: str) -> str:
        return await tool("rename", old_path=f"/memories/{old}", new_path=f"/memories/{new}")

    async def no_move(old: str, new: str) -> str:
        with pytest.raises(ToolError) as told:
            await move(old, new)
        return str(told.value)

    assert await no_move("none.md", "x") == f"Error: The path {none} does not exist"
    assert (
        await no_move("Plan.md", "home") == "Error: The destination /memories/home already exists"
    )
    assert await no_move("home", "plan.md") == (
        "Error: The destination /memories/plan.md already exists"
    )
    assert await no_move("home", "home/inner") == (
        "Error: /memories/home cannot be moved into itself"
    )
    assert await no_move("home", "") == "Error: /memories itself cannot be renamed"
    assert await move("Plan.md", "plan.md") == (
        "Successfully renamed /memories/Plan.md to /memories/plan.md"
    )
    await tool("create", "/memories/home/roof.md", file_text="tiles")
    await move("home", "house/now")
    assert (await tool("view", "/memories/house/now/roof.md")).endswith("     1\ttiles")
    await tool("delete", "/memories/house")
    assert [one.subject for one in (await tool.tool._client.facts_list()).items] == [
        "/memories/plan.md"
    ]
    await tool("create", "/memories/house/now/roof.md", file_text="slate")


async def test_a_folder_is_renamed_as_one_or_not_at_all(
    tool: Tool, memory: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("a.md", "b.md", "home/a.md")
    for name in names:
        await tool("create", f"/memories/home/{name}", file_text=name)

    async def paths() -> set[str]:
        listed = await tool.tool._client.facts_list()
        return {one.subject.removeprefix("/memories/") for one in listed.items}

    before = {f"home/{name}" for name in names}
    calls, replace_fact = iter(range(2)), writing.replace_fact

    async def fails(*given: Any) -> None:
        if next(calls) == 1:
            raise ConnectionError("the server was killed")
        await replace_fact(*given)

    with monkeypatch.context() as patched:
        patched.setattr(edits, "replace_fact", fails)
        await tool.refusal("rename", old_path="/memories/home", new_path="/memories/house")
    assert await paths() == before
    for old, new in (("home", "house"), ("house", "deep/house"), ("deep/house", "deep/er")):
        await tool("rename", old_path=f"/memories/{old}", new_path=f"/memories/{new}")
    assert await paths() == {f"deep/er/{name}" for name in names}
    await undo_change(memory, principal, anybody=True)
    assert await paths() == {f"deep/house/{name}" for name in names}


async def test_a_folder_moves_up_over_its_own_names(tool: Tool) -> None:
    for name in ("a/b/x.md", "a/b/b/x.md"):
        await tool("create", f"/memories/{name}", file_text=name)
    await tool("rename", old_path="/memories/a/b", new_path="/memories/a")
    assert (await tool("view", "/memories/a/x.md")).endswith("a/b/x.md")
    assert (await tool("view", "/memories/a/b/x.md")).endswith("a/b/b/x.md")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/etc/passwd",
        "memories/a",
        "/memoriesx/a",
        "/memories/../etc/passwd",
        "/memories/a/../../b",
        "/memories/./a",
        "/memories//a",
        "/memories/..\\..\\a",
        "/memories/%2e%2E/a",
        "/memories/a%2Fb",
        "/memories/a\nb",
        "/memories/a  b",
        "/memories/a ",
        "/memories/a\0",
        "/memories/a\u200bb",
        "/memories/" + "x" * 1_000,
    ],
)
async def test_a_path_that_leaves_the_folder_is_refused(tool: Tool, path: str) -> None:
    given = {"path": path, "old_path": path, "new_path": "/memories/b", "file_text": "x"}
    given |= {"old_str": "a", "new_str": "b"}
    for command in ("view", "create", "str_replace", "insert", "delete", "rename"):
        with pytest.raises(ToolError, match="path"):
            await tool.tool.call({"command": command, **given, "insert_line": 0, "insert_text": ""})
    with pytest.raises(ToolError, match="path"):
        await tool.tool.call({"command": "rename", "old_path": "/memories/a", "new_path": path})


async def test_files_are_an_agents_word_and_every_version_can_be_undone(
    tool: Tool, memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    path = "/memories/user.md"
    await tool("create", path, file_text="The user said: I am allergic to nuts.")
    await tool("str_replace", path, old_str="nuts", new_str="nothing")
    rows = await admin.fetch("SELECT * FROM facts ORDER BY created_at")
    assert [(row["validity"], row["content"][-8:]) for row in rows] == [
        ("superseded", "to nuts."),
        ("active", "nothing."),
    ]
    labels = [one.trust for one in (await tool.tool._client.facts_list(validity="all")).items]
    assert labels == ["agent_inferred"] * 2
    assert {row["permanence"] for row in rows} == {"permanent"}
    await undo_change(memory, principal, anybody=True)
    assert (await tool("view", path)).endswith("allergic to nuts.")
    clock.advance(minutes=1)
    await tool("delete", path)
    assert await recall(memory, principal, "allergic to nuts") == []
    await undo_change(memory, principal, anybody=True)
    assert (await tool("view", path)).endswith("allergic to nuts.")


async def test_a_file_that_changed_meanwhile_stays(tool: Tool, client: MemoryClient) -> None:
    path = "/memories/shared.md"
    await tool("create", path, file_text="one")
    run = client.run

    async def slow(operation: str, given: dict[str, Any]) -> dict[str, Any]:
        answer = await run(operation, given)
        if operation == "fact_look":
            await run("fact_edit", {"fact_id": given["fact_id"], "content": "two"})
        return answer

    client.run = slow  # type: ignore[method-assign]
    assert await tool.refusal("str_replace", path, old_str="one", new_str="1") == (
        "Error: the file was changed meanwhile; view it, and try again"
    )
    client.run = run  # type: ignore[method-assign]
    assert (await tool("view", path)).endswith("     1\ttwo")


async def test_what_is_too_much_empty_or_secret_is_told(
    tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = "/memories/a.md"
    for blank in ("", " \n"):
        assert "no empty file" in await tool.refusal("create", path, file_text=blank)
    assert "65,536" in await tool.refusal("create", path, file_text="x" * 65_537)
    said = await tool("create", path, file_text="password: hunter2-Zq9!\n")
    assert said.startswith(
        f"File created successfully at: {path}\nMasked before it was stored: 1 × password."
    )
    assert (await tool("view", path)).endswith("     1\tpassword: [masked: password]")
    said = await tool("insert", path, insert_line=1, insert_text="password: other-Zq9!")
    assert "Masked before it was stored" in said
    assert "no empty file" in await tool.refusal(
        "str_replace", path, old_str="password: [masked: password]\n" * 2, new_str=""
    )
    monkeypatch.setattr(door, "MAX_FILES", 2)
    await tool("create", "/memories/b.md", file_text="b")
    assert "cannot have more" in await tool.refusal("create", "/memories/c.md", file_text="c")


async def test_files_are_listed_page_by_page(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "MAX_LIMIT", 2)
    for name in "edcba":
        await tool("create", f"/memories/{name}", file_text=name)
    lines = (await tool("view", "/memories")).splitlines()
    assert lines[2:] == [f"1B\t/memories/{name}" for name in "abcde"]


async def test_tenants_and_butlers_see_their_own_files(served: Served) -> None:
    path = "/memories/a.md"
    served = served.bearing(await served.make_token("other"))
    async with (
        MemoryClient.connect(served.url) as ours,
        MemoryClient.connect(served.url, token=served.token) as theirs,
    ):
        tools = [Tool(ours), Tool(theirs), Tool(ours, butler="concierge")]
        for place, one in enumerate(tools):
            await one("create", path, file_text=f"file {place}")
        for place, one in enumerate(tools):
            assert (await one("view", path)).endswith(f"file {place}")
            await one("delete", path)
            assert (await one("view", "/memories")).endswith(f"{HEAD}\n0B\t/memories")
