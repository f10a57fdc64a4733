"""Proven rules in files that agents read: AGENTS.md, CLAUDE.md, a skill's SKILL.md.

The rules stand in a block between two marker lines. Everything outside of it is the user's, and
stays as it is to the byte.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from memory_butler.client import MemoryClient, shapes
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.restatement import without_fillers

# An agent reads such a file with every prompt.
MAX_RULES: Final = 200
MAX_CHARACTERS: Final = 1_000

SKILL: Final = "SKILL.md"
_BEGIN: Final = (
    "<!-- memory-butler:begin rules (kept by `memory-butler write-rules`; changes in here are lost)"
    " -->"
)
_END: Final = "<!-- memory-butler:end rules -->"
_BEGINS: Final = re.compile(rb"^<!-- memory-butler:begin rules[^\r\n]*", re.MULTILINE)
_ENDS: Final = re.compile(rb"^<!-- memory-butler:end rules[^\r\n]*", re.MULTILINE)
_FENCES: Final = re.compile(rb"^ {0,3}(`{3,}|~{3,})([^\r\n]*)", re.MULTILINE)
_SKILL_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


async def proven_rules(client: MemoryClient, butler: str | None, most: int) -> list[str]:
    """The texts of the rules that are proven, in use and not fading, the oldest first.

    Where there are more than `most`, the most effective ones. What was imported, or comes from a
    tool or a page, is left out: in such a file it would be an instruction.

    Args:
        butler: whose rules, beside those of all; None: those of all alone.
    """
    found = await client.rules_list(
        maturity=["proven"],
        state="in_use",
        min_trust="agent_inferred",
        scope="global" if butler is None else None,
        butler=butler,
        sort="effectiveness",
        limit=MAX_RULES,
    )
    best: dict[tuple[str, ...], shapes.ListedRule] = {}
    for one in found.items:
        if one.state == "active":  # two installations may have stored one in the same words
            best.setdefault(without_fillers(one.content), one)
    told = sorted([*best.values()][:most], key=lambda one: (one.created_at, one.id))
    return [_line(one.content) for one in told]


def with_rules(path: Path, before: bytes | None, rules: Sequence[str]) -> bytes | None:
    """The file with the rules as they are now; `before` is what it holds, None: it is not there.

    Without any rule no block is made, and one that is there becomes empty.

    Raises:
        InvalidInput: the markers are not one pair, it is not UTF-8, or a skill has no valid name.
    """
    text = before or b""
    try:
        text.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{path} was left alone: it is not UTF-8") from None
    end_of_line = b"\r\n" if text.partition(b"\n")[0].endswith(b"\r") else b"\n"
    block = end_of_line.join(line.encode() for line in _block(rules))
    place = _place(path, text)
    if place is not None:
        return text[: place[0]] + block + text[place[1] :]
    if not rules:
        return before
    if before is None and path.name == SKILL:
        text = _front_matter(path)
    if (line := _fences(text)[1]) is not None:
        raise InvalidInput(
            f"{path} was left alone: the code block of line {line} is not closed, and the rules "
            "would be a part of it"
        )
    # A blank line apart from what stands before.
    apart = next((n for n in (0, 1) if text.endswith(end_of_line * (2 - n))), 2) if text else 0
    return text + end_of_line * apart + block + end_of_line


def _place(path: Path, text: bytes) -> tuple[int, int] | None:
    """From where to where the block stands; None: there is none."""
    inside, _ = _fences(text)
    begins, ends = (
        [one for one in found.finditer(text) if not any(a <= one.start() < b for a, b in inside)]
        for found in (_BEGINS, _ENDS)
    )
    if not begins and not ends:
        return None
    if (len(begins), len(ends)) == (1, 1) and begins[0].end() < ends[0].start():
        return begins[0].start(), ends[0].end()
    lines = sorted(text.count(b"\n", 0, one.start()) + 1 for one in (*begins, *ends))
    raise InvalidInput(
        f"{path} was left alone: its markers are not one pair of begin and end (lines "
        f"{', '.join(map(str, lines))}); fix them, or delete them with what is between"
    )


def _fences(text: bytes) -> tuple[list[tuple[int, int]], int | None]:
    """Where the code blocks stand, and the line of one that nothing closes, if there is one.

    Markdown's fences: three or more of ` or ~, closed by as many of the same.
    """
    found: list[tuple[int, int]] = []
    opened: re.Match[bytes] | None = None
    for one in _FENCES.finditer(text):
        marks, told = one.groups()
        if opened is None:
            if marks[:1] == b"~" or b"`" not in told:
                opened = one
        elif marks.startswith(opened[1]) and not told.strip():
            found.append((opened.start(), one.end()))
            opened = None
    if opened is None:
        return found, None
    return [*found, (opened.start(), len(text))], text.count(b"\n", 0, opened.start()) + 1


def _block(rules: Sequence[str]) -> list[str]:
    if not rules:
        return [_BEGIN, _END]
    listed = [f"- {rule}" for rule in rules]
    return [_BEGIN, "", "## Rules learned from experience", "", *listed, "", _END]


def _front_matter(path: Path) -> bytes:
    name = path.absolute().parent.name
    if len(name) > 64 or not _SKILL_NAME.fullmatch(name):
        raise InvalidInput(
            f"the folder of a {SKILL} is the name of the skill: small letters, digits and single "
            f"hyphens, such as house-rules/{SKILL}"
        )
    return (
        f"---\nname: {name}\n"
        "description: Rules that proved right in earlier sessions with this user. Read them before "
        "you plan or act on the user's behalf.\n---\n"
    ).encode()


def _line(content: str) -> str:
    """A rule in one line, which can neither end the block nor hide what follows."""
    line = " ".join(content.split()).replace("<!--", "&lt;!--")
    return line if len(line) <= MAX_CHARACTERS else f"{line[:MAX_CHARACTERS].rstrip()} …"
