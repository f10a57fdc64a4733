"""A small fingerprint of a text, by which a near copy of it is known again.

Broder, "On the resemblance and containment of documents", 1997: the k smallest hashes of all runs
of w words are a sample of the text that does not depend on where a copy of it was cut or wrapped.
"""

import re
from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice
from typing import Final

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.wording import in_pairs

SHINGLE_WIDTH: Final = 4
SKETCH_SIZE: Final = 64
MAX_WORDS: Final = 2_000

_WORD = re.compile(r"[^\W_]+")


def shingle_hashes(
    text: str, *, width: int = SHINGLE_WIDTH, keep: int = SKETCH_SIZE
) -> tuple[int, ...]:
    """The `keep` smallest hashes of the text's runs of `width` words, ascending and distinct.

    Signed 64-bit numbers, the same in every process. Case and punctuation do not count, nor does
    what follows the first 2,000 words. Where a script parts no words, pairs of its letters are
    words (`wording.in_pairs`). A text of fewer than `width` words is one shingle, one without words
    has none.
    """
    if width < 1 or keep < 1:
        raise InvalidInput(f"width and keep must be 1 or more, not {width} and {keep}")
    return tuple(sorted({_hash(shingle) for shingle in _shingles(text, width)})[:keep])


def fingerprint(texts: Iterable[str]) -> set[int]:
    """The `shingle_hashes` of all of them; a run of words that several share is hashed once."""
    kept_whole: set[str] = set()
    found: set[int] = set()
    for text in texts:
        shingles = _shingles(text, SHINGLE_WIDTH)
        if len(shingles) <= SKETCH_SIZE:
            kept_whole |= shingles
        else:
            found.update(sorted({_hash(shingle) for shingle in shingles})[:SKETCH_SIZE])
    return found.union(map(_hash, kept_whole))


def _shingles(text: str, width: int) -> set[str]:
    if text.isascii():
        words = _WORD.findall(text.lower())[:MAX_WORDS]
    else:  # what casefold() makes of a letter may be no letter, and would part a word
        found = islice(_WORD.finditer(in_pairs(text)), MAX_WORDS)
        words = [match.group().casefold() for match in found]
    if len(words) <= width:
        return {" ".join(words)} if words else set()
    return set(map(" ".join, zip(*(words[start:] for start in range(width)), strict=False)))


def _hash(shingle: str) -> int:
    digest = blake2b(shingle.encode(), digest_size=8, person=b"shingle").digest()
    return int.from_bytes(digest, "big", signed=True)
