"""Whether two facts say the same, or cannot both be true: from their words and their nearness.

Nearness in meaning finds what is worth comparing and cannot tell the two apart: "left-handed" and
"right-handed" are as near as two wordings of one fact. What tells them apart is in the words: a
negation, an opposite, another amount, another name where there can be only one. No model is asked,
so what takes knowledge of the world (a vegan who eats bacon) is overlooked; what is reported is for
a person or an agent to decide. How often it is right: docs/benchmarks.md.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice
from typing import Final, Literal

from memory_butler.domain.persons import is_asker
from memory_butler.domain.quantities import Quantity, agree, disagree, measured, quantities

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

# Letters that stand for a word, which is stemming enough for any language with suffixes.
_STEM: Final = 5
# Of which "smokes" and "smoking" share so many.
_ROOT: Final = 4
# The share of words that a rewording keeps, and how many more words it may have.
_KEPT: Final = 0.5
_LONGER: Final = 1.75
_FEW: Final = 4

_WORD: Final = re.compile(r"[^\W\d_]+")
_NAME: Final = re.compile(r"[^\W_]+")
_UNPARTED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")  # kana and Chinese characters
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(r"\d+")
_CODE: Final = re.compile(r"[^\W_]{0,64}\d[^\W_]{0,64}")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IN_BRACKETS: Final = re.compile(r"\(([^()]*+)\)")
_POSSESSIVE: Final = re.compile(r"['’]s\b")
_FILLERS: Final = frozenset(
    """
    a about an and are around as at be been by do does for from had has have he her his i in is it
    its keep my of on or our roughly she that the their there these they this to use user uses was
    were will with your el la los las un una de del en y der die das ein eine ist im am le les une
    et est du
    """.split()
)
_NEGATIONS: Final = frozenset(
    """
    no not none never nothing nobody cannot neither without kein keine keinen keinem keiner keines
    nicht nichts nie niemals niemand weder ohne jamais aucun aucune pas rien sans sin nunca nada
    nadie ningun ninguna tampoco non mai nessuno niente senza nao nenhum nenhuma sem
    """.split()
)
# What a subject is called after what it is: "Windrose" and "the Windrose app" are one.
_KINDS: Final = frozenset(
    """
    apartment app application book building cat company device dog firm flat house issue machine
    office project repo repository room server service site svc system team ticket tool
    """.split()
)
# Not behind a colon: "Allergies: none". French "car" stands behind a comma; a car does not.
_CLAUSES: Final = re.compile(r"[.;!?]\s|\b(?:because|since|weil|porque)\b|, car\b")
# A bound, not a negation.
_BOUNDS: Final = re.compile(r"\bno(?:t)? (?:later|earlier|more|less|fewer|longer) than\b")
_NO_MORE: Final = re.compile(r"\bno longer\b|\bnot any ?more\b")

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
# Properties of which there is one at a time: a line each, in its words. "Location" is the place of
# a person, a thing or an event. What has an underscore is a whole predicate.
_SINGLE: Final = tuple(
    frozenset(word if "_" in word else word[:_STEM] for word in words.split())
    for words in """
    age alter
    birth birthday born geburtstag
    blood blutgruppe sanguin sanguineo
    boss line manager reports
    breed
    capital
    city ciudad domicile home lives location residence residencia ville wohnort
    kept location
    venue location
    color colour farbe
    date deadline due frist
    default
    diet
    email
    employer arbeitgeber works_at works_for
    established founded founder
    expires expiry
    father vater
    gender
    handedness
    height
    husband wife spouse ehefrau ehemann
    marital married relationship_status
    job beruf
    vermieter
    language tongue
    native_language first_language mother_tongue
    launch
    leader maintainer
    length
    licence license
    limit maximum
    minimum
    mother mutter
    name
    nationality
    owner
    passport passnummer
    phone telefon
    port
    price preis
    religion
    rent miete
    salary
    school
    size
    speed
    status
    surname
    time
    timezone time_zone
    title
    version
    weight gewicht
    """.strip().splitlines()
)
# Words of a predicate that do not say which one is meant: that it is a number, how it is counted,
# that it holds now. "Work", "garage" and "second" do (C-544).
_SAYS_NOT_WHICH: Final = frozenset(
    word[:_STEM]
    for word in """
    actual actuel addr address adresse aktuell annual attuale atual body contact correct current
    daily date day derzeitig exact final full general group heutig home hourly info jetzig kind
    latest main monthly name neue neuen neuer neues new no nouveau nouvelle nova novo now nr
    nueva nuevo number numero nummer nuova nuovo per place primary recent regular relationship
    status time title today total type updated usual value weekly yearly
    """.split()
)
# Nor do these of what is no person: the project's deadline is that of the project.
_OF_ITSELF: Final = frozenset(
    word[:_STEM] for word in "app application project repo repository server service system".split()
)
# Properties of which there are often several, whatever else the predicate says: "sibling_name".
_SEVERAL: Final = frozenset(
    word[:_STEM]
    for word in """
    alergia allergie allergy award brother cat cats certificate child children condition cousin
    daughter degree diagnosis disease dog dogs fear friend grandchild granddaughter grandson hija
    hijo hund illness injury intolerance katze kid kids kind krankheit language medication nephew
    niece operation perro pet pets phobia sibling sister sohn son sons surgery tochter
    unvertraglichkeit vaccination
    """.split()
)
_FORMER: Final = re.compile(
    r"\b(until|used to|former|formerly|previous|previously|bis|fruher|fruhere|antes(?! de)|"
    r"was called|ex)\b|\b(?:lived|worked|owned) (?:in|at|for)\b"
    # "Once a week" and "once it is merged" speak of no former time.
    r"|\bonce (?:was|were|had|lived|worked|owned)\b|\b(?:was|were|had) once\b"
)
# What a newer fact says where something may be so besides what was.
_IS_NEW: Final = re.compile(
    r"now|nowadays|new|jetzt|nun|inzwischen|mittlerweile|neue[nrms]?|ahora|nuev[oa]s?|maintenant"
    r"|desormais|dorenavant|nouve(?:au|aux|l|lle|lles)|adesso|ormai|nuov[oaie]|agora|nov[oa]s?"
)
# What it says where something is no longer as it was, or may be.
_CHANGED: Final = re.compile(
    r"\b(?:now|nowadays|instead|new|moved|switched|changed|replaced|sold|gave up|stopped"
    r"|(?:up|down|raised|lowered|rose|fell|dropped|reduced|increased|went) to"
    r"|jetzt|nun|inzwischen|mittlerweile|neue[nrms]?|statt|umgezogen|gewechselt|ersetzt"
    r"|ahora|ya no|nuev[oa]s?|en vez de|mudo|mudaron|mudado|cambi(?:aron|ado)|pasado a|subio a"
    r"|bajo a|maintenant|desormais|dorenavant|nouve(?:au|aux|l|lle|lles)|demenage|remplace"
    r"|abandonne|adesso|ormai|nuov[oaie]|trasferi(?:to|ta|ti)|cambiato|agora|nov[oa]s?|mudou)\b"
    r"|\b(?:no longer|any ?more|nicht mehr|kein(?:e[nrms]?)? mehr|ne \w+ plus|n['’]\w+ plus"
    r"|non \w+ piu|nao \w+ mais)\b"
)
# New York, Nova Scotia and Neue Wache are not new.
_NEW_AS_NAME: Final = re.compile(
    r"\b(?:New|Neue[nrms]?|Nuev[oa]s?|Nouve\w{1,4}|Nuov[oaie]|Nov[oa]s?) (?=[^\W\d_a-zà-ÿ])"
)
# One more, and no other.
_BESIDES: Final = re.compile(
    r"\b(?:also|too|as well|besides|another|second|auch|ausserdem|weitere[nrms]?|zweite[nrms]?"
    r"|tambien|ademas|otr[oa]s?|segund[oa]|aussi|egalement|autres?|deuxieme|anche|inoltre|altr[oaie]"
    r"|tambem|outr[oa]s?)\b"
)


@dataclass(frozen=True)
class Statement:
    """The three parts of a fact."""

    subject: str
    predicate: str
    content: str

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of the subject, those that say nothing apart."""
        parted = _CAMEL.sub(" ", _POSSESSIVE.sub("", self.subject))
        return frozenset(_NAME.findall(_folded(parted))) - _FILLERS

    @cached_property
    def text(self) -> str:
        """The content, in lower case and without accents, bounds taken out."""
        return _BOUNDS.sub(" ", _folded(self.content))

    @cached_property
    def terms(self) -> frozenset[str]:
        """What the content says: the stems of its words, but for the subject's own."""
        words = _WORD.findall(self.text)
        said = {term for word in words for term in _terms(word)} - _FILLERS - _NEGATIONS
        return frozenset(said - {name[:_STEM] for name in self.names})

    @cached_property
    def telling(self) -> dict[str, None]:
        """The content's words in their order, each once, as `terms` but whole."""
        passed_over = _FILLERS | _NEGATIONS | self.names
        words = (word for word in _WORD.findall(self.text) if word not in passed_over)
        return dict.fromkeys(part for word in words for part in _parted(word))

    @cached_property
    def asked(self) -> frozenset[str]:
        """The stems of the predicate's words."""
        return frozenset(word[:_STEM] for word in _words(self.predicate)) - _FILLERS

    @cached_property
    def amounts(self) -> list[Quantity]:
        """The quantities that the content names."""
        return quantities(self.text)

    @cached_property
    def is_negated(self) -> bool:
        """Whether it says that something is not."""
        return _denies(self._without_contractions)

    @cached_property
    def _without_contractions(self) -> str:
        return self.text.replace("n't", " not").replace("n’t", " not").replace("non-", "non")

    @cached_property
    def denied_beside(self) -> frozenset[str] | None:
        """The stems of what it denies behind what it says, as in "JWT was dropped because tokens
        could not be revoked"; None where what it says first is denied."""
        first, *rest = _CLAUSES.split(self._without_contractions)
        if _denies(first) or not first.strip():  # "Since May she does not swim"
            return None
        denied = " ".join(filter(_denies, rest))
        return frozenset(term for word in _WORD.findall(denied) for term in _terms(word))

    @cached_property
    def is_former(self) -> bool:
        """Whether it speaks of what was."""
        told = f"{_folded(self.predicate).replace('_', ' ')} {self.text}"
        return bool(_FORMER.search(told)) and not _NO_MORE.search(told)

    @cached_property
    def is_change(self) -> bool:
        """Whether it says that something is no longer as it was."""
        said = _folded(_NEW_AS_NAME.sub(" ", self.content))
        return bool(_CHANGED.search(said)) and not _BESIDES.search(said)

    @cached_property
    def is_replaced(self) -> bool:
        """Whether it says that something has taken the place of another, and not what is new."""
        said = _folded(_NEW_AS_NAME.sub(" ", self.content))
        return any(not _IS_NEW.fullmatch(one.group()) for one in _CHANGED.finditer(said))

    @cached_property
    def values(self) -> frozenset[str]:
        """What tells one value from another of its kind: names, and codes with a digit in them."""
        first = _NAME.match(self.content.strip())
        opening = _folded(first.group()) if first is not None else ""
        named = {_folded(word) for word in _NAME.findall(self.content) if word[0].isupper()}
        codes = {_folded(word) for word in _CODE.findall(self.content)}
        return frozenset((named - {opening} - self.names) | codes)

    @cached_property
    def opening(self) -> frozenset[str]:
        """The stem of the first word, where no name goes on with the next: "Works at Bosch"."""
        first, second, *_ = [*self.content.split(None, 2), "", ""]
        goes_on = second[:1].isalpha() and not second[:1].isupper()
        return frozenset({_folded(first)[:_STEM]}) if first.isalpha() and goes_on else frozenset()

    @cached_property
    def proper(self) -> frozenset[str]:
        """The stems of the content's words with a capital, the subject's own apart."""
        named = {_folded(word) for word in _WORD.findall(self.content) if word[0].isupper()}
        return frozenset(word[:_STEM] for word in named - self.names) - _FILLERS


def compare(earlier: Statement, later: Statement, nearness: float) -> Likeness | None:
    """How a later fact relates to an earlier one, if a rule can tell.

    `nearness` is the cosine of their stored vectors, -1.0 to 1.0.
    """
    least = COMPARED_FROM_OF_ONE if _of_one_value(earlier, later) else COMPARED_FROM
    if nearness < least or not about_one(earlier, later):
        return None
    if earlier.is_former != later.is_former:
        return None
    if _cannot_both_be(earlier, later, nearness):
        return "contradiction"
    return "duplicate" if _says_again(earlier, later, nearness) else None


def about_one(first: Statement, second: Statement) -> bool:
    """Whether two subjects are one: alike but for spelling, a surname, an article or a bracket."""
    one, other = first.names, second.names
    if one == other:
        return True
    fewer, more = (first, second) if len(one) <= len(other) else (second, first)
    if not one & other or _POSSESSIVE.search(more.subject):
        return False
    if one - _KINDS == other - _KINDS != frozenset():
        return True
    left, added = fewer.names - more.names, more.names - fewer.names
    if left:  # "Zoë L." and "Zoë Lindqvist"
        return all(any(_is_initial_of(a, b) or _is_initial_of(b, a) for b in added) for a in left)
    return added <= _said_beside(more.subject) | _KINDS


def _is_initial_of(letter: str, name: str) -> bool:
    """A digit is none: "room 1" and "room 12" are two rooms."""
    return len(letter) == 1 and letter.isalpha() and name.startswith(letter)


def _said_beside(subject: str) -> frozenset[str]:
    """Words of a subject that do not make it another: surnames, and what is in brackets.

    Abbreviations are none: "Kafka UI" is not Kafka.
    """
    words = _WORD.findall(subject)
    capitals = {_folded(one) for one in words if one[0].isupper() and not one[1:].isupper()}
    return frozenset(capitals.union(*map(_words, _IN_BRACKETS.findall(subject))))


def _cannot_both_be(earlier: Statement, later: Statement, nearness: float) -> bool:
    if nearness >= _ON_ONE_THING and _names_former(earlier, later):
        return True
    single = _of_one_value(earlier, later)
    named_alike = not single or bool(earlier.asked & later.asked)
    if named_alike and _of_two(earlier, later):
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
    changed = later.is_change and not _are_siblings(earlier, later)
    if nearness >= _ON_ONE_THING and changed and _on_one_matter(earlier, later):
        return _each_differs(earlier, later)
    if nearness >= _ON_ONE_THING and disagree(earlier.amounts, later.amounts):
        if _are_numbered(earlier, later):
            return False
        return single or earlier.asked == later.asked or _but_for_amounts(earlier, later)
    if not single or (earlier.amounts and later.amounts):
        return single and _is_mistyped(earlier, later)
    return _other_value(earlier, later)


def _opposed(earlier: Statement, later: Statement, names: frozenset[str] = frozenset()) -> bool:
    """Whether each has a word that is the opposite of one of the other; `names` are no such."""
    one = set(_WORD.findall(earlier.text)) - names
    other = set(_WORD.findall(later.text)) - names
    said, instead = one - other, other - one
    return any((a in said and b in instead) or (b in said and a in instead) for a, b in _OPPOSITES)


def _of_one_value(earlier: Statement, later: Statement) -> bool:
    """Whether both ask for one property of which there is one at a time, in one word or another: a
    city and a birthday are two, however near a long subject brings them."""
    one, other = _single_of(earlier), _single_of(later)
    if not _of_the_same(earlier, later):
        return False
    if earlier.asked == later.asked or not earlier.asked & later.asked:
        return bool(one & other)
    return bool(one and other)


def _single_of(statement: Statement) -> set[int]:
    """The properties of `_SINGLE` that its predicate asks for."""
    asked = statement.asked | {"_".join(_words(statement.predicate))}
    return {number for number, words in enumerate(_SINGLE) if not words.isdisjoint(asked)}


def _of_the_same(one: Statement, other: Statement) -> bool:
    """Whether their predicates mean the same one of several: `email_work` is no `email`, and the
    city of a birth not that of a home. A mobile number under `phone` is that of `phone_mobile`."""
    mine, theirs = _which(one, other), _which(other, one)
    if mine == theirs or mine & other.terms or theirs & one.terms:
        return True
    of_itself = not (mine and theirs) and mine | theirs <= _OF_ITSELF
    return of_itself and not is_asker(one.subject)


def _which(one: Statement, other: Statement) -> frozenset[str]:
    """What of its predicate says which one is meant, beside what the other asks for."""
    asked = frozenset[str]().union(*(_SINGLE[place] for place in _single_of(other)))
    if "_".join(_words(one.predicate)) in asked:  # "works_at" as a whole
        return frozenset()
    named = {name[:_STEM] for name in one.names}  # "cat_age" of the cat is its age
    return frozenset(word.removesuffix("s") for word in one.asked - _SAYS_NOT_WHICH - asked - named)


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


def _are_numbered(one: Statement, other: Statement) -> bool:
    """Whether numbers tell their predicates apart: `visit_7_december` and `visit_25_december`."""
    mine, theirs = (_NUMBER.findall(each.predicate) for each in (one, other))
    return bool(mine and theirs and mine != theirs)


def _are_siblings(one: Statement, other: Statement) -> bool:
    """Whether their predicates have a word together and each one of its own, as `bike_road` and
    `bike_mountain`, or are of a kind of which there are several."""
    both, mine, theirs = one.asked & other.asked, one.asked - other.asked, other.asked - one.asked
    return bool(both and mine and theirs) or is_of_several(other)


def _of_two(one: Statement, other: Statement) -> bool:
    """Whether they are about two things: two of one property, as `http_port` and `database_port`,
    or by what each says itself."""
    alike = bool(_single_of(one) & _single_of(other))
    if alike and _which(one, other) and _which(other, one) and not _of_the_same(one, other):
        return True
    return _of_another(one, other) and _of_another(other, one)


def _of_another(one: Statement, other: Statement) -> bool:
    """Whether it says by itself what of its predicate the other lacks: "metrics_port", and "7070
    for metrics" beside "grpc_port"."""
    own, said = one.asked - other.asked, one.terms - other.terms
    return bool(own) and all(word in said or _plural(word) in said for word in own)


def _plural(stem: str) -> str:
    """As a content has it: "coats" where the predicate is `coat_size`."""
    return f"{stem}s"[:_STEM]


def _but_for_amounts(earlier: Statement, later: Statement) -> bool:
    """Whether all but the amounts is the same, and one predicate has the other's words: "45 EUR per
    hour" as `hourly_rate`, "48 EUR per hour" as `rate`."""
    fewer, more = sorted((earlier.asked, later.asked), key=len)
    one, other = (set(_WORD.findall(each.text)) - _FILLERS for each in (earlier, later))
    same = one == other and bool(fewer) and fewer <= more
    return same and _of_the_same(earlier, later)


def _is_mistyped(earlier: Statement, later: Statement) -> bool:
    """Whether each has one long number, as of a telephone, and they are alike but for one digit or
    two that are swapped. Not where a predicate says which: an office has the next number."""
    if {one.kind for one in (*earlier.amounts, *later.amounts)} != {"number"}:
        return False
    if not _of_the_same(earlier, later):
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
    known, said = ([word[:_STEM] for word in each.telling] for each in (earlier, later))
    said = [word for word in said if not _IS_NEW.fullmatch(word)]
    known = [word for word in known if not _IS_NEW.fullmatch(word)]
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
    another = not {word[:_STEM] for word in lost}.isdisjoint(word[:_STEM] for word in new)
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


def is_of_several(statement: Statement) -> bool:
    """Whether its predicate is of a kind of which people often have several, as allergies."""
    return bool(statement.asked & _SEVERAL)


def has_one_value(statement: Statement) -> bool:
    """Whether its predicate has one value at a time, as a birthday."""
    return bool(_single_of(statement)) and not is_of_several(statement)


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.casefold())


def telling_words(known: Statement, stated: Statement) -> list[str]:
    """The words of a statement that another lacks, in lower case, in their order."""
    new = set(_unlike(stated, known))
    words = dict.fromkeys(words_of(stated.content))
    return [word for word in words if not new.isdisjoint((_folded(word), *_terms(_folded(word))))]


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


def _terms(word: str) -> list[str]:
    """The stems of what a word is parted into."""
    return [part[:_STEM] for part in _parted(word)]


def _denies(text: str) -> bool:
    return any(word in _NEGATIONS for word in _WORD.findall(text))


def _parted(word: str) -> list[str]:
    """The word; where a script parts no words, each two of its letters."""
    if _UNPARTED.search(word) is None or len(word) == 1:
        return [word]
    return [word[place : place + 2] for place in range(len(word) - 1)]


def _kept(earlier: Statement, later: Statement) -> float:
    """The share of the shorter one's terms that the other has."""
    fewer = min(len(earlier.terms), len(later.terms))
    return len(earlier.terms & later.terms) / max(1, fewer)


def _words(text: str) -> list[str]:
    return _WORD.findall(_folded(text))


def _folded(text: str) -> str:
    """In lower case, without accents; ø and ß, which no decomposition takes apart, spelled out."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in plain if not unicodedata.combining(one)).replace("ø", "o")
