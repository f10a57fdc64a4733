"""The things that a short prompt asks for, where it asks for several at once.

"Who is our plumber, and when is the school play?" is near to neither answer as a whole, nor is a
question behind a sentence about something else.
"""

import re
from typing import Final

from memory_butler.domain.relevance import (
    is_pleasantry,
    is_question,
    is_task,
    names_in,
    points_back,
)

LONGEST: Final = 1000  # characters; a longer prompt brings material, of which little is asked
MOST: Final = 4  # of one prompt: each costs a search
FEWEST_WORDS: Final = 3
_A_WORD: Final = 20  # characters

# A full stop ends a sentence behind three small letters: "Mrs. Ida" and "at 5 p.m. sharp" go on.
_BETWEEN_SENTENCES: Final = re.compile(r"(?<=[?!;])\s{1,3}|(?<=[^\W\d_A-Z]{3}\.)\s{1,3}|\n{1,3}")
_AND: Final = re.compile(r",?\s{1,3}(?:and|und|sowie|et|y|e)\s{1,3}(?:also\s)?", re.IGNORECASE)
_ASKS: Final = re.compile(
    r"(?:is|are|was|were|does|do|did|has|have|can|could|should|will|would)\s", re.IGNORECASE
)
# What begins a sentence that tells, in six languages.
_TELLERS: Final = frozenset(
    """
    i it he she we they there this that the my our his her their a an ich es er sie wir das der die
    ein eine mein meine unser unsere je il elle nous on ce le la les un une mon ma notre yo él ella
    el los una mi nuestro nuestra io lui lei noi lo mio mia nostro nostra eu ele ela nós o os um uma
    meu minha nosso nossa
    """.split()
)
_BEFORE: Final = re.compile(r"^\W*(?:(?:and|also|plus|then|und|et|y|e)\b\W*)+", re.IGNORECASE)


def clauses(prompt: str) -> list[str]:
    """What a prompt asks for one by one, at most four; none where it asks for one thing alone.

    What points back ("and where does she live?") stays with what is before it.
    """
    if len(prompt) > LONGEST or is_pleasantry(prompt) or (is_task(prompt) and ":" in prompt):
        return []
    found: list[str] = []
    is_whole = True
    for sentence in _BETWEEN_SENTENCES.split(prompt):
        for clause in _clauses(sentence):
            if is_pleasantry(clause):
                is_whole = False
            elif found and (points_back(clause) or _is_short(clause) or _is_short(found[-1])):
                found[-1] = f"{found[-1]} {clause}"
            else:
                found.append(clause)
    if is_whole and len(found) < 2:
        return []
    first = sorted(found, key=_counts, reverse=True)[:MOST]
    return [one for one in found if one in first]


def is_told(clause: str) -> bool:
    """Whether it asks nothing and calls for nothing: "I slept badly", "The bus was late."."""
    words = clause.lower().replace("’", "'").split(maxsplit=1)
    return not clause.endswith("?") and bool(words) and words[0].partition("'")[0] in _TELLERS


def _counts(clause: str) -> tuple[bool, bool]:
    """What is asked, or about whom, comes before what is merely told."""
    return not is_told(clause), bool(names_in(clause))


def _is_short(clause: str) -> bool:
    return len(clause.split()) < FEWEST_WORDS


def _clauses(sentence: str) -> list[str]:
    """A sentence, parted before each "and" that a question follows."""
    asks = sentence.rstrip().endswith("?")
    ands = [one for one in _AND.finditer(sentence) if _goes_on(sentence, one.end(), asks=asks)]
    starts = [0, *(one.end() for one in ands)]
    ends = [*(one.start() for one in ands), len(sentence)]
    parts = (sentence[start:end] for start, end in zip(starts, ends, strict=True))
    return [clause for part in parts if (clause := _BEFORE.sub("", part).strip(" ,"))]


def _goes_on(sentence: str, at: int, *, asks: bool) -> bool:
    """Whether a question begins there; "… and is heavy." is none."""
    return is_question(sentence[at : at + _A_WORD]) or (asks and bool(_ASKS.match(sentence, at)))
