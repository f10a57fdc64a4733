"""The dates of a question in the English that `domain/written_dates.py` reads (C-202).

dateparser knows the words for months, days of the week and the like in two hundred languages. Of
its own readings none is taken: it puts the words into English, one parser reads them. Counts that
are written as words ("hace tres días") stay foreign in most languages.
"""

import asyncio
import re
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from memory_butler.domain.foreign_dates import STREET, TITLES, put_into_english
from memory_butler.domain.text import plain
from memory_butler.domain.wording import without_cjk
from memory_butler.domain.written_dates import (
    MAX_CHARACTERS,
    MONTHS,
    WEEKDAYS,
    YEAR,
    between_as_to,
    numbered,
)
from memory_butler.inference import languages
from memory_butler.inference.languages import NONE, Spoken

_MONTHS: Final = f"(?:{'|'.join(MONTHS)})"
_WEEKDAYS: Final = f"(?:{'|'.join(WEEKDAYS)})"
_SPANS: Final = f"{_WEEKDAYS}|weekend|week|month"
_TAG: Final = "(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch"
# Counts that dateparser does not know, from two on.
_COUNTS: Final = numbered(
    "dos|due|dois|duas tres|três|tre cuatro|quattro|quatro cinco|cinque seis|sei siete|sette|sete "
    "ocho|otto|oito nueve|nove diez|dieci|dez",
    first=2,
) | {"quince": 15, "quindici": 15}
# What is put before dateparser, which takes "mañana" for tomorrow wherever it is.
_PREPARED: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), better)
    for pattern, better in (
        (r"\bsonnabend", "Samstag"),
        (r"\bdomattina\b", "domani"),
        (
            r"\b(?:ce (?:soir|matin)|cet après-midi|esta (?:noche|noite|tarde|mañana|manhã)"
            r"|sta(?:sera|mattina|notte)|questa (?:sera|mattina)|van(?:avond|middag|morgen))\b",
            "this evening",
        ),
        (
            rf"\b({_TAG}|[a-z]{{3,6}}dag)"
            r"(?:(?:vor|nach)?mittag|morgen|abend|nacht|middag|ochtend|avond)(?=s?\b)",
            r"\1",
        ),
        (
            rf"\b(heute|gestern|am|diesen|gut(?:en)?|jeden|{_TAG}"
            r"|la|esta|cada|una|media|goede?|elke|god|hver) (?:morgen|mañana)\b",
            r"\1",
        ),
        (r"\b(?:fin de semana|fim de semana|fine settimana|week-end|wochenende)\b", "weekend"),
        # "A segunda vez" is the second time, "a quinta do avô" his farm.
        (
            r"\b(a|uma|em|da) (?:segunda|terça|quarta|quinta|sexta)"
            r"(?= (?!que vem|passada|pr[oó]xima|de manhã|e |à|ao )[^\W\d_])",
            r"\1",
        ),
        (r"\b(?:quarta|sexta)-feira(?= (?:santa|de cinzas)\b)", ""),
        (r"\ben huit\b(?! jours)", "week"),
        (r"\banoche\b", "last night"),
        (
            rf"\b(?:{'|'.join(_COUNTS)})(?= (?:d[ií]as|giorni|semanas|settimane|mes[ei]s?|a[nñ]os"
            r"|anni)\b)",
            lambda count: str(_COUNTS[count.group().lower()]),
        ),
        # "What do I have on the 20th?"
        (r"\b(?:le|(?:(?:no|el|il) )?d[ií]a|el|il) (\d{1,2})(?= ?(?:[?!]|$))", r"on the \1th"),
        (r"(?<=\d)(\.?,?) (?:und|et|y|e) (?=(?:de[nm] |le |el |il |o )?\d{1,2}\b)", r"\1 and "),
    )
)
# How dateparser's English differs from that of people, in the order of the corrections.
_CORRECTED: Final = tuple(
    (re.compile(pattern), better)
    for pattern, better in (
        (r"\b(?:fra|daqui a|dentro) (?=\d{1,3} (?:day|week|month)\b)", "in "),
        (r"\b(?:15|quinze) day\b", "a fortnight"),
        (r"\b1 (week|month|year) ago\b", r"last \1"),
        (r"\bin 1 (week|month|year)\b", r"next \1"),
        (r"\bin 2 day\b", "the day after tomorrow"),
        (r"\bin 1 day\b", "tomorrow"),
        (r"(?<!\d)0 day ago\b", "today"),
        (r"(?<!\d)0 (week|month|year) ago\b", r"this \1"),
        (r"\bpasado tomorrow\b|\bdepois +(?:de )?tomorrow\b", "the day after tomorrow"),
        (r"\bdopotomorrow\b|\bdopodomani\b", "the day after tomorrow"),
        (
            rf"\b({_SPANS}) (?:prochaine?|que viene|que vem|pr[oó]xim[ao]|prossim[ao])\b"
            r"|\b(?:pr[oó]xim[ao]|prossim[ao]|n[aä]chste[nrs]?|kommende[nrs]?|volgende?)"
            rf" ({_SPANS})\b",
            r"next \1\2",
        ),
        (
            rf"\b({_SPANS}) (?:derni[eè]re?|pasad[oa]|passad[oa]|scors[oa])\b"
            r"|\b(?:letzte[nrs]?|vergangene[nrs]?|pasad[oa]|passad[oa]|scors[oa]|vorige?|afgelopen)"
            rf" ({_SPANS})\b",
            r"last \1\2",
        ),
        (r"\b(today|tomorrow) next week\b", r"a week from \1"),
        (rf"\b[uü]bern[aä]chste[nrs]? ({_SPANS})\b", r"\1 after next"),
        (r"\b(?:am|dieses|ce|este|neste|questo|dit) weekend\b", "this weekend"),
        (rf"\b(\d{{1,2}})(?:\. ?|o +)(?={_MONTHS})", r"\1 "),
        (rf"\b(\d{{4}}) ({_MONTHS}) (\d{{1,2}})\b", r"\3 \2 \1"),
        (r"\b(\d{4})-(\d)-", r"\1-0\2-"),
        (r"\b(\d{4}-\d\d)-(\d)\b", r"\1-0\2"),
    )
)
_MONTH: Final = re.compile(_MONTHS)
_WEEKDAY: Final = re.compile(_WEEKDAYS)
# Shorter words are abbreviations, and much else: "mit" and "mar" are a day and a month.
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_NAME: Final = re.compile(r"[^\W\d_]{3,}")
# May in English, as "mayo de 2027" was put before.
_ALONE_ENGLISH: Final = re.compile(rf"{_WORD.pattern}|\bMay(?=\s(?:del?\s)?{YEAR}\b)")
# "8 May 1945" is one day, not any in May.
_A_DAY: Final = re.compile(
    r"(?:\d{1,2}(?:\.|er|[º°])?|prim(?:o|ero|eiro)|premier) (?:de |di )?$", re.IGNORECASE
)
# Languages that write months or weekdays with a capital letter, always or until lately; in others a
# word with one is a name: "su hijo Domingo".
_CAPITALS: Final = frozenset(("de", "el", "id", "pt"))

# Of the days of the week only this is a name as well; months are, in many languages.
_NAMES: Final = frozenset(("domingo", *MONTHS))
# After these and beside a number it is none: "el Domingo", "en Avril", "den 3:e Mars", "Enero 15".
_BEFORE_A_DATE: Final = re.compile(
    r"(?:\d(?:\.|:?[ea])? (?:de )?|\b(?:el|en|em|in|i|début|debut|fin) )$", re.IGNORECASE
)
_DAY_BEHIND: Final = re.compile(r"\s\d{1,2}(?=\s*(?:[,.;:?!]|$|(?:a|à|om|kl)\s))", re.IGNORECASE)
# Numbers that are spelled as the short name of a month: "en sept", "le 3 sept", "sept. ?".
_NUMBERS: Final = {"fr": frozenset(("sept",))}
_IN: Final = re.compile(
    r"(?:\b(?:en|fin|début|debut|courant|depuis|mois de) |\bmi-)$", re.IGNORECASE
)
_YEAR_BEHIND: Final = re.compile(rf"\s{{0,3}}{YEAR}\b")
_ENDS: Final = re.compile(r"\s*(?:[^\w\s]|\d{4}\b|$)")
_ABBREVIATES: Final = re.compile(r"\.\s*[^\sA-Z]")
# Feasts, and days of ill luck: "Viernes Santo", "mardi gras", "venerdì nero".
_FEAST: Final = re.compile(
    r" (?:sant[oa]?|saint|gras|noir|ner[oa]|negr[oa]|trece|diciassette"
    r"|d(?:e|es|elle) (?:cinzas|ceniza|cendres|ceneri))\b",
    re.IGNORECASE,
)
_NEAR: Final = 40  # characters beside a word: each is looked at for each word
_SHORT: Final = 3  # letters
# "Die" and "mit" are no Tuesday and no Wednesday, though dateparser takes them for short names of
# these. Beside a day's number such a word is a month: "3. Dez".
_ALONE: Final = re.compile(r"(?<![\w.])(?<!\d )(?<!\d\. )[^\W\d_]{1,3}\b")

# "Wie viele Stunden sind in einer Woche?" is about no week, and dateparser reads the next one.
_RATE: Final = re.compile(
    r"\b(?:wie\s?viele?|wie (?:oft|lange)|combien|cu[aá]nt[ao]s?|quant[aeio]s?"
    r"|hoe(?:veel| vaak| lang)|hur (?:många|mycket|ofta|länge))\b.{1,300}"
    r"\b(?:in|dans|en|em|på|i) (?:eine[mr]|une?|una|uma?|een|ett|en) (?:stunde|tag|woche|monat|jahr"
    r"|heure|jour|semaine|mois|an|année|hora|d[ií]a|semana|mes|mês|a[nñ]o|ora|giorno|settimana|mese"
    r"|anno|uur|dag|week|maand|jaar|timme|vecka|månad|år)s?\b",
    re.IGNORECASE,
)

# dateparser keeps caches in shared objects that no lock guards.
_one_at_a_time = threading.Lock()


async def calendar_of(question: str, spoken: Spoken = NONE) -> Mapping[str, str]:
    """What the language of a question calls months and weekdays, each with its English name.

    Small letters; nothing of English; of weekdays no name of three letters where there is a longer.

    Args:
        question: as it was asked.
        spoken: of each language, how many memories are in it.
    """
    return await asyncio.to_thread(_calendar, question[:MAX_CHARACTERS], spoken)


def _calendar(text: str, spoken: Spoken) -> Mapping[str, str]:
    language = languages.language(text, spoken)
    if language is None or language == "en":
        return {}
    with _one_at_a_time:
        try:
            return _names(language)[0]
        except ValueError:  # a language that dateparser does not know
            return {}


@cache
def _names(language: str) -> tuple[Mapping[str, str], frozenset[str]]:
    """The names of months and weekdays, each with the English one, and their abbreviations."""
    from dateparser.languages.loader import default_loader  # type: ignore[import-untyped]

    words = default_loader.get_locale(language).info
    names: dict[str, str] = {}
    short: set[str] = set()
    for one in (*MONTHS, *WEEKDAYS):
        said = [name.lower() for name in words.get(one, ()) if name.isalpha()]
        # Short ones are other words as well: "mar" and "set". But May is "Mai" in full.
        full = [name for name in said if len(name) > _SHORT] or sorted(said, key=len)[-1:]
        if (
            language == "pt" and one in WEEKDAYS[:5]
        ):  # "quinta" is a fifth and a farm; "-feira" tells
            full = []
        # "9. Dez." is a day; elsewhere a short name counts for no month.
        months = [name for name in said if len(name) == _SHORT and one in MONTHS]
        names |= {name: one for name in (*full, *months) if name != one}
        unlike = (name for name in said if name not in (*full, *MONTHS))  # "may" is put there
        short |= {name for name in unlike if without_cjk(name) == name}
    return names, frozenset(short)


async def in_english(question: str, spoken: Spoken = NONE) -> str:
    """A question's dates in English, the rest as it may be; all of it, if it is English.

    The first question of a language takes a tenth of a second, of any language half a second.
    """
    return await asyncio.to_thread(_translated, question[:MAX_CHARACTERS], spoken)


def _translated(text: str, spoken: Spoken) -> str:
    language = languages.language(text, spoken)
    is_rate = _RATE.search(text)
    text = put_into_english(text)
    if language is None or language == "en" or is_rate:
        return text
    with _one_at_a_time:
        from dateparser.conf import settings  # type: ignore[import-untyped]  # ships none
        from dateparser.languages.loader import default_loader

        try:
            locale = default_loader.get_locale(language)
            names, short = _names(language)
            # Of names no month and no day; first, while the words before them are there.
            text = _NAME.sub(lambda word: " " if _is_none(word, language) else word.group(), text)
            text = between_as_to(text)  # "und" is gone afterwards
            for pattern, better in _PREPARED:
                text = pattern.sub(better, text)
            text = _ALONE.sub(
                lambda word: "" if word.group().lower() in short else word.group(), text
            )
            said = _put(locale, text, settings)
            words = (
                word.group()
                for word in _ALONE_ENGLISH.finditer(text)
                if not _is_of_a_day(word, names)
            )
            alone = [_put(locale, word, settings).strip() for word in words]
        # Free text in a third party's parser: whatever it stumbles over names no date.
        except Exception:
            return text
    said = without_cjk(said)
    for pattern, better in _CORRECTED:
        said = pattern.sub(better, said)
    # A month or a weekday is read only after "in" or "on", which were not put into English.
    for word in alone:
        if _MONTH.fullmatch(word):
            said += f" in {word}"
        elif _WEEKDAY.fullmatch(word):
            said += f" on {word}"
    return said


def _is_none(word: re.Match[str], language: str) -> bool:
    """Whether a word is no month and no day, though it may be spelled as one."""
    said, before, after = (
        word.group().lower(),
        word.string[max(0, word.start() - _NEAR) : word.start()],
        word.string[word.end() : word.end() + _NEAR],
    )
    if said in _NUMBERS.get(language, ()):
        is_day = before.rstrip(" .")[-1:].isdigit() or _ABBREVIATES.match(after)
        is_month = _YEAR_BEHIND.match(after) or (_IN.search(before) and _ENDS.match(after))
        return not (is_day or is_month)
    english = _names(language)[0].get(said)
    if english is None:
        return False
    if english in WEEKDAYS and _FEAST.match(after):
        return True
    if english in MONTHS and STREET.search(plain(_A_DAY.sub("", before))):
        return True
    if (title := TITLES.search(before)) is not None:
        is_kin = title["kin"] and english in WEEKDAYS and said not in _NAMES
        return title["whose"] is None and not is_kin
    if language in _CAPITALS or not _NAMES & {said, english} or word.string.isupper():
        return False
    is_date = _BEFORE_A_DATE.search(before) or _DAY_BEHIND.match(after)
    return not is_date and _is_name(word)


def _is_of_a_day(word: re.Match[str], names: Mapping[str, str]) -> bool:
    """Whether a word is the month behind the number of a day."""
    said = word.group().lower()
    before = word.string[max(0, word.start() - _NEAR) : word.start()]
    return names.get(said, said) in MONTHS and _A_DAY.search(before) is not None


def _is_name(word: re.Match[str]) -> bool:
    """Whether it has a capital letter for another reason than that it begins the sentence."""
    if not word.group()[0].isupper():
        return False
    before = word.string[: word.start()].rstrip(" ¿¡«„“\"'(")
    begins = not before or before[-1] in ".!?…"
    return not begins or word.string[word.end() :].lstrip(" ")[:1].isupper()


def _put(locale: Any, text: str, settings: Any) -> str:
    said: str = locale.translate(text.lower(), keep_formatting=True, settings=settings)
    return said
