"""The small household of the examples, stored under their ids."""

from dataclasses import replace
from uuid import UUID

from conftest import Connection
from memory_butler.companions.opening import Companion, use
from memory_butler.domain.principals import Principal
from memory_butler.engine.context import build_context
from memory_butler.engine.entities import insert_entity, new_entity
from memory_butler.engine.indexing import NewMemory, tags_of, text_of
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import insert, new_episode, new_fact, new_rule
from memory_butler.journal.fragments import PutFragment
from memory_butler.store.facts import NewFact
from memory_butler.store.transaction import transaction
from memory_butler.surfaces.rest import examples


async def move_in(memory: Memory, principal: Principal, admin: Connection) -> None:
    """Store one of everything that the examples name."""
    async with transaction(memory.pool, principal.tenant) as tx:
        for id, name, alias in (
            (examples.PERSON, "Ana Silva", "Ana"),
            (examples.DUPLICATE, "Ana S.", "Anninha"),
        ):
            new = new_entity(name, "person", id=UUID(id), aliases=[alias])
            await insert_entity(tx, principal, new, memory.clock())
    for memory_ in _memories(memory):
        embedded = await memory.embedded(text_of(memory_), tags_of(memory_))
        async with transaction(memory.pool, principal.tenant) as tx:
            await insert(tx, principal, memory_, embedded)
    # In parts: what looks like a secret does not stand in a file.
    masked = new_rule(memory, "Push with " + "ghp_a1B2c3D4e5F6g7H8" + "i9J0k1L2m3N4o5P6q7R8")
    await keep(memory, principal, masked, key=UnmaskKey.of(examples.UNMASK_KEY))
    await build_context(
        memory, principal, "Which colour?", examples.BUTLER, session_id=examples.SESSION
    )
    await admin.execute("UPDATE context_receipts SET id = $1", UUID(examples.RECEIPT))
    await admin.execute(
        "INSERT INTO tenants (id) SELECT $1 ON CONFLICT DO NOTHING", principal.tenant
    )
    await admin.execute(
        "INSERT INTO tokens (id, tenant_id, name, token_hash, scopes)"
        " VALUES ($1, $2, 'old', $3, $4)",
        UUID(examples.TOKEN),
        principal.tenant,
        principal.tenant.encode(),
        ["read"],
    )
    await use(memory, principal, examples.COMPANION, _talk, create=True)


def _talk(companion: Companion) -> None:
    """A journal whose one message is compiled."""
    companion.live.log("Look at the garden!", "user")
    companion.desk.apply("manual", [PutFragment(examples.FRAGMENT, "The garden.", sources=(1,))])


def _in_doubt(fact: NewFact) -> NewFact:
    return replace(fact, period=replace(fact.period, validity="waiting"))


def _memories(memory: Memory) -> list[NewMemory]:
    episode = UUID(examples.EPISODE)
    return [
        new_episode(
            memory,
            "The user painted the kitchen and chose dark green",
            examples.BUTLER,
            id=episode,
            session_id=examples.SESSION,
        ),
        new_fact(
            memory,
            "user",
            "favorite_color",
            "Prefers dark green",
            id=UUID(examples.FACT),
            source_butler=examples.BUTLER,
            source_episode_id=episode,
            tags=["taste"],
        ),
        new_fact(
            memory,
            "user",
            "favourite_colour",
            "Prefers dark green",
            id=UUID(examples.LIKE_FACT),
        ),
        _in_doubt(
            new_fact(
                memory, "user", "desk_colour", "Has a grey desk", id=UUID(examples.WAITING_FACT)
            )
        ),
        new_fact(memory, "Ana", "city", "Lives in Porto", entity_id=examples.PERSON),
        new_fact(memory, "Ana", "city", "Lives in Lisbon", entity_id=examples.DUPLICATE),
        new_rule(
            memory,
            "Confirm before sending messages",
            id=UUID(examples.RULE),
            source_butler=examples.BUTLER,
            source_episode_id=episode,
        ),
    ]
