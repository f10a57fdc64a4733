"""The command line as a whole: its help, its speed, its exit codes, its page in docs/."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.installation import COMMAND, SECONDS, Installation
from cli_reference import commands_of, render_cli_reference
from long_profile import by_day
from memory_butler import __version__
from memory_butler.__main__ import ADDITIONS
from memory_butler.engine import opening
from memory_butler.surfaces.cli.problems import exit_codes
from memory_butler.surfaces.cli.program import build
from memory_butler.surfaces.errors import BY_CODE

DOCS = Path(__file__).parents[2] / "docs"

# Each costs a tenth of a second or more.
HEAVY = (
    "alembic",
    "asyncpg",
    "fastapi",
    "mcp",
    "memory_butler.config",
    "numpy",
    "onnxruntime",
    "pydantic",
    "structlog",
    "uvicorn",
)


async def _nobody(*_: Any) -> None:
    pass


# These look at no memory, at one of their own, or at those of all tenants.
NO_TENANTS = {
    (name,)
    for name in (
        *("version", "verify", "demo", "doctor", "reembed", "reindex-words"),
        *("backup", "restore-backup", "distribute"),
    )
}
COMMANDS = [words for words, _ in commands_of(build(_nobody, *ADDITIONS).whole())]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_renders(
    installation: Installation, words: tuple[str, ...]
) -> None:
    shown = installation.inside(*words, "--help").out
    assert f"memory-butler {' '.join(words)}" in shown
    of_a_tenant = words not in NO_TENANTS and words[0] not in {"butler", "keys", "index", "db"}
    assert ("--tenant" in shown) is of_a_tenant


def test_the_help_shows_commands_and_exit_codes(installation: Installation) -> None:
    shown = " ".join(installation.run("--help").out.split())
    assert all(words[0] in shown for words in COMMANDS)
    assert {one.exit_code for one in BY_CODE.values()} <= dict(exit_codes()).keys()
    for code, title in exit_codes():
        assert f"{code} {title.lower()}" in shown
    # As `audit`, `pull` and `--check` do.
    assert dict(exit_codes())[1] == "Internal error (or a check found something)"


def test_the_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from memory_butler.__main__ import main\n"
        "try: main()\n"
        f"except SystemExit: print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("command", ["facts", "rules", "inbox"])
def test_a_command_that_embeds_nothing_imports_its_own_operation_alone(
    installation: Installation, tmp_path: Path, command: str
) -> None:
    elsewhere = [
        *("numpy", "onnxruntime", "fastapi", "mcp", "memory_butler.operations.registry"),
        # What stands for itself in the time of a command: for logs, the environment, tables, what
        # is sealed, what is stored, models.
        *("structlog", "pydantic_settings", "rich", "cryptography"),
        "memory_butler.domain.secret_shapes",
        "memory_butler.inference.language_models.choose",
        # For /metrics, for commands that have no operation.
        *("prometheus_client", "memory_butler.surfaces.cli.by_hand"),
    ]
    if command != "inbox":  # which knows of conflicts
        elsewhere += ["memory_butler.store.search", "memory_butler.engine.writing"]
    given = installation.environment()
    # In a file, because variables of ours bring the library that reads them.
    settings = tmp_path / "butler.toml"
    settings.write_text(
        "[server]\n"
        f"data_dir = {json.dumps(given['MEMORY_BUTLER_DATA_DIR'])}\n"
        f"cluster_root = {json.dumps(given['MEMORY_BUTLER_CLUSTER_ROOT'])}\n"
    )
    script = (
        "import sys\n"
        "from memory_butler.__main__ import main\n"
        "try: main()\n"
        f"except SystemExit: print([name for name in {elsewhere!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, command, "--json", "--config", str(settings)],
        env={name: one for name, one in given.items() if not name.startswith("MEMORY_BUTLER_")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"items"' in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_page_is_current() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert page == render_cli_reference(*ADDITIONS), "run `make docs`"


def test_the_version(installation: Installation) -> None:
    assert installation.run("version").out == f"memory-butler {__version__}\n"
    assert installation.inside("--version").out == f"memory-butler {__version__}\n"


def test_exit_codes(installation: Installation, tmp_path: Path) -> None:
    assert "No such command" in installation.inside("frobnicate", code=2).err
    assert "Did you mean 'recall'" in installation.inside("recal", code=2).err
    assert installation.run("get", "fact", "x", code=3).err.startswith("error: memory_id")
    unreachable = "postgresql://a:b@127.0.0.1:1/c"
    assert "cannot be reached" in installation.run("stats", "--dsn", unreachable, code=7).err
    nowhere = str(tmp_path / "none.toml")
    assert (
        "no such configuration file"
        in installation.inside("stats", "--config", nowhere, code=8).err
    )


@pytest.mark.parametrize("closed", by_day(("<&-", ">&-", "2>&-", "<&- >&- 2>&-"), "<&- >&- 2>&-"))
def test_a_closed_stream_leads_nowhere(
    installation: Installation, tenant: str, closed: str
) -> None:
    said = f"{COMMAND} store-rule - --tenant {tenant} <<< 'Be brief' {closed}"
    done = subprocess.run(
        ["bash", "-c", said], env=installation.environment(), capture_output=True, text=True
    )
    # Without an input there is nothing to store.
    assert done.returncode == (3 if "<&-" in closed else 0), done.stderr
    assert "bug" not in done.stderr


def test_ctrl_c_before_the_command_is_there_says_nothing() -> None:
    script = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'memory_butler.surfaces.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from memory_butler.__main__ import main"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


@pytest.mark.parametrize(
    "made",
    by_day(
        ("init-*/data/global/pg_control", "data/postmaster.pid"), "init-*/data/global/pg_control"
    ),
)
def test_ctrl_c_while_the_database_is_made_is_no_failure(empty_folder: Path, made: str) -> None:
    """A terminal sends it to every process of the command, those of PostgreSQL among them."""
    own = Installation(empty_folder / f"interrupted-{Path(made).name}")
    own.folder.mkdir(mode=0o755)
    process = own.start("store-fact", "user", "likes", "tea", start_new_session=True)
    deadline = time.monotonic() + SECONDS
    while not (found := list(own.folder.glob(f"**/{made}"))) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert found
    assert (process.returncode, out, err) == (130, "", "")
    own.apart("store-fact", "user", "likes", "tea")


def test_an_encoding_that_lacks_a_letter(installation: Installation, tenant: str) -> None:
    installation.inside("store-fact", "Ана", "город", "Живёт в Москве", "--tenant", tenant)
    latin = replace(installation, extra={"PYTHONIOENCODING": "latin-1"})
    assert r"\u0410\u043d\u0430" in latin.apart("facts", "--tenant", tenant).out
    # JSON is in UTF-8, whatever the terminal's encoding.
    assert "Живёт в Москве" in latin.apart("export", "-", "--tenant", tenant).out


def test_times_say_that_they_are_in_utc(installation: Installation, tenant: str) -> None:
    installation.inside("store-fact", "user", "drink", "Oolong", "--tenant", tenant)
    installation.inside("store-episode", "Had tea", "--butler", "host", "--tenant", tenant)
    installation.inside("context", "tea", "host", "--tenant", tenant)
    for command in (["events"], ["jobs"], ["episodes"], ["contexts"], ["butlers"]):
        assert " (UTC) " in installation.inside(*command, "--tenant", tenant).out, command


def test_a_text_that_the_shell_splits_or_takes_for_an_option(installation: Installation) -> None:
    def refused(*words: str) -> str:
        return " ".join(installation.inside(*words, code=2).err.replace("│", " ").split())

    assert "Put a text of several words in quotes." in refused("recall", "what", "she", "likes")
    for words in (("recall",), ("store-fact", "user", "note")):
        assert "begins with a dash: -- '-5 degrees'" in refused(*words, "-5 degrees")
        assert "begins with a dash: -- '--- cut ---'" in refused(*words, "--- cut ---")
    assert "dash" not in refused("recall", "tea", "--limt", "3")
    # A list takes no text.
    assert "quotes" not in refused("events", "tea")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_every_locale(
    installation: Installation, tenant: str, encoding: str
) -> None:
    said = "Trinkt Tee für zwei 🍵"
    installation.inside("store-fact", "user", "drink", said, "--tenant", tenant)
    other = replace(installation, extra={"PYTHONIOENCODING": encoding})
    reading = other.start("facts", "--json", "--tenant", tenant, encoding="utf-8")
    assert said in str(json.loads(reading.communicate(timeout=60)[0]))
    assert said in str(other.apart("recall", "Tee", "--json", "--tenant", tenant).json)


def test_a_bug_is_one_line_and_a_traceback_when_asked_for(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("secret content")

    monkeypatch.setattr(opening, "open_memory", broken)
    told = installation.inside("stats", code=1).err
    assert told.startswith("bug: KeyError")
    assert told.count("\n") == 1
    assert "secret" not in told
    assert "Traceback" in installation.inside("stats", "--debug", code=1).err
