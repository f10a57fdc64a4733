"""A fact as a statement: whom it is about, and what its words say."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from memory_butler.domain.quantities import Quantity, quantities

# Letters that stand for a word, which is stemming enough for any language with suffixes.
STEM: Final = 5
WORD: Final = re.compile(r"[^\W\d_]+")
_NAME: Final = re.compile(r"[^\W_]+")
_UNPARTED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")  # kana and Chinese characters
_CODE: Final = re.compile(r"[^\W_]{0,64}\d[^\W_]{0,64}")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_IN_BRACKETS: Final = re.compile(r"\(([^()]*+)\)")
_POSSESSIVE: Final = re.compile(r"['’]s\b")
FILLERS: Final = frozenset(
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
        return frozenset(_NAME.findall(folded(parted))) - FILLERS

    @cached_property
    def text(self) -> str:
        """The content, in lower case and without accents, bounds taken out."""
        return _BOUNDS.sub(" ", folded(self.content))

    @cached_property
    def terms(self) -> frozenset[str]:
        """What the content says: the stems of its words, but for the subject's own."""
        words = WORD.findall(self.text)
        said = {term for word in words for term in terms_in(word)} - FILLERS - _NEGATIONS
        return frozenset(said - {name[:STEM] for name in self.names})

    @cached_property
    def telling(self) -> dict[str, None]:
        """The content's words in their order, each once, as `terms` but whole."""
        passed_over = FILLERS | _NEGATIONS | self.names
        words = (word for word in WORD.findall(self.text) if word not in passed_over)
        return dict.fromkeys(part for word in words for part in _parted(word))

    @cached_property
    def kept_stems(self) -> list[str]:
        """The stems of `telling`, but for those that only say that something is new."""
        stems = (word[:STEM] for word in self.telling)
        return [stem for stem in stems if not _IS_NEW.fullmatch(stem)]

    @cached_property
    def asked(self) -> frozenset[str]:
        """The stems of the predicate's words."""
        return frozenset(word[:STEM] for word in words_in(self.predicate)) - FILLERS

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
        return frozenset(term for word in WORD.findall(denied) for term in terms_in(word))

    @cached_property
    def is_former(self) -> bool:
        """Whether it speaks of what was."""
        told = f"{folded(self.predicate).replace('_', ' ')} {self.text}"
        return bool(_FORMER.search(told)) and not _NO_MORE.search(told)

    @cached_property
    def is_change(self) -> bool:
        """Whether it says that something is no longer as it was."""
        said = folded(_NEW_AS_NAME.sub(" ", self.content))
        return bool(_CHANGED.search(said)) and not _BESIDES.search(said)

    @cached_property
    def is_replaced(self) -> bool:
        """Whether it says that something has taken the place of another, and not what is new."""
        said = folded(_NEW_AS_NAME.sub(" ", self.content))
        return any(not _IS_NEW.fullmatch(one.group()) for one in _CHANGED.finditer(said))

    @cached_property
    def values(self) -> frozenset[str]:
        """What tells one value from another of its kind: names, and codes with a digit in them."""
        first = _NAME.match(self.content.strip())
        opening = folded(first.group()) if first is not None else ""
        named = {folded(word) for word in _NAME.findall(self.content) if word[0].isupper()}
        codes = {folded(word) for word in _CODE.findall(self.content)}
        return frozenset((named - {opening} - self.names) | codes)

    @cached_property
    def opening(self) -> frozenset[str]:
        """The stem of the first word, where no name goes on with the next: "Works at Bosch"."""
        first, second, *_ = [*self.content.split(None, 2), "", ""]
        goes_on = second[:1].isalpha() and not second[:1].isupper()
        return frozenset({folded(first)[:STEM]}) if first.isalpha() and goes_on else frozenset()

    @cached_property
    def proper(self) -> frozenset[str]:
        """The stems of the content's words with a capital, the subject's own apart."""
        named = {folded(word) for word in WORD.findall(self.content) if word[0].isupper()}
        return frozenset(word[:STEM] for word in named - self.names) - FILLERS


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
    words = WORD.findall(subject)
    capitals = {folded(one) for one in words if one[0].isupper() and not one[1:].isupper()}
    return frozenset(capitals.union(*map(words_in, _IN_BRACKETS.findall(subject))))


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(text.casefold())


def words_in(text: str) -> list[str]:
    """The words of a text, folded."""
    return WORD.findall(folded(text))


def terms_in(word: str) -> list[str]:
    """The stems of what a word is parted into."""
    return [part[:STEM] for part in _parted(word)]


def _denies(text: str) -> bool:
    return any(word in _NEGATIONS for word in WORD.findall(text))


def _parted(word: str) -> list[str]:
    """The word; where a script parts no words, each two of its letters."""
    if _UNPARTED.search(word) is None or len(word) == 1:
        return [word]
    return [word[place : place + 2] for place in range(len(word) - 1)]


def folded(text: str) -> str:
    """In lower case, without accents; ø and ß, which no decomposition takes apart, spelled out."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(one for one in plain if not unicodedata.combining(one)).replace("ø", "o")
