"""Which model is taken: by the configuration first, else by what the environment gives."""

from collections.abc import Callable

import pytest

from memory_butler.config import ConsolidationConfig
from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.language_models.api import ENDPOINTS, ApiModel
from memory_butler.inference.language_models.choose import (
    DEFAULT_MODELS,
    Found,
    available,
    find_model,
)
from memory_butler.inference.language_models.command_line import CommandLineModel

ANTHROPIC = {"ANTHROPIC_API_KEY": "a-key"}
OPENAI = {"OPENAI_API_KEY": "o-key"}
Which = Callable[[str], str | None]


def nothing(_: str) -> None:
    return None


def everything(program: str) -> str:
    return f"/usr/bin/{program}"


def config(model: str = "auto", **settings: str) -> ConsolidationConfig:
    return ConsolidationConfig.model_validate({"model": model, **settings})


def name_of(configured: ConsolidationConfig, environment: dict[str, str], which: Which) -> str:
    model = find_model(configured, environment, which)
    return model.name if model else "none"


@pytest.mark.parametrize(
    ("configured", "environment", "which", "expected"),
    [
        ("auto", {}, nothing, "none"),
        ("auto", {}, everything, "none"),  # installed, but it would cost money unasked
        ("auto", ANTHROPIC, nothing, f"anthropic:{DEFAULT_MODELS['anthropic']}"),
        ("auto", OPENAI, nothing, f"openai:{DEFAULT_MODELS['openai']}"),
        ("auto", OPENAI | ANTHROPIC, everything, f"anthropic:{DEFAULT_MODELS['anthropic']}"),
        ("auto", {"ANTHROPIC_API_KEY": " "}, nothing, "none"),
        ("none", OPENAI | ANTHROPIC, everything, "none"),
        ("anthropic:claude-opus-5-5", ANTHROPIC, nothing, "anthropic:claude-opus-5-5"),
        ("anthropic", ANTHROPIC, nothing, f"anthropic:{DEFAULT_MODELS['anthropic']}"),
        ("openai:gpt-6.1-sol", OPENAI | ANTHROPIC, nothing, "openai:gpt-6.1-sol"),
        ("ollama:qwen3:8b", {}, nothing, "ollama:qwen3:8b"),
        ("cli:claude", ANTHROPIC, everything, "cli:claude"),
        ("cli:claude:sonnet", {}, everything, "cli:claude:sonnet"),
        ("cli:codex", {}, everything, "cli:codex"),
        ("cli:gemini", {}, everything, "cli:gemini"),
    ],
)
def test_the_model(
    configured: str, environment: dict[str, str], which: Which, expected: str
) -> None:
    assert name_of(config(configured), environment, which) == expected


@pytest.mark.parametrize(
    ("configured", "environment", "complaint"),
    [
        (config("gpt-6"), OPENAI, "known are auto, none"),
        (config("cli:vim"), {}, "known are auto, none"),
        (config("anthropic:claude"), OPENAI, "ANTHROPIC_API_KEY is not set"),
        (config("openai:gpt"), {}, "OPENAI_API_KEY is not set"),
        (config("openai:gpt", api_key_env="MINE"), OPENAI, "MINE is not set"),
        (config("ollama"), {}, "needs a name"),
        (config("cli:claude"), {}, "`claude` is not on the PATH"),
        (config("anthropic:x", base_url="http://h/v1"), ANTHROPIC, "base_url goes with"),
        (config("auto", base_url="http://h/v1"), OPENAI, "base_url needs"),
        (config("auto", api_key_env="MINE"), OPENAI, "api_key_env needs"),
    ],
)
def test_what_cannot_be_used_is_told(
    configured: ConsolidationConfig, environment: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        find_model(configured, environment, nothing)
    (problem, *_) = available(configured, environment, nothing)
    assert not problem.chosen
    assert complaint in problem.how


def test_a_key_goes_only_where_it_belongs() -> None:
    def key(configured: ConsolidationConfig) -> str | None:
        model = find_model(configured, OPENAI | {"MINE": "m-key"}, nothing)
        assert isinstance(model, ApiModel)
        return model._api_key

    assert key(config("openai:gpt")) == "o-key"
    assert key(config("openai:gpt", api_key_env="MINE")) == "m-key"
    # Somebody else's server must not be sent OpenAI's key.
    assert key(config("openai:local", base_url="http://h/v1")) is None
    assert key(config("openai:local", base_url="http://h/v1", api_key_env="MINE")) == "m-key"
    assert key(config("ollama:llama")) is None


def test_the_bounds_of_the_configuration_are_kept() -> None:
    bounds = {"timeout_seconds": 7, "max_output_bytes": 8, "max_cost_usd": 0.25}
    configured = ConsolidationConfig.model_validate({"model": "ollama:llama", **bounds})
    api = find_model(configured, {}, nothing)
    assert isinstance(api, ApiModel)
    assert (api._timeout_seconds, api._max_output_bytes) == (7, 8)
    assert api._base_url == ENDPOINTS["ollama"]

    configured = ConsolidationConfig.model_validate({"model": "cli:codex", **bounds})
    tool = find_model(configured, {}, everything)
    assert isinstance(tool, CommandLineModel)
    assert (tool._timeout_seconds, tool._max_output_bytes, tool._max_cost_usd) == (7, 8, 0.25)
    assert tool._program == "/usr/bin/codex"


def test_a_named_key_reaches_a_tool_under_the_tool_s_name() -> None:
    model = find_model(config("cli:claude", api_key_env="MINE"), {"MINE": "m-key"}, everything)
    assert isinstance(model, CommandLineModel)
    assert model._environment == {"ANTHROPIC_API_KEY": "m-key"}


def test_doctor_lists_what_is_there() -> None:
    assert available(config("none"), {}, nothing) == []
    assert available(config(), {}, everything) == [
        Found("cli:claude", 'Claude Code is installed, opt in with model = "cli:claude"', False),
        Found("cli:codex", 'Codex is installed, opt in with model = "cli:codex"', False),
        Found("cli:gemini", 'Gemini CLI is installed, opt in with model = "cli:gemini"', False),
    ]
    haiku, luna = f"anthropic:{DEFAULT_MODELS['anthropic']}", f"openai:{DEFAULT_MODELS['openai']}"
    assert available(config(), OPENAI | ANTHROPIC, nothing) == [
        Found(haiku, "ANTHROPIC_API_KEY is set", True),
        Found(luna, f'OPENAI_API_KEY is set, choose it with model = "{luna}"', False),
    ]
    chosen, *others = available(config("cli:claude:opus"), ANTHROPIC, everything)
    assert chosen == Found("cli:claude:opus", "configured", True)
    assert [one.name for one in others] == [haiku, "cli:codex", "cli:gemini"]
    assert not any(one.chosen for one in others)


def test_a_key_is_never_shown() -> None:
    for configured in (config(), config("openai:gpt"), config("cli:claude")):
        shown = repr(available(configured, OPENAI | ANTHROPIC, everything))
        assert "o-key" not in shown
        assert "a-key" not in shown
