"""Storing: checked, embedded outside the transaction, then written in one, with its event."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from memory_butler.domain.errors import IntegrityViolation, InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust, may_touch
from memory_butler.engine.curate import confirm_rule
from memory_butler.engine.indexing import NewMemory, shortened, tags_of, text_of
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import apart, is_masked, screened
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import Written, insert, new_episode, new_fact, new_rule
from memory_butler.store import imports, rules
from memory_butler.store.embeddings import Embedded
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import transaction

Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory as it was stored, and what storing it did.

    `again`: it was stored already, and something in it is masked still.
    """

    new: NewMemory
    written: Written
    again: bool = False


async def keep(
    memory: Memory,
    principal: Principal,
    new: NewMemory,
    *,
    allow_secrets: bool = False,
    once: bool = False,
    restates: bool = False,
    key: UnmaskKey | None = None,
) -> Kept:
    """Store what `new_episode`, `new_fact` or `new_rule` made.

    Args:
        allow_secrets: secrets in it are stored as they are, unless the setting refuses them.
        once: not again, where its id is stored already.
        restates: a rule in the words of one that counts confirms that one instead (C-525), a fact
            in the words of the one of its key keeps the tags of that one (C-550).
        key: what is masked is kept under it for an hour; without a key it is kept nowhere.

    Raises:
        InvalidInput: a value that cannot be stored, a secret where they are refused, or another
            text under an id that is stored already.
        Unavailable: the database is away; nothing was stored.
    """
    screen = partial(screened, memory, principal, new)
    clean = await apart(partial(screen, allow_secrets=allow_secrets), new.content)
    # The first answer may have asked for the same call again, with `allow_secrets`.
    masked = await apart(screen, new.content) if once and allow_secrets else clean
    if once and (kept := await _stored(memory, principal, new, clean, masked)):
        return kept
    try:
        return Kept(clean, await _store(memory, principal, new, clean, key, restates=restates))
    except IntegrityViolation:
        # The same call, or another one with its id, came first meanwhile.
        if once and (kept := await _stored(memory, principal, new, clean, masked)):
            return kept
        raise


def _storing(
    make: Callable[Concatenate[Memory, Given], NewMemory], answer: Callable[[Kept], Answer]
) -> Callable[Concatenate[Memory, Principal, Given], Coroutine[Any, Any, Answer]]:
    """What makes a memory of its arguments and stores it.

    It raises InvalidInput for a value that cannot be stored, and Unavailable while the database is
    away: then nothing was stored.
    """

    async def store(
        memory: Memory, principal: Principal, /, *args: Given.args, **given: Given.kwargs
    ) -> Answer:
        new = make(memory, *args, **given)
        return answer(await keep(memory, principal, new, once=given.get("id") is not None))

    return store


def _id(kept: Kept) -> UUID:
    return kept.new.id


# Keep what happened; it expires after the configured TTL (STO-02). With an `id` of the caller's
# choice it is stored once, however often it is asked for. The answer is its id.
store_episode = _storing(new_episode, _id)
# Keep what is true; an active fact of the same key is superseded (STO-03..07, C-21). The answer:
# its id, and that of the fact which it superseded.
store_fact = _storing(new_fact, lambda kept: (kept.new.id, kept.written.supersedes_id))
# Keep how to behave, as a candidate that has to earn trust (STO-08). Without a permanence a rule
# decays at 0.01 a day, with one at that level's rate (C-04). The answer is its id.
store_rule = _storing(new_rule, _id)


async def _stored(
    memory: Memory, principal: Principal, given: NewMemory, clean: NewMemory, masked: NewMemory
) -> Kept | None:
    """What is stored under its id already, as it was given or screened; None where nothing is.

    Raises:
        InvalidInput: what has the id says something else; taken for a retry it would be lost.
    """
    async with transaction(memory.pool, principal.tenant) as tx:
        found = await imports.contents(tx, given.id)
    if not found:
        return None
    if given.content in found:
        return Kept(given, Written())
    if masked.content in found and is_masked(masked.metadata):
        return Kept(masked, Written(), again=True)
    if clean.content in found:
        return Kept(given, Written())
    raise InvalidInput(
        f"{given.id} is the id of a memory with another content; "
        "give this one an id of its own, or none"
    )


async def _store(
    memory: Memory,
    principal: Principal,
    given: NewMemory,
    clean: NewMemory,
    key: UnmaskKey | None,
    *,
    restates: bool,
) -> Written:
    embedded = await memory.embedded(text_of(clean), tags_of(clean))

    async def write(fitting: Embedded) -> Written:
        async with transaction(memory.pool, principal.tenant) as tx:
            # What was masked alike may not be alike.
            says_again = restates and not is_masked(clean.metadata)
            if says_again and isinstance(clean, NewRule):
                row = await rules.saying(tx, clean.content, clean.scope, clean.trust)
                if row is not None and may_touch(clean.trust, Trust(row["trust"])):
                    await confirm_rule(tx, principal, row, memory.clock(), clean)
                    return Written(confirms=row["id"])
            written = await insert(tx, principal, clean, fitting, restates=says_again)
            if key is not None:
                await key.keep_new(tx, given, clean, memory.clock())
            return written

    return await shortened(embedded, write)
