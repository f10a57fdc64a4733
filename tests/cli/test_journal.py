"""`memory-butler journal`: a stranger talks, quits, comes back, and is remembered."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cli.installation import COMMAND, SECONDS, Installation
from dashboard.talker import Talker, talker
from forking import forked
from memory_butler.__main__ import main
from memory_butler.journal import importing
from memory_butler.journal.conversation import answering
from memory_butler.journal.file import JournalFile
from memory_butler.journal.introduction import Introduction, introduce, introduction_of
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.tags import ShownPiece
from memory_butler.journal_config import JournalConfig
from memory_butler.surfaces.cli.journal.chat import _Talk
from memory_butler.surfaces.cli.journal.terminal import Writing

# Written by hand, in place of a model's replies.
FIRST_DAY = """\
They are friendly. <say>Good morning, Ana!</say><do>waves</do>
<feeling>glad</feeling><secret>a lantern for Ana</secret>
---
<say>I will remember.</say><pin>Ana likes green tea</pin>
"""
NEXT_DAY = """\
<say>You like green tea.</say>
"""
RUN = """\
{"put": [{"key": "ana", "ambient": "Ana, who likes green tea.", "sources": ["M1"]}]}
"""


@pytest.fixture
def home(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def script(home: Installation, text: str) -> str:
    path = home.folder / "script.txt"
    path.write_text(text)
    return str(path)


def test_one_who_comes_back_is_remembered(home: Installation) -> None:
    said = home.run(
        "journal",
        "chat",
        "--script",
        script(home, FIRST_DAY),
        stdin="Hello, I am Ana <plan>water the garden tomorrow at 9am</plan>\n"
        "I like green tea.\n/quit\nnever read\n",
    )
    assert said.out == (
        "assistant: Good morning, Ana!\nassistant does: waves\nassistant: I will remember.\n"
    )
    assert "default: 0 messages. Model: scripted." in said.err
    # Nothing but the journal was made: no database server was started.
    assert [one.name for one in home.data_dir.iterdir()] == ["journal"]
    again = home.inside(
        "journal", "chat", "--script", script(home, NEXT_DAY), stdin="What do I like to drink?\n"
    )
    assert "default: 4 messages, the last on" in again.err
    # What was said last is shown; then the answer.
    assert "user: I like green tea.\n" in again.out
    assert again.out.endswith("assistant: You like green tea.\n")
    assert "lantern" not in again.out
    # And the model was told all of it.
    prompt = home.inside("journal", "assemble").out
    for known in ("water the garden", "Ana likes green tea", "assistant: Good morning, Ana!"):
        assert known in prompt


def test_late_plans_and_what_was_said_meanwhile_greet_one_who_comes_back(
    home: Installation,
) -> None:
    then = datetime.now(UTC) - timedelta(days=9)
    with JournalFile.open(home.data_dir, "default", "default") as file:
        LiveJournal(file, now=lambda: then).log("Hello. <plan>pay the rent tomorrow</plan>", "user")
        alone = LiveJournal(file, now=lambda: then + timedelta(days=3))
        for number in range(6):
            alone.log(f"They are away. <say>Heron {number}.</say>", "assistant")
    said = home.inside("journal", "chat", "--script", script(home, NEXT_DAY), stdin="Hm.\n")
    assert "Hello." in said.out.splitlines()[0]
    assert [one for one in said.out.splitlines() if "Heron" in one] == [
        f"assistant: Heron {number}." for number in range(6)
    ]
    assert "(overdue: pay the rent tomorrow (due " in said.err


def test_the_list_of_what_is_on_its_mind_says_whom_a_description_is_of(home: Installation) -> None:
    kept = '<desc subject="Jonas">distant since Saturday</desc>'
    home.inside("journal", "chat", stdin=f"He is odd. {kept}\n")
    assert "jonas: distant since Saturday" in home.inside("journal", "mind").out


def test_a_damaged_journal_is_named_and_the_others_are_listed(home: Installation) -> None:
    home.inside("journal", "chat", "--script", script(home, NEXT_DAY), stdin="Hello\n")
    (home.data_dir / "journal" / "default" / "ada.sqlite").write_bytes(b"rubbish" * 1_000)
    listed = home.inside("journal", "list")
    assert "default" in listed.out
    assert "ada: ada.sqlite is no SQLite file; move it out of the way" in listed.err
    listed_as_json = home.inside("journal", "list", "--json").json["companions"]
    found = {one["name"]: one for one in listed_as_json}
    assert found["default"]["events"] == 2
    assert "no SQLite file" in found["ada"]["problem"]


def test_the_page_shows_what_a_conversation_is_like(home: Installation) -> None:
    """docs/journal.md: what is said there is what the program says."""
    page = (Path(__file__).parents[2] / "docs" / "journal.md").read_text("utf-8")

    def block(mark: str) -> str:
        found = re.search(rf"<!-- {mark} -->\n```text\n(.*?)```", page, re.DOTALL)
        assert found is not None
        return found[1]

    talk = script(home, block("script"))
    said = home.inside("journal", "chat", "--script", talk, stdin=block("typed"))
    assert "\n".join(line.rstrip() for line in said.out.splitlines()) + "\n" == block("said")


def test_a_script_that_is_not_there_is_named_once(home: Installation) -> None:
    refused = home.inside("journal", "chat", "--script", "nofile", code=3).err
    assert refused == "error: nofile cannot be read: No such file or directory\n"


def test_plans_are_listed_apart_from_what_else_is_in_mind(home: Installation) -> None:
    typed = "/pin the wifi is called Heron\n/plans\n/remind buy milk tomorrow at 9\n"
    said = home.inside("journal", "chat", stdin=typed).out
    assert "Nothing is planned." in said
    planned, _, others = home.inside("journal", "plans").out.partition("Also on its mind")
    assert ("milk" in planned, "wifi" in planned) == (True, False)
    assert ("milk" in others, "wifi" in others) == (False, True)


def test_what_a_conversation_leaves_can_be_looked_at(home: Installation) -> None:
    talk = script(home, FIRST_DAY)
    home.inside("journal", "chat", "--script", talk, stdin="Hello <plan>sow beans</plan>\nhm\n")
    mind = home.inside("journal", "mind").out
    assert "sow beans" in mind
    assert "(secret)" in mind
    assert "lantern" not in mind
    assert "lantern" in home.inside("journal", "mind", "--secrets").out
    assert [
        one["content"] for one in home.inside("journal", "plans", "beans", "--json").json["items"]
    ] == ["sow beans"]
    receipt = home.inside("journal", "assemble", "--receipt").out
    assert "lingering" in receipt
    assert "1,500" in receipt
    assert home.inside("journal", "list", "--json").json["companions"][0]["events"] == 4
    missing = home.inside("journal", "recall", "ana", code=4)
    assert "there is no fragment 'ana'; nothing is compiled yet" in missing.err
    then = ("--known-at", "2020-01-01T00:00:00Z")
    assert home.inside("journal", "mind", *then).out == "Nothing.\n"
    assert "not a date" in home.inside("journal", "plans", "--known-at", "soon", code=3).err
    said = home.inside("journal", "mind", "--companion", "bob", code=4).err
    assert said == "error: no companion 'bob'; its first message creates it; there are: default\n"
    assert home.inside("journal", "list", "--tenant", "other").out.startswith("Nobody yet")
    later = "Later <plan>sow peas in two months</plan>\n"
    home.inside("journal", "chat", "--script", script(home, "<say>Yes.</say>"), stdin=later)
    assert home.inside("journal", "mind").out.count("set aside") == 1


def test_maintenance_shows_asks_and_can_be_taken_back(home: Installation) -> None:
    talk = script(home, FIRST_DAY)
    home.inside("journal", "chat", "--script", talk, stdin="I am Ana, I like green tea.\n")
    run = script(home, RUN)
    nobody = home.inside("journal", "maintain", "weekly", "--script", run, code=3)
    assert "rerun with --yes" in nobody.err
    dry = home.inside("journal", "maintain", "weekly", "--dry-run", "--script", run)
    assert "+ ana.ambient: Ana, who likes green tea.\n" in dry.out
    assert dry.out.endswith("Nothing was changed.\n")
    done = home.inside("journal", "maintain", "bootstrap", "--yes", "--script", run)
    assert done.out.endswith("Run 1 is done; `memory-butler journal undo 1` takes it back.\n")
    assert "Ana, who likes green tea." in home.inside("journal", "recall", "ana").out
    assert "[ana] Ana, who likes green tea." in home.inside("journal", "assemble").out
    assert "0 messages are not compiled yet." in home.inside("journal", "runs").out
    assert "+ ana.ambient" in home.inside("journal", "runs", "1").out
    assert "`memory-butler journal runs`" in home.inside("journal", "undo", "9", code=4).err
    assert "- ana.ambient" in home.inside("journal", "undo", "1").out
    assert home.inside("journal", "runs", "--json").json["unread"] == 2
    wrong = home.inside("journal", "maintain", "daily", "--yes", "--script", run, code=3)
    assert "weekly, monthly, manual" in wrong.err


def test_a_former_conversation_is_imported_once(home: Installation) -> None:
    lines = [
        {"actor": "user", "content": "Hello", "ts": "2025-01-01T09:00:00+00:00"},
        {"actor": "assistant", "content": "<say>Hi</say>", "ts": "2025-01-01T09:00:05+00:00"},
    ]
    path = home.folder / "old.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    ana = home.inside("journal", "import", str(path), "--companion", "ana", "--tenant", "home").out
    assert "`memory-butler journal maintain bootstrap --companion ana --tenant home`" in ana
    assert "Imported 2 messages." in home.inside("journal", "import", str(path)).out
    assert "Imported 0 messages" in home.inside("journal", "import", str(path)).out


def test_who_interrupts_an_import_is_told_that_it_goes_on(
    home: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importing, "import_lines", interrupted)
    path = tmp_path / "talk.jsonl"
    path.write_text('{"actor": "user", "content": "Hello"}')
    said = home.inside("journal", "import", str(path), code=130).err
    assert "The same command again goes on where it stopped" in said


def test_an_export_of_ones_own_brings_plans_back(home: Installation, tmp_path: Path) -> None:
    luna, moved = ("--companion", "luna"), ("--companion", "moved")
    at = "2026-03-14T09:00:00+00:00"
    plan = {"type": "plan", "content": "call Ana", "status": "active", "due": at}
    line = {"ts": at, "actor": "user", "content": "<plan>call Ana on 14 March</plan>"}
    path, out = tmp_path / "talk.jsonl", tmp_path / "out.jsonl"
    path.write_text(json.dumps(line | {"kept": [plan | {"created_at": at, "refreshed_at": at}]}))
    said = home.inside("journal", "import", str(path), *luna).out
    assert said.splitlines()[1] == "1 thing is on its mind again: plans, pins and the like."
    home.inside("journal", "export", str(out), *luna)
    home.inside("journal", "import", str(out), *moved)
    (found,) = home.inside("journal", "plans", *moved, "--json").json["items"]
    assert (found["content"], found["due"][:10]) == ("call Ana", "2026-03-14")


def test_without_a_model_it_keeps_what_is_said_and_says_what_to_set(home: Installation) -> None:
    told = home.inside("journal", "chat", stdin="Hello <pin>tea</pin>\n/mind\n/retry\n")
    assert "Your messages are kept, nobody answers, and upkeep is off: no language" in told.err
    assert "Set ANTHROPIC_API_KEY or OPENAI_API_KEY" in told.err
    assert "--model" in told.err
    assert "tea" in told.out
    assert "assistant" not in told.out
    wrong = home.inside("journal", "chat", "--model", "nobody:x", stdin="Hello\n", code=8)
    assert "kept" not in wrong.err


def test_a_model_that_fails_costs_no_message(home: Installation) -> None:
    talk = script(home, "<say>one</say>\n")
    said = home.inside(
        "journal", "chat", "--script", talk, stdin="first\nsecond\n/retry\n/x\n/help\n"
    )
    assert "Your message is kept; /retry asks again." in said.err
    assert "There is no /x" in said.err
    assert "/prompt" in said.out
    with JournalFile.open(home.data_dir, "default", "default") as file:
        contents = [event.content for event in LiveJournal(file).events()]
    assert contents == ["first", "<say>one</say>", "second"]


def test_retry_answers_a_message_that_another_window_came_before(
    home: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def typed() -> Iterator[str | None]:
        with JournalFile.open(home.data_dir, "default", "default") as other:
            with answering(other):
                yield "Who feeds the cat?"
            LiveJournal(other).log("<say>An answer in the other window.</say>", "assistant")
        yield from ("/retry", "/retry", None)

    lines = typed()
    monkeypatch.setattr("memory_butler.surfaces.cli.journal.chat.asked", lambda: next(lines))
    said = home.inside("journal", "chat", "--script", script(home, "<say>Bo does.</say>\n"))
    assert "a reply is being written in another window" in said.err
    assert said.out.endswith("assistant: Bo does.\n")
    assert said.err.count("answered already") == 1


def test_a_reply_is_logged_once_and_beside_a_tag_it_is_shown(home: Installation) -> None:
    talk = script(home, "Noted! <pin>Ana likes tea</pin>\n---\n<say>Never given.</say>\n")
    said = home.inside("journal", "chat", "--script", talk, stdin="I like tea\n/retry\n")
    assert said.out == "assistant: Noted!\n"
    assert "(kept pin: Ana likes tea)" in said.err
    assert "answered already" in said.err
    assert "says nothing aloud" not in said.err


def test_what_a_reply_looks_up_is_answered_in_the_same_turn(home: Installation) -> None:
    talk = script(home, 'Let me see. plans("roses")\n---\n<say>On friday.</say>\n')
    said = home.inside(
        "journal", "chat", "--script", talk, stdin="<plan>prune the roses on friday</plan> When?\n"
    )
    assert said.out == "assistant: On friday.\n"
    assert '(looked up: plans(topic="roses"))' in said.err
    assert "(kept plan: prune the roses on friday, due Friday, " in said.err


def test_things_can_be_kept_and_found_without_an_answer(home: Installation) -> None:
    said = home.inside(
        "journal",
        "chat",
        "--script",
        script(home, NEXT_DAY),
        stdin="/pin the key is under the pot\n/remind call Bo tomorrow at 9am\n/pin\n"
        "We planted roses.\n/search rose\n/search submarine\n",
    )
    assert "(kept pin: the key is under the pot)" in said.err
    assert re.search(r"\(kept plan: call Bo tomorrow at 9am, due \w+, .* 09:00\)", said.err)
    assert "Say what" in said.err
    assert "user: We planted roses.\nassistant: You like green tea.\n" in said.out
    assert "message 3" in said.err
    assert "Nothing was found." in said.err
    found = home.inside("journal", "search", "planting a rose", "--limit", "1")
    assert found.out == "user: We planted roses.\nassistant: You like green tea.\n"
    (one,) = json.loads(home.inside("journal", "search", "rose", "--json").out)["found"]
    assert (one["event"]["id"], one["before"]["id"], one["after"]["id"]) == (3, 2, 4)


def test_what_is_left_out_of_a_command_is_asked_for(home: Installation) -> None:
    said = home.inside(
        "journal",
        "chat",
        "--script",
        script(home, "plan>done\n<say>Hello!</say>"),
        stdin="/retry\nHello\n/recall\n/search\n/remind stand up tomorrow at 9\n/retry\n",
    )
    assert "There is nothing to answer." in said.err
    assert "(plan>done: no active plan; nothing was changed)" in said.err
    assert "such as /recall garden" in said.err
    assert "such as /search old roses" in said.err
    # What only keeps something asks for no answer: the script has one reply.
    assert "Your last message is answered already" in said.err
    assert said.out == "assistant: Hello!\n"


def test_a_secret_that_is_typed_is_masked_before_it_is_kept(home: Installation) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    said = home.inside(
        "journal",
        "chat",
        "--script",
        script(home, NEXT_DAY),
        stdin=f"I push with {token}.\n/pin the token {token}\n/edit token\nit is {token}\n/mind\n",
    )
    masked = "Masked before it was stored: 1 × GitHub token."
    assert said.err.count(f"({masked})") == 2
    assert said.err.count(f"({masked} /keep says it again as it was.)") == 1
    assert "pin: it is [masked: GitHub token, …q7R8]" in said.err
    whole = b"".join(path.read_bytes() for path in home.data_dir.rglob("default.sqlite*"))
    assert b"[masked: GitHub token" in whole
    assert token.encode() not in whole


def test_what_was_masked_is_kept_when_one_asks_for_it(home: Installation) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    talk = f"I push with {token}.\n/keep\n/keep\n"
    said = home.inside("journal", "chat", "--script", script(home, NEXT_DAY), stdin=talk)
    assert "(Stored as it is, and marked: 1 × GitHub token.)" in said.err
    assert "Nothing of your last message was masked." in said.err
    with JournalFile.open(home.data_dir, "default", "default") as file:
        typed = [one.content for one in LiveJournal(file).events() if one.actor == "user"]
    assert typed == ["I push with [masked: GitHub token, …q7R8].", f"I push with {token}."]


def test_what_was_kept_is_taken_back_dropped_and_changed(home: Installation) -> None:
    talk = script(home, "<say>Kept.</say><pin>Ana likes green tea</pin>\n---\n<say>Well.</say>\n")
    said = home.inside(
        "journal",
        "chat",
        "--script",
        talk,
        stdin="I like green tea.\n/undo\n/undo\n/pin Ana likes green tea\n"
        "/edit tea\nAna likes black tea\n/edit black\n\n/undo\n/remind buy tea\n/forget tea\n"
        "/forget green tea\n/forget submarine\n/forget\n/mind\n/edit buy\n<pin>x</pin>\n/mind\n",
    )
    told = said.err.splitlines()
    assert [one for one in told if one.startswith("(")] == [
        "(kept pin: Ana likes green tea) /undo takes it back.",
        "(no longer kept pin: Ana likes green tea)",
        "(kept pin: Ana likes green tea)",
        "(no longer pin: Ana likes green tea; kept pin: Ana likes black tea)",
        "(no longer kept pin: Ana likes black tea; back in mind pin: Ana likes green tea)",
        "(kept plan: buy tea, without a date)",
        "(several are like this, nothing was changed; say which: "
        '"Ana likes green tea"; "buy tea"; /mind shows what is there)',
        "(forgotten pin: Ana likes green tea)",
        "(nothing on its mind is like this; /mind shows what is there)",
    ]
    for one in (
        "There is nothing to take back.",
        "Nothing was changed.",
        "Say which, by some of its words, such as /forget green tea. /mind shows all.",
    ):
        assert one in told
    assert "without tags" in said.err
    assert said.out.count("buy tea") == 2
    assert "green" not in said.out


def _at_terminal(terminal: str, words: tuple[str, ...], folder: Path) -> None:
    """Type a command at the terminal of that name, in a session of its own."""
    os.setsid()
    opened = os.open(terminal, os.O_RDWR)  # which makes it that of the session
    for stream in range(3):
        os.dup2(opened, stream)
    sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", closefd=False)
    os.chdir(folder)
    sys.argv = [str(COMMAND), *words]
    main()


class Terminal:
    """A process of its own at a real terminal, forked."""

    def __init__(self, home: Installation, *words: str, TERM: str = "dumb") -> None:
        self.master, self.slave = pty.openpty()
        environment = home.environment() | {"TERM": TERM}
        where = os.ttyname(self.slave)
        self.process = forked(_at_terminal, where, words, home.folder, environment=environment)
        self.seen = ""
        self.at = 0

    def expect(self, text: str, *, again: bool = False) -> None:
        """Wait for a text; `again`: after what was waited for last."""
        deadline = time.monotonic() + SECONDS
        start = self.at if again else 0
        while text not in self.seen[start:]:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} was not said: {self.seen}"
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.seen += os.read(self.master, 65_536).decode(errors="replace")
                except OSError:  # the other side is closed
                    assert text in self.seen[start:], self.seen
        self.at = self.seen.index(text, start) + len(text)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def signal(self, number: signal.Signals) -> None:
        assert self.process.process.pid is not None
        os.kill(self.process.process.pid, number)

    def interrupt(self) -> None:
        """Ctrl-C, and again for one that came in the moment before the line is waited for."""
        for _ in range(6):
            time.sleep(0.2)  # the prompt is written before that moment
            self.signal(signal.SIGINT)
            self.process.process.join(10)
            if self.process.process.exitcode is not None:
                return

    def stop(self) -> None:
        """End what a test has left."""
        if self.slave:
            self.process.kill()
            self.end()

    def end(self) -> int:
        self.process.process.join(SECONDS)
        code = self.process.process.exitcode
        assert code is not None, f"it still runs: {self.seen}"
        self.process.close()
        os.close(self.master)
        os.close(self.slave)
        self.slave = 0
        return code


@pytest.fixture
def terminal(home: Installation) -> Iterator[Terminal]:
    """A conversation at a terminal; it does not outlive the test."""
    terminal = Terminal(home, "journal", "chat", "--script", script(home, FIRST_DAY))
    # Whoever does not want to be asked is not.
    terminal.expect("Your name: ")
    terminal.type("\x04")
    yield terminal
    terminal.stop()


def test_a_pipe_without_a_message_makes_no_companion(home: Installation) -> None:
    talk = script(home, "<say>Yes.</say>")
    silent = home.inside("journal", "chat", "--script", talk, stdin="\n  \n")
    assert silent.err == "Nothing was said, so there is no companion yet.\n"
    assert not (home.data_dir / "journal").exists()
    assert home.inside("journal", "chat", "--script", talk, stdin="\nHello\n").out == (
        "assistant: Yes.\n"
    )


def test_who_says_nothing_at_all_makes_no_companion(home: Installation) -> None:
    talk = ("journal", "chat", "--script", script(home, FIRST_DAY))
    for answers in ("\x04\x04", "\x04/mind\n\x04"):
        terminal = Terminal(home, *talk)
        try:
            terminal.expect("Your name: ", again=True)
            terminal.type(answers[0])
            terminal.expect("> ", again=True)
            terminal.type(answers[1:])
            terminal.expect("Nothing was said, so there is no companion yet.", again=True)
            assert terminal.end() == 0
        finally:
            terminal.stop()
        assert home.inside("journal", "list").out.startswith("Nobody yet")
    # A name that was given, or a wake context that was written, is kept.
    terminal = Terminal(home, *talk)
    try:
        terminal.expect("Your name: ", again=True)
        terminal.type("Ana\n")
        terminal.expect("The companion's name", again=True)
        terminal.type("\x04")
        terminal.expect("> ", again=True)
        terminal.type("\x04")
        assert terminal.end() == 0
    finally:
        terminal.stop()
    assert [one["name"] for one in home.inside("journal", "list", "--json").json["companions"]] == [
        "default"
    ]


def test_an_export_of_an_encrypted_journal_says_that_it_is_not(home: Installation) -> None:
    talk = ("journal", "chat", "--script", script(home, FIRST_DAY))
    home.inside(*talk, "--companion", "plain", stdin="Hello\n")
    assert home.inside("journal", "export", "--companion", "plain").err == ""
    home.inside("keys", "init")
    home.inside(*talk, stdin="Hello\n")
    out = home.folder / "out.jsonl"
    done = home.inside("journal", "export", str(out))
    assert done.err == "The journal is encrypted; what is exported is not.\n"
    assert "Hello" in out.read_text()


def test_an_import_without_a_message_makes_no_companion(home: Installation) -> None:
    empty = home.folder / "empty.jsonl"
    empty.write_text("\n")
    assert home.inside("journal", "import", str(empty)).out == "Imported 0 messages.\n"
    assert home.inside("journal", "list").out.startswith("Nobody yet")


def test_where_there_is_no_journal_one_is_told_how_to_begin(home: Installation) -> None:
    said = home.inside("journal", "list", code=4).err
    assert said == (
        f"error: there is no journal in {home.data_dir}: name the folder with --data-dir or "
        "MEMORY_BUTLER_DATA_DIR, or begin one with `memory-butler journal chat`\n"
    )


def test_the_first_conversation_asks_who_is_there(home: Installation) -> None:
    terminal = Terminal(
        home, "journal", "chat", "--companion", "luna", "--script", script(home, FIRST_DAY)
    )
    try:
        terminal.expect("Your name: ", again=True)
        terminal.type("Ana\n")
        terminal.expect("The companion's name [Luna]: ", again=True)  # as its journal has it
        terminal.type("\n")
        terminal.expect("Your time zone [", again=True)
        terminal.type("Atlantis\n")
        terminal.expect("unknown time zone 'Atlantis'; example: Europe/Lisbon.", again=True)
        terminal.expect("Your time zone [", again=True)
        terminal.type("/mind\n")
        terminal.expect("Commands come after that.", again=True)
        terminal.expect("Your time zone [", again=True)
        terminal.type("tokyo\n")
        terminal.expect("warm and brief, in German", again=True)
        terminal.type("brief\n")
        terminal.expect("Who it is stands in", again=True)
        terminal.type("Hello <plan>sow beans tomorrow at 9am</plan>\n")
        terminal.expect("09:00", again=True)
        terminal.expect("Luna: Good morning, Ana!", again=True)
        terminal.expect("> ", again=True)
        terminal.type("\x04")
        assert terminal.end() == 0
    finally:
        terminal.stop()
    wake = (home.data_dir / "journal" / "default" / "luna" / "wake-context.md").read_text()
    assert wake.startswith(
        "Your name is Luna. You talk with Ana. How Ana wants you to talk: brief.\n\nYou are a"
    )
    # Every way in begins with the same.
    whose = ("--companion", "luna")
    prompt = home.inside("journal", "assemble", *whose).out
    assert prompt.startswith(wake.strip())
    assert "(JST)" in prompt
    assert "Luna: Good morning" in home.inside("journal", "chat", *whose).out
    items = home.inside("journal", "plans", *whose, "--json").json["items"]
    assert [one["due"][10:19] for one in items if one["due"]] == ["T00:00:00"]
    # Nobody is asked again, but may say it again.
    again = home.inside("journal", "chat", *whose, stdin="/self\n\nLuna Maria\n\n-\n")
    assert "A few questions" not in again.err
    assert "Who it is stands in" in again.err
    assert home.inside("journal", "assemble", *whose).out.startswith(
        "Your name is Luna Maria. You talk with Ana.\n\nYou are a companion"
    )


@pytest.mark.parametrize("leaving", ["\x04", "Ctrl-C", "/quit\n"])
def test_at_a_terminal_one_can_leave_in_every_way(terminal: Terminal, leaving: str) -> None:
    terminal.expect("> ")
    terminal.type("Hello, I am Ana\n")
    terminal.expect("Good morning, Ana!")
    terminal.expect("> ", again=True)
    if leaving == "Ctrl-C":
        terminal.interrupt()
    else:
        terminal.type(leaving)
    code = terminal.end()
    assert code == 0
    assert "Traceback" not in terminal.seen
    assert "lantern" not in terminal.seen


def test_a_pasted_poem_is_one_message(home: Installation, terminal: Terminal) -> None:
    terminal.expect("> ")
    terminal.type("Roses are red,\nviolets are blue,\nand that is that.\n")
    terminal.expect("Good morning, Ana!")
    terminal.expect("> ", again=True)
    terminal.type("\x04")
    terminal.end()
    with JournalFile.open(home.data_dir, "default", "default") as file:
        contents = [event.content for event in LiveJournal(file).events()]
    assert contents[0] == "Roses are red,\nviolets are blue,\nand that is that."
    assert len(contents) == 2


def test_commands_typed_ahead_are_done_one_after_another(
    home: Installation, terminal: Terminal
) -> None:
    terminal.expect("> ")
    terminal.type("/pin tea\n/undo\n/quit\n")
    terminal.expect("(kept pin: tea)")
    terminal.expect("(no longer kept pin: tea)")
    assert terminal.end() == 0
    # Whoever answered nothing goes on by the configuration.
    with JournalFile.open(home.data_dir, "default", "default") as file:
        assert introduction_of(file) == Introduction()


@pytest.fixture
def streaming(home: Installation) -> Iterator[tuple[Talker, Terminal]]:
    """A conversation at a terminal that can clear lines, with a model that streams."""
    with talker() as model, JournalFile.open(home.data_dir, "default", "default") as file:
        introduce(file, Introduction(user="Ana"), datetime.now(UTC))
        home.extra["MEMORY_BUTLER_MEMORY__CONSOLIDATION__BASE_URL"] = model.url
        terminal = Terminal(
            home, "journal", "chat", "--model", "openai:talker", TERM="xterm-256color"
        )
        yield model, terminal
        terminal.stop()


def test_a_reply_is_shown_while_it_is_written_and_kept_when_it_is_stopped(
    home: Installation, streaming: tuple[Talker, Terminal]
) -> None:
    model, terminal = streaming
    words = " ".join(f"word{number}" for number in range(200))
    model.replies = ["<say>Hello, Ana.</say><do>waves</do>", f"<say>{words}</say>"]
    terminal.expect("> ")
    terminal.type("Good morning\n")
    terminal.expect("thinking …")
    terminal.expect("Hello, Ana.\x1b[0m\r\n\x1b[3massistant does: waves\x1b[0m\r\n")
    assert terminal.seen.count("Hello, Ana.") == 1
    terminal.expect("> ", again=True)
    model.seconds_a_word = 0.2
    terminal.type("Count, please\n")
    terminal.expect("word2", again=True)
    assert "word9" not in terminal.seen
    terminal.signal(signal.SIGINT)
    terminal.expect("(stopped; what there was is kept)", again=True)
    terminal.expect("> ", again=True)
    terminal.type("/quit\n")
    assert terminal.end() == 0
    said = home.inside("journal", "export").out.splitlines()
    kept = json.loads(said[-1])["content"]
    assert kept.startswith("<say>word0 word1 word2")
    assert kept.endswith(" […]")
    assert "word199" not in kept


def test_a_draft_that_looks_something_up_goes_from_the_screen(
    streaming: tuple[Talker, Terminal],
) -> None:
    model, terminal = streaming
    model.replies = ['<say>Let me see.</say> search("roses")', "<say>You never said.</say>"]
    terminal.expect("> ")
    terminal.type("Where are the roses?\n")
    terminal.expect("assistant: Let me see.")
    # To the beginning of the line, and nothing left of it; then the sign again.
    terminal.expect("\x1b[0m\r\x1b[J", again=True)
    terminal.expect("thinking …", again=True)
    terminal.expect("assistant: You never said.\x1b[0m\r\n", again=True)
    terminal.expect('(looked up: search("roses"))', again=True)


def test_a_terminal_that_clears_nothing_gets_no_codes(
    home: Installation, terminal: Terminal
) -> None:
    terminal.expect("> ")
    terminal.type("Hello, I am Ana\n")
    terminal.expect("Good morning, Ana!")
    terminal.type("/quit\n")
    assert terminal.end() == 0
    # Line editing has its own.
    assert not re.search(r"\x1b\[\d*[mKJA]", terminal.seen)


def test_a_draft_that_has_left_the_window_is_told_to_be_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("memory_butler.surfaces.cli.journal.terminal._obeys", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "3")
    with Writing(lambda pieces: [(one.text, False) for one in pieces]) as writing:
        for lines in (3, 4):
            writing.show([ShownPiece("say", "word")] * lines)
            writing.show([])
            out = capsys.readouterr().out
            assert ("(draft taken back)" in out) is (lines > 3)
            assert ("\x1b[J" in out) is (lines <= 3)


def test_a_second_interrupt_ends_what_does_not_heed_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def heedless(*_: object, **_also: object) -> None:
        for _time in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.1)
        await asyncio.sleep(SECONDS)

    monkeypatch.setattr("memory_butler.journal.conversation.reply", heedless)
    memory = SimpleNamespace(journal=JournalConfig())
    talk: Any = SimpleNamespace(
        settings=SimpleNamespace(memory=memory),
        companion=SimpleNamespace(live=None, policy=None),
        memory=None,
    )
    model: Any = None
    writing: Any = SimpleNamespace(streams=False)
    stop = asyncio.Event()
    with asyncio.Runner() as runner, pytest.raises(asyncio.CancelledError):
        runner.run(_Talk._reply(talk, model, 1, writing, stop))
    assert stop.is_set()


def test_killed_in_the_middle_nothing_that_was_said_is_lost(
    home: Installation, terminal: Terminal
) -> None:
    terminal.expect("> ")
    terminal.type("Hello, I am Ana\n")
    terminal.expect("Good morning, Ana!")
    terminal.signal(signal.SIGKILL)
    terminal.end()
    with JournalFile.open(home.data_dir, "default", "default") as file:
        contents = [event.content for event in LiveJournal(file).events()]
    assert contents[0] == "Hello, I am Ana"
    assert "Good morning, Ana!" in contents[1]
    # Whoever comes back goes on from there.
    again = home.inside("journal", "chat", "--script", script(home, NEXT_DAY), stdin="And?\n")
    assert "assistant: You like green tea." in again.out


def test_a_journal_goes_in_out_and_away(home: Installation) -> None:
    chat = home.folder / "chat.jsonl"
    header = {"user_name": "Robin", "character_name": "Luna"}
    said = {"name": "Robin", "is_user": True, "mes": "Hello.", "send_date": "2024-07-05T17:20:00Z"}
    chat.write_text(f"{json.dumps(header)}\n{json.dumps(said)}\n")
    card = home.folder / "luna.json"
    card.write_text(
        json.dumps({"name": "Luna", "description": "{{char}} is calm.", "first_mes": "Welcome."})
    )
    luna = ("--companion", "luna")
    assert home.inside("journal", "import", str(chat), *luna).out.startswith("Imported 1 message.")
    became = home.inside("journal", "import", str(card), *luna).out
    assert became == "The companion luna is Luna now.\n"  # who has a log is greeted no more
    prompt = home.inside("journal", "assemble", *luna).out
    assert "Your name is Luna." in prompt
    assert "Luna is calm." in prompt

    lines = home.inside("journal", "export", *luna).out.splitlines()
    assert [json.loads(line)["content"] for line in lines] == ["Hello."]
    out = home.folder / "out.jsonl"
    assert home.inside("journal", "export", str(out), *luna).out == f"Wrote 1 message to {out}.\n"
    assert out.read_text().splitlines() == lines
    out.write_text("Mine.\n")
    refused = home.inside("journal", "export", str(out), *luna, code=3).err
    assert refused == f"error: {out} already exists; --force replaces it\n"
    assert out.read_text() == "Mine.\n"
    assert home.inside("journal", "export", str(out), "--force", *luna).out
    nowhere = home.inside("journal", "export", "/nowhere/x.jsonl", *luna, code=3).err
    assert "/nowhere/x.jsonl cannot be written" in nowhere
    assert out.read_text().splitlines() == lines
    other = ("--companion", "sol")
    assert home.inside("journal", "import", str(out), *other).out.startswith("Imported 1 message.")
    assert home.inside("journal", "export", *other).out.splitlines() == lines

    assert "rerun with --yes" in home.inside("journal", "delete", *luna, code=3).err
    gone = home.inside("journal", "delete", "--yes", *luna).out
    assert gone == "Deleted the journal of luna, 1 message.\n"
    assert "no companion" in home.inside("journal", "export", *luna, code=4).err
    assert len(home.inside("journal", "export", *other).out.splitlines()) == 1
