"""Entities: which one a name means, and what two become when merged (RES-01..09, MRG-04..05)."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Final, Literal, get_args
from uuid import UUID

from memory_butler.domain.choices import choose
from memory_butler.domain.text import lowered

EntityType = Literal["person", "organization", "place", "other"]
ENTITY_TYPES: Final[tuple[EntityType, ...]] = get_args(EntityType)

NameMatch = Literal["exact", "alias", "prefix", "fuzzy"]
NAME_MATCHES: Final[tuple[NameMatch, ...]] = get_args(NameMatch)  # best tier first

# RES-01..04.
BASE_SCORES: Final[Mapping[NameMatch, float]] = MappingProxyType(
    {"exact": 100.0, "alias": 80.0, "prefix": 50.0, "fuzzy": 20.0}
)
FUZZY_THRESHOLD: Final = 0.3  # trigram similarity of name or alias, inclusive (C-70)
FUZZY_MIN_CHARS: Final = 3  # "longer than 2 characters" (RES-04)
MAX_NEIGHBOURHOOD_BOOST: Final = 20.0  # RES-07

NAME_WORDS: Final = 3  # of a name that a question is looked through for
QUESTION_WORDS: Final = 64  # of a question that may hold a name; a longer text is no question

# What describes the row, not the person or place that it stands for.
SYSTEM_METADATA_KEYS: Final = frozenset({"merged_into", "merged_at", "merged_from"})

_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"[^\W_]+(?:[-_'’][^\W_]+)*")
# "St. Gallen", "Dr. Meyer"; what ends a sentence with so short a word is nobody's name.
_DOTTED = re.compile(rf"[^\W\d_]{{1,4}}\.(?=\s+[^\W\d_])|{_NAME.pattern}")
_POSSESSIVE: Final = ("'s", "’s")
_KINDS_OF_WORK: Final = frozenset({"the", "repo", "repository", "project", "git"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entity that a name may mean, the tier that found it, and texts of its active facts.

    A fact's text is its predicate and content. The texts matter only where there are hint terms.
    """

    entity_id: UUID
    canonical_name: str
    entity_type: EntityType
    name_match: NameMatch
    aliases: tuple[str, ...] = ()
    fact_texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """One answer to "who is meant"; `score` is rounded to four decimals (RES-09)."""

    entity_id: UUID
    canonical_name: str
    entity_type: EntityType
    score: float
    name_match: NameMatch
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergedAliases:
    """The target's aliases after a merge, and how many of them are new (C-68)."""

    aliases: tuple[str, ...]
    added: int


def parse_entity_type(value: str) -> EntityType:
    """The entity type named `value`; `InvalidInput` lists all four (ENT-02)."""
    return choose(value, ENTITY_TYPES, "entity type")


def hint_terms(topic: str | None, mentioned_with: str | Iterable[str] | None) -> frozenset[str]:
    """The words of the hints: lower-case runs of letters and digits (RES-07)."""
    companions = [mentioned_with] if isinstance(mentioned_with, str) else (mentioned_with or ())
    return frozenset(word for text in (topic or "", *companions) for word in _words(text))


def spellings(text: str) -> tuple[str, ...]:
    """What in a question may be an entity's name: up to `NAME_WORDS` words in a row, in lower case,
    as written, and capitalised, for a look-up by equality."""
    names = dict.fromkeys(written_names(text))
    return tuple(
        dict.fromkeys(said for name in names for said in (lowered(name), name, name.title()))
    )


def written_names(text: str) -> Iterator[str]:
    """What in a text may be a name: up to `NAME_WORDS` words in a row, as written."""
    # "Jean-Luc", "O'Brien", "web_shop" and "St. Gallen" as they are, too; "Ana's" is Ana.
    for pattern in (_WORD, _NAME, _DOTTED):
        found = islice(pattern.finditer(text), QUESTION_WORDS)
        words = [_without_possessive(one.group()) for one in found]
        for start in range(len(words)):
            for end in range(start + 1, min(start + NAME_WORDS, len(words)) + 1):
                yield " ".join(words[start:end])


def name_of_work(text: str) -> str:
    """What a repository or the like is called, however it is written: "harborapi".

    Of "acme/harbor-api", "Harbor API" and "the harbor_api repo" alike.
    """
    words = [lowered(one) for one in _WORD.findall(text.rstrip("/\\").rpartition("/")[2])]
    return "".join(one for one in words if one not in _KINDS_OF_WORK) or "".join(words)


def _without_possessive(word: str) -> str:
    return word[:-2] if word.endswith(_POSSESSIVE) else word


def neighbourhood_boost(fact_texts: Iterable[str], terms: frozenset[str]) -> float:
    """0.0 to 20.0: the Jaccard overlap of the hint terms with the fact that fits best (RES-07).

    Taken fact by fact: over the words of all facts at once, every further fact known about an
    entity would lower its score.
    """
    best = max((_jaccard(_words(text), terms) for text in fact_texts), default=0.0)
    return MAX_NEIGHBOURHOOD_BOOST * best


def rank_candidates(
    candidates: Iterable[Candidate],
    *,
    terms: frozenset[str] = frozenset(),
    domain_scores: Mapping[str, object] | None = None,
) -> list[ResolvedEntity]:
    """Candidates with their scores, best match first (RES-07..09, C-69).

    An entity found in several tiers counts in its best one. A domain score is added where its key
    is the entity's id; one that is no finite number is skipped, a bool among them (RES-08). Order:
    score DESC, canonical name ASC, id ASC.
    """
    best: dict[UUID, Candidate] = {}
    for candidate in candidates:
        known = best.get(candidate.entity_id)
        if known is None or BASE_SCORES[candidate.name_match] > BASE_SCORES[known.name_match]:
            best[candidate.entity_id] = candidate
    extra = _by_entity(domain_scores or {})
    resolved = [
        ResolvedEntity(
            entity_id=candidate.entity_id,
            canonical_name=candidate.canonical_name,
            entity_type=candidate.entity_type,
            score=round(
                BASE_SCORES[candidate.name_match]
                + (neighbourhood_boost(candidate.fact_texts, terms) if terms else 0.0)
                + extra.get(str(candidate.entity_id), 0.0),
                4,
            ),
            name_match=candidate.name_match,
            aliases=candidate.aliases,
        )
        for candidate in best.values()
    ]
    return sorted(resolved, key=lambda one: (-one.score, one.canonical_name, one.entity_id))


def merge_aliases(
    target_aliases: Sequence[str],
    target_name: str,
    source_aliases: Sequence[str],
    source_name: str,
    keep_source_name: bool = True,
) -> MergedAliases:
    """The target's aliases, then the source's, then the source's own name (MRG-04, C-68).

    Without repetition, whatever the case: a name that the target has, canonical or alias, is not
    added. Case is compared as resolution compares it, in lower case.
    """
    merged: list[str] = []
    seen: set[str] = set()
    for alias in target_aliases:
        if alias.lower() not in seen:
            seen.add(alias.lower())
            merged.append(alias)
    kept = len(merged)
    seen.add(target_name.lower())
    for name in (*source_aliases, *((source_name,) if keep_source_name else ())):
        if name.strip() and name.lower() not in seen:
            seen.add(name.lower())
            merged.append(name)
    return MergedAliases(tuple(merged), len(merged) - kept)


def merge_metadata(target: Mapping[str, object], source: Mapping[str, object]) -> dict[str, object]:
    """Both sets of keys; the target's value wins, the source's system keys stay behind (MRG-05)."""
    moved = {key: value for key, value in source.items() if key not in SYSTEM_METADATA_KEYS}
    return {**moved, **target}


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _jaccard(some: frozenset[str], others: frozenset[str]) -> float:
    union = some | others
    return len(some & others) / len(union) if union else 0.0


def _by_entity(domain_scores: Mapping[str, object]) -> dict[str, float]:
    return {
        str(key).lower(): score
        for key, value in domain_scores.items()
        if (score := _finite(value)) is not None
    }


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        score = float(value)
    except OverflowError:  # an int beyond the range of a float
        return None
    return score if math.isfinite(score) else None
