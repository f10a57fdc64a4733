"""The dates of a question in the English that `domain/periods.py` reads (C-202).

dateparser knows the words for months, days of the week and the like in two hundred languages. Of
its own readings none is taken: it puts the words into English, one parser reads them. Counts that
are written as words ("hace tres días") stay foreign in most languages.
"""

import asyncio
import re
import threading
from typing import Any, Final

from memory_butler.domain.periods import MAX_CHARACTERS
from memory_butler.domain.wording import without_cjk
from memory_butler.inference import languages

_MONTHS: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)
_WEEKDAYS: Final = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
# How dateparser's English differs from that of people, in the order of the corrections.
_CORRECTED: Final = tuple(
    (re.compile(pattern), better)
    for pattern, better in (
        (r"\b1 (week|month|year) ago\b", r"last \1"),
        (rf"\b(\d{{1,2}})\. ?(?={_MONTHS})", r"\1 "),
        (rf"\b(\d{{4}}) ({_MONTHS}) (\d{{1,2}})\b", r"\3 \2 \1"),
        (r"\b(\d{4})-(\d)-", r"\1-0\2-"),
        (r"\b(\d{4}-\d\d)-(\d)\b", r"\1-0\2"),
    )
)
_MONTH: Final = re.compile(_MONTHS)
_WEEKDAY: Final = re.compile(_WEEKDAYS)
# Shorter words are abbreviations, and much else: "mit" and "mar" are a day and a month.
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
# Languages that write months or weekdays with a capital letter, always or until lately; in others a
# word with one is a name: "su hijo Domingo".
_CAPITALS: Final = frozenset(("de", "el", "id", "pt"))

# dateparser keeps caches in shared objects that no lock guards.
_one_at_a_time = threading.Lock()


async def in_english(question: str) -> str:
    """A question's dates in English, the rest as it may be; the question itself if it is English.

    The first question of a language takes a tenth of a second, of any language half a second.
    """
    text = question[:MAX_CHARACTERS]
    return await asyncio.to_thread(_translated, text)


def _translated(text: str) -> str:
    language = languages.language(text)
    if language is None or language == "en":
        return text
    with _one_at_a_time:
        from dateparser.conf import settings  # type: ignore[import-untyped]  # ships none
        from dateparser.languages.loader import default_loader  # type: ignore[import-untyped]

        try:
            locale = default_loader.get_locale(language)
            said = _put(locale, text, settings)
            alone = [
                _put(locale, word.group(), settings).strip()
                for word in _WORD.finditer(text)
                if language in _CAPITALS or not _is_name(word)
            ]
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
