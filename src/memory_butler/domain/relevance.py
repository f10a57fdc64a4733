"""Whether memory has anything for a question: a calibrated probability, from what is cheap.

A search always has nearest neighbours; this says whether they are near enough to be shown. It is a
logistic model of nine features of one question and its candidates, fitted by maximum likelihood on
half of what `bench/silence.py` asks, every kind of question weighing alike, questions and what
they are put to half right and half wrong. docs/retrieval.md has how often it errs on the other
half.

* How near the best candidate is, less what the best of so many would reach by chance: the maximum
  of n normal values lies near sqrt(2 ln n) standard deviations (Gumbel), so the same nearness says
  less in a larger store. The standard deviation is that of this store's memories to this question.
* How few telling words the question has, and how many of them one candidate has: of a question of
  four words and more the nearness tells enough, a topic of one word must be found. How near the one
  is that has them all: "grafana" is answered by what is about it, "next" by nothing that has it.
* Whether it names somebody or something that no candidate has, and that is no known entity: half
  as bad where the asker's own matters are the point ("our", "my"), who may bring in somebody new.
* Whether it has a code that a candidate has: an error's, a ticket's, a path, a commit. Nobody types
  such a thing by chance, and meaning says nothing of it. A code alone that no candidate has is as
  a name that nobody knows.
* Whether it is about the person who asks, or about somebody, something or a month or weekday that
  memory knows. A question that is about neither ("Who painted the Night Watch?") seldom rests on
  memory, unless one candidate has all of its words ("How do I deploy?").
* Whether it sets a task ("translate", "explain") that is about neither, and whose matter no
  candidate has: "refactor the rate limiter" is about the limiter, and "Write a press release for
  the autumn, how does it end?" about how press releases end.
* Whether it asks about a kind in general ("How many teeth does a horse have?"), is about neither,
  and no candidate has its words. A store about horses is near to each such question.
* How long it is: a long question is near to something sooner.
* Whether its candidates are about what the asker works on, where a program says so.

A sentence that merely tells something is weighed by other features: `_statement_logit`.

A prompt of pleasantries alone ("thanks, bye") is about nothing.
"""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

# The standard deviation of one prompt's cosines to unrelated English texts, under the model that
# every installation has (212 everyday prompts against 7,000 memories). It stands in, as so many
# memories, for what a small store cannot say about itself.
UNRELATED_SPREAD: Final = 0.07
# The mean of the cosines of a question to the memories of an English store, under that model. Of
# other languages it is 0.3 to 0.5 (thirty facts and questions of each of fifteen languages).
USUAL_MEAN: Final = 0.1
PRIOR_MEMORIES: Final = 16
PRIOR_WITHOUT_WORDS: Final = 4  # where no memory shares a word with the question
# A store of so many is what the constants were fitted at: there, chance takes nothing away.
USUAL_SIZE: Final = 300
LEAST_SIZE: Final = 10  # smaller stores count as this large: nothing was fitted there

# No fact brings in a rule that alone makes a smaller probability: the best of few rules is the best
# of its kind whatever it says (C-453). A topic of few words says too little of a rule.
RULES_FROM: Final = 0.05
RULES_FROM_TOPIC: Final = 0.02
ENOUGH_RULES: Final = 8  # from so many on the best are more than the best of few

# The fitted coefficients (logits), rounded to what the data can tell.
_NEARNESS: Final = 12.4  # for each 1.0 of cosine beyond chance
_FEW_WORDS: Final = -2.12  # for each telling word short of four …
_FEW_FOUND: Final = 1.2  # … times the share of them that one candidate has
_FEW_WHOLE: Final = 3.2  # … times the nearness of one that has them all, …
_WHOLE_FROM: Final = 0.15  # … beyond this
_REWORDED_FROM: Final = 0.25  # nearness from which on it may have them in other words …
_REWORDED: Final = 0.45  # … and from which on it has
_UNKNOWN_NAME: Final = -4.4
_UNKNOWN_TO_ASKER: Final = -2.0  # the same where the asker's own matters are the point
_PERSONAL: Final = 0.16
_ABOUT_SOMEBODY: Final = 0.4
_ABOUT_NOBODY: Final = -0.8
_GENERAL: Final = -2.0  # times the share of its words that no one candidate has; not fitted (C-546)
_LONG: Final = -0.3  # for each telling word beyond six, twelve at most
_TASK: Final = -4.0
_OF_LONG_TASK: Final = 3  # words of its matter that one candidate must have; not fitted
_KNOWN_CODE: Final = 6.0  # not fitted: no set has any. It outweighs all that is against it.
_AT_WORK: Final = 1.0  # not fitted: chosen for what it lets in that is idle (C-570)
_CONSTANT: Final = -3.48
ENOUGH_WORDS: Final = 4
_LONG_FROM: Final = 6
_LONG_TO: Final = 12

# The same of a statement, fitted on three stores of bench/prompts.py and two years of a household;
# the constant is chosen so that no need of a year is lost (C-505).
_STATEMENT_NEARNESS: Final = 10.0  # for each 1.0 of cosine beyond chance
_STATEMENT_WORD: Final = 0.85  # for each telling word that the same candidate has …
_STATEMENT_WORDS: Final = 3  # … of so many
_STATEMENT_NAMED: Final = 0.9  # it names somebody or something that memory knows
_STATEMENT_PERSONAL: Final = 0.85
_STATEMENT_CONSTANT: Final = -4.4

# An answer is as strong as it is near and has words of the question. From this share of the best
# one of its kind on it counts in full, below it quickly less: measured on two years of a household,
# where more takes needed lines away and less lets twice as many others in.
_OWN_WORDS: Final = 0.3
_IN_FULL: Final = 0.45
_FALL: Final = 5.5

# Months and weekdays, stemmed as the words of memories are; "may" and "march" are mostly verbs.
_DATED: Final = frozenset(
    """
    januari februari april june juli august septemb octob novemb decemb monday tuesday
    wednesday thursday friday saturday sunday
    """.split()
)

# What a task begins with, stemmed.
_TASK_VERBS: Final = frozenset(
    "write draft compos translat convert explain summaris summar rewrit defin describ".split()
)

Id = TypeVar("Id", bound=Hashable)


class Features(NamedTuple):
    """What a candidate has to do with the question: its cosine, the question's words it has.

    `coded`: it has a code of the question's.
    """

    similarity: float | None
    words: frozenset[str]
    coded: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks, and where.

    Attributes:
        words: its telling words, stemmed as those of memories are.
        names: those of them that are names.
        names_entity: whether it names an entity that is known.
        personal, question, task, pleasantry, statement: see the module.
        code_alone: it is a code, and nothing else.
        general: it asks about a kind in general.
        at_work: the candidates are about what the asker works on.
        memories: how many memories it was put to, about.
        spread: the standard deviation of their cosines to it; `sampled` of them tell.
    """

    words: frozenset[str]
    names: frozenset[str]
    names_entity: bool
    personal: bool
    question: bool
    task: bool
    pleasantry: bool
    memories: int
    spread: float
    sampled: int
    code_alone: bool = False
    statement: bool = False
    general: bool = False
    at_work: bool = False


def weakened(asked: Asked, candidates: Mapping[Id, Features], best: float) -> dict[Id, float]:
    """The relevance of each candidate of one kind, 0.0 to 1.0.

    The best has `best`, a probability; one that is far weaker has less.
    """
    strengths = {id: _strength(asked, one) for id, one in candidates.items()}
    full = _IN_FULL * max(strengths.values(), default=0.0)
    if full <= 0:
        return dict.fromkeys(candidates, best)
    return {id: best * min(1.0, max(0.0, own) / full) ** _FALL for id, own in strengths.items()}


def probability(asked: Asked, candidates: Mapping[Id, Features]) -> float:
    """The probability that memory, with these candidates, has something for the question."""
    if asked.pleasantry:
        return 0.0
    chance = _by_chance(asked)
    known = frozenset[str]().union(*(one.words for one in candidates.values()))
    named = asked.names_entity or bool(asked.names & known)
    if asked.statement:
        return _logistic(_statement_logit(asked, candidates, chance, named))
    nearest = max((one.similarity or 0.0 for one in candidates.values()), default=0.0)
    nearness = nearest - chance
    shared = max((_share(asked, one) for one in candidates.values()), default=0.0)
    # What is near enough has the words in other words.
    found = max(shared, min(1.0, (nearness - _REWORDED_FROM) / (_REWORDED - _REWORDED_FROM)))
    whole = max((_nearness_of_whole(asked, one) for one in candidates.values()), default=0.0)
    beyond = max(0.0, whole - chance - _WHOLE_FROM) if whole else 0.0
    few = max(0, ENOUGH_WORDS - len(asked.words))
    coded = any(one.coded for one in candidates.values())
    unknown_name = bool(asked.names - known) and not asked.names_entity
    unknown_name = unknown_name or (asked.code_alone and not coded)
    about_somebody = asked.personal or named
    bare_task = asked.task and not about_somebody and not _has_matter(asked, candidates)
    about_known = about_somebody or bool(asked.words & known & _DATED)
    logit = (
        _CONSTANT
        + _NEARNESS * nearness
        + few * (_FEW_WORDS + _FEW_FOUND * found + _FEW_WHOLE * beyond)
        + unknown_name * (_UNKNOWN_TO_ASKER if asked.personal else _UNKNOWN_NAME)
        + _PERSONAL * asked.personal
        + (_ABOUT_SOMEBODY if about_known else _ABOUT_NOBODY * (asked.question and not whole))
        + _GENERAL * (asked.general and not about_known) * (1 - shared)
        + _LONG * (min(max(len(asked.words), _LONG_FROM), _LONG_TO) - _LONG_FROM)
        + _TASK * bare_task
        + _KNOWN_CODE * coded
        + _AT_WORK * asked.at_work
    )
    return _logistic(logit)


def _statement_logit(
    asked: Asked, candidates: Mapping[Id, Features], chance: float, named: bool
) -> float:
    best = max(
        (
            _STATEMENT_NEARNESS * ((one.similarity or 0.0) - chance)
            + _STATEMENT_WORD * min(_STATEMENT_WORDS, len(one.words & asked.words))
            + _KNOWN_CODE * one.coded
            for one in candidates.values()
        ),
        default=0.0,
    )
    of_whom = _STATEMENT_NAMED * named + _STATEMENT_PERSONAL * asked.personal
    return best + of_whom + _AT_WORK * asked.at_work + _STATEMENT_CONSTANT


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, logit))))


def _by_chance(asked: Asked) -> float:
    """By how much the best of this store is nearer than that of a usual one, by chance alone."""
    spread = likely_spread(asked.spread, asked.sampled)
    return spread * (_of_maximum(asked.memories) - _of_maximum(USUAL_SIZE))


def likely_mean(mean: float, sampled: int, prior: int = PRIOR_MEMORIES) -> float:
    """The mean of a store's cosines, of which a sample shows this one; unrelated texts have 0.

    A small sample says little of it, and may hold the answer alone.
    """
    return mean * sampled / (sampled + prior)


def likely_spread(spread: float, sampled: int) -> float:
    """The standard deviation of a store's cosines, of which a sample shows this one.

    A small sample says little of it: the usual one stands in.
    """
    variance = sampled * spread**2 + PRIOR_MEMORIES * UNRELATED_SPREAD**2
    return math.sqrt(variance / (sampled + PRIOR_MEMORIES))


def _of_maximum(memories: int) -> float:
    return math.sqrt(2 * math.log(max(LEAST_SIZE, memories)))


def _nearness_of_whole(asked: Asked, one: Features) -> float:
    """How near a candidate is that has every word of the question; 0 of another."""
    return (one.similarity or 0.0) if asked.words and asked.words <= one.words else 0.0


def _share(asked: Asked, one: Features) -> float:
    return len(one.words & asked.words) / len(asked.words) if asked.words else 0.0


def _has_matter(asked: Asked, candidates: Mapping[Id, Features]) -> bool:
    """Whether one has what a task is about, its verb apart: all of a short one, of a long one half.

    A long one mostly brings its own matter, of which memory has a word or two by chance.
    """
    matter = asked.words - _TASK_VERBS
    if len(asked.words) <= 1:
        return False
    if len(asked.words) > ENOUGH_WORDS:
        enough = max(_OF_LONG_TASK, math.ceil(len(matter) / 2))
    else:
        enough = max(1, len(matter) - 1) if len(matter) == len(asked.words) else len(matter)
    return any(len(one.words & matter) >= enough > 0 for one in candidates.values())


def _strength(asked: Asked, one: Features) -> float:
    return (one.similarity or 0.0) + _OWN_WORDS * (1.0 if one.coded else _share(asked, one))
