"""A database and a model that many generated histories share, each as a tenant of its own."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

import asyncpg
import numpy as np
from hypothesis.stateful import RuleBasedStateMachine

from conftest import NOW, Clock, Template
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.store import embeddings
from memory_butler.store.transaction import open_pool

TEXTS: Final = ("Drinks jasmine tea", "Lives in Lisbon", "Rows an old river boat", "Sails to Faro")


class Remembering(EmbeddingEngine):
    """The real model, asked once for each text: a history says the same few again and again."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[str | None, Vectors] = {}

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        for text in {*texts} - self._known.keys():
            self._known[text] = super().embed_arrays([text])
        return np.concatenate([self._known[text] for text in texts])


@dataclass(slots=True)
class World:
    """One database and one model for all histories."""

    runner: asyncio.Runner
    memory: Memory
    clock: Clock


class History(RuleBasedStateMachine):
    """A history in a world, as a tenant of its own; made as a subclass that has the world."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        self.world.clock.now = NOW
        self.memory = self.world.memory
        self.principal = Principal(tenant=f"t-{uuid4()}", actor="history")


def made_world(runner: asyncio.Runner, template: Template) -> Iterator[World]:
    name = f"memory_histories_{uuid4().hex[:8]}"
    admin = runner.run(asyncpg.connect(template.endpoint.dsn("postgres")))
    runner.run(admin.execute(f"CREATE DATABASE {name} TEMPLATE memory_template"))
    dsn = template.runtime_dsn.replace("/memory_template?", f"/{name}?")
    pool = runner.run(open_pool(dsn, max_size=2))
    embedder, clock = BatchingEmbedder(Remembering()), Clock()
    engine = embedder.engine
    version = runner.run(
        embeddings.register(pool, engine.model_name, engine.model_version, engine.dimensions, NOW)
    )
    try:
        yield World(runner, Memory(pool, embedder, version, MemoryModuleConfig(), clock), clock)
    finally:
        runner.run(embedder.aclose())
        runner.run(pool.close())
        runner.run(admin.execute(f"DROP DATABASE {name} WITH (FORCE)"))
        runner.run(admin.close())
