"""What a memory is found by: its text as a vector, and as words, its tags among them (C-540)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar, assert_never

import asyncpg

from memory_butler.domain.episodes import search_text as episode_text
from memory_butler.domain.facts import search_text as fact_text
from memory_butler.domain.links import MemoryType
from memory_butler.engine import inputs
from memory_butler.inference import languages
from memory_butler.store import facts, rules
from memory_butler.store.embeddings import Embedded
from memory_butler.store.episodes import NewEpisode
from memory_butler.store.facts import NewFact
from memory_butler.store.rows import Row
from memory_butler.store.rules import NewRule
from memory_butler.store.transaction import Transaction

NewMemory = NewEpisode | NewFact | NewRule

Result = TypeVar("Result")


def text_of(new: NewMemory) -> str:
    """What of it is embedded, and indexed with its tags."""
    match new:
        case NewEpisode():
            return episode_text(new.content, new.speaker, new.occurred_at)
        case NewFact():
            return fact_text(new.subject, new.predicate, new.content)
        case NewRule():
            return new.content
        case _:
            assert_never(new)


def text_of_row(kind: MemoryType, row: Row, content: str | None = None) -> str:
    """The same of a memory that is there; with another content, where one is given."""
    said: str = row["content"] if content is None else content
    match kind:
        case "episode":
            return episode_text(said, row["speaker"], row["occurred_at"])
        case "fact":
            return fact_text(row["subject"], row["predicate"], said)
        case "rule":
            return said
        case _:
            assert_never(kind)


def tags_of(new: NewMemory) -> Sequence[str]:
    """The tags that it is found by (C-540); an episode has none."""
    return () if isinstance(new, NewEpisode) else new.tags


async def indexed_text(new: NewMemory) -> str:
    """What of it is indexed."""
    return await languages.of_memory(text_of(new), tags_of(new))


async def with_tags(embedded: Embedded, tags: Sequence[str]) -> Embedded:
    """It, found by more tags as well; also where its text had to be shortened."""
    words = await languages.of_memory("", tags)
    return replace(embedded, search_text=f"{embedded.search_text} {words}".rstrip())


async def shortened(embedded: Embedded, write: Callable[[Embedded], Awaitable[Result]]) -> Result:
    """Run `write`, a transaction or savepoint; with half the searchable text if that is too much.

    A tsvector holds less than a megabyte, and how much a text needs is known only to PostgreSQL
    (C-48). The content itself is stored whole either way.
    """
    while True:
        try:
            return await write(embedded)
        except asyncpg.ProgramLimitExceededError:
            if not embedded.search_text:
                raise
            half = embedded.search_text[: len(embedded.search_text) // 2]
            embedded = replace(embedded, search_text=half)


async def add_tags(
    tx: Transaction, kind: Literal["fact", "rule"], row: Row, more: Sequence[str]
) -> None:
    """Give a fact or rule more tags, as far as there is room. The caller has locked it, and kept
    its past."""
    tags = inputs.joined_tags(row["tags"], more)
    if tags == row["tags"]:
        return
    set_tags = facts.set_tags if kind == "fact" else rules.set_tags

    words = await languages.of_memory(text_of_row(kind, row), tags)

    async def write(fitting: Embedded) -> None:
        async with tx.connection.transaction():
            await set_tags(tx, row["id"], tags, fitting.search_text)

    await shortened(Embedded.later(words), write)
