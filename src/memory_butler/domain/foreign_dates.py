"""Dates in German, French, Spanish, Italian and Portuguese, put into English.

What memory knows is in several languages, and so is what people ask. So a memory is indexed with
its dates in English too, whatever language its question will be in. Only what is surely a date is:
"12 mars bars" and "2 Mai Tais" name none. `inference/dates.py` reads the rest of a question.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple

from memory_butler.domain.text import composed, plain
from memory_butler.domain.written_dates import (
    BEFORE,
    MAX_CHARACTERS,
    MONTHS,
    MOST,
    PLACES,
    WEEKDAYS,
    YEAR,
    dates_with_slashes,
)

# Characters of a memory, to find it by its dates: what is longer names many, and takes time.
READ: Final = 8_000


class _Words(NamedTuple):
    """What a language calls the months, the days and the places in a month, without accents.

    Each in the order of the calendar; other spellings behind a stroke. Not what English calls so.
    """

    months: str
    weekdays: str
    places: str  # first, second, third, fourth, last
    every: str  # what stands before a day that comes again
    article: str  # as `every`, but before a day that does not as well


_LANGUAGES: Final = {
    "de": _Words(
        "januar|janner februar|feber marz|maerz|mrz - mai juni juli - - oktober|okt - dezember|dez",
        "montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
        "erste[rnms]? zweite[rnms]? dritte[rnms]? vierte[rnms]? letzte[rnms]?",
        r"jede[nmrs]?",
        r"immer\sam",
    ),
    "fr": _Words(
        "janvier|janv fevrier|fevr mars avril mai juin juillet|juil aout septembre octobre "
        "novembre decembre|dec",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "premier deuxieme|second troisieme quatrieme dernier",
        r"chaque|tous\sles",
        "les|le",
    ),
    "es": _Words(
        "enero|ene febrero marzo abril|abr mayo junio julio agosto septiembre|setiembre octubre "
        "noviembre diciembre|dic",
        "lunes martes miercoles jueves viernes sabado domingo",
        "primer segundo tercer cuarto ultimo",
        r"cada|todos\slos",
        "los",
    ),
    "it": _Words(
        "gennaio|gen febbraio marzo aprile maggio giugno|giu luglio|lug agosto|ago settembre "
        "ottobre|ott novembre dicembre|dic",
        "lunedi martedi mercoledi giovedi venerdi sabato domenica|domeniche",
        "prim[oa] second[oa] terz[oa] quart[oa] ultim[oa]",
        r"ogni|tutt[ie]\s(?:i|le)",
        r"il|la(?=\sdomenica)",
    ),
    "pt": _Words(
        "janeiro fevereiro|fev marco abril|abr maio junho julho agosto setembro outubro "
        "novembro dezembro|dez",
        "segunda-feira terca-feira quarta-feira quinta-feira sexta-feira sabado domingo",
        "primeir[oa] segund[oa] terceir[oa] quart[oa] ultim[oa]",
        r"cada|tod[ao]s?(?:\s[ao]s?)?",
        "as|aos|n[ao]s",
    ),
}


def _table(said: Callable[[_Words], str], english: tuple[str, ...]) -> dict[str, str]:
    """Each word of all languages with its English one."""
    return {
        word: name
        for words in _LANGUAGES.values()
        for names, name in zip(said(words).split(), english, strict=True)
        for word in names.split("|")
        if word != "-"
    }


_MONTHS: Final = _table(lambda words: words.months, tuple(MONTHS))
_WEEKDAYS: Final = _table(lambda words: words.weekdays, tuple(WEEKDAYS))
_PLACES: Final = _table(lambda words: words.places, PLACES)
_NTH: Final = _PLACES | {rf"{n}(?:er|[.eoaºª°])": name for n, name in enumerate(PLACES[:-1], 1)}
# Names, sweets and sauces as well: months only where something else tells so.
_DOUBTFUL: Final = frozenset(
    "abril ago avril dez dic ene gen juli julio lug mai marco mars mayo".split()
)

# "Março", "déc." and "às" without their accents: a name, what English has, and an article.
_UNACCENTED: Final = re.compile(r"Marco|[Dd]ec|[Aa]s (?!.{0,20}feira).*")
_TAGE: Final = _LANGUAGES["de"].weekdays.replace(" ", "|")
_JOURS: Final = _LANGUAGES["fr"].weekdays.replace(" ", "|")
_PARTS: Final = "vormittag|mittag|nachmittag|abend|morgen|nacht"  # "Dienstagabend"
_TELLING: Final = frozenset(
    f"{word}{end}"
    for word in (
        *(name.partition("-")[0] for name in (*_MONTHS, *_WEEKDAYS)),
        *(f"{day}{part}" for day in _TAGE.split("|") for part in _PARTS.split("|")),
    )
    for end in ("", "s")
)
_WORD: Final = re.compile(r"[a-z]{3,}")

_MONTH: Final = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b"
# As well those that German has in common with English.
_ANY_MONTH: Final = _MONTH.replace(")", "|april|august|september|november)", 1)
_FIRST: Final = "erste[nr]?|premier|primero|primo|primeiro"  # of a month
_ANY_DAY: Final = f"(?:{'|'.join(_WEEKDAYS)})"
# "Às terças-feiras", "toda terça" and "a última terça do mês", which is a third otherwise.
_FEIRA: Final = "(?:segunda|terca|quarta|quinta|sexta)"
_OF_WEEK: Final = (
    rf"(?:{_ANY_DAY}(?:{_PARTS})?s?"
    rf"|(?:{_FEIRA}s(?:-feiras)?|(?<=toda\s){_FEIRA})(?!\s(?:vez|parte|nupcias|d[ao]s?|de\sfinal)\b))"
)
_EVERY: Final = "|".join(words.every for words in _LANGUAGES.values())
_ARTICLE: Final = "|".join(words.article for words in _LANGUAGES.values())


class _Read(NamedTuple):
    """Where a part of a text is said in English, how, and which words find it."""

    start: int
    end: int
    english: str
    words: str


def put_into_english(text: str) -> str:
    """A text with its dates and the days that come again in English, the rest as it is.

    As far as questions are read for dates.
    """
    read, rest = composed(text[:MAX_CHARACTERS]), text[MAX_CHARACTERS:]
    put, at = "", 0
    for one in _reads(read):
        put += read[at : one.start] + one.english
        at = one.end
    return put + read[at:] + rest


def dates_in_words(text: str) -> Iterator[str]:
    """The English words for the dates and the days that come again of a text."""
    return (one.words for one in _reads(composed(text[:READ])))


def _reads(text: str) -> Iterator[_Read]:
    """What a text has, in its order; no word of it twice."""
    unaccented = plain(text)
    # Most texts have none, and to look for words costs a tenth of what the patterns do.
    if _TELLING.isdisjoint(_WORD.findall(unaccented.lower())):
        return
    reads = (
        one
        for pattern, read in _readers()
        for match in islice(pattern.finditer(unaccented), MOST)
        if (one := read(match)) is not None and not _UNACCENTED.fullmatch(text, one.start, one.end)
    )
    at = 0
    for one in sorted(reads, key=attrgetter("start")):  # of two the first pattern's
        if one.start >= at:
            yield one
            at = one.end


# "Rue du 8 Mai", "Avenida 9 de Julio" and "Platz des 18. März".
STREET: Final = re.compile(
    r"\b(?:(?:rue|avenue|place|quai|boulevard|allee|calle|avenida|av\.|plaza"
    r"|via|viale|piazza|corso|largo|rua|praca|travessa)\s(?:(?:du|del)\s)?"
    r"|(?:stra(?:ss|ß)e|platz)\sdes\s)$",
    re.IGNORECASE,
)
# After such a word comes a name, in languages whose days have a capital letter as well. "Meine
# Frau" and "die Familie" are called otherwise, and an uncle by no day of the week but "Domingo".
TITLES: Final = re.compile(
    r"(?:\b(?P<whose>(?i:(?:[mds]ein|ihr|unser|eu[re]r?)\w{0,2}|d(?:ie|er|en|em)|eine[rn]?|as?|os?|à"
    r"|d[ao]|minha|meu|sua|seu|nossa|nosso|[^\W\d_]+s)) (?:[^\W\d_]+e[nrm]? )?)?"
    r"\b(?:Frau|Familie|(?P<kin>Tante|Onkel|Tia|Tio)) $"
    r"|\b(?:Herrn?|(?<!beim )(?<!zum )(?<!vom )Dr\.|Senhora?|Dona|Dom) $"
)
_NEAR: Final = 16  # characters before a date, the longest of these


def _day(match: re.Match[str]) -> _Read | None:
    name = match["month"]
    is_first = not match["day"].isdigit()
    is_told = match["before"] is not None or match["of"] or match["nth"] or match["year"]
    if name.lower() in _DOUBTFUL and not (is_told or is_first):
        return None
    if STREET.search(match.string[max(0, match.start("day") - _NEAR) : match.start("day")]):
        return None
    month = _month(match)
    year = re.sub(r"\D", "", match["year"] or "")
    start, end = match.span("month")
    if is_first:
        return _Read(match.start("day"), end, f"1 {month}", f"1 {month} {year}".rstrip())
    return _Read(start, end, month, f"{int(match['day'])} {month} {year}".rstrip())


def _with_slash(match: re.Match[str]) -> _Read | None:
    """ "Samedi 14/3", which English would not read behind such a word."""
    start, end = match.span("date")
    date = next(dates_with_slashes(f"le {match.string[start : end + _NEAR]}"), None)
    if date is None or [date.day, date.month] != [int(one) for one in match["date"].split("/")]:
        return None
    said = f"{date.day} {MONTHS[date.month - 1].capitalize()}"
    return _Read(start, end, said, said)


def _month_of_year(match: re.Match[str]) -> _Read | None:
    if match["month"].lower() in _DOUBTFUL and not match["before"]:
        return None
    return _Read(*match.span("month"), _month(match), _month(match))


def _every(match: re.Match[str]) -> _Read:
    said = re.findall(f"{_ANY_DAY}|{_FEIRA}", match.group().lower())
    days = [_weekday(one) for one in said]
    other = "other " if match["other"] else ""
    return _Read(*match.span(), f"every {other}{' and '.join(days)}", " ".join(days))


def _in_month(match: re.Match[str]) -> _Read:
    places = dict.fromkeys(
        name
        for said in match.group("also", "place")
        for word, name in _NTH.items()
        if said and re.fullmatch(word, said, re.I)
    )
    day, month = _weekday(match["weekday"].lower()), "" if match["each"] else _month(match)
    said = f"{' and '.join(places)} {day} of {month or 'the month'}"
    return _Read(*match.span(), said, f"{' '.join(places)} {day} {month}".rstrip())


def _weekday(said: str) -> str:
    return (_WEEKDAYS.get(said) or _WEEKDAYS[f"{said}-feira"]).capitalize()


def _month(match: re.Match[str]) -> str:
    said = match["month"].lower()
    return _MONTHS.get(said, said).capitalize()


_Reader = Callable[[re.Match[str]], _Read | None]


@cache
def _readers() -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """How dates are written, what has more words first. Made by the first text."""
    patterns = (
        (
            rf"\b(?:(?:{_EVERY})\s)?"
            rf"(?:(?P<also>{'|'.join(_NTH)})s?\s(?:et|und|y|e)\s(?:[a-z]{{1,3}}\s)?)?"
            rf"(?P<place>{'|'.join(_NTH)})s?\s(?P<weekday>{_ANY_DAY}|{_FEIRA})s?"
            rf"\s(?:im|in|des|del?|du|d['’]|di|do|em|(?={_EVERY}))\s?"
            rf"(?:(?P<each>(?:(?:{_EVERY})\s)?(?:monats?|mois|mese|mes))\b"
            rf"|{_ANY_MONTH})",
            _in_month,
        ),
        (
            rf"(?P<before>(?:^|:\s)(?=\d{{1,2}}\s[a-z]{{3,5}}\.?(?:$|,(?!\s*\d)|[;)]|\sa\s\d))"
            rf"|\b(?:(?:{BEFORE}|les(?=\s\d{{1,2}}(?:,|\set|\sau)\s))\s?|{_ANY_DAY},?\s)(?:de[nm]\s)?"
            r"(?:(?:\d{1,2}\.?,\s){0,4}\d{1,2}(?:er|[.°º])?"
            r"\s?(?:-|–|au|bis|al?|ao|ate|all['’]|et|und|y|e)\s?)?)?"
            rf"(?<![\w/.,:])(?P<day>\d{{1,2}}|{_FIRST})(?P<nth>er|[.°º])?"
            rf"\s(?P<of>de\s|di\s|d['’])?{_MONTH}(?!-[a-z])"
            rf"(?P<year>\.?,?(?:\sdel?)?\s{YEAR}\b)?",
            _day,
        ),
        (rf"\b{_ANY_DAY},?\s(?P<date>\d{{1,2}}/\d{{1,2}})(?![\w/])", _with_slash),
        (
            r"(?P<before>\b(?:en|im|em|ab|seit|depuis|debut|fin|anfang|mitte|ende"
            r"|mois\sde|mes\sde|mese\sdi)\s)?"
            rf"\b{_MONTH}(?=(?:\sdel?)?\s{YEAR}\b)",
            _month_of_year,
        ),
        # "Los Domingo" and "the Freitags" are families, "chez Le Dimanche" is a restaurant.
        (
            # Not "tous les jours sauf le lundi".
            r"\b(?<!sauf\s)(?<!excepte\s)(?<!excepto\s)(?<!eccetto\s)(?<!salvo\s)(?<!tranne\s)"
            r"(?<!a\spart\s)(?:(?!(?-i:L[eo]s\s[A-Z]))"
            r"(?:^|(?<=[.;:!?]\s)|(?!(?-i:(?:Le|Il|La)\s[A-Z])))"
            rf"(?:(?P<every>{_EVERY})|{_ARTICLE})\s"
            r"(?P<other>zweiten\s|deux\s|dos\s|due\s|duas\s)?"
            rf"{_OF_WEEK}(?:(?:,|\set|\sy|\se|\sund)\s{_OF_WEEK}|\se\s{_FEIRA}){{0,5}}\b(?!-)"
            # "Le lundi" and "le lundi 18h" are every Monday, "le lundi 8 mars", "le lundi suivant"
            # and "le mardi gras" one.
            r"(?(every)|(?!,?\s\d{1,2}(?!\d|\s?(?:h|:\d|\.(?:00|1[3-9]|[2-5]\d)|uhr))"
            r"|\s(?:suivant|dernier|prochain|passe|de\b(?!\smanha)|d['’]|des\b|scors|prossim|seguent"
            r"|successiv|sant|saint|gras|precedent|avant|apres|dopo|prima"
            r"|di\b|dell|in\scui|ou\b|qui\b|noir|nero|en\s(?:huit|quinze))))"
            # "Fermé dimanches", "martes y sábados", but not "dos domingos al mes".
            r"|(?<!os\s)(?<!des\s)(?<!ux\s)(?<!ois\s)(?<!ces\s)(?<!ains\s)(?<!eurs\s)(?<!ques\s)"
            rf"(?-i:(?:{_ANY_DAY}(?:,|\set|\sy|\se)\s){{0,5}}(?:{_JOURS}|sabado|domingo)s\b))"
            rf"|(?:^|(?<=[.;:!?]\s)|\b(?-i:(?=[a-z])))"
            rf"(?P<adverb>{_TAGE})(?:{_PARTS})?s\b",
            _every,
        ),
    )
    return tuple((re.compile(one, re.IGNORECASE), read) for one, read in patterns)
