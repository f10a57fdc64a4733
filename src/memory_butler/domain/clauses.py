"""The things that a prompt asks for, where it asks for several at once.

"Who is our plumber, and when is the school play?" is near to neither answer as a whole, nor is a
question behind a sentence about something else.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from memory_butler.domain.prompts import (
    TELL_ME,
    asks,
    is_pleasantry,
    is_question,
    is_task,
    names_in,
    points_back,
)
from memory_butler.domain.text import one_line

LONGEST: Final = 1000  # characters; a longer prompt brings material, in which nothing is asked
END: Final = 500  # characters of a long line at either end of it
MOST: Final = 4  # of one prompt: each costs a search
FEWEST_WORDS: Final = 3
_A_WORD: Final = 20  # characters

# A full stop ends a sentence behind three small letters: "Mrs. Ida" and "at 5 p.m. sharp" go on.
# A line that is full was broken for its length, not where something ends.
_BETWEEN_SENTENCES: Final = re.compile(
    r"(?<=[?!;])\s{1,3}|(?<=[^\W\d_A-Z]{3}\.)\s{1,3}|(?<![^\n]{60})\n|\n\s{0,3}\n"
)
_AND: Final = re.compile(r",?\s{1,3}(?:and|und|sowie|et|y|e)\s{1,3}(?:also\s)?", re.IGNORECASE)
_VERB_FIRST: Final = re.compile(
    r"(?:is|are|was|were|does|do|did|has|have|can|could|should|will|would)\s", re.IGNORECASE
)
# A task has its material behind it: "Translate this", "Proofread: …".
_OF_MATERIAL: Final = re.compile(
    r"[:\"“„«]|^(?:\S{1,20}\s){1,4}(?:this|these|following|below|diese\w?|folgende\w?|ce(?:ci|t|tte|s)"
    r"|suivante?s?|est[aeo]s?|siguientes?|quest[aeio]|seguenti?|isto|seguintes?)\b",
    re.IGNORECASE,
)
_OF_CODE: Final = re.compile(r"[\[\]{}=<>\\|_]|\w\(")
# "It's the 1st today." is the day of what is asked behind it.
_SAYS_WHEN: Final = re.compile(
    r"^(?=.{0,60}(?:\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b))(?:it['’]?s|it is|today is"
    r"|es ist|heute ist|c['’]est|on est|nous sommes|hoy es|estamos|oggi è|siamo|hoje é)"
    r"(?:\s\S{1,12}){1,4}$",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"^\W*(?:(?:and|also|plus|then|now|anyway|btw|ps|und|au(?:ß|ss)erdem|übrigens|et|y|e)\b\W*)+",
    re.IGNORECASE,
)


def clauses(prompt: str) -> list[str]:
    """What a prompt asks for one by one, at most four; none where it asks for one thing alone.

    What points back ("and where does she live?") stays with what is before it.
    """
    if is_pleasantry(prompt):
        return []
    if len(prompt) > LONGEST:
        return _around(prompt)[:MOST]
    found, is_whole = _parted(prompt)
    if is_whole and len(found) < 2:
        return []
    first = sorted(found, key=_priority, reverse=True)[:MOST]
    return [one for one in found if one in first]


def _around(prompt: str) -> list[str]:
    """What stands before the material of a long prompt, and behind it.

    That is its first and its last line; of a line that is long itself, the questions at its end.
    """
    lines = prompt.strip().splitlines()
    if _has_material(next(_sentences(prompt))):
        return []
    before, behind = (_parted(text)[0] for text in (lines[0][:END], lines[-1][-END:]))
    if len(lines[0]) > END:
        before = [one for one in before[:-1] if asks(one)]
    if len(lines[-1]) > END:
        behind = [one for one in behind[1:] if asks(one)]
    return [one for one in dict.fromkeys((*before, *behind)) if not _OF_CODE.search(one)]


def _parted(text: str) -> tuple[list[str], bool]:
    """The parts of a text, and whether they are all of it."""
    found: list[str] = []
    is_whole = True
    for sentence in _sentences(text):
        for clause in _clauses(sentence):
            if is_pleasantry(clause) or clause in found:
                is_whole = False
            elif found and _goes_with(clause, found[-1]):
                found[-1] = f"{found[-1]} {clause}"
            else:
                found.append(clause)
    return found, is_whole


def _priority(clause: str) -> tuple[bool, bool]:
    """What is asked, or about whom, comes before what is merely told."""
    return asks(clause), bool(names_in(clause))


def _sentences(prompt: str) -> Iterator[str]:
    """One after the other; the material of a task belongs to its sentence."""
    start = 0
    ends = (one.end() for one in _BETWEEN_SENTENCES.finditer(prompt))
    for end in chain(ends, (len(prompt),)):
        if _has_material(prompt[start:end]):
            break
        yield prompt[start:end]
        start = end
    yield prompt[start:]


def _has_material(sentence: str) -> bool:
    sentence = _BEFORE.sub("", sentence)
    return is_task(sentence) and bool(_OF_MATERIAL.search(sentence))


def _goes_with(clause: str, before: str) -> bool:
    """Whether it says nothing without what is before it; lines of code are one thing."""
    if points_back(clause) or _is_short(clause) or _is_short(before) or _SAYS_WHEN.match(before):
        return True
    return not asks(clause) and bool(_OF_CODE.search(before) and _OF_CODE.search(clause))


def _is_short(clause: str) -> bool:
    return len(clause.split()) < FEWEST_WORDS


def _clauses(sentence: str) -> list[str]:
    """A sentence, parted before each "and" behind which something else is asked."""
    if _has_material(sentence):
        ands = []
    else:
        ands = [one for one in _AND.finditer(sentence) if _goes_on(sentence, one.end())]
    starts = [0, *(one.end() for one in ands)]
    ends = [*(one.start() for one in ands), len(sentence)]
    parts = (sentence[start:end] for start, end in zip(starts, ends, strict=True))
    return [clause for part in parts if (clause := _BEFORE.sub("", one_line(part)).strip(" ,"))]


def _goes_on(sentence: str, at: int) -> bool:
    """Whether a question begins there; "… and is heavy." is none."""
    if is_question(sentence[at : at + _A_WORD]) or TELL_ME.match(sentence, at):
        return True
    return sentence.rstrip().endswith("?") and bool(_VERB_FIRST.match(sentence, at))
