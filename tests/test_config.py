"""The configuration: defaults, where values come from, and what is refused."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from memory_butler.config import MemoryModuleConfig, Settings, is_address, load
from memory_butler.domain import rules
from memory_butler.domain.errors import ConfigurationError
from memory_butler.retrieval_config import RetrievalConfig

_DSN = "postgresql://butler:geheim@db.example/memory"


@pytest.fixture(autouse=True)
def _nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the machine's variables nor a file of the current folder."""
    for name in (
        "HOST",
        "PORT",
        "DATA_DIR",
        "DSN",
        "CONFIG",
        "CLUSTER_ROOT",
        "LOG_LEVEL",
        "MEMORY__EMBEDDING_PRECISION",
    ):
        monkeypatch.delenv(f"MEMORY_BUTLER_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


def _file(folder: Path, text: str) -> Path:
    file = folder / "named.toml"
    file.write_text(text, encoding="utf-8")
    return file


# --- where a mistake stands


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\n\nport = -1\n", "line 3: server.port: "),
        ("[butler]\nport = 'x'\n", "line 2: butler.port: "),
        ("[butler.memory]\nepisodes = { max_entries = -1 }\n", "line 2: butler.memory.episodes."),
        ("# hi\n[modules.memory]\nsize = 3\n", "line 3: modules.memory.size: unknown name"),
        ("[butler.db]\nname = 'No'\n", "line 2: butler.db.name: "),
        (
            "[modules.memory.schedule]\nenabled = true\n[server]\ntoolsets = [\n  'x',\n]\n",
            "line 4: server.toolsets.0: ",
        ),
        ("[server]\nport = 1\nhost 3\n", "line 3"),
        ("modules = 3\n", "line 1: modules must be a table"),
        ("[server]\nport = 1\n[sever]\nrequire_token = true\n", "line 3: sever: unknown name"),
        ("require_token = true\n", "line 1: require_token: unknown name"),
        (
            "[modules.memmory.trust]\nsecrets = 'refuse'\n",
            "line 1: modules.memmory: unknown name; did you mean modules.memory?",
        ),
        (
            "[modules.Memory]\n",
            "line 1: modules.Memory: unknown name; did you mean modules.memory?",
        ),
        ("[modules.heart-beat]\n", "did you mean modules.heartbeat?"),
        ("[butler]\nprot = 1\n", "line 2: butler.prot: unknown name; did you mean butler.port?"),
        (
            "[butler.memry.facts]\n",
            "line 1: butler.memry: unknown name; did you mean butler.memory?",
        ),
        ("[butler.db]\nnmae = 'x'\n", "line 2: butler.db.nmae: unknown name; did you mean"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(_file(tmp_path, text))
    assert str(tmp_path / "named.toml") in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("PORT", "-1", "PORT: must be at least 0"),
        ("TOOLSETS", '["memory", "tools"]', "TOOLSETS: 1: "),
        ("MEMORY__RETRIEVAL__DEFAULT_LIMIT", "x", "MEMORY__RETRIEVAL__DEFAULT_LIMIT: must be a "),
        ("MEMORY__RETRIEVAL", '{"default_limit": 0}', "MEMORY__RETRIEVAL: default_limit: must be "),
    ],
)
def test_the_variable_is_blamed_and_not_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    monkeypatch.setenv(f"MEMORY_BUTLER_{variable}", value)
    with pytest.raises(ConfigurationError) as caught:
        load(_file(tmp_path, "[server]\nport = 1\n"))
    assert str(caught.value).startswith(f"the environment variable MEMORY_BUTLER_{told}")


@pytest.mark.parametrize(
    ("variable", "named"),
    [
        ("MEMORY_BUTLER_ALLOWED_HOSTS", "MEMORY_BUTLER_ALLOWED_HOSTS must"),
        ("MEMORY_BUTLER_MEMORY__TRUST__SECRETS_OF_TENANTS", "MEMORY_BUTLER_MEMORY__… must"),
    ],
)
def test_a_variable_that_is_not_json_is_named_with_an_example(
    monkeypatch: pytest.MonkeyPatch, variable: str, named: str
) -> None:
    monkeypatch.setenv(variable, "memory.example.org")
    with pytest.raises(ConfigurationError) as caught:
        load()
    assert f"{named} be JSON, such as '[\"memory.example.org\"]'" in str(caught.value)


@pytest.mark.parametrize("name", ["URL", "TOKEN", "HOOK_DIR", "CONTEXT_FILE"])
def test_a_variable_of_the_hooks_is_no_mistake(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(f"MEMORY_BUTLER_{name}", "http://127.0.0.1:8150")
    assert load().port == 8150
    monkeypatch.setenv(f"MEMORY_BUTLER_{name}S", "")
    with pytest.raises(ConfigurationError, match=f"MEMORY_BUTLER_{name}S is not a setting"):
        load()


@pytest.mark.requirement("CFG-04")
def test_a_database_is_named_in_its_own_table(tmp_path: Path) -> None:
    assert load(_file(tmp_path, "[butler.db]\nname = 'butler_health'\n")).database == (
        "butler_health"
    )


# --- defaults


@pytest.mark.requirement("CFG-01", "CFG-02", "CFG-09")
def test_retrieval_has_the_documents_defaults() -> None:
    retrieval = MemoryModuleConfig().retrieval
    assert isinstance(retrieval, RetrievalConfig)
    assert retrieval.context_token_budget == 3000
    assert retrieval.default_limit == 20
    assert retrieval.default_mode == "hybrid"
    assert asdict(retrieval.score_weights) == {
        "relevance": 0.4,
        "importance": 0.3,
        "recency": 0.2,
        "confidence": 0.1,
    }


@pytest.mark.requirement("CFG-05")
def test_the_model_is_minilm_with_384_dimensions() -> None:
    config = MemoryModuleConfig()
    assert (config.embedding_model, config.embedding_dimensions) == ("all-MiniLM-L6-v2", 384)


@pytest.mark.requirement("CFG-05")
@pytest.mark.parametrize("line", ['embedding_model = ""', "embedding_dimensions = 768"])
def test_a_model_that_would_not_be_used_is_refused(tmp_path: Path, line: str) -> None:
    file = _file(tmp_path, f"[butler.memory]\n{line}\n")
    with pytest.raises(ConfigurationError, match=line.split()[0]):
        load(file)


@pytest.mark.requirement("CFG-06")
def test_episodes_live_seven_days_and_are_at_most_ten_thousand() -> None:
    episodes = MemoryModuleConfig().episodes
    assert (episodes.default_ttl_days, episodes.max_entries) == (7, 10_000)


@pytest.mark.requirement("CFG-07")
def test_facts_fade_below_a_fifth_and_expire_below_a_twentieth() -> None:
    thresholds = MemoryModuleConfig().facts.thresholds()
    assert (thresholds.retrieval, thresholds.expiry) == (0.2, 0.05)


@pytest.mark.requirement("CFG-08")
def test_rules_rise_and_fall_at_the_documents_limits() -> None:
    assert asdict(MemoryModuleConfig().rules) == {
        "promote_to_established": {"min_successes": 5, "min_effectiveness": 0.6},
        "promote_to_proven": {"min_successes": 15, "min_effectiveness": 0.8, "min_age_days": 30},
        "harmful_to_antipattern": {"min_harmful": 3, "max_effectiveness": 0.3},
        "promotion_uses_penalised": False,
    }


def test_without_any_configuration_it_serves_on_loopback() -> None:
    settings = load()
    assert (settings.host, settings.port, settings.dsn) == ("127.0.0.1", 8150, None)
    assert settings.memory == MemoryModuleConfig()


# --- the file

_WHOLE = """
[butler]
name = "memory"
port = 8151

[butler.memory]
embedding_model = "all-MiniLM-L6-v2"
embedding_dimensions = 384

[butler.memory.episodes]
default_ttl_days = 3

[modules.other]
anything = "goes"

[modules.memory.facts]
retrieval_confidence_threshold = 0.3
expiry_confidence_threshold = 0.1

[modules.memory.rules]
promote_to_established = { min_successes = 2, min_effectiveness = 0.5 }

[modules.memory.retrieval]
default_limit = 7
score_weights = { relevance = 1.0, importance = 0.0, recency = 0.0, confidence = 0.0 }
"""


@pytest.mark.requirement("CFG-01", "CFG-03", "CFG-05", "CFG-06", "CFG-07", "CFG-08", "CFG-09")
def test_a_butler_toml_is_read(tmp_path: Path) -> None:
    settings = load(_file(tmp_path, _WHOLE))
    memory = settings.memory
    assert settings.port == 8151
    assert memory.episodes.default_ttl_days == 3
    assert memory.facts.thresholds().expiry == 0.1
    assert memory.rules.promote_to_established.min_successes == 2
    assert memory.rules.promote_to_proven.min_successes == 15
    assert memory.retrieval.default_limit == 7
    assert memory.retrieval.weights().relevance == 1.0


@pytest.mark.requirement("CFG-01")
def test_modules_memory_wins_over_its_alias_key_by_key(tmp_path: Path) -> None:
    file = _file(
        tmp_path,
        "[butler.memory.retrieval]\ndefault_limit = 5\ndefault_mode = 'keyword'\n"
        "[modules.memory.retrieval]\ndefault_limit = 6\n",
    )
    retrieval = load(file).memory.retrieval
    assert (retrieval.default_limit, retrieval.default_mode) == (6, "keyword")


def test_the_servers_own_port_wins_over_the_butlers(tmp_path: Path) -> None:
    assert load(_file(tmp_path, "[butler]\nport = 1\n[server]\nport = 2\n")).port == 2


def test_a_butler_toml_of_the_current_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "butler.toml").write_text("[server]\nport = 8160\n", encoding="utf-8")
    assert load().port == 8160


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BUTLER_CONFIG", str(_file(tmp_path, "[server]\nport = 8161\n")))
    assert load().port == 8161


def test_a_named_file_that_is_missing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=r"no such configuration file: .*gone\.toml"):
        load(tmp_path / "gone.toml")
    monkeypatch.setenv("MEMORY_BUTLER_CONFIG", str(tmp_path / "lost.toml"))
    with pytest.raises(ConfigurationError, match=r"lost\.toml"):
        load()


@pytest.mark.parametrize("text", ["[server", "[server]\nport = \n", "\udcff"])
def test_what_is_no_toml_is_an_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigurationError, match=r"broken\.toml is not valid TOML"):
        load(file)


def test_a_file_that_ends_too_early_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "broken.toml"
    file.write_text('[server]\nport = 8150\ntoken = "abc\n\n'.replace("\n\n", ""))
    with pytest.raises(ConfigurationError, match=r"\(at the end, after line 3\)"):
        load(file)


# --- file < environment < flags


def test_a_variable_that_changes_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    for port in ("8161", "8162"):
        monkeypatch.setenv("MEMORY_BUTLER_PORT", port)
        assert (load().port, load().port) == (int(port), int(port))
    monkeypatch.delenv("MEMORY_BUTLER_PORT")
    assert load().port == Settings().port


@pytest.mark.requirement("CFG-03")
def test_flags_win_over_the_environment_and_that_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path, "[server]\nport = 1\nhost = '::1'\nlog_level = 'error'\n")
    monkeypatch.setenv("MEMORY_BUTLER_PORT", "2")
    monkeypatch.setenv("MEMORY_BUTLER_HOST", "localhost")
    settings = load(file, port=3, host=None)
    assert (settings.port, settings.host, settings.log_level) == (3, "localhost", "error")


def test_the_environment_reaches_into_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path, "[modules.memory.retrieval]\ndefault_limit = 5\ncandidate_depth = 9\n")
    monkeypatch.setenv("MEMORY_BUTLER_MEMORY__RETRIEVAL__DEFAULT_LIMIT", "6")
    retrieval = load(file).memory.retrieval
    assert (retrieval.default_limit, retrieval.candidate_depth) == (6, 9)


def test_limits_of_two_places_are_checked_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _file(tmp_path, "[modules.memory.facts]\nexpiry_confidence_threshold = 0.01\n")
    monkeypatch.setenv("MEMORY_BUTLER_MEMORY__FACTS__RETRIEVAL_CONFIDENCE_THRESHOLD", "0.03")
    assert load(file).memory.facts.thresholds().retrieval == 0.03


def test_the_cluster_root_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BUTLER_CLUSTER_ROOT", str(tmp_path))
    assert load().cluster_root == tmp_path


def test_maturity_weights_left_out_keep_their_default(tmp_path: Path) -> None:
    file = _file(tmp_path, "[modules.memory.retrieval.maturity_weights]\nproven = 2.0\n")
    expected = {**rules.MATURITY_WEIGHTS, "proven": 2.0}
    assert load(file).memory.retrieval.maturity_weights == expected


# --- what is refused


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[server]\nprot = 1\n", "prot"),
        ("[modules.memory]\nretrival = {}\n", r"memory\.retrival"),
        ("[butler.memory.episodes]\nttl = 1\n", r"memory\.episodes\.ttl"),
        (
            "[modules.memory.rules.promote_to_proven]\nmin_age = 1\n",
            r"memory\.rules\.promote_to_proven\.min_age",
        ),
        (
            "[modules.memory.retrieval.maturity_weights]\nripe = 1\n",
            r"memory\.retrieval\.maturity_weights\.ripe",
        ),
        ("[server.memory]\ndefault_limit = 1\n", r"server\.memory"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_it(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        load(_file(tmp_path, text))


@pytest.mark.parametrize(
    "variable",
    [
        "MEMORY_BUTLER_PROT",
        "memory_butler_prot",
        "MEMORY_BUTLER_PORT__X",
        "MEMORY_BUTLER_MEMORY__RETRIVAL",
        "MEMORY_BUTLER_MEMORY__RETRIEVAL__LIMIT",
    ],
)
def test_an_unknown_variable_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "1")
    with pytest.raises(ConfigurationError) as caught:
        load()
    assert variable.rpartition("_")[2].lower() in str(caught.value).lower()


@pytest.mark.parametrize(
    "text", ["butler = 1", "modules = 'x'", "server = []", "[butler]\nmemory = 5"]
)
def test_a_value_where_a_table_belongs_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match="must be a table"):
        load(_file(tmp_path, text))


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ("facts", "retrieval_confidence_threshold = 0.01"),  # below the expiry threshold
        ("facts", "retrieval_confidence_threshold = 1.5"),
        ("episodes", "default_ttl_days = 0"),
        ("episodes", "max_entries = -1"),
        ("retrieval", "default_limit = 0"),
        ("retrieval", "default_limit = 201"),
        ("retrieval", "default_mode = 'fuzzy'"),
        ("retrieval", "context_format = 'html'"),
        ("retrieval", "context_token_budget = -1"),
        ("retrieval", "score_weights = { relevance = nan }"),
        ("retrieval", "score_weights = { recency = -0.1 }"),
        ("retrieval", "context_quotas = { facts = 0.8, rules = 0.3 }"),
        ("rules", "harmful_to_antipattern = { min_harmful = 0 }"),
    ],
)
def test_a_value_without_sense_is_refused(tmp_path: Path, table: str, line: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"line [12]: modules\.memory\.{table}"):
        load(_file(tmp_path, f"[modules.memory.{table}]\n{line}\n"))


@pytest.mark.parametrize("flags", [{"port": 65_536}, {"pool_size": 1}, {"log_level": "loud"}])
def test_a_flag_without_sense_is_refused(flags: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(flags))):
        load(**flags)


def test_an_empty_host_is_not_every_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match=r"^--host: is empty; give 127\.0\.0\.1"):
        load(host="")
    monkeypatch.setenv("MEMORY_BUTLER_HOST", " ")
    with pytest.raises(ConfigurationError, match="variable MEMORY_BUTLER_HOST: is empty"):
        load()


def test_a_list_of_the_environment_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BUTLER_ALLOWED_HOSTS", '["memory.example"]')
    assert load().allowed_hosts == ("memory.example",)
    monkeypatch.setenv("MEMORY_BUTLER_ALLOWED_HOSTS", "memory.example")
    with pytest.raises(ConfigurationError, match="MEMORY_BUTLER_ALLOWED_HOSTS must be JSON"):
        load()


# --- secrets


@pytest.mark.parametrize(
    "good",
    [
        "postgres://u:geheim@db.example:5433/memory?sslmode=require",
        "postgresql://u@one:5432,two:5433/memory",
        "postgresql://u:p%2Fw@[::1]:5432/memory",
        "postgresql://u:p@/memory?host=%2Fvar%2Frun&port=5432",
        "postgresql:///memory",
    ],
)
def test_a_dsn_that_can_be_read(good: str) -> None:
    assert is_address(good)


@pytest.mark.parametrize(
    "bad",
    [
        "postgres//u:geheim@db/memory",
        "postgresql://u:geheim@db:54x2/memory",
        "postgresql://u:geheim@db:99999/memory",
        "postgresql://u:geheim@[::1/memory",
        "host=db password=geheim",
    ],
)
def test_a_mistyped_dsn_is_told_with_its_line_and_not_shown(tmp_path: Path, bad: str) -> None:
    with pytest.raises(ConfigurationError, match=r"line 2: server\.dsn: must look like") as caught:
        load(_file(tmp_path, f'[server]\ndsn = "{bad}"\n'))
    assert "geheim" not in str(caught.value)
    with pytest.raises(ConfigurationError, match=r"^--read-dsn: must look like"):
        load(read_dsn=bad)


def test_a_dsn_is_never_shown(tmp_path: Path) -> None:
    settings = load(_file(tmp_path, f'[server]\ndsn = "{_DSN}"\n'))
    assert settings.dsn is not None
    assert settings.dsn.get_secret_value() == _DSN
    for shown in (repr(settings), str(settings), settings.model_dump_json()):
        assert "geheim" not in shown


@pytest.mark.parametrize(
    "text", [f'[server]\ndsn = ["{_DSN}"]\n', f'[server]\ndsn = "{_DSN}"\nport = "{_DSN}"\n']
)
def test_an_error_never_repeats_a_secret(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(_file(tmp_path, text))
    assert "geheim" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_settings_do_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().port = 1  # type: ignore[misc]


def test_every_mistake_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    file = tmp_path / "butler.toml"
    file.write_text('[server]\nport = "x"\nhots = "a"\n\n[modules.memory.retrieval]\nlimit = -1\n')
    with pytest.raises(ConfigurationError) as refused:
        load(file)
    lines = str(refused.value).splitlines()
    assert len(lines) == 3
    for number, key in ((2, "server.port"), (3, "server.hots"), (6, "retrieval.limit")):
        assert any(f"line {number}: " in line and key in line for line in lines), lines
