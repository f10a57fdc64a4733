"""The 19 tools as clients list them (TOOL-01..18)."""

import json
import re
from collections.abc import Iterable
from typing import Any, Final, Literal

import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp_types import Tool

from memory_butler.config import EpisodesConfig, FactsConfig, MemoryModuleConfig
from memory_butler.retrieval_config import RetrievalConfig
from memory_butler.surfaces.mcp import describe_all, instructions
from surfaces.conftest import Serve
from surfaces.serving import Served

_REQUIRED: Final = object()

# The documents' parameters in their order, each with its default.
_TOOLS: Final[dict[str, dict[str, Any]]] = {
    "memory_store_episode": {
        "content": _REQUIRED,
        "butler": _REQUIRED,
        "session_id": None,
        "importance": 5.0,
    },
    "memory_store_fact": {
        "subject": _REQUIRED,
        "predicate": _REQUIRED,
        "content": _REQUIRED,
        "importance": 5.0,
        "permanence": "standard",
        "scope": "global",
        "tags": None,
    },
    "memory_store_rule": {"content": _REQUIRED, "scope": "global", "tags": None},
    "memory_search": {
        "query": _REQUIRED,
        "types": None,
        "scope": None,
        "mode": "hybrid",
        "limit": 10,
        "min_confidence": 0.2,
    },
    "memory_recall": {"topic": _REQUIRED, "scope": None, "limit": 10},
    "memory_get": {"memory_type": _REQUIRED, "memory_id": _REQUIRED},
    "memory_confirm": {"memory_type": _REQUIRED, "memory_id": _REQUIRED},
    "memory_mark_helpful": {"rule_id": _REQUIRED},
    "memory_mark_harmful": {"rule_id": _REQUIRED, "reason": None},
    "memory_forget": {"memory_type": _REQUIRED, "memory_id": _REQUIRED},
    "memory_stats": {"scope": None},
    "memory_context": {"trigger_prompt": _REQUIRED, "butler": _REQUIRED, "token_budget": 3000},
    "entity_create": {
        "canonical_name": _REQUIRED,
        "entity_type": _REQUIRED,
        "tenant_id": None,
        "aliases": None,
        "metadata": None,
    },
    "entity_get": {"entity_id": _REQUIRED, "tenant_id": None},
    "entity_update": {
        "entity_id": _REQUIRED,
        "canonical_name": None,
        "aliases": None,
        "metadata": None,
        "tenant_id": None,
    },
    "entity_resolve": {
        "name": _REQUIRED,
        "tenant_id": None,
        "entity_type": None,
        "context_hints": None,
        "enable_fuzzy": False,
    },
    "entity_merge": {
        "source_entity_id": _REQUIRED,
        "target_entity_id": _REQUIRED,
        "tenant_id": None,
    },
    "memory_run_consolidation": {},
    "memory_run_episode_cleanup": {"max_entries": 10_000},
}

_REQUIREMENT: Final = {
    "memory_store_episode": "TOOL-02",
    "memory_store_fact": "TOOL-03",
    "memory_store_rule": "TOOL-04",
    "memory_search": "TOOL-05",
    "memory_recall": "TOOL-06",
    "memory_get": "TOOL-07",
    "memory_confirm": "TOOL-08",
    "memory_mark_helpful": "TOOL-09",
    "memory_mark_harmful": "TOOL-10",
    "memory_forget": "TOOL-11",
    "memory_stats": "TOOL-12",
    "memory_context": "TOOL-13",
    "entity_create": "TOOL-14",
    "entity_get": "TOOL-15",
    "entity_update": "TOOL-15",
    "entity_merge": "TOOL-15",
    "entity_resolve": "TOOL-16",
    "memory_run_consolidation": "TOOL-17",
    "memory_run_episode_cleanup": "TOOL-18",
}

# Further parameters may follow, if optional (C-40, C-66).
_AXES: Final = {"known_at", "as_of"}
_EXTRAS: Final = {
    "memory_store_episode": {
        "episode_id",
        "occurred_at",
        "speaker",
        "turn",
        "metadata",
        "trust",
        "allow_secrets",
    },
    "memory_store_fact": {
        "entity_id",
        "valid_from",
        "valid_until",
        "source_butler",
        "source_episode_id",
        "trust",
        "allow_secrets",
    },
    "memory_store_rule": {"trust", "permanence", "allow_secrets"},
    "memory_search": {"min_trust", "min_relevance", "session_id", "explain"} | _AXES,
    "memory_recall": {"min_confidence", "min_trust", "min_relevance", "session_id", "explain"}
    | _AXES,
    "memory_context": {"min_trust", "min_relevance", "session_id", "explain", "preview"} | _AXES,
    "memory_get": {"session_id", "offset", "max_chars"} | _AXES,
    "memory_stats": _AXES,
    "entity_get": {"known_at"},
    "entity_resolve": {"known_at"},
    "entity_merge": {"expected_revision"},
}

_READ_ONLY: Final = {
    "memory_search",
    "memory_recall",
    "memory_get",
    "memory_stats",
    "memory_context",
    "entity_get",
    "entity_resolve",
}
# entity_update replaces names and aliases.
_DESTRUCTIVE: Final = {
    "memory_forget",
    "entity_update",
    "entity_merge",
    "memory_run_episode_cleanup",
}
# A second call with the same arguments changes nothing more. A confirmation starts a decay anew
# each time, a mark counts each time.
_IDEMPOTENT: Final = {"memory_forget", "entity_update", "memory_run_episode_cleanup"}


def _described(config: MemoryModuleConfig | None = None) -> dict[str, Tool]:
    config = config or MemoryModuleConfig()
    return {one.name: one for one in describe_all(["memory"], config)}


@pytest.mark.anyio
@pytest.mark.requirement("TOOL-01", "TOOL-15")
async def test_a_client_finds_exactly_the_nineteen_tools(served: Served) -> None:
    async with served.mcp() as client:
        assert list(client.tools) == [*_described()]
        assert sorted(client.tools) == sorted(_TOOLS)
        assert len(client.tools) == 19


@pytest.mark.anyio
async def test_the_server_says_how_to_use_it(served: Served) -> None:
    async with served.mcp() as client:
        assert client.session.initialize_result is not None
        assert client.session.initialize_result.instructions == instructions(["memory"])


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.requirement(_REQUIREMENT[one])) for one in _TOOLS]
)
def test_a_tool_takes_what_the_documents_say(name: str) -> None:
    schema = _described()[name].input_schema
    properties = schema.get("properties", {})
    expected = _TOOLS[name]
    assert set(properties) == set(expected) | _EXTRAS.get(name, set())
    assert set(schema.get("required", [])) == {
        key for key, default in expected.items() if default is _REQUIRED
    }
    for key, default in expected.items():
        if default is not _REQUIRED:
            assert properties[key].get("default") == default, key
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", _TOOLS)
@pytest.mark.requirement("TOOL-01", "JSON-03")
def test_no_schema_shows_the_pool_the_engine_or_a_vector(name: str) -> None:
    tool = _described()[name]
    for schema in (tool.input_schema, tool.output_schema or {"type": "object"}):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        hidden = {"pool", "embedding_engine", "engine", "memory_pool", "principal"}
        hidden |= {"embedding", "search_vector", "embedding_version_id"}
        assert not hidden & _keys(schema)


def _keys(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(_keys, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(_keys, schema.values()))


@pytest.mark.parametrize("name", _TOOLS)
def test_a_tool_says_when_to_use_it(name: str) -> None:
    tool = _described()[name]
    assert tool.title
    assert tool.description
    assert len(tool.description) > 60
    assert tool.annotations is not None
    assert tool.annotations.read_only_hint is (name in _READ_ONLY)
    assert tool.annotations.destructive_hint is (name in _DESTRUCTIVE)
    assert tool.annotations.open_world_hint is (name == "memory_run_consolidation")
    idempotent = None if name in _READ_ONLY else name in _IDEMPOTENT
    assert tool.annotations.idempotent_hint is idempotent


def _size(tools: Iterable[Tool]) -> tuple[int, int]:
    """Of a list: its bytes in all, and the tokens of names, descriptions and inputs."""
    wire = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in tools]
    read = [{key: one[key] for key in ("name", "description", "inputSchema")} for one in wire]
    tokens = sum(len(json.dumps(one, separators=(",", ":"))) for one in read) // 4
    return len(json.dumps({"tools": wire}).encode()), tokens


def test_the_list_costs_little_of_a_context() -> None:
    size, tokens = _size(describe_all(["memory"], MemoryModuleConfig()))
    assert size <= 30_000
    assert tokens <= 4_000


@pytest.mark.anyio
@pytest.mark.parametrize(("toolset", "path"), [("core", "/mcp"), ("memory", "/mcp/core")])
async def test_the_core_is_six_tools_that_do_without_the_others(
    serve: Serve, toolset: Literal["core", "memory"], path: str
) -> None:
    async with serve(toolsets=(toolset,)) as served, served.mcp(path) as client:
        assert 0 < len(client.tools) <= 6
        # Of 1,200 tokens; Gemini CLI adds up to 70 to each tool (`tests/clients`).
        assert _size(client.tools.values())[1] <= 780
        assert client.session.initialize_result is not None
        said = [client.session.initialize_result.instructions or ""]
        for tool in client.tools.values():
            said += [tool.description or "", str(tool.input_schema)]
        named = set(re.findall(r"\b(?:memory|entity)_[a-z_]+", " ".join(said)))
        assert named - {"memory_type", "memory_id"} <= client.tools.keys()

        episode = {"content": "x" * 3_000, "butler": "cook"}
        stored = json.loads(await client.read("memory_store_episode", **episode))
        reference = {"memory_type": "episode", "memory_id": stored["id"]}
        assert "x" * 3_000 in await client.read("memory_get", **reference)
        fact = {"subject": "user", "predicate": "tea", "content": "Drinks green tea"}
        kept = json.loads(await client.read("memory_store_fact", **fact))
        assert kept["id"] in await client.read("memory_recall", topic="tea")
        await client.read("memory_forget", memory_type="fact", memory_id=kept["id"])
        assert await client.read("memory_recall", topic="tea") == "No results."


def test_what_many_tools_take_is_described_once() -> None:
    tools = _described().values()
    for name in ("known_at", "as_of", "min_trust", "trust"):
        takes = [one.input_schema["properties"].get(name) for one in tools]
        assert sum("description" in one for one in takes if one) == 1, name
        assert sum(one is not None for one in takes) > 1


def test_the_instructions_begin_with_what_matters_most_and_are_one_line() -> None:
    said = instructions(["memory"])
    assert "\n" not in said
    assert "memory_recall" in said.partition(". ")[0]


_CONFIGURED: Final = MemoryModuleConfig(
    episodes=EpisodesConfig(max_entries=0),
    facts=FactsConfig(retrieval_confidence_threshold=0.3),
    retrieval=RetrievalConfig(default_mode="keyword", context_token_budget=40),
)


@pytest.mark.requirement("CFG-03", "CTX-07", "TOOL-13")
def test_defaults_are_those_of_the_configuration() -> None:
    tools = _described(_CONFIGURED)

    def default(tool: str, key: str) -> Any:
        return tools[tool].input_schema["properties"][key]["default"]

    assert default("memory_context", "token_budget") == 40
    assert default("memory_search", "mode") == "keyword"
    assert default("memory_search", "min_confidence") == 0.3
    assert default("memory_recall", "min_confidence") == 0.3
    assert default("memory_run_episode_cleanup", "max_entries") == 0


@pytest.mark.anyio
@pytest.mark.requirement("CFG-03", "CTX-07")
async def test_what_is_left_out_is_as_configured(serve: Serve) -> None:
    async with serve(_CONFIGURED) as served, served.mcp() as client:
        for number in range(4):
            await client.call(
                "memory_store_fact",
                subject="user",
                predicate=f"trait_{number}",
                content=f"Prefers dark green number {number} whenever colours are spoken of",
            )
        block = await client.call("memory_context", trigger_prompt="dark green", butler="cook")
        assert len(block["context"]) <= 160
        assert block["left_out"]
        by_words = await client.call("memory_search", query="dark green")
        assert by_words["results"]
        assert all(one["scores"]["similarity"] is None for one in by_words["results"])
        # Only a search by meaning would find them under this word.
        assert (await client.call("memory_search", query="chartreuse"))["results"] == []
