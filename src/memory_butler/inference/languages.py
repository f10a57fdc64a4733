"""Which language a text is in, and which of PostgreSQL's configurations compare its words (C-201).

An English text is known by its small words. py3langid knows the others by their sequences of
letters. Its model is loaded by the first text that needs it, in a thread, because it may have to be
unpacked (inference/letters.py).
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final

from memory_butler.domain import wording
from memory_butler.domain.text import preprocess_text
from memory_butler.inference import letters

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

# The configurations of PostgreSQL 16; a language without one is compared by plain words.
CONFIGURATIONS: Final = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "simple", "eu": "basque", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish",
    "be": "simple", "bg": "simple", "cs": "simple", "fa": "simple", "he": "simple", "hr": "simple",
    "is": "simple", "lv": "simple", "mk": "simple", "pl": "simple", "sk": "simple", "sl": "simple",
    "sq": "simple", "th": "simple", "uk": "simple", "vi": "simple",
    "zh": "simple", "ja": "simple", "ko": "simple",
}  # fmt: skip
# Only words that are small words of no other language: "was", "her", "do" and "my" are.
_ENGLISH: Final = frozenset(
    """
    about and because been before can't could couldn't did didn't doesn't don't every from haven't
    how i'd i'll i'm i've isn't it's its not she should that that's the their them there they this
    those were we're what what's when where which who whose why with would you you're your
    """.split()
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_READ: Final = 500  # characters; more seldom changes the answer, and takes time

# Less sure of the first than this, a text says too little; a second that is so near counts as well.
_SURE: Final = 0.3
_NEAR: Final = 10
_FEW: Final = 6  # words; of more the letters tell enough

Spoken = Mapping[str, int]
NONE: Final[Spoken] = {}


async def of_memory(text: str, tags: Sequence[str] = ()) -> str:
    """A memory's text and tags as the store indexes them, marked with the languages of the text.

    The tags say little of the language: they may be English beside a text that is not.
    """
    line = preprocess_text(text)
    told = preprocess_text(" ".join((line, *tags))) if tags else line
    words = wording.in_pairs_and_letters(wording.with_words_of_names(wording.with_parts(told)))
    return wording.marked(words, await _configurations(line))


async def of_question(text: str, spoken: Spoken = NONE, *, with_dates: bool = True) -> str:
    """A question's preprocessed text as the store takes it, marked with its languages.

    Args:
        text: the question.
        spoken: of each language, how many memories are in it.
        with_dates: with the English words of its dates; not where they say when something happened.
    """
    words = wording.in_pairs(wording.with_parts(text, with_dates=with_dates))
    return wording.marked(words, await _configurations(text, spoken))


async def _configurations(text: str, spoken: Spoken = NONE) -> tuple[str, ...]:
    # CJK is cut into pairs, which no configuration changes.
    text = wording.without_cjk(text[:_READ])
    if not (words := _words(text)) or _is_english(words):
        return ()
    if not _loaded.cache_info().currsize:
        await asyncio.to_thread(_identifier)
    return configurations(text, spoken)


def is_short(question: str) -> bool:
    """Whether a question has so few words that it may be taken for another language."""
    words = _words(wording.without_cjk(question[:_READ]))
    return 0 < len(words) <= _FEW and not _is_english(words)


def _words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def _is_english(words: Sequence[str]) -> bool:
    return 4 * sum(word in _ENGLISH for word in words) >= len(words)


def configurations(text: str, spoken: Spoken = NONE) -> tuple[str, ...]:
    """The configurations that fit a text: none for English alone, two where two languages do."""
    (first, sure), (second, next_sure), *_ = _ranked(text, spoken)
    if sure < _SURE or first == "en":
        return ()
    likely = [first, second] if next_sure * _NEAR >= sure else [first]
    return tuple(dict.fromkeys(CONFIGURATIONS[one] for one in likely))


def language(text: str, spoken: Spoken = NONE) -> str | None:
    """The code of the language that a text is most likely in; None where it says too little."""
    first, sure = _ranked(text[:_READ], spoken)[0]
    return first if sure >= _SURE else None


def likely(text: str) -> str | None:
    """As `language`; what is English by its small words is known without the model."""
    words = _words(wording.without_cjk(text[:_READ]))
    return "en" if words and _is_english(words) else language(text)


def _ranked(text: str, spoken: Spoken) -> list[tuple[str, float]]:
    """Each language with its probability, the most likely first.

    By its letters, and by how many memories are in it: one more of each, for what is not there yet.
    """
    ranked: list[tuple[str, float]] = _identifier().rank(text)
    weighed = [(code, share * (spoken.get(code, 0) + 1)) for code, share in ranked]
    total = sum(weight for _, weight in weighed)
    return sorted(((code, weight / total) for code, weight in weighed), key=lambda one: -one[1])


async def counted(texts: Iterable[str]) -> Spoken:
    """Of each language, how many of some texts are in it."""

    def count() -> Spoken:
        parted = (wording.without_cjk(one[:_READ]) for one in texts)
        found = (likely(text) for text in parted if _words(text))
        return Counter(one for one in found if one is not None)

    return await asyncio.to_thread(count)


_loading: Final = Lock()


def _identifier() -> "LanguageIdentifier":
    # Without the lock each text that comes while it loads would load one more.
    with _loading:
        return _loaded()


@cache
def _loaded() -> "LanguageIdentifier":
    return letters.identifier(CONFIGURATIONS)
