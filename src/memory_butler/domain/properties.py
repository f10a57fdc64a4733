"""Which property a predicate asks for, and whether there is one of it at a time."""

import re
from typing import Final

from memory_butler.domain.persons import is_asker
from memory_butler.domain.statements import STEM, Statement, words_in

_NUMBER: Final = re.compile(r"\d+")
# Properties of which there is one at a time: a line each, in its words. "Location" is the place of
# a person, a thing or an event. What has an underscore is a whole predicate.
_SINGLE: Final = tuple(
    frozenset(word if "_" in word else word[:STEM] for word in words.split())
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
    word[:STEM]
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
    word[:STEM] for word in "app application project repo repository server service system".split()
)
# Properties of which there are often several, whatever else the predicate says: "sibling_name".
_SEVERAL: Final = frozenset(
    word[:STEM]
    for word in """
    alergia allergie allergy award brother cat cats certificate child children condition cousin
    daughter degree diagnosis disease dog dogs fear friend grandchild granddaughter grandson hija
    hijo hund illness injury intolerance katze kid kids kind krankheit language medication nephew
    niece operation perro pet pets phobia sibling sister sohn son sons surgery tochter
    unvertraglichkeit vaccination
    """.split()
)
# What may cost somebody their health if it is not known, wherever a word of it begins.
_VITAL: Final = re.compile(
    r"(?<![^\W_])(?:allerg|al[eé]rg|intoler|unverträglich|anaphyl|anafil|medicat|medicin|medicam"
    r"|médicam|medikament|medizin|insulin|epilep|epilés|asthma|asma\b|diabet|diabét"
    r"|blood.?(?:type|group)|blutgruppe|groupe.sanguin|grupo.sangu|gruppo.sangu|emergenc|emergenz"
    r"|emergên|notfall|urgence|pacemaker|schrittmacher|contraindic|kontraindik|celiac|coeliac"
    r"|celíac|celiach|zöliakie|ha?emophil|pregnan|schwanger|seizure|poison)",
    re.IGNORECASE,
)


def is_vital(statement: Statement) -> bool:
    """Whether it is about what may cost somebody their health: an allergy, a medicine, whom to call
    in an emergency."""
    said = statement.predicate, statement.content
    return any(_VITAL.search(text) is not None for text in said)


def has_one_value(statement: Statement) -> bool:
    """Whether its predicate has one value at a time, as a birthday."""
    return bool(_single_of(statement)) and not is_of_several(statement)


def is_of_several(statement: Statement) -> bool:
    """Whether its predicate is of a kind of which people often have several, as allergies."""
    return bool(statement.asked & _SEVERAL)


def of_one_value(earlier: Statement, later: Statement) -> bool:
    """Whether both ask for one property of which there is one at a time, in one word or another: a
    city and a birthday are two, however near a long subject brings them."""
    one, other = _single_of(earlier), _single_of(later)
    if not of_the_same(earlier, later):
        return False
    if earlier.asked == later.asked or not earlier.asked & later.asked:
        return bool(one & other)
    return bool(one and other)


def _single_of(statement: Statement) -> set[int]:
    """The properties of `_SINGLE` that its predicate asks for."""
    asked = statement.asked | {"_".join(words_in(statement.predicate))}
    return {number for number, words in enumerate(_SINGLE) if not words.isdisjoint(asked)}


def of_the_same(one: Statement, other: Statement) -> bool:
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
    if "_".join(words_in(one.predicate)) in asked:  # "works_at" as a whole
        return frozenset()
    named = {name[:STEM] for name in one.names}  # "cat_age" of the cat is its age
    return frozenset(word.removesuffix("s") for word in one.asked - _SAYS_NOT_WHICH - asked - named)


def are_numbered(one: Statement, other: Statement) -> bool:
    """Whether numbers tell their predicates apart: `visit_7_december` and `visit_25_december`."""
    mine, theirs = (_NUMBER.findall(each.predicate) for each in (one, other))
    return bool(mine and theirs and mine != theirs)


def are_siblings(one: Statement, other: Statement) -> bool:
    """Whether their predicates have a word together and each one of its own, as `bike_road` and
    `bike_mountain`, or are of a kind of which there are several."""
    both, mine, theirs = one.asked & other.asked, one.asked - other.asked, other.asked - one.asked
    return bool(both and mine and theirs) or is_of_several(other)


def of_two(one: Statement, other: Statement) -> bool:
    """Whether they are about two things: two of one property, as `http_port` and `database_port`,
    or by what each says itself."""
    alike = bool(_single_of(one) & _single_of(other))
    if alike and _which(one, other) and _which(other, one) and not of_the_same(one, other):
        return True
    return _of_another(one, other) and _of_another(other, one)


def _of_another(one: Statement, other: Statement) -> bool:
    """Whether it says by itself what of its predicate the other lacks: "metrics_port", and "7070
    for metrics" beside "grpc_port"."""
    own, said = one.asked - other.asked, one.terms - other.terms
    return bool(own) and all(word in said or _plural(word) in said for word in own)


def _plural(stem: str) -> str:
    """As a content has it: "coats" where the predicate is `coat_size`."""
    return f"{stem}s"[:STEM]
