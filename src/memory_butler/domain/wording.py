"""A text on its way to the keyword retriever: its languages, its parts, CJK cut into pairs (C-200).

The store takes a text whose words are to be compared as one string. Without a mark it is English.
Otherwise it begins with the configurations of PostgreSQL that fit it, between two marks.
`functions/forms_of.sql` reads them.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final

from memory_butler.domain.foreign_dates import READ, dates_in_words
from memory_butler.domain.written_dates import MONTHS, YEAR, Written, dates_with_slashes

# White space to `preprocess_text`, which leaves none: so no text can bring a mark of its own.
MARK: Final = "\x1f"

_HAN: Final = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
# Words of a question that tell nothing, as the store gives them: hiragana, which Japanese grammar
# is written in ("です", "して"), and in quotes a letter that another language leaves ("d'", "a").
_SMALL: Final = re.compile("'?[\u3041-\u309f]+'?|'[^\\W\\d_\u3041-\uffff]'")
_FORM: Final = re.compile("'([^']+)'")
# What questions are made of, what one may, must and does, and how much, since when and with whom,
# without accents: PostgreSQL's small words have it for English and lack it for these. A text in two
# languages keeps the articles of both: they are here, too.
_ASKING: Final = frozenset(
    """
    qui que quoi quel quelle quels quelles quand comment combien pourquoi lequel laquelle ou est ce
    il elle ils elles on t y a le la les un une una uno unos unas um uma
    chi che cosa cos quale quali qual quando dove dov come com quanto quanta quanti quante perche lo
    gli si e
    quien quienes cual cuales cuando donde como cuanto cuanta cuantos cuantas por el los las
    quem quais onde aonde porque quantos quantas o os as do da
    wer wen wem wessen wann warum wieso weshalb woher wohin womit wofur wieviel wieviele welche
    welchen welchem welcher welches
    beim seit schon ganz gar gerade eben vorhin ziemlich
    wie wat waar wanneer waarom hoe hoeveel welk
    plus moins entre cet cette tout tous toute toutes peut peux peuvent doit dois doivent fait fais
    font faut va vais vont encore aussi tres
    deja depuis chez toujours
    puede puedo pueden podemos debe debo deben hay hace mas muy ya
    puo posso possono deve devo devono piu ancora molto
    pode podem devem faz mais muito ainda
    """.split()
)
# PostgreSQL's parser takes every sign outside ASCII for a letter, and so for a word.
_SIGNS: Final = re.compile("[\u3001-\u3003\u3008-\u3020\uff01-\uff0f\uff1a-\uff1f]+")
_RUN: Final = re.compile(
    f"(?P<han>[{_HAN}]+)|[{_KATAKANA}]+|(?P<hiragana>[\u3041-\u309f]+)"
    "|[\u1100-\u11ff\uac00-\ud7af]+"
)

# What PostgreSQL's parser takes for one word, as a path, a host or a URL: "ledger/pool.py".
_UNSPACED: Final = re.compile("[^\\s,;()\\[\\]{}<>\"'`“”«»|=]+")
_JOINS: Final = re.compile(r"[/\\:@]+")
_SCHEME: Final = re.compile(r"^\w+://")
# A part of it that is a word: "v2" and "com" in "v2.example.com" are none.
_NAMING: Final = re.compile(r"^[\W_]*[^\W\d_]{2}")
# A name whose words begin with capitals: "RingBuffer", "useSessionTimeout".
_HUMPED: Final = re.compile(r"(?<![^\W_])[A-Za-z]*[a-z][A-Z][A-Za-z]*(?![^\W_])")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORTEST_HUMP: Final = 3
_SHORT_ENDING: Final = 3
_MOST_PARTS: Final = 1_000
_READ: Final = 100_000  # characters; what has more joined words is no text
# PostgreSQL's parser takes "20–30" for one word.
_DASH: Final = re.compile(r"(?<=[\w.])[–—](?=\w)")
_NUMBER_OF: Final = re.compile(r"(?<=[^\W\d_]-)\d+(?![\w-])")
_ISO_DATE: Final = re.compile(
    r"(?<![\w./-])(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\w/-])"
)
_DOTTED_DATE: Final = re.compile(
    r"(?<![\w.])(?P<day>0?[1-9]|[12]\d|3[01])\.(?P<month>0?[1-9]|1[0-2])\."
    rf"(?P<year>{YEAR})?(?!\.?\w)"
)


def with_parts(text: str, *, with_dates: bool = True) -> str:
    """`text` and behind it the parts of its paths, hosts and "either/or", and its dates in words.

    "tests/test_pool.py" is found by "test_pool.py", "OPS-142" by "142", and "2026-12-11",
    "11.12." and "11 décembre" by "December 11". At most a thousand different parts, of the first
    100,000 characters; dates with slashes or in other languages, of the first 8,000.
    """
    text = _DASH.sub(" - ", text)
    read = text[:_READ]
    added = (part for one in _UNSPACED.findall(read) for part in _parts(one.rstrip(".:!?")))
    dates = _dates(read) if with_dates else ()
    # PostgreSQL's parser reads a negative number here.
    numbers = _NUMBER_OF.findall(read)
    more = islice(dict.fromkeys((*dates, *numbers, *added)), _MOST_PARTS)
    return " ".join([text, *more])


def with_words_of_names(text: str) -> str:
    """A memory's text, and behind it the words of names as programs have them.

    "RingBuffer" is found by "ring buffer" and "ring_buffer", and "McDonald" by nobody else's name.
    Not of a question: with "GitHub" it would ask for two words more, which whatever is about GitHub
    has.
    """
    told: dict[str, None] = {}
    for name in dict.fromkeys(_HUMPED.findall(text[:_READ])):
        words = [word.lower() for word in _HUMP.split(name) if len(word) >= _SHORTEST_HUMP]
        told |= dict.fromkeys(words if len(words) > 1 else ())
    return " ".join([text, *islice(told, _MOST_PARTS)])


def _dates(text: str) -> Iterator[str]:
    """The dates of a text in English words."""
    for form in (_ISO_DATE, _DOTTED_DATE):
        yield from map(_in_words, form.finditer(text))
    yield from map(_said, dates_with_slashes(text[:READ]))
    yield from dates_in_words(text)


def spelled_dates(text: str) -> str:
    """`text` with its ISO dates in words, which meanings are nearer to: "11 December 2026"."""
    return _ISO_DATE.sub(_in_words, text)


def _in_words(date: re.Match[str]) -> str:
    year = None if date["year"] is None else int(date["year"])
    return _said(Written(year, int(date["month"]), int(date["day"])))


def _said(day: Written) -> str:
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year or ''}".rstrip()


def _parts(token: str) -> Iterator[str]:
    for segment in _JOINS.split(_SCHEME.sub("", token)):
        names = segment.split(".")
        if len(names) > 1 and len(names[-1]) <= _SHORT_ENDING and names[-1].islower():
            names.pop()  # the ending of a file's name, or of a host's
        for part in (segment, *names):
            if part != token and _NAMING.match(part) and _RUN.search(part) is None:
                yield part


def marked(text: str, configurations: Sequence[str]) -> str:
    """`text` with the names of its configurations; as it is without any: English."""
    return f"{MARK}{','.join(configurations)}{MARK}{text}" if configurations else text


def without_cjk(text: str) -> str:
    """What is left for the other languages."""
    return _RUN.sub(" ", text)


def in_pairs_and_letters(text: str) -> str:
    """A memory's text with every run of CJK letters as its pairs, of Chinese letters also singly.

    A run is of one script: in Japanese a word's stem and its ending are mostly of two.
    """
    return _RUN.sub(lambda run: _cut(run, singly=run["han"] is not None), _SIGNS.sub(" ", text))


def in_pairs(text: str) -> str:
    """A text with every run of CJK letters as its pairs: of a question, or to be compared."""
    return _RUN.sub(lambda run: _cut(run, singly=False), _SIGNS.sub(" ", text))


def telling(words: Collection[str]) -> frozenset[str]:
    """The words of a question that tell something; all, where none does."""
    return frozenset(word for word in words if not _is_small(word)) or frozenset(words)


def _is_small(word: str) -> bool:
    if _SMALL.fullmatch(word):
        return True
    # Of a word's forms the longest is the word itself: a stem may be another word ("comer", "com").
    itself = max(_FORM.findall(word), key=lambda form: (len(form), form.isascii()), default="")
    return bool(itself) and all(part in _ASKING for part in itself.split("-"))


def _cut(run: re.Match[str], *, singly: bool) -> str:
    letters = run.group()
    if len(letters) == 1:
        # A hiragana letter alone is a particle: the small words of Japanese.
        return " " if run["hiragana"] else f" {letters} "
    pairs = [letters[place : place + 2] for place in range(len(letters) - 1)]
    return f" {' '.join([*letters, *pairs] if singly else pairs)} "
