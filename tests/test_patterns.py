"""No regular expression of the package takes more than linear time, whatever text it is given.

A text of twice the length may take about twice as long. The texts are made from the patterns
themselves: what comes before a repetition, then the repeated part many times, then a character that
the pattern does not want. Times are compared with each other, never with a clock.
"""

import ast
import importlib
import importlib.util
import os
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import memory_butler
from memory_butler.integrations.clients import HOOK

# Private modules of the standard library: how a pattern is read is told nowhere else.
_PARSER = importlib.import_module("re._parser")
_COMPILER = importlib.import_module("re._compiler")
_SOURCE = Path(memory_butler.__file__).parent
# A megabyte of each in the long profile; what is quadratic is seen at 4 kB (a test below).
_NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
_LARGEST = (1024 if _NIGHTLY else 16) * 1024
_SMALL = (16 if _NIGHTLY else 4) * 1024
_FIRST = 1024
_SMALLEST = 256
# Twice the text in three and a half times the time is no noise: quadratic is four times.
_GROWTH = 3.5
# Below this, in seconds of processor time, a ratio tells of the clock and not of the pattern.
_MEASURABLE = 0.004
# Many-sided repetition: a bounded one of fewer is a constant.
_MANY = 64
_PROBES = " \t\n0a,A-_.\"'<>()[]{}:=#*ſé€\u200b"
_HOSTILE = (*_PROBES, "0,", "0.", "1,111", "-0", "a ", "<a ", "<a<", "[[", "((", "\n\n", "\n ", "é")

# Read no further than so many characters, by whoever uses them.
_CUT_BEFORE = {
    "journal.calls._ARGUMENT": 200,
    "journal.due.": 400,
    "journal.clocks.": 400,
    "journal.english.": 400,
    "journal.meant.": 400,
}
# Tried at the beginning of a text alone, with `match`.
_AT_START = (
    "store.loading._ENTRY",
    "journal.words._TIME",
    "journal.lifecycle._SUBJECT",
    "journal.tags._IDENTITY",
    "journal.tags._VERB",
)
# Where patterns are made at run time, or used in place, and why that is no matter.
_IN_PLACE = {
    "integrations/toml_table.py": "a configuration file of the user's own, by a command",
    "journal/due.py": "cut to 400 characters before",
    "journal/clocks.py": "as in due.py, which hands it the text",
    "journal/german.py": "as in due.py, which hands it the text",
    "journal/conversation.py": "anchored at the beginning of a reply: each run is read once",
    "journal/readers.py": "as in due.py, which hands it the text",
    "journal/meant.py": "as in due.py, which hands it the text",
    "journal/english.py": "as in due.py, which hands it the text",
    "journal/dateparsing.py": "as in due.py, which hands it the text",
    "journal/words.py": "one word at a time",
    "journal/lookups.py": "one class repeated, by split: each run is read once",
    "journal/lifecycle.py": "the name of a fragment, of at most 63 characters",
    "journal/maintenance/answer.py": "a model's answer, bounded before it is read",
    "store/embedded_settings.py": "names in the operator's configuration",
    "store/inspection.py": "a version as PostgreSQL tells it",
    "host/commands.py": "a name on the command line",
    "domain/text.py": "bounded quantifiers; looked at by the first test",
    "domain/secret_shapes.py": "made once, at import; looked at by the first test",
    "domain/foreign_dates.py": "bounded; the text of a memory has its own test in tests/dated",
    "domain/persons.py": "a name of at most 60 characters, in a question of at most 300",
    "domain/roles.py": "a question of at most 300 characters, or the beginning of a fact",
    "domain/periods.py": "made once, at import; looked at by the first test",
}


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(memory_butler.__path__, "memory_butler."):
        if found.name.endswith("__main__") or ".migrations." in found.name:
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:  # an extra that is not installed
            if str(error.name).startswith("memory_butler"):
                raise


def _within(value: object, deep: int = 3) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif deep and isinstance(value, dict):
        for one in value.values():
            yield from _within(one, deep - 1)
    elif deep and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _within(one, deep - 1)


def _patterns() -> dict[str, re.Pattern[Any]]:
    """Every compiled pattern that a module holds, by its place."""
    found: dict[str, re.Pattern[Any]] = {}
    known: set[tuple[str | bytes, int]] = set()
    for module in _modules():
        for name, value in vars(module).items():
            for number, pattern in enumerate(_within(value)):
                if (pattern.pattern, pattern.flags) not in known:
                    known.add((pattern.pattern, pattern.flags))
                    found[f"{module.__name__.removeprefix('memory_butler.')}.{name}.{number}"] = (
                        pattern
                    )
    text = importlib.import_module("memory_butler.domain.text")
    found["domain.text._tag()"] = text._tag(("episode", "content"))
    return found


ALL_PATTERNS = _patterns()
PATTERNS = {
    place: pattern
    for place, pattern in ALL_PATTERNS.items()
    if not place.startswith(tuple(_CUT_BEFORE))
}


def _growth(
    work: Callable[[str], object], shape: Callable[[int], str], largest: int
) -> tuple[int, float]:
    """The size at which the time grew too fast, and by how much; 0 where it never did."""
    size, before = _SMALLEST, _seconds(work, shape(_SMALLEST))
    while size < largest:
        size *= 2
        now = _seconds(work, shape(size))
        if now > _MEASURABLE and now > _GROWTH * before:
            # Once more, both: another process may have had the caches.
            before = min(before, _seconds(work, shape(size // 2)))
            now = min(now, _seconds(work, shape(size)), _seconds(work, shape(size)))
            before = max(before, _seconds(work, shape(size // 2)))
            if now > _MEASURABLE and now > _GROWTH * before:
                return size, now / before
        before = now
    return 0, 0.0


def _seconds(work: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    work(text)
    return max(time.thread_time() - began, 1e-7)


def _shapes(pattern: re.Pattern[Any]) -> list[Callable[[int], str]]:
    """The worst texts for a pattern: functions of a size in characters."""
    source = pattern.pattern
    assert isinstance(source, str)
    tree = _PARSER.parse(source, pattern.flags)
    units: dict[str, None] = dict.fromkeys(_HOSTILE)
    started: dict[tuple[str, str], None] = {}
    for prefix, body in _repetitions(tree, ""):
        started[prefix, body] = None
        units[body] = None
        units[prefix + body] = None
        if prefix:
            units[prefix] = None
    whole = _sample(tree)
    if whole:
        units[whole] = None
        units[whole[:-1]] = None
    made = [_repeated("", unit) for unit in units if unit]
    made += [_repeated(prefix, body) for prefix, body in started if body]
    return made


def _repeated(prefix: str, unit: str) -> Callable[[int], str]:
    return lambda size: prefix + unit * max(1, size // len(unit)) + "\x00"


def _repetitions(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Every unbounded repetition: a text that leads to it, and one that it repeats."""
    for place, (operator, argument) in enumerate(tree):
        name = str(operator)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _low, high, body = argument
            if int(high) >= _MANY:
                for one in _samples(body):
                    yield before, one
            yield from _repetitions(body, before)
        elif name == "SUBPATTERN":
            yield from _repetitions(argument[-1], before)
        elif name == "ATOMIC_GROUP":
            yield from _repetitions(argument, before)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from _repetitions(branch, before)
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from _repetitions(argument[1], before)
        before += _sample(tree[place : place + 1])


def _samples(tree: Any) -> list[str]:
    """A few texts that a piece matches; of a single class, one of each kind of its characters."""
    if len(tree) == 1 and str(tree[0][0]) in ("IN", "ANY", "NOT_LITERAL", "CATEGORY"):
        wanted = _COMPILER.compile(tree)
        return [one for one in _PROBES if wanted.fullmatch(one)][:8] or [""]
    if len(tree) == 1 and str(tree[0][0]) == "BRANCH":
        return [_sample(branch) for branch in tree[0][1][1]][:8]
    if len(tree) == 1 and str(tree[0][0]) == "SUBPATTERN":
        return _samples(tree[0][1][-1])
    return [_sample(tree)]


def _sample(tree: Any) -> str:
    text = ""
    for place, (operator, argument) in enumerate(tree):
        name = str(operator)
        if name == "LITERAL":
            text += chr(argument)
        elif name in ("IN", "ANY", "NOT_LITERAL", "CATEGORY"):
            text += _of_class(tree[place : place + 1])
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, body = argument
            text += _sample(body) * max(1 if int(high) else 0, low)
        elif name == "SUBPATTERN":
            text += _sample(argument[-1])
        elif name == "ATOMIC_GROUP":
            text += _sample(argument)
        elif name == "BRANCH":
            text += _sample(argument[1][0])
    return str(text)


def _of_class(tree: Any) -> str:
    wanted = _COMPILER.compile(tree)
    characters = (*"a0 A-", *_PROBES, *map(chr, range(33, 0x3000)))
    return next((one for one in characters if wanted.fullmatch(one)), "")


def _search(pattern: re.Pattern[Any]) -> Callable[[str], object]:
    if isinstance(pattern.pattern, bytes):
        return lambda text: sum(1 for _ in pattern.finditer(text.encode()))
    return lambda text: sum(1 for _ in pattern.finditer(text))


@pytest.mark.parametrize("place", PATTERNS)
def test_a_pattern_takes_linear_time(place: str) -> None:
    pattern = PATTERNS[place]
    if isinstance(pattern.pattern, bytes):
        shapes = [_repeated("", unit) for unit in _HOSTILE]
    else:
        shapes = _shapes(pattern)
    work = pattern.match if place.startswith(_AT_START) else _search(pattern)

    def check(shape: Callable[[int], str], largest: int) -> float:
        """The seconds of the largest text. What takes too little to tell is not looked at again.

        Nor is a shorter one, which takes no longer.
        """
        seconds = 0.0
        for size in (_SMALLEST, _FIRST, largest):  # one that is worse than quadratic ends here
            seconds = _seconds(work, shape(size))
            if seconds > _MEASURABLE:
                slow, factor = _growth(work, shape, size)
                assert not slow, (
                    f"{pattern.pattern!r} takes {factor:.1f} times as long for {slow:,} characters "
                    f"like {shape(40)[:40]!r} as for half of them"
                )
        return seconds

    # Every shape a little, then the slowest to the end.
    shapes.sort(key=lambda shape: -check(shape, _SMALL))
    for shape in shapes[:2]:
        check(shape, _LARGEST)


def _repeats_a_group_possessively(tree: Any) -> bool:
    for operator, argument in tree:
        name = str(operator)
        if name == "POSSESSIVE_REPEAT" and (
            len(argument[2]) > 1
            or str(argument[2][0][0]) not in ("LITERAL", "NOT_LITERAL", "IN", "ANY", "CATEGORY")
        ):
            return True
        inner: list[Any] = []
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            inner = [argument[2]]
        elif name == "SUBPATTERN":
            inner = [argument[-1]]
        elif name == "ATOMIC_GROUP":
            inner = [argument]
        elif name in ("ASSERT", "ASSERT_NOT"):
            inner = [argument[1]]
        elif name == "BRANCH":
            inner = argument[1]
        if any(_repeats_a_group_possessively(one) for one in inner):
            return True
    return False


@pytest.mark.parametrize("place", ALL_PATTERNS)
def test_a_pattern_matches_alike_in_every_python(place: str) -> None:
    """Python before 3.11.5, such as that of Debian 12, goes on where `(?:…)*+` failed to repeat.

    Write `(?>(?:…)*)` instead. https://github.com/python/cpython/issues/106052
    """
    pattern = ALL_PATTERNS[place]
    tree = _PARSER.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    assert not _repeats_a_group_possessively(tree)


@pytest.mark.parametrize(
    ("pattern", "is_one"),
    [
        (r"(?:ab?)*+", True),
        (r"a(?=(?:ab|c)++)", True),
        (r"[ab]*+c++", False),
        (r"(?>(?:ab)*)", False),
    ],
)
def test_possessive_groups_are_noticed(pattern: str, is_one: bool) -> None:
    assert _repeats_a_group_possessively(_PARSER.parse(pattern)) == is_one


def test_patterns_are_found() -> None:
    """The test above is worth nothing if it looks at none."""
    assert len(PATTERNS) > 50
    assert "domain.quantities._AMOUNT.0" in PATTERNS


@pytest.mark.parametrize(
    "quadratic", [r"(-?\d+(?:\.\d+)?) ?°f\b", r"<a>.*?</a>", r"\s+$", r"a *b? *c"]
)
def test_what_takes_longer_is_noticed(quadratic: str) -> None:
    pattern = re.compile(quadratic, re.DOTALL)
    work, shapes = _search(pattern), _shapes(pattern)
    # Longer texts where another process had the processor during the short ones, and both again.
    looks = [size for _ in range(5) for size in (_SMALL, _LARGEST)]
    assert any(_growth(work, shape, size)[0] for size in looks for shape in shapes)


@pytest.mark.parametrize(
    "unit",
    [
        "<system-reminder>",
        "</system-reminder><hook_context>",
        "<command-message></command-message><command-name></command-name><command-args>a b ",
        "<command-message></command-message>",
        " ",
    ],
)
def test_what_the_hook_takes_out_of_a_transcript_takes_linear_time(unit: str) -> None:
    hook = importlib.util.spec_from_file_location("memory_hook", HOOK)
    assert hook is not None
    assert hook.loader is not None
    module = importlib.util.module_from_spec(hook)
    hook.loader.exec_module(module)
    assert module.spoken("a<system-reminder>b</system-reminder>c<hook_context>") == (
        "ac<hook_context>"
    )
    assert _growth(module.spoken, _repeated("", unit), _LARGEST) == (0, 0.0)


def test_every_pattern_is_compiled_where_the_test_above_finds_it() -> None:
    """`re.search(…)` in a function, or a pattern made at run time, is seen by no test."""
    hidden = []
    for file in sorted(_SOURCE.rglob("*.py")):
        place = file.relative_to(_SOURCE).as_posix()
        if place in _IN_PLACE:
            continue
        functions = (
            node
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        hidden += [
            f"{place}:{call.lineno}"
            for function in functions
            for call in ast.walk(function)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == "re"
            and call.func.attr != "escape"
        ]
    assert hidden == []
