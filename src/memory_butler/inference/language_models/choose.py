"""Which model the configuration and the environment give.

A model that costs money is used only if somebody meant it to be: an API key in the environment
says so, and so does its name in the configuration; that a program is installed does not. Nothing
here reaches out: whether a key is good, or a server there, the first request shows.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.language_models.agent_tools import TOOLS
from memory_butler.inference.language_models.api import ApiModel, Provider
from memory_butler.inference.language_models.command_line import CommandLineModel
from memory_butler.inference.language_models.port import LanguageModel

Which = Callable[[str], str | None]

# Cheap, and able to follow a schema over some thousand words. As of November 2026; to be reviewed
# when a provider retires or replaces one. The command lines' are in `agent_tools`.
DEFAULT_MODELS: Final[Mapping[Provider, str]] = {
    "anthropic": "claude-haiku-5-5",
    "openai": "gpt-6-luna",
}
# In the order in which `auto` takes them.
KEY_VARIABLES: Final[Mapping[Provider, str]] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
}
AUTO: Final = "auto"
NONE: Final = "none"
FORMS: Final = (
    "auto, none, anthropic:MODEL, openai:MODEL, ollama:MODEL, cli:claude, cli:codex or cli:gemini"
)


class ModelConfig(Protocol):
    """What is read of `[modules.memory.consolidation]`."""

    @property
    def model(self) -> str: ...
    @property
    def base_url(self) -> str | None: ...
    @property
    def api_key_env(self) -> str | None: ...
    @property
    def timeout_seconds(self) -> float: ...
    @property
    def max_output_bytes(self) -> int: ...
    @property
    def max_cost_usd(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Found:
    """A model that could be used, how it was found, and whether it is the one that is."""

    name: str
    how: str
    chosen: bool


def find_model(
    config: ModelConfig, environment: Mapping[str, str], which: Which = shutil.which
) -> LanguageModel | None:
    """The model to consolidate with; None means that episodes are only counted.

    Raises ConfigurationError if the configuration names one that cannot be used.
    """
    wanted = config.model.strip()
    if wanted == NONE:
        return None
    if wanted == AUTO:
        return _automatic(config, environment)
    kind, _, model = wanted.partition(":")
    match kind:
        case "cli":
            return _command_line(config, environment, which, model)
        case "anthropic" | "openai" | "ollama":
            return _api(config, environment, kind, model)
        case _:
            raise ConfigurationError(
                f"consolidation.model = {wanted!r} names no model; known are {FORMS}"
            )


def available(
    config: ModelConfig, environment: Mapping[str, str], which: Which = shutil.which
) -> list[Found]:
    """Every model that is there, the chosen one first. For `doctor`: never raises."""
    wanted = config.model.strip()
    found: list[Found] = []
    chosen: str | None = None
    try:
        model = find_model(config, environment, which)
    except ConfigurationError as error:
        found.append(Found(wanted, str(error), chosen=False))
    else:
        chosen = model.name if model else None
        if chosen is not None and wanted != AUTO:
            found.append(Found(chosen, "configured", chosen=True))
    for provider, variable in KEY_VARIABLES.items():
        name = f"{provider}:{DEFAULT_MODELS[provider]}"
        if _value(environment, variable) and name not in {one.name for one in found}:
            is_chosen = name == chosen
            how = f"{variable} is set"
            if not is_chosen:
                how += f', choose it with model = "{name}"'
            found.append(Found(name, how, is_chosen))
    for program, tool in TOOLS.items():
        name = f"cli:{program}"
        if which(program) and not any(f"{one.name}:".startswith(f"{name}:") for one in found):
            how = f'{tool.title} is installed, opt in with model = "{name}"'
            found.append(Found(name, how, chosen=False))
    return found


def _automatic(config: ModelConfig, environment: Mapping[str, str]) -> LanguageModel | None:
    for setting, value in (("base_url", config.base_url), ("api_key_env", config.api_key_env)):
        if value:
            raise ConfigurationError(
                f"consolidation.{setting} needs a consolidation.model that it belongs to, such as "
                '"openai:MODEL"; with "auto" the model is found by its usual variable'
            )
    for provider, variable in KEY_VARIABLES.items():
        if _value(environment, variable):
            return _api(config, environment, provider, DEFAULT_MODELS[provider])
    return None


def _api(
    config: ModelConfig, environment: Mapping[str, str], provider: Provider, model: str
) -> LanguageModel:
    model = model or DEFAULT_MODELS.get(provider, "")
    if not model:
        raise ConfigurationError(f'consolidation.model needs a name: "{provider}:MODEL"')
    if config.base_url and provider == "anthropic":
        raise ConfigurationError("consolidation.base_url goes with openai: and ollama: models only")
    return ApiModel(
        provider,
        model,
        api_key=_api_key(config, environment, provider),
        base_url=config.base_url,
        timeout_seconds=config.timeout_seconds,
        max_output_bytes=config.max_output_bytes,
    )


def _api_key(config: ModelConfig, environment: Mapping[str, str], provider: Provider) -> str | None:
    """The key; None for servers that need none."""
    if config.api_key_env:
        return _required(environment, config.api_key_env)
    # OpenAI's key is not sent to other servers unless `api_key_env` names it.
    if provider not in KEY_VARIABLES or config.base_url:
        return None
    return _required(environment, KEY_VARIABLES[provider])


def _command_line(
    config: ModelConfig, environment: Mapping[str, str], which: Which, wanted: str
) -> LanguageModel:
    program, _, model = wanted.partition(":")
    tool = TOOLS.get(program)
    if tool is None:
        raise ConfigurationError(
            f"consolidation.model = 'cli:{program}' is not known; known are {FORMS}"
        )
    if config.base_url:
        raise ConfigurationError("consolidation.base_url goes with openai: and ollama: models only")
    path = which(program)
    if path is None:
        raise ConfigurationError(
            f"consolidation.model asks for {tool.title}, but `{program}` is not on the PATH"
        )
    if config.api_key_env:
        key = _required(environment, config.api_key_env)
        environment = {**environment, tool.variables[0]: key}
    return CommandLineModel(
        tool,
        path,
        environment=environment,
        model=model or None,
        timeout_seconds=config.timeout_seconds,
        max_output_bytes=config.max_output_bytes,
        max_cost_usd=config.max_cost_usd,
    )


def _required(environment: Mapping[str, str], variable: str) -> str:
    value = _value(environment, variable)
    if not value:
        raise ConfigurationError(
            f"the environment variable {variable} is not set: it should hold the API key of "
            "consolidation.model"
        )
    return value


def _value(environment: Mapping[str, str], variable: str) -> str:
    return environment.get(variable, "").strip()
