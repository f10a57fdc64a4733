"""What another program wrote about its failure, made fit for an error text.

Such text is bounded, and holds neither keys nor anything of the prompt: error messages end in logs
and in the database, where nobody looks for secrets or for other people's episodes.
"""

import re
from collections.abc import Iterable
from typing import Final

from memory_butler.domain.text import one_line

MAX_TAIL_CHARACTERS: Final = 400
MASK: Final = "***"
# A line is taken for an echo of the prompt if it shares this many characters with it: about three
# words, fewer than any sentence worth hiding and more than two texts share by chance.
ECHO_CHARACTERS: Final = 16

# The lines looked at; the caller bounds the text itself.
_MAX_LINES: Final = 40
# Shorter "secrets" would mask ordinary words.
_SHORTEST_SECRET: Final = 8

_SECRETS = re.compile(
    r"""
      \b(?:sk|pk|rk|ghp|gho|xox[a-z])[-_][\w-]{6,}    # Anthropic, OpenAI and many others
    | \bAIza[\w-]{20,}                                         # Google
    | \beyJ[\w-]{8,}(?:\.[\w-]+)*                              # JSON web tokens
    | (?<=bearer\ )\S+
    | (?<=://)[^\s/@]+(?=@)                                    # user:password in an address
    | \b[\w+/=-]{32,}                                         # whatever else is long and dense
    """,
    re.VERBOSE | re.IGNORECASE,
)
# name=value and "name": "value", where the name says that the value is secret.
_NAMED_SECRETS = re.compile(
    r"""((?:key|token|secret|password|authorization)["']?\s*+[=:]\s*+)["']?[^\s"',;]++""",
    re.IGNORECASE,
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def tail(text: str, *, secrets: Iterable[str] = (), private: Iterable[str] = ()) -> str:
    """The end of `text` in one line, without the `secrets` and without lines out of `private`."""
    hidden = [one_line(one) for one in private]
    lines = [one_line(line) for line in _ESCAPES.sub("", text).splitlines()[-_MAX_LINES:]]
    shown = " ".join("[…]" if _echoes(line, hidden) else line for line in lines if line)
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            shown = shown.replace(secret, MASK)
    shown = _NAMED_SECRETS.sub(rf"\1{MASK}", _SECRETS.sub(MASK, shown))
    return shown if len(shown) <= MAX_TAIL_CHARACTERS else "…" + shown[-MAX_TAIL_CHARACTERS:]


def _echoes(line: str, hidden: list[str]) -> bool:
    last = max(1, len(line) - ECHO_CHARACTERS + 1)
    pieces = (line[start : start + ECHO_CHARACTERS] for start in range(last))
    return any(piece in text for piece in pieces for text in hidden if piece)
