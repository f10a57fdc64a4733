"""Whether episodes bear out what a model drew from them.

A fact that nobody said is the worst that consolidation can do. Two cheap signs stand against it:
how many of the fact's words the episodes contain, and how near in meaning they are. What memory
itself told the session is no evidence: otherwise it would learn its own output as new.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from memory_butler.domain.likeness import Statement, compare
from memory_butler.domain.restatement import same_words
from memory_butler.domain.sketch import MAX_WORDS, SHINGLE_WIDTH, shingle_hashes

Verdict = Literal["supported", "needs_review", "refused"]

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

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")

# Words that say nothing about what a sentence is about. A short list is enough: they only must not
# count as support.
_EMPTY_WORDS: Final = frozenset(
    """
    a an and are as at be been but by do does for from had has have he her his i if in is it its me
    my no not of on or our she so that the their them they this to was we were what when which who
    will with you your user users
    """.split()
)


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


def stems(text: str) -> frozenset[str]:
    """The telling words of a text, each by its first five letters.

    That stands in for stemming in any language with suffixes.
    """
    return frozenset(word[:5] for word in _words(text) if word not in _EMPTY_WORDS)


def lexical_support(statement: str, present: Iterable[frozenset[str]]) -> float:
    """The share of the statement's telling words that texts contain; 0.0 if it has none.

    `present` are the `stems` of each text, which is read once for many statements.
    """
    wanted = stems(statement)
    if not wanted:
        return 0.0
    return len(wanted.intersection(frozenset().union(*present))) / len(wanted)


def parted(text: str, served: Collection[int]) -> tuple[str, str]:
    """What a text says of its own accord, and the sentences of it that memory had served.

    Without such a sentence the text is unchanged, and the other part empty.
    """
    sentences = _SENTENCE_END.split(text) if served else [text]
    echoes = [one for one in sentences if _is_echo(one, served)]
    if not echoes:
        return text, ""
    return "\n".join(one for one in sentences if one not in echoes), "\n".join(echoes)


def is_quoted(statement: str, echoes: frozenset[str]) -> bool:
    """Whether a statement is in the echoes, given by their `stems`."""
    return lexical_support(statement, [echoes]) >= QUOTED


def is_reworded(known: Statement, stated: Statement, nearness: float) -> bool:
    """Whether a statement says what was served in other words, by the cosine of the two.

    A contradiction is as near, and is news; so is another value of the same property. A rule has
    neither subject nor predicate.
    """
    if nearness < REWORDED or compare(known, stated, nearness) == "contradiction":
        return False
    of_one_property = known.predicate != "" and _key(known) == _key(stated)
    return not of_one_property or same_words(known.content, stated.content)


def _key(statement: Statement) -> tuple[str, str]:
    return statement.subject.casefold(), statement.predicate.casefold()


def _is_echo(sentence: str, served: Collection[int]) -> bool:
    hashes = shingle_hashes(sentence, keep=MAX_WORDS)
    words = len(_WORD.findall(sentence))
    # What is shorter than a shingle is an echo only where it was served as it stands; a single word
    # tells nothing.
    if words < SHINGLE_WIDTH:
        return words > 1 and hashes[0] in served
    known = sum(hash in served for hash in hashes)
    return known / len(hashes) >= ECHO_SHARE


def _words(text: str) -> Iterator[str]:
    return (match.group().casefold() for match in _WORD.finditer(text))
