"""How candidates bear on a question, and what a deep search knows of each."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from memory_butler.domain.deep import Evidence, named_speakers
from memory_butler.domain.entities import name_of_work
from memory_butler.domain.links import MemoryType
from memory_butler.domain.persons import is_asker, is_owned
from memory_butler.domain.prompts import (
    codes_in,
    is_code,
    is_general,
    is_personal,
    is_pleasantry,
    is_question,
    is_statement,
    is_task,
    names_in,
)
from memory_butler.domain.relevance import (
    ENOUGH_RULES,
    ENOUGH_WORDS,
    PRIOR_WITHOUT_WORDS,
    RULES_FROM,
    RULES_FROM_TOPIC,
    USUAL_MEAN,
    Asked,
    Features,
    likely_mean,
    likely_spread,
    probability,
    weakened,
)
from memory_butler.domain.text import lowered
from memory_butler.domain.wording import telling
from memory_butler.engine.pointing import Pointed, long_ago
from memory_butler.engine.questions import Question
from memory_butler.store.embeddings import Vector
from memory_butler.store.search import Around, Found, Signals, Wanted, signals_of
from memory_butler.store.transaction import Transaction


async def candidate_signals(
    tx: Transaction,
    wanted: Wanted,
    asked: Question,
    vector: Vector,
    found: Mapping[MemoryType, Sequence[Found]],
) -> tuple[Around, dict[UUID, Signals]] | None:
    """How each bears on the question; None without any."""
    return await signals_of(
        tx,
        wanted,
        asked.words,
        vector,
        names_in(asked.text),
        asked.spellings,
        codes_in(asked.text),
        {memory_type: [one.id for one in some] for memory_type, some in found.items()},
    )


def relevance_of(
    asked: Question,
    pointed: Pointed,
    found: Mapping[MemoryType, Sequence[Found]],
    around: Around,
    signals: Mapping[UUID, Signals],
) -> dict[UUID, float]:
    """The probability of each that it bears on the question."""
    words = telling(around.words)
    shares = any(words & one.words for one in signals.values())
    common, alone, scale = _common(asked, around, shares=shares)
    question = Asked(
        words=words,
        names=around.names | long_ago(asked, pointed),
        names_entity=around.names_entity,
        personal=is_personal(asked.text),
        question=is_question(asked.text),
        task=is_task(asked.text),
        pleasantry=is_pleasantry(asked.text),
        memories=around.memories,
        spread=scale * around.spread,
        sampled=around.sampled,
        code_alone=is_code(asked.text),
        statement=is_statement(asked.text),
        general=is_general(asked.text),
    )

    def features(one: Signals, off: float) -> Features:
        near = one.similarity
        if near is not None:
            near = USUAL_MEAN + scale * (near - off - USUAL_MEAN)
        return Features(near, one.words & words, one.coded)

    known = {id: features(one, common) for id, one in signals.items()}
    bears = probability(question, known)
    relevance: dict[UUID, float] = {}
    for memory_type, some in found.items():
        own = {one.id: known[one.id] for one in some if one.id in known}
        told = {id: one if one.words else features(signals[id], alone) for id, one in own.items()}
        if memory_type == "rule":
            relevance |= _of_rules(question, own, told, bears, in_context=asked.weighty)
        else:
            relevance |= weakened(question, told, bears)
    # What the asker works on bears on a prompt sooner than what else is known (C-570).
    if at_work := {id: known[id] for id in about_work(asked, signals)}:
        here = replace(question, at_work=True)
        for id, share in weakened(here, at_work, probability(here, at_work)).items():
            relevance[id] = max(relevance[id], share)
    return relevance


def about_work(asked: Question, signals: Mapping[UUID, Signals]) -> set[UUID]:
    """The facts whose subject is what the asker works on."""
    if not asked.about:
        return set()
    return {
        id
        for id, one in signals.items()
        if one.said is not None and name_of_work(one.said["subject"]) in asked.about
    }


def _of_rules(
    question: Asked,
    own: Mapping[UUID, Features],
    told: Mapping[UUID, Features],
    bears: float,
    *,
    in_context: bool,
) -> dict[UUID, float]:
    """The relevance of rules, where facts and rules together make a probability of `bears`.

    A fact that bears on the question brings in no rule that does not. Among enough rules the best
    say something, and an agent is to behave: its context has them (C-453).
    """
    # A name that memory does not know says that it knows no fact of it, and nothing of a rule: that
    # holds whoever is concerned. Rules are for what happens: a statement is weighed as a topic is.
    of_anybody = replace(question, names=frozenset(), statement=False)
    is_topic = len(question.words) < ENOUGH_WORDS and not question.question
    least = RULES_FROM_TOPIC if is_topic else RULES_FROM

    def held_back(id: UUID, share: float) -> float:
        alone = 1.0 if share < least else probability(of_anybody, {id: own[id]})
        return share if alone >= least else alone

    beside = weakened(question, told, max(bears, probability(of_anybody, own)))
    if in_context and len(own) >= ENOUGH_RULES:
        return beside
    return {id: held_back(id, share) for id, share in beside.items()}


def _common(asked: Question, around: Around, *, shares: bool) -> tuple[float, float, float]:
    """What a question in another language than English has in common with all of this store.

    The model that comes along puts any two texts of such a language near each other, related or
    not: that nearness says nothing of a single memory (C-433). Where no memory shares a word with
    the question, it counts once more: nothing else bears the nearness out (C-422). Where one does,
    it counts once more of those that do not, when they are compared with that one (C-452).

    Returns:
        What comes off each cosine, what off that of a memory without a word of the question beside
        others, and by how much the rest is stretched. Between what all have and 1 less room is left
        than in an English store; stretched, the same text is at 1 again.
    """
    if not asked.is_foreign:
        return 0.0, 0.0, 1.0
    beyond = max(0.0, around.mean - USUAL_MEAN)
    common = likely_mean(beyond, around.sampled)
    alone = common + likely_mean(beyond, around.sampled, PRIOR_WITHOUT_WORDS)
    scale = (1 - USUAL_MEAN) / (1 - USUAL_MEAN - common)
    return common if shares else alone, alone, scale


def before_others(asked: Question, signals: Mapping[UUID, Signals]) -> list[tuple[UUID, UUID]]:
    """Facts about what the asker works on, each with what says the same of something else.

    "Run the tests" means those of this repository, unless another is named; "my phone number" does
    not.
    """
    own = about_work(asked, signals)
    if not own:
        return []
    of_asker = is_personal(asked.text)
    others: dict[str, list[UUID]] = defaultdict(list)
    for id, one in signals.items():
        if one.said is None or id in own or one.named or one.subject_named:
            continue
        if not (of_asker and is_asker(one.said["subject"])):
            others[lowered(one.said["predicate"])].append(id)
    said = ((id, signals[id].said) for id in own)
    return [(id, other) for id, one in said if one for other in others[lowered(one["predicate"])]]


def _is_owned(asked: Question, one: Signals) -> bool:
    """Whether its subject is a common word, and the question's is somebody's: "my coffee"."""
    subject = "" if one.said is None else one.said["subject"]
    return subject.isalpha() and subject.islower() and is_owned(asked.text, subject)


def evidence_of(
    asked: Question,
    pointed: Pointed,
    found: Mapping[MemoryType, Sequence[Found]],
    looked: tuple[Around, dict[UUID, Signals]] | None,
) -> dict[UUID, Evidence[UUID]]:
    """What a deep search knows of each."""
    words, signals, mean, spread = frozenset[str](), dict[UUID, Signals](), 0.0, 1.0
    if looked is not None:
        around, signals = looked
        words = around.words
        mean = likely_mean(around.mean, around.sampled)
        spread = likely_spread(around.spread, around.sampled)
    named = named_speakers(asked.text, (one.speaker for one in signals.values()))
    ahead, perhaps, of_user = ({row["id"] for row in rows} for rows in pointed)
    at_work = about_work(asked, signals)
    evidence = {}
    for memory_type, some in found.items():
        for one in some:
            own = signals.get(one.id)
            around_it = (one.session_rank, one.before or (), one.after or ())
            if own is None:  # gone since it was found
                evidence[one.id] = Evidence[UUID](
                    one.similarity, one.text_rank, 0, *around_it, told=memory_type == "episode"
                )
                continue
            evidence[one.id] = Evidence(
                one.similarity,
                one.text_rank,
                own.length,
                *around_it,
                named=(own.named and not _is_owned(asked, own))
                or one.id in of_user
                or one.id in at_work,
                in_period=one.id in perhaps
                or (asked.period is not None and asked.period.holds(own.happened_at)),
                on_the_day=one.id in ahead,
                told=memory_type == "episode",
                coverage=len(own.words & words) / len(words) if own.words and words else 0.0,
                by_named=own.speaker in named,
                asks=own.asks,
                of_self=own.of_self,
                nearness=((own.similarity or 0.0) - mean) / spread,
            )
    return evidence
