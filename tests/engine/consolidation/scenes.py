"""Episodes to consolidate, and answers as a model would write them, all written by hand."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from conftest import Clock, Connection
from memory_butler.config import ConsolidationConfig, MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation.run import Report, run_consolidation
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode
from memory_butler.inference.language_models.port import Completion, Request
from memory_butler.inference.language_models.scripted import ScriptedModel

NOTHING = '{"new_facts": [], "updated_facts": [], "new_rules": [], "confirmations": []}'


def answer(**arrays: Any) -> str:
    """What a model writes: a JSON object of these arrays."""
    return json.dumps(arrays, ensure_ascii=False)


def fact(content: str = "Likes tea", *sources: str, **more: Any) -> dict[str, Any]:
    """An entry of new_facts."""
    given = {"subject": "user", "predicate": "preferred_drink", "content": content, **more}
    return given | ({"source_episode_ids": list(sources)} if sources else {})


async def tell(
    memory: Memory, principal: Principal, *texts: str, butler: str = "general", **more: Any
) -> list[UUID]:
    """Store one episode a text, a second apart where the clock can be set."""
    ids = []
    for text in texts:
        ids.append(await store_episode(memory, principal, text, butler, **more))
        if isinstance(memory.clock, Clock):
            memory.clock.advance(seconds=1)
    return ids


async def consolidate(
    memory: Memory, principal: Principal, *replies: str | Exception
) -> tuple[Report, list[Request]]:
    """Run with a model that gives these replies; what it did, and what the model was asked."""
    model = ScriptedModel(replies)
    return await run_consolidation(memory, principal, model), model.calls


def configured(memory: Memory, **consolidation: Any) -> Memory:
    """The memory with other bounds of consolidation."""
    config = MemoryModuleConfig(consolidation=ConsolidationConfig(**consolidation))
    return replace(memory, config=config)


async def statuses(admin: Connection) -> dict[UUID, str]:
    """The state of every episode."""
    found = await admin.fetch("SELECT id, consolidation_status FROM episodes")
    return {row["id"]: row["consolidation_status"] for row in found}


async def facts(admin: Connection) -> list[dict[str, Any]]:
    """All facts of all tenants, in the order of their making."""
    return [dict(row) for row in await admin.fetch("SELECT * FROM facts ORDER BY created_at, id")]


async def rules(admin: Connection) -> list[dict[str, Any]]:
    """All rules of all tenants."""
    return [dict(row) for row in await admin.fetch("SELECT * FROM rules ORDER BY created_at, id")]


async def links(admin: Connection, relation: str) -> set[tuple[UUID, UUID]]:
    """Source and target of every link of a relation."""
    found = await admin.fetch(
        "SELECT source_id, target_id FROM memory_links WHERE relation = $1", relation
    )
    return {(row["source_id"], row["target_id"]) for row in found}


async def runs(admin: Connection) -> list[dict[str, Any]]:
    """The record of every run."""
    found = await admin.fetch("SELECT * FROM consolidation_runs ORDER BY started_at, butler")
    return [dict(row) for row in found]


def completion(text: str, tokens_in: int = 10, tokens_out: int = 5) -> Completion:
    """An answer that cost a cent."""
    return Completion(text, tokens_in, tokens_out, 0.01, "by hand")


class Answering:
    """A model that answers everything alike, and says what it costs."""

    name = "by hand"

    def __init__(self, text: str, tokens_in: int = 10, tokens_out: int = 5) -> None:
        self.calls: list[Request] = []
        self._completion = completion(text, tokens_in, tokens_out)

    async def complete(self, request: Request) -> Completion:
        self.calls.append(request)
        return self._completion


def told(requests: Sequence[Request]) -> str:
    """The prompt of the only request."""
    (request,) = requests
    return request.prompt
