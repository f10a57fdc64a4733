"""Reading a butler's directory: what it holds, and what is said of mistakes."""

from pathlib import Path

import pytest

import memory_butler
from conftest import PRECISION
from memory_butler.config import KNOWN_IN, MemoryModuleConfig
from memory_butler.domain.errors import ConfigurationError
from memory_butler.engine.consolidation.prompt import skill
from memory_butler.engine.jobs.catalogue import BY_NAME
from memory_butler.host import roster
from memory_butler.host.agent import CLAUDE_CODE
from memory_butler.host.butler import MEMORY_URL, ButlerTable, DatabaseTable, read
from memory_butler.host.heartbeat_module import token_of
from memory_butler.host.modules import KNOWN, _make, _ordered
from memory_butler.host.prompt import system_prompt

_ROOT = Path(__file__).parents[2]
_HEAD = '[butler]\nname = "health"\nport = 8160\n'


def _folder(path: Path, toml: str) -> Path:
    (path / "butler.toml").write_text(toml)
    return path


@pytest.mark.requirement("CFG-04", "CFG-10", "GEN-06", "SCH-01")
def test_the_memory_butler_is_that_of_the_documents() -> None:
    folder = roster.find("memory")
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "MANIFESTO.md",
        "CLAUDE.md",
        "AGENTS.md",
        "butler.toml",
        "skills/consolidate/SKILL.md",
    }
    # What people find in the repository is what the package brings.
    assert (_ROOT / "butlers" / "memory").resolve() == folder.resolve()
    butler = read(folder)
    assert (butler.name, butler.settings.port) == ("memory", 8150)
    assert butler.settings.database == "butler_memory"
    assert butler.table.description == (
        "Shared institutional memory — stores, searches, consolidates, and maintains knowledge "
        "across all butlers"
    )
    assert butler.hosts_memory
    # The documents' numbers are the defaults, said aloud.
    assert butler.settings.memory == MemoryModuleConfig(embedding_precision=PRECISION)
    planned = {name: (one.cron, one.prompt) for name, one in butler.table.schedule.items()}
    assert planned == {
        name: (job.cron(butler.settings.memory.schedule), job.prompt)
        for name, job in BY_NAME.items()
    }
    assert [one.name for one in butler.skills] == ["consolidate"]
    # Consolidation works by this very text.
    assert skill() in butler.skills[0].path.read_text()


@pytest.mark.parametrize("name", ["memory", "heartbeat"])
def test_the_package_brings_butlers_that_can_be_read(name: str) -> None:
    package = Path(memory_butler.__file__).parent
    assert roster.find(name) == package / "butlers" / name
    butler = read(roster.find(name))
    assert butler.name == name
    assert f"`{name}`" in butler.claude


@pytest.mark.requirement("GEN-07")
@pytest.mark.parametrize(
    ("added", "hosts"),
    [
        ("[modules.memory.schedule]\nenabled = false\n", False),
        ("[modules.memory]\n[modules.memory.schedule]\nenabled = false\n", False),
        ("[modules.memory]\n", True),
        ("[modules.memory]\nembedding_dimensions = 384\n[modules.memory.schedule]\n", True),
        ("[butler.memory]\nembedding_dimensions = 384\n[modules.memory.schedule]\n", True),
        ("[butler.memory.schedule]\nenabled = false\n", False),
    ],
)
def test_leaving_the_schedule_to_heartbeats_loads_no_memory(
    tmp_path: Path, added: str, hosts: bool
) -> None:
    roster.make(tmp_path / "health", "health", "Looks after sleep")
    file = tmp_path / "health" / "butler.toml"
    file.write_text(file.read_text() + added)
    butler = read(tmp_path / "health")
    assert butler.hosts_memory is hosts
    assert butler.schedules_only is not hosts
    assert butler.settings.memory.schedule.enabled is ("false" not in added)


@pytest.mark.requirement("SCP-04")
def test_a_new_butler_is_told_to_pass_its_own_name_as_scope(tmp_path: Path) -> None:
    roster.make(tmp_path / "health", "health", 'Looks "after" sleep')
    roster.make(tmp_path / "garden-2", "garden-2", "Grows")
    health, garden = read(tmp_path / "health"), read(tmp_path / "garden-2")
    assert "pass your own name, `health`, as `scope`" in health.claude
    # Whoever wrote the CLAUDE.md, the prompt says it as well.
    assert "Pass your own name, `garden-2`, as `scope`" in system_prompt(garden, "")
    assert health.table.description == "Looks 'after' sleep"
    assert (health.settings.port, garden.settings.port) == (8160, 8161)
    assert garden.settings.database == "butler_garden_2"
    assert not health.hosts_memory
    assert health.table.memory_server is not None
    assert health.table.memory_server.url == MEMORY_URL
    assert health.table.agent.command == CLAUDE_CODE
    with pytest.raises(ConfigurationError, match="is not empty"):
        roster.make(tmp_path / "health", "health", "again")


@pytest.mark.requirement("SPN-02")
def test_the_memory_block_stands_after_claude_md(tmp_path: Path) -> None:
    folder = _folder(tmp_path, _HEAD)
    (folder / "CLAUDE.md").write_text("# Who you are\n")
    (folder / "AGENTS.md").write_text("Notes.\n")
    said = system_prompt(read(folder), "# Memory Context\n\n## Key Facts\n- a fact\n")
    order = [
        "# Who you are",
        "# Memory Context",
        "- a fact",
        "## Memory",
        "Notes.",
        "## How to end",
    ]
    assert sorted(order, key=said.index) == order
    # Without memory the session is told the rest.
    assert "# Memory Context" not in system_prompt(read(folder), "")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[butler\n", "(at line 1, column 8)"),
        (_HEAD + "prot = 3\n", "line 4: butler.prot: there is no such key"),
        ('[butler]\nname = "Bad Name"\nport = 1\n', "line 2: butler.name: String should match"),
        ('[butler]\nname = "a"\n', "line 1: butler.port: is required"),
        ('[butler]\nname = "a"\nport = 70000\n', "line 3: butler.port: "),
        (
            _HEAD + '[butler.schedule]\n\nwake = { cron = "often", prompt = "x" }\n',
            "line 6: butler.schedule.wake.cron: ",
        ),
        (
            _HEAD + '[butler.schedule]\nwake = { cron = "0 0 30 2 *", prompt = "x" }\n',
            "line 5: butler.schedule.wake.cron: '0 0 30 2 *' is not a cron expression, "
            "or is of a day that never comes",
        ),
        (
            _HEAD + '[butler.schedule]\nwake = { cron = "0 6 * * *" }\n',
            "line 5: butler.schedule.wake.prompt: is required",
        ),
        (_HEAD + "[butler.agent]\ntimeout_seconds = 0\n", "line 5: butler.agent.timeout_seconds"),
        (_HEAD + "[butler.agent]\ncommand = []\n", "line 5: butler.agent.command: "),
        (_HEAD + '[butler.switchboard]\nurl = "nowhere"\n', "line 5: butler.switchboard.url"),
        (_HEAD + "[modules.memory.facts]\nhalf = 1\n", "line 5: modules.memory.facts.half: "),
        (_HEAD + '[butler.db]\nname = "No"\n', "line 5: butler.db.name: "),
    ],
)
def test_a_mistake_is_told_with_key_and_line(tmp_path: Path, toml: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(_folder(tmp_path, toml))
    assert str(tmp_path / "butler.toml") in str(caught.value)
    assert said in str(caught.value)


def test_an_unknown_module_is_told_with_the_known_ones(tmp_path: Path) -> None:
    butler = read(_folder(tmp_path, _HEAD + "\n[modules.telegram]\ntoken = 1\n"))
    with pytest.raises(ConfigurationError, match=r"line 5: .*telegram.*known: memory, heartbeat"):
        _make("telegram", butler)


def test_the_configuration_knows_the_names_of_a_butler_and_its_modules() -> None:
    assert set(KNOWN_IN["modules",]) == set(KNOWN)
    assert set(KNOWN_IN["butler",]) == set(ButlerTable.model_fields)
    assert set(KNOWN_IN["butler", "db"]) == set(DatabaseTable.model_fields)


def test_modules_start_after_what_they_need(tmp_path: Path) -> None:
    butler = read(_folder(tmp_path, _HEAD + "[modules.memory]\n[modules.heartbeat]\n"))
    modules = {name: _make(name, butler) for name in butler.modules}
    assert set(_ordered(modules)) == {"memory", "heartbeat"}
    needy = type(modules["heartbeat"])
    needs = type("Needy", (needy,), {"dependencies": property(lambda _: ("memory",))})()
    assert _ordered({"a": needs, "memory": modules["memory"]}) == ["memory", "a"]
    with pytest.raises(ConfigurationError, match=r"needs \[modules\.memory\]"):
        _ordered({"a": needs})


def test_the_alias_of_the_module_loads_it(tmp_path: Path) -> None:
    butler = read(_folder(tmp_path, _HEAD + "[butler.memory.episodes]\nmax_entries = 5\n"))
    assert butler.hosts_memory
    assert butler.settings.memory.episodes.max_entries == 5


def test_a_butler_is_found_by_its_name_where_new_ones_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("health", "memory"):
        roster.make(Path("butlers") / name, name, "Looks after it")
        assert roster.find(name) == roster.find(f"butlers/{name}") == Path("butlers") / name
        assert read(roster.find(name)).name == name
    assert roster.find("heartbeat").is_absolute()  # as it comes along
    with pytest.raises(ConfigurationError, match="there are: health, heartbeat, memory") as none:
        roster.find("garden")
    assert "no butler.toml in garden/ or butlers/garden/" in str(none.value)


def test_a_directory_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="butler new"):
        roster.find(str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"not a butler: there is no butler\.toml"):
        read(tmp_path)


@pytest.mark.parametrize("token", ["mbt_t\u00f6ken", "two words", "one\nline"])
def test_a_variable_that_holds_no_token_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv("MEMORY_TOKEN", token)
    with pytest.raises(ConfigurationError, match="MEMORY_TOKEN, which holds no token") as caught:
        token_of("MEMORY_TOKEN", "butler.memory_server.token_env")
    assert token not in str(caught.value)
