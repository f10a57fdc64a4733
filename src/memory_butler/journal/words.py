"""The words of a text that tell it from others: their stems, without the words that all have."""

import re
from collections.abc import Sequence
from typing import Final

from memory_butler.domain.text import as_matched, composed

# So many of the first letters of a language's code tell which stemmer it has.
_STEMMERS: Final = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian", "it": "italian",
    "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
# Chinese and Japanese have no spaces: two characters that stand together are a word.
_UNSPACED: Final = (
    "々〆\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd"
)
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_TIME = re.compile(r"\d{1,4}[ap]m")
# English words that say nothing of what a plan is about: the small ones, what tells that it is
# done, and when it was due.
_STOP: Final = frozenset(
    """
    a about again all already also am an and any are as at be been before but by can could did do
    does doing done for from get getting go goes going gone got had has have having he her here him
    his how i if in into is it its just let like ll m make many me more much my need new no not now
    of off ok on or our out over re really s she so some t than that the their them then there these
    they thing things this those to too up us ve very want was we went were what when where which
    who will with would yes yet you your
    complete completed finish finished item pin plan secret stuff task
    day days end month months next second today tomorrow tonight week weekend weeks year years
    monday tuesday wednesday thursday friday saturday sunday am pm noon every morning evening
    """.split()
)

# Forms of English verbs that a stemmer leaves as they are: a plan says "pay", and later somebody
# has paid.
_FORMS: Final = """
    beat beaten, begin began begun, bend bent, bind bound, blow blew blown, break broke broken,
    bring brought, build built, buy bought, catch caught, choose chose chosen, deal dealt, dig dug,
    draw drew drawn, drink drank drunk, drive drove driven, eat ate eaten, feed fed, fight fought,
    find found, fly flew flown, forget forgot forgotten, forgive forgave forgiven, freeze froze
    frozen, give gave given, grow grew grown, hang hung, hear heard, hide hid hidden, hold held,
    keep kept, know knew known, lay laid, lead led, learn learnt, leave left, lend lent, light lit,
    lose lost, mean meant, meet met, pay paid, ride rode ridden, ring rang rung,
    rise rose risen, say said, see saw seen, seek sought, sell sold, send sent, sew sewn,
    shake shook shaken, shine shone, shoot shot, show shown, sing sang sung, sit sat, sleep slept,
    sow sown, speak spoke spoken, spend spent, stand stood, steal stole stolen, stick stuck, sweep
    swept, swim swam swum, take took taken, teach taught, tear torn, tell told, think thought, throw
    threw thrown, understand understood, wake woke woken, wear wore worn, win won, wind wound,
    write wrote written
"""
_VERBS: Final = {
    form: verb for verb, *forms in (one.split() for one in _FORMS.split(",")) for form in forms
}


def stems(text: str, languages: Sequence[str] = ("en",)) -> frozenset[str]:
    """The stems of the words of `text`, lower-cased; of a text of small words alone, all of them.

    The first of `languages` that has a stemmer decides; without one the words are as they stand.
    """
    import snowballstemmer  # type: ignore[import-untyped]  # ships none

    words = telling(text, languages)
    algorithm = next((_STEMMERS[one[:2]] for one in languages if one[:2] in _STEMMERS), None)
    if algorithm == "english":
        words = [_VERBS.get(one, one) for one in words]
    # A stemmer is not safe to share between threads, and costs nothing to make.
    return frozenset(snowballstemmer.stemmer(algorithm).stemWords(words) if algorithm else words)


def telling(text: str, languages: Sequence[str] = ("en",)) -> list[str]:
    """The words of `text` in lower case without small ones; all, where it has no others."""
    words = words_of(text)
    if "en" not in languages:
        return words
    # Times such as 6pm are small words, too.
    return [one for one in words if one not in _STOP and not _TIME.fullmatch(one)] or words


def words_of(text: str) -> list[str]:
    """All words of `text` in lower case."""
    return [word for one in _WORD.findall(folded(text)) for word in _words_of(one)]


def folded(text: str) -> str:
    """`text` in lower case, with one spelling for letters that have several: "ß" is "ss", "ü" one
    sign, also where macOS writes it as two, and "İ" an "i"."""
    return text.casefold() if text.isascii() else composed(as_matched(text).casefold())


def _words_of(run: str) -> list[str]:
    if len(run) < 2 or not is_unspaced(run[0]):
        return [run]
    return [run[place : place + 2] for place in range(len(run) - 1)]


def is_unspaced(sign: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return _UNSPACED_SIGN.fullmatch(sign) is not None


def spaced(text: str) -> str:
    """`folded` text with spaces around such characters: each of them is indexed as a word."""
    return _UNSPACED_SIGN.sub(r" \g<0> ", folded(text))
