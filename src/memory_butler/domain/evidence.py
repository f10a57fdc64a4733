"""Whether episodes bear out what a model drew from them.

A fact that nobody said is the worst that consolidation can do. Two cheap signs stand against it:
how many of the fact's words the episodes contain, and how near in meaning they are. What memory
itself told the session is no evidence: otherwise it would learn its own output as new.

Who speaks decides. What the user says is first-hand, whatever memory had served before; an echo is
in the assistant's words, or in what a tool brought (C-117). Where an episode does not tell its
speakers apart, what memory had served may be an echo.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memory_butler.domain.doubt import Clause, clauses_of
from memory_butler.domain.likeness import compare, names_more
from memory_butler.domain.restatement import same_words
from memory_butler.domain.sketch import MAX_WORDS, SHINGLE_WIDTH, shingle_hashes
from memory_butler.domain.speech import (
    BEGINNING,
    CLAUSE_END,
    SENTENCE_END,
    STATED,
    WORD,
    answers_in,
    is_question,
    stems,
    turns_of,
)
from memory_butler.domain.statements import Statement
from memory_butler.domain.trust import Trust
from memory_butler.domain.wording import in_pairs

Verdict = Literal["supported", "needs_review", "refused"]
# Why a statement waits instead of being believed: the episodes have it from memory; they hardly
# bear it out, and it would replace what memory knows; what memory knows is trusted more; something
# like it was forgotten a moment ago; or it is a rule that did harm and became a warning.
Hold = Literal["echo", "weak", "outweighed", "forgotten", "warning"]
# A sentence is an echo when this share of its shingles was served. Below one half, because only a
# sample of a long text's shingles is kept.
ECHO_SHARE: Final = 0.4
# The share of a statement's words that echoes have, from which on it is one of them.
QUOTED: Final = 0.6
# The cosine from which on a statement may be what was served, reworded. Another subject, or another
# thing said of the same one, is below (domain/likeness.py).
REWORDED: Final = 0.78
# What a fact of low support is worth: it is recalled last, and fades first.
REVIEW_CONFIDENCE: Final = 0.5
# And one that seems to be what was served, in other words: it may be true all the same.
ECHO_CONFIDENCE: Final = 0.7
# A number of so many digits is said by nobody by chance.
_TELLING_DIGITS: Final = 3
# The cosine from which on something that the user said means what is stated, in whatever language.
MEANT: Final = 0.5
_NEGATED: Final = re.compile(
    r"\b(?:not|never|no|nicht|kein\w{0,2}|nie|mehr|pas|jamais|plus|nunca|non|não)\b|n['’]t\b",
    re.IGNORECASE,
)
# The mark, in a fact's metadata, that the user said it in a conversation.
BY_USER: Final[Mapping[str, object]] = {"said_by": "user"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well a statement is borne out: 0.0 (not at all) to 1.0."""

    lexical: float
    semantic: float

    @property
    def support(self) -> float:
        """The better of the two signs: a paraphrase shares no words, a name no meaning."""
        return max(self.lexical, self.semantic)

    def verdict(self, review_below: float, refuse_below: float) -> Verdict:
        """What to do with the statement; a bound of 0 never applies."""
        if self.support < refuse_below:
            return "refused"
        return "needs_review" if self.support < review_below else "supported"


def lexical_support(statement: str, present: Iterable[frozenset[str]]) -> float:
    """The share of the statement's telling words that texts contain; 0.0 if it has none.

    `present` are the `stems` of each text, which is read once for many statements.
    """
    wanted = stems(statement)
    if not wanted:
        return 0.0
    return len(wanted.intersection(frozenset().union(*present))) / len(wanted)


@dataclass(frozen=True, slots=True)
class Assertion:
    """A sentence of the user that is no question; `after_echo`: memory had spoken before it."""

    text: str
    after_echo: bool


@dataclass(frozen=True, slots=True)
class Account:
    """What an episode tells, by who says it, as `stems`.

    `own` is everything but echoes, `others` that part of it that is not known to be the user's,
    `echoes` what memory had served; `answers` what the assistant says to a question and nothing
    else, `besides` what else is said; `brought` what tools bring, `talked` all else.
    `labelled`: the episode tells its speakers apart.
    """

    own: frozenset[str]
    others: frozenset[str]
    echoes: frozenset[str]
    answers: frozenset[str]
    besides: frozenset[str]
    brought: frozenset[str]
    talked: frozenset[str]
    assertions: tuple[Assertion, ...]
    clauses: tuple[Clause, ...]
    labelled: bool


def account(
    text: str,
    served: Collection[int],
    speaker: str | None = None,
    trust: Trust | None = None,
    known: Collection[int] = (),
) -> Account:
    """Who says what in an episode, and what of it memory had said.

    Args:
        served: hashes of what memory served before the episode was stored.
        speaker: who said all of it, where that is known.
        trust: the episode's; what is trusted as the user's own words is the user's.
        known: hashes of what memory knows: from an assistant or a tool that is no news either,
            whichever way it came to them.
    """
    turns = turns_of(text, speaker, trust)
    answers = answers_in(turns)
    own: list[str] = []
    others: list[str] = []
    echoes: list[str] = []
    assertions: list[Assertion] = []
    for voice, said in turns:
        if voice == "user":
            own.append(said)
            assertions += [
                Assertion(one, any(echoes))
                for one in CLAUSE_END.split(said)
                if one.strip() and not is_question(one)
            ]
            continue
        told = (served,) if voice == "unknown" else (served, known)
        for sentence, heard in _heard(said, told):
            echoes.append(" ".join(heard))
            # What stands in an echo and was never served is news: another value, in the same words.
            others += [word for word in WORD.findall(in_pairs(sentence)) if word not in heard]
    return Account(
        own=stems("\n".join([*own, *others])),
        others=stems("\n".join(others)),
        echoes=stems("\n".join(echoes)),
        answers=stems("\n".join(turns[place][1] for place in answers)),
        besides=stems(
            "\n".join(said for place, (_, said) in enumerate(turns) if place not in answers)
        ),
        brought=stems("\n".join(said for voice, said in turns if voice == "tool")),
        talked=stems("\n".join(said for voice, said in turns if voice != "tool")),
        assertions=tuple(assertions),
        clauses=tuple(one for _, said in turns for one in clauses_of(said)),
        labelled=any(voice != "unknown" for voice, _ in turns),
    )


def value_of(stated: Statement) -> frozenset[str]:
    """What a statement says beyond its subject and predicate, as `stems`."""
    content, subject = stems(stated.content), stems(stated.subject)
    asked = stems(stated.predicate.replace("_", " "))
    return content - subject - asked or content - subject or content


def user_says(told: Account, stated: Statement) -> bool:
    """Whether the user says it in words of their own, a question apart.

    Half of what memory had not told is enough, two words at least, in one sentence or two. Where
    it had told all of it, part of the value is, once it has spoken: nobody names it by chance who
    does not mean it. Before, half of the value: the question may have some of its words. Of a value
    that is mostly a number, as in "node 22", that is enough beside a word of what has it.
    """
    value = value_of(stated)
    numbers = frozenset(filter(str.isdigit, value))
    telling = sum(map(len, numbers)) >= _TELLING_DIGITS
    number = len(numbers) >= max(1, STATED * len(value))
    news = (value - told.echoes) or value
    subject, predicate = stems(stated.subject), stems(stated.predicate.replace("_", " "))
    known = value | stems(stated.content) | subject
    whole = known | predicate
    introduced = bool(subject) and not subject <= told.echoes
    beginnings = {word[:BEGINNING] for word in predicate}
    before = frozenset[str]()
    for one in told.assertions:
        said = stems(one.text)
        named, told_so_far = said & value, (said | before) & news
        before = said
        if len(told_so_far) >= min(len(news), max(2, STATED * len(news))):
            return True
        if not named:
            continue
        if introduced and subject <= said and len(named) >= STATED * len(value):
            other = said - subject - value
            if beginnings & {word[:BEGINNING] for word in other} and not _NEGATED.search(one.text):
                return True
        if telling and numbers <= said:
            return True  # a time or a code: nobody says it by chance
        if number and numbers <= said and len(said & whole) > len(numbers):
            return True
        if one.after_echo and (
            named == value or len(said & known) > 1 or any(map(_is_telling_number, named))
        ):
            return True
    return False


def borne_by_others(accounts: Iterable[Account], stated: Statement) -> bool:
    """Whether most of the value is in words that are neither the user's nor an echo."""
    value = value_of(stated)
    said = frozenset[str]().union(*(one.others for one in accounts))
    return len(said & value) >= QUOTED * len(value)


def is_said(accounts: Iterable[Account], stated: Statement) -> bool:
    """Whether half of the value is in the words of the episodes, whoever says it."""
    value = value_of(stated)
    said = frozenset[str]().union(*(one.own | one.echoes for one in accounts))
    return len(said & value) >= STATED * len(value)


def only_answered(accounts: Collection[Account], stated: Statement) -> bool:
    """Whether a part of the value is said in answers to questions alone, by the assistant."""
    answers = frozenset[str]().union(*(one.answers for one in accounts))
    besides = frozenset[str]().union(*(one.besides for one in accounts))
    return bool(value_of(stated) & answers - besides)


def only_brought(accounts: Iterable[Account], content: str) -> bool:
    """Whether a tool brought most of what is stated, and people and agents say little of it."""
    told, wanted = list(accounts), stems(content)
    brought = frozenset[str]().union(*(one.brought for one in told))
    talked = frozenset[str]().union(*(one.talked for one in told))
    return len(wanted & brought) >= max(1, QUOTED * len(wanted)) and len(
        wanted & talked
    ) < STATED * len(wanted)


def _is_telling_number(word: str) -> bool:
    return word.isdigit() and len(word) >= _TELLING_DIGITS


def is_quoted(statement: str, echoes: frozenset[str]) -> bool:
    """Whether a statement is in the echoes, given by their `stems`."""
    return lexical_support(statement, [echoes]) >= QUOTED


def is_reworded(known: Statement, stated: Statement, nearness: float) -> bool:
    """Whether a statement says what was served in other words, by the cosine of the two.

    A contradiction is as near, and is news; so is another value of the same property, and what
    has a name or a code of its own: "On Wednesday Ida drives" says more than "On Monday Bob
    drives". A rule has neither subject nor predicate.
    """
    if nearness < REWORDED or compare(known, stated, nearness) == "contradiction":
        return False
    if names_more(known, stated):
        return False
    of_one_property = known.predicate != "" and _key(known) == _key(stated)
    return not of_one_property or same_words(known.content, stated.content)


def _key(statement: Statement) -> tuple[str, str]:
    return statement.subject.casefold(), statement.predicate.casefold()


def _echoed(sentence: str, served: Collection[int]) -> frozenset[str]:
    """The words of a sentence that were served, where it is a quotation; else none.

    Each name and number in it must have been served among the same words: "The code is 4711" is no
    echo of another code.
    """
    words = WORD.findall(in_pairs(sentence))[:MAX_WORDS]
    # What is shorter than a shingle is an echo only where it was served as it stands; a single word
    # tells nothing.
    if len(words) < SHINGLE_WIDTH:
        quoted = len(words) > 1 and shingle_hashes(sentence)[0] in served
        return frozenset(words if quoted else ())
    runs = [words[at : at + SHINGLE_WIDTH] for at in range(len(words) - SHINGLE_WIDTH + 1)]
    known = [run for run in runs if shingle_hashes(" ".join(run))[0] in served]
    heard = frozenset(word for run in known for word in run)
    strange = (word not in heard for word in words[1:] if word[0].isupper() or not word.isalpha())
    if len(known) < ECHO_SHARE * len(runs) or any(strange):
        return frozenset()
    return heard


def _heard(text: str, told: Sequence[Collection[int]]) -> Iterator[tuple[str, frozenset[str]]]:
    """The sentences of a text, each with its words that were told, where it is a quotation.

    One with a colon that is none as a whole is parted there.
    """
    for sentence in SENTENCE_END.split(text):
        heard = _echoed_of(sentence, told)
        if heard or ": " not in sentence:
            yield sentence, heard
        else:
            yield from ((one, _echoed_of(one, told)) for one in CLAUSE_END.split(sentence))


def _echoed_of(sentence: str, told: Sequence[Collection[int]]) -> frozenset[str]:
    return next((heard for one in told if (heard := _echoed(sentence, one))), frozenset())
