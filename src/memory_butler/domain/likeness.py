"""Whether two facts say the same, or cannot both be true: from their words and their nearness.

Nearness in meaning finds what is worth comparing and cannot tell the two apart: "left-handed" and
"right-handed" are as near as two wordings of one fact. What tells them apart is in the words: a
negation, an opposite, another amount, another name where there can be only one. No model is asked,
so what takes knowledge of the world (a vegan who eats bacon) is overlooked; what is reported is for
a person or an agent to decide. How often it is right: docs/benchmarks.md.
"""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import islice
from typing import Final, Literal

from memory_butler.domain.properties import (
    are_numbered,
    are_siblings,
    has_one_value,
    is_of_several,
    of_one_value,
    of_the_same,
    of_two,
)
from memory_butler.domain.quantities import agree, disagree, measured
from memory_butler.domain.statements import (
    FILLERS,
    STEM,
    WORD,
    Statement,
    about_one,
    folded,
    terms_in,
    words_of,
)

Likeness = Literal["duplicate", "contradiction"]
# Cosines of the stored vectors, which are of subject, predicate and content together. Below the
# first, two facts are about different things.
COMPARED_FROM: Final = 0.55
# Of one property that has one value at a time, however it is called: "employer: Siemens" and
# "works_at: Bosch since March" share no word.
COMPARED_FROM_OF_ONE: Final = 0.45
_ON_ONE_THING: Final = 0.65
_REWORDED: Final = 0.78
_OPPOSED_KEEPS: Final = 0.3
# Of two sentences that differ in one word: whether that word is another for the same.
_SAME_WORD: Final = 0.92
# A number of so many digits is no amount.
_LONG_NUMBER: Final = 6
_VALUES: Final = 24
_CHARS: Final = 32
# Of two names: whether they are spellings of one.
_SPELT: Final = 0.75
# And of two words: whether one is an inflection of the other.
_INFLECTED: Final = 0.8
# Of which "smokes" and "smoking" share so many.
_ROOT: Final = 4
# The share of words that a rewording keeps, and how many more words it may have.
_KEPT: Final = 0.5
_LONGER: Final = 1.75
_FEW: Final = 4
_DIGIT: Final = re.compile(r"\d")
# One of a pair against the other is a contradiction, where the rest agrees.
_OPPOSITES: Final = tuple(
    tuple(pair.split("/"))
    for pair in """
    left/right open/closed soft/hard love/hate loves/hates like/dislike likes/dislikes early/late
    allowed/forbidden permitted/forbidden active/cancelled active/inactive enabled/disabled
    always/never hot/cold big/small large/small public/private required/optional morning/evening
    morning/night day/night finished/halfway finished/pending single/married divorced/married
    high/low fast/slow safe/dangerous cheap/expensive true/false yes/no full/empty alive/dead
    starts/stops accepted/rejected before/after minimum/maximum stable/unstable easy/difficult
    happy/unhappy quiet/noisy tall/short old/new long/short strong/weak rich/poor light/dark dry/wet
    clean/dirty up/down inside/outside above/below north/south east/west sweet/savoury
    indoor/outdoor mild/spicy tidy/messy shy/outgoing introvert/extrovert vegetarian/meat vegan/meat
    online/offline manual/automatic paid/free paid/unpaid owns/rents buy/sell win/lose
    links/rechts geoffnet/geschlossen weich/hart liebt/hasst fruh/spat erlaubt/verboten
    aktiv/inaktiv heiss/kalt gross/klein offentlich/privat morgens/abends vormittags/nachmittags
    tagsuber/nachts ledig/verheiratet geschieden/verheiratet hoch/niedrig schnell/langsam
    billig/teuer voll/leer alt/neu lang/kurz hell/dunkel trocken/nass oben/unten drinnen/draussen
    mild/scharf suss/salzig bezahlt/unbezahlt mietet/besitzt
    """.split()
)


def compare(earlier: Statement, later: Statement, nearness: float) -> Likeness | None:
    """How a later fact relates to an earlier one, if a rule can tell.

    `nearness` is the cosine of their stored vectors, -1.0 to 1.0.
    """
    least = COMPARED_FROM_OF_ONE if of_one_value(earlier, later) else COMPARED_FROM
    if nearness < least or not about_one(earlier, later):
        return None
    if earlier.is_former != later.is_former:
        return None
    if _cannot_both_be(earlier, later, nearness):
        return "contradiction"
    return "duplicate" if _says_again(earlier, later, nearness) else None


def _cannot_both_be(earlier: Statement, later: Statement, nearness: float) -> bool:
    if nearness >= _ON_ONE_THING and _names_former(earlier, later):
        return True
    single = of_one_value(earlier, later)
    named_alike = not single or bool(earlier.asked & later.asked)
    if named_alike and of_two(earlier, later):
        return False
    if nearness >= _ON_ONE_THING and earlier.is_negated != later.is_negated:
        if not _have_a_word(earlier, later):
            return False
        denies, other = (earlier, later) if earlier.is_negated else (later, earlier)
        beside = denies.denied_beside
        if beside is None or beside & (other.terms | other.asked):
            return True
    same_asked = bool(earlier.asked & later.asked)
    if _opposed(earlier, later) and (same_asked or _kept(earlier, later) >= _OPPOSED_KEEPS):
        return True
    changed = later.is_change and not are_siblings(earlier, later)
    if nearness >= _ON_ONE_THING and changed and _on_one_matter(earlier, later):
        return _each_differs(earlier, later)
    if nearness >= _ON_ONE_THING and disagree(earlier.amounts, later.amounts):
        if are_numbered(earlier, later):
            return False
        return single or earlier.asked == later.asked or _but_for_amounts(earlier, later)
    if not single or (earlier.amounts and later.amounts):
        return single and _is_mistyped(earlier, later)
    return _other_value(earlier, later)


def _opposed(earlier: Statement, later: Statement, names: frozenset[str] = frozenset()) -> bool:
    """Whether each has a word that is the opposite of one of the other; `names` are no such."""
    one = set(WORD.findall(earlier.text)) - names
    other = set(WORD.findall(later.text)) - names
    said, instead = one - other, other - one
    return any((a in said and b in instead) or (b in said and a in instead) for a, b in _OPPOSITES)


def _on_one_matter(earlier: Statement, later: Statement) -> bool:
    """Whether their contents share a word, and their predicates, or one's with the other's
    content."""
    if not earlier.terms & later.terms:
        return False
    return bool(
        earlier.asked & later.asked or earlier.asked & later.terms or later.asked & earlier.terms
    )


def _have_a_word(earlier: Statement, later: Statement) -> bool:
    """Whether predicate or content of one has a word of the other's, however it is inflected:
    "Loves fish soup" and "Does not like chilli" are both of food, and about two things."""
    one, other = ({word[:_ROOT] for word in each.asked | each.terms} for each in (earlier, later))
    return not one.isdisjoint(other)


def _but_for_amounts(earlier: Statement, later: Statement) -> bool:
    """Whether all but the amounts is the same, and one predicate has the other's words: "45 EUR per
    hour" as `hourly_rate`, "48 EUR per hour" as `rate`."""
    fewer, more = sorted((earlier.asked, later.asked), key=len)
    one, other = (set(WORD.findall(each.text)) - FILLERS for each in (earlier, later))
    same = one == other and bool(fewer) and fewer <= more
    return same and of_the_same(earlier, later)


def _is_mistyped(earlier: Statement, later: Statement) -> bool:
    """Whether each has one long number, as of a telephone, and they are alike but for one digit or
    two that are swapped. Not where a predicate says which: an office has the next number."""
    if {one.kind for one in (*earlier.amounts, *later.amounts)} != {"number"}:
        return False
    if not of_the_same(earlier, later):
        return False
    one, other = (_DIGIT.findall(each.text) for each in (earlier, later))
    if len(one) != len(other) or len(one) < _LONG_NUMBER:
        return False
    apart = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
    return len(apart) == 1 or (len(apart) == 2 and apart[0] == apart[1][::-1])


def _other_value(earlier: Statement, later: Statement) -> bool:
    """Whether each names something that the other does not, and none what both do.

    A verb with which both begin, "Works at …", names nothing.
    """
    begun = earlier.opening if earlier.opening == later.opening else frozenset()
    one, other = earlier.proper - begun, later.proper - begun
    if one and other:
        return not one & other
    return not earlier.terms <= later.terms and not later.terms <= earlier.terms


def _each_differs(earlier: Statement, later: Statement) -> bool:
    """Whether each has a name or a number that the other lacks, or says something else."""
    named = bool(earlier.values - later.values and later.values - earlier.values)
    return named or _other_value(earlier, later)


def _names_former(earlier: Statement, later: Statement) -> bool:
    """Whether what has changed is told with what it was: "The branch is now main; master is gone".

    It has all of the earlier one's words, and others in their place. One that is of several may
    have been joined by another: "Now takes metformin and ramipril". And what only is new behind
    the earlier one's words goes with it: "Works at Bosch in the new office".
    """
    if not later.is_change or is_of_several(later):
        return False
    if not (earlier.terms < later.terms and _on_one_matter(earlier, later)):
        return False
    return later.is_replaced or not _goes_on(earlier, later)


def _goes_on(earlier: Statement, later: Statement) -> bool:
    """Whether the later one has all words of the earlier one in a row, and so says that still."""
    known, said = earlier.kept_stems, later.kept_stems
    rows = range(len(said) - len(known) + 1)
    return any(said[first : first + len(known)] == known for first in rows)


def adds_nothing(known: Statement, other: Statement) -> bool:
    """Whether another statement on the same has no word, name or number that the known one lacks.

    Strict, because what it says of is hidden: "allergic to nuts" adds to "allergic to latex", and a
    password to another, however near they are in meaning.
    """
    return (
        about_one(known, other)
        and known.is_negated == other.is_negated
        and known.is_former == other.is_former
        and other.values <= known.values
        and other.terms <= known.terms
    )


def one_more(known: Statement, stated: Statement, nearness: float) -> bool:
    """Whether two facts of one key are two of a kind: both may be true, and the newer lacks
    something of the other.

    `nearness` as in `compare`. Two allergies are, and two operations in two years; a birthday and
    its correction are not. What differs in a negation or a number alone is about the same.
    """
    if has_one_value(known):
        return False
    lost, new = _unlike(known, stated), _unlike(stated, known)
    if not lost or (new and _opposed(known, stated)):
        return False
    # "hydrocortisone" for "hydrochlorothiazide": no inflection of one word.
    another = not {word[:STEM] for word in lost}.isdisjoint(word[:STEM] for word in new)
    return another or not new or compare(known, stated, nearness) != "duplicate"


def holds_besides(known: Statement, other: Statement) -> bool:
    """Whether a fact may be true besides another of its key, where nobody said one for the other.

    Stricter than `one_more` in what it gives up, since nobody looks on: what has a word that the
    other lacks, in no spelling, says something. "A reaction to bee stings" is no rewording of "a
    reaction to wasp venom", near as they are, and an allergy to soft cheese goes with one to hard.
    """
    if has_one_value(known) or not _unlike(known, other):
        return False
    return is_of_several(known) or not _opposed(known, other, known.names | other.names)


def says_less(known: Statement, stated: Statement) -> bool:
    """Whether every word of a statement is one of the known one's, which has more."""
    return bool(_unlike(known, stated)) and not _unlike(stated, known)


def names_more(known: Statement, stated: Statement) -> bool:
    """Whether a statement has a name or code that the known one has in no spelling.

    Amounts are told apart by `quantities`. Of very long texts the first few are compared, in the
    order of the alphabet.
    """
    told = [value for value in sorted(stated.values - known.values) if not value.isdigit()]
    before = sorted(known.values)[:_VALUES]
    return any(not _is_spelt_like(value, before, _SPELT) for value in told[:_VALUES])


def _unlike(one: Statement, other: Statement) -> list[str]:
    """The telling words of one that the other has in no spelling or inflection."""
    lacking = (word for word in one.telling if word not in other.telling)
    known = list(islice(other.telling, 2 * _VALUES))
    return [
        word for word in islice(lacking, _VALUES) if not _is_spelt_like(word, known, _INFLECTED)
    ]


def telling_words(known: Statement, stated: Statement) -> list[str]:
    """The words of a statement that another lacks, in lower case, in their order."""
    new = set(_unlike(stated, known))
    words = dict.fromkeys(words_of(stated.content))
    return [word for word in words if not new.isdisjoint((folded(word), *terms_in(folded(word))))]


def _says_again(earlier: Statement, later: Statement, nearness: float) -> bool:
    if not agree(earlier.amounts, later.amounts) or _of_two_values(earlier, later, nearness):
        return False
    if earlier.amounts and len(later.terms) <= _FEW and nearness >= _ON_ONE_THING:
        return True  # nothing but the number
    if measured(earlier.amounts) and len(later.terms) <= 2 * _FEW:
        return True  # the same amount of the same thing, however it is put
    if (len(later.terms) + 1) > _LONGER * (len(earlier.terms) + 1):
        return False  # it says more
    return nearness >= _REWORDED and _kept(earlier, later) >= _KEPT


def _of_two_values(earlier: Statement, later: Statement, nearness: float) -> bool:
    """Whether each has a name or code that the other lacks; or all but one word is the same.

    A rewording changes more than the one word, or that word for one that means just the same.
    """
    if names_more(later, earlier) and names_more(earlier, later):
        return True
    one, other = earlier.terms - later.terms, later.terms - earlier.terms
    if one and other and not "".join(one | other).isascii():
        return True  # the model of the vectors reads Latin letters, and finds all others near
    # The amounts agree: the word may be another unit.
    return not earlier.amounts and len(one) == len(other) == 1 and nearness < _SAME_WORD


def _is_spelt_like(word: str, known: Iterable[str], least: float) -> bool:
    """Whether one of the known words has at least this ratio to it; the first letters count."""
    for like in known:
        spelt = SequenceMatcher(None, word[:_CHARS], like[:_CHARS])
        # The quick ones are upper bounds of the ratio.
        if all(one() >= least for one in (spelt.real_quick_ratio, spelt.quick_ratio, spelt.ratio)):
            return True
    return False


def _kept(earlier: Statement, later: Statement) -> float:
    """The share of the shorter one's terms that the other has."""
    fewer = min(len(earlier.terms), len(later.terms))
    return len(earlier.terms & later.terms) / max(1, fewer)
