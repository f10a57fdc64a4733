"""A question to memory: checked, with its languages and its dates."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self
from uuid import UUID

from memory_butler.domain.clauses import clauses
from memory_butler.domain.entities import name_of_work, spellings
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.foreign_dates import put_into_english
from memory_butler.domain.links import MemoryType
from memory_butler.domain.periods import Period, period_of
from memory_butler.domain.text import preprocess_search_query
from memory_butler.domain.trust import Trust, parse_trust
from memory_butler.domain.wording import MARK, without_cjk
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.engine.spoken import spoken_languages
from memory_butler.inference import languages
from memory_butler.inference.dates import calendar_of, in_english
from memory_butler.inference.languages import Spoken
from memory_butler.retrieval_config import SearchMode
from memory_butler.store.search import Wanted


@dataclass(frozen=True, slots=True)
class Question:
    """A checked question; `depth` is how deep each retriever looks.

    `without` names memories to do as if they were not there. With `weighty`, what matters most is
    looked for by itself, too. In a deep search, `parts` are the things that it asks for, where it
    asks for several. `words` is the text with its languages, for the keyword retriever, `dated`
    the text with its dates in English, `period` the time that a deep search names, and `calendar`
    what its language calls months and weekdays, each with its English name. `spellings` are what in
    it may be an entity's name. `is_foreign` says that it is in another language than English,
    `spoken` which languages memory has, where that matters; see `understood`. `about` is what the
    asker works on, as `name_of_work` has it.
    """

    text: str
    mode: SearchMode
    scope: str | None
    limit: int
    min_confidence: float
    depth: int
    now: datetime
    version_id: int
    without: frozenset[UUID]
    min_trust: Trust | None = None
    min_relevance: float = 0.0
    weighty: bool = False
    about: frozenset[str] = frozenset()
    parts: "tuple[Question, ...]" = ()
    words: str = ""
    dated: str = ""
    period: Period | None = None
    calendar: Mapping[str, str] = field(default_factory=dict)
    spellings: tuple[str, ...] = ()
    is_foreign: bool = False
    spoken: Spoken = field(default_factory=dict)

    @property
    def here_now(self) -> datetime:
        """The moment in the time zone of this machine, by which "tomorrow" is meant."""
        return self.now.astimezone()

    def wanted(self, types: Sequence[MemoryType]) -> Wanted:
        """What its searches are bounded by."""
        return Wanted(
            types,
            self.scope,
            self.min_confidence,
            self.now,
            self.depth,
            self.version_id,
            self.min_trust,
            self.without,
        )

    @classmethod
    def of(
        cls,
        memory: Memory,
        query: str,
        mode: SearchMode,
        *,
        scope: str | None,
        limit: int,
        min_confidence: float | None,
        without: Collection[UUID] = (),
        min_trust: str | None = None,
        min_relevance: float = 0.0,
        weighty: bool = False,
        about: Collection[str] = (),
    ) -> Self:
        """Check what was asked; InvalidInput says what cannot be."""
        if mode == "keyword" and min_relevance > 0:
            raise InvalidInput("min_relevance needs meaning: take another mode than keyword")
        retrieval = memory.config.retrieval
        if min_confidence is None:
            min_confidence = memory.config.facts.retrieval_confidence_threshold
        inputs.limit(limit)
        depth = retrieval.deep_candidate_depth if mode == "deep" else retrieval.candidate_depth
        asked = cls(
            text=preprocess_search_query(inputs.query("the query", query)),
            mode=mode,
            scope=inputs.optional_name("scope", scope),
            limit=limit,
            min_confidence=inputs.share("min_confidence", min_confidence),
            depth=max(limit, depth),
            now=memory.clock(),
            version_id=memory.embedding_version_id,
            without=frozenset(without),
            min_trust=None if min_trust is None else parse_trust(min_trust),
            min_relevance=inputs.share("min_relevance", min_relevance),
            weighty=weighty,
            # Of these is nearly everything, whatever a folder is called.
            about=frozenset(filter(None, map(name_of_work, about))) - {"user", "family"},
        )
        # Of the query as it was written: a text to search for has no lines.
        parts = clauses(query) if mode == "deep" else []
        return replace(asked, parts=tuple(replace(asked, text=part) for part in parts))


async def understood(memory: Memory, tenant: str, asked: Question) -> Question:
    """The question with its languages; before a transaction, for a first text loads a model."""
    spoken = await spoken_languages(memory, tenant, asked.text)
    parts = [await understood_in(part, spoken) for part in asked.parts]
    return replace(await understood_in(asked, spoken), parts=tuple(parts))


async def understood_in(asked: Question, spoken: Spoken) -> Question:
    words = await languages.of_question(asked.text, spoken)
    is_foreign = words.startswith(MARK) or without_cjk(asked.text) != asked.text
    in_deep = asked.mode == "deep" and is_foreign
    dated = await in_english(asked.text, spoken) if in_deep else put_into_english(asked.text)
    calendar = await calendar_of(asked.text, spoken) if in_deep else {}
    period = period_of(dated, asked.here_now) if asked.mode == "deep" else None
    if period is not None and period.start <= asked.now:
        # When it happened counts by itself; as words it would count twice, and hide the others.
        words = await languages.of_question(asked.text, spoken, with_dates=False)
    return replace(
        asked,
        words=words,
        dated=dated,
        period=period,
        calendar=calendar,
        spellings=spellings(asked.text),
        is_foreign=is_foreign,
        spoken=spoken,
    )
