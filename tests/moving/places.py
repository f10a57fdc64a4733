"""Two installations on databases of the test's own server, and a tenant that moves between them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from conftest import Database
from forking import forked
from memory_butler.companions import opening
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.audit_keys import open_keys
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.keys import keys_of
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.engine.opening import open_memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.tokens import Authenticator, create_token, revoke_token
from memory_butler.erasure import erasing
from memory_butler.erasure.scope import Target
from memory_butler.moving import moving
from memory_butler.moving.moving import Moving
from memory_butler.moving.sides import Side

ACME = Principal("acme", "tester")


@dataclass(frozen=True, slots=True)
class Place:
    """An installation as a server has it; `memory` is no mover's."""

    memory: Memory
    settings: Settings

    @property
    def name(self) -> str:
        return self.data_dir.name

    @property
    def data_dir(self) -> Path:
        return self.settings.data_dir

    async def stores(self, content: str, who: Principal = ACME) -> UUID:
        id, _ = await store_fact(self.memory, who, "user", content.split()[0], content)
        return id

    async def recalls(self, question: str, who: Principal = ACME) -> list[tuple[UUID, str]]:
        """What comes back, without what each recall counts."""
        hits = await recall(self.memory, who, question)
        return [(hit.row["id"], hit.row["content"]) for hit in hits]

    async def admits(self, token: str) -> Principal | None:
        return await Authenticator(self.memory).principal(token)

    async def writes(self, text: str) -> None:
        """A message in the journal luna."""
        await opening.use(
            self.memory, ACME, "luna", lambda it: it.live.log(text, "user"), create=True
        )

    async def messages(self) -> list[str]:
        return await opening.use(
            self.memory, ACME, "luna", lambda it: [one.content for one in it.live.events()]
        )


def place_on(memory: Memory, database: Database, data_dir: Path) -> Place:
    """An installation of this memory's database with a data directory."""
    data_dir.mkdir(exist_ok=True)
    audit = open_keys(data_dir / "audit")
    memory.pool.seal_key = audit.chain
    settings = Settings(data_dir=data_dir, dsn=database.runtime_dsn)
    keys = lambda: keys_of(settings)  # noqa: E731
    # As that of the mover: the log of events tells when a clock was set back.
    made = replace(memory, data_dir=data_dir, audit=audit, keys=keys, clock=utc_now)
    return Place(made, settings)


def _side(memory: Memory, name: str) -> Side:
    return Side(memory, name, ACME.tenant)


@asynccontextmanager
async def mover(source: Place, target: Place, **more: Any) -> AsyncIterator[Moving]:
    """What `memory-butler move` opens, at work beside the servers."""
    async with (
        open_memory(source.settings, with_model=False) as one,
        open_memory(target.settings, with_model=False) as other,
    ):
        yield Moving(_side(one, source.name), _side(other, target.name), ACME, **more)


async def move(source: Place, target: Place, **more: Any) -> None:
    async with mover(source, target, **more) as moving:
        await moving.move()


async def cancel(source: Place, target: Place) -> None:
    async with mover(source, target) as moving:
        await moving.cancel()


def move_and_die(source: Settings, target: Settings, called: str, count: int) -> None:
    """Move in a process that is killed when it calls a function of a module for the nth time."""
    module, _, name = called.partition(".")
    holder = vars(moving)[module]
    real, calls = getattr(holder, name), iter(range(1, 1000))

    def dying(*given: Any, **named: Any) -> Any:
        if next(calls) == count:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)

    setattr(holder, name, dying)

    async def work() -> None:
        async with (
            open_memory(source, with_model=False) as one,
            open_memory(target, with_model=False) as other,
        ):
            sides = _side(one, source.data_dir.name), _side(other, target.data_dir.name)
            await Moving(*sides, ACME).move()

    asyncio.run(work())


def killed(here: Place, there: Place, called: str, count: int) -> None:
    """Move in a process of its own, which is killed there."""
    process = forked(move_and_die, here.settings, there.settings, called, count)
    process.process.join(60)
    died = process.process.exitcode
    process.close()
    assert died == -signal.SIGKILL, f"{called} was not called {count} times"


async def fill(place: Place) -> dict[str, str]:
    """A tenant with everything that moves; its tokens, by name."""
    memory = place.memory
    await store_episode(memory, ACME, "Ana said that she moved to Porto", "chef")
    await store_rule(memory, ACME, "Answer in Portuguese")
    await place.stores("likes green tea")
    await place.stores("likes black tea")  # which takes its place
    await place.stores("plays the viola")
    await forget_memory(memory, ACME, "fact", await place.stores("owns a boat"))
    gone = await place.stores("hates the secret thing")
    await erasing.erase(memory, ACME, Target(memory=("fact", gone)))
    made = {name: await create_token(memory, "acme", name, ["admin"]) for name in ("a", "b")}
    await revoke_token(memory, made["b"].id)
    await place.writes("hello there")
    await place.writes("the viola is out of tune")
    return {name: one.token for name, one in made.items()}
