"""Text on its way into the store, into a search vector and into a prompt (TXT-01..04)."""

import re
import unicodedata
from functools import cache
from typing import Final

# C-48: "1 MB" is 2**20 bytes of UTF-8. PostgreSQL limits the tsvector itself to one byte less, and
# distinct words can overflow that even below the cut: the store then retries with half the text.
MAX_SEARCH_BYTES: Final = 1_048_576

# What stands in place of a masked secret begins with this. Not beside the detector, which takes
# long to load.
MASK: Final = "[masked: "

# A Python string may hold halves of surrogate pairs (a JSON escape such as "\ud800" makes one);
# UTF-8 cannot, so neither a digest nor PostgreSQL would take it.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# A pattern that ignores case takes these for "s" and "i", and `str.lower` does not: what such a
# pattern finds could not be looked up.
_TAKEN_FOR: Final = str.maketrans("ſıİ", "siI")
# Of a letter with thousands of accents the normal form takes seconds.
_APART: Final = re.compile("[^\\W\\d_][\u0300-\u036f]{1,3}")


def storable(text: str) -> str:
    """`text` as content is stored: NULs removed, lone surrogates replaced, nothing else changed.

    PostgreSQL's TEXT refuses both. Layout, case and length are the author's.
    """
    return _LONE_SURROGATE.sub("\ufffd", text.replace("\x00", ""))


def whole(text: str) -> str:
    """`text` with its pairs of surrogates joined, and a sign in place of each half alone.

    Of an emoji that was cut in two, or streamed in two parts.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def plain(text: str) -> str:
    """`text` without accents, each letter at its place; "ſ" and "ı" are "s" and "i"."""
    if text.isascii():
        return text
    return "".join(unicodedata.normalize("NFD", one)[0] for one in as_matched(text))


def as_matched(text: str) -> str:
    """`text` with "s" and "i" for the letters that patterns take for these, each at its place."""
    return text.translate(_TAKEN_FOR)


def composed(text: str) -> str:
    """`text` with each letter and its accents as one character; macOS writes them apart."""
    return _APART.sub(lambda letter: unicodedata.normalize("NFC", letter.group()), text)


def lowered(text: str) -> str:
    """`text` in lower case, letter by letter, as the embedded database has it.

    `str.lower` makes two letters of "İ", and of the last "Σ" of a word another one than of those
    before it.
    """
    return text.lower() if text.isascii() else "".join(one.lower()[0] for one in text)


def one_line(text: str) -> str:
    """`storable` text with every run of white space, line ends included, as one space; stripped.

    `str.split` knows every character at which a line can break, U+0085, U+2028 and U+2029 among
    them.
    """
    return " ".join(storable(text).split())


def without_tag(text: str, *words: str) -> str:
    """Text that cannot end, or open, the element whose name these words make (CONP-05).

    Whatever a reader might take for the tag counts: other brackets, spaces, invisible or other
    characters around and inside its name. Bounded, so that no text makes the search slow.
    """
    return _tag(words).sub("&lt;", text)


@cache
def _tag(words: tuple[str, ...]) -> re.Pattern[str]:
    name = r"[\W_]{0,8}".join(words)
    return re.compile(rf"[<＜﹤](?=[\W_]{{0,16}}{name})", re.IGNORECASE)


def preprocess_text(text: str) -> str:
    """Text for a search vector: one line, at most `MAX_SEARCH_BYTES` of UTF-8 (TXT-01..03).

    The cut falls between two code points. Applying it twice changes nothing.
    """
    line = one_line(text)
    encoded = line.encode()
    if len(encoded) <= MAX_SEARCH_BYTES:
        return line
    # What "ignore" drops is the code point that the cut went through; the strip is for a cut just
    # after a space.
    return encoded[:MAX_SEARCH_BYTES].decode(errors="ignore").rstrip()


def preprocess_search_query(query: str | None) -> str:
    """A query as one line, not cut; nothing, or nothing but white space, is '' (TXT-04)."""
    return one_line(query) if query else ""
