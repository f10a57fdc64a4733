"""How well secrets are found: precision and recall, by half and by kind.

The 402 texts of `secret_cases.jsonl` were written and labelled by hand, before the rules were; the
keys in them are made up. Half of them are held out. A text is found if its secret is replaced
whole (`mask`), or noted whole (`mark`); it is told if anything in it is.

    python bench/masking.py                # the half that the rules were made with, by kind
    python bench/masking.py --held-out
    python bench/masking.py --texts FOLDER # what is found in every text of its JSON files
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_butler.domain.secrets import find

CASES: Final = Path(__file__).parent / "secret_cases.jsonl"
# Stands within each made-up key, so that no scanner takes the file for a leak.
_BREAK: Final = "~~"
_SHORTEST: Final = 15


@dataclass(frozen=True, slots=True)
class Figures:
    """How many texts have a secret, in how many one was told, and in how many rightly."""

    meant: int
    told: int
    right: int

    @property
    def precision(self) -> float:
        """The share of the told that are right."""
        return self.right / max(1, self.told)

    @property
    def recall(self) -> float:
        """The share of the meant that were found."""
        return self.right / max(1, self.meant)


def read_cases(held_out: bool) -> list[dict[str, Any]]:
    """The texts of one half."""
    lines = CASES.read_text("utf-8").replace(_BREAK, "").splitlines()
    cases = [json.loads(line) for line in lines]
    return [case for case in cases if case["held_out"] is held_out]


def told(case: dict[str, Any], levels: Sequence[str]) -> list[str]:
    """What is found in a text at one of these levels."""
    return [case["text"][one.start : one.end] for one in find(case["text"]) if one.level in levels]


def is_right(case: dict[str, Any], levels: Sequence[str]) -> bool:
    """Whether the secret of a text is covered whole."""
    text, secret = case["text"], case.get("secret")
    if secret is None or case["label"] not in levels:
        return False
    start = text.index(secret)
    return any(
        one.start <= start and start + len(secret) <= one.end
        for one in find(text)
        if one.level in levels
    )


def figures(cases: Sequence[dict[str, Any]], levels: Sequence[str]) -> Figures:
    """Precision and recall of what is found at one of these levels."""
    return Figures(
        sum(case["label"] in levels for case in cases),
        sum(bool(told(case, levels)) for case in cases),
        sum(is_right(case, levels) for case in cases),
    )


def table(cases: Sequence[dict[str, Any]]) -> str:
    """The figures as Markdown."""
    lines = ["| | texts | told | right | precision | recall |", "|---|---|---|---|---|---|"]
    for name, levels in (("masked", ["mask"]), ("marked", ["mark"]), ("either", ["mask", "mark"])):
        one = figures(cases, levels)
        lines.append(
            f"| {name} | {one.meant} | {one.told} | {one.right} | {one.precision:.3f} "
            f"| {one.recall:.3f} |"
        )
    lines += ["", "| kind | found |", "|---|---|"]
    kinds = sorted({(case["label"], case["kind"]) for case in cases if case["label"] != "none"})
    for label, kind in kinds:
        of_kind = [case for case in cases if (case["label"], case["kind"]) == (label, kind)]
        found = sum(is_right(case, [label]) for case in of_kind)
        lines.append(f"| {kind} | {found} of {len(of_kind)} |")
    return "\n".join(lines)


def texts(value: Any) -> Iterator[str]:
    """Every text of 15 characters or more in a JSON value; shorter ones are names and dates."""
    if isinstance(value, str) and len(value) >= _SHORTEST:
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one)


def in_folder(folder: Path) -> str:
    """How many texts the JSON files below a folder have, and what is found in them, as Markdown."""
    read = characters = 0
    found: Counter[tuple[str, str]] = Counter()
    for file in sorted(folder.rglob("*.json")):
        for text in texts(json.loads(file.read_text("utf-8"))):
            read, characters = read + 1, characters + len(text)
            found.update((one.level, one.kind) for one in find(text))
    lines = [f"{read:,} texts, {characters:,} characters", "", "| found | |", "|---|---|"]
    return "\n".join(
        [*lines, *(f"| {level}: {kind} | {n} |" for (level, kind), n in found.items())]
    )


def main() -> None:
    """Print the tables of one half."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-out", action="store_true", help="the half nobody tuned to")
    parser.add_argument("--wrong", action="store_true", help="list the texts that are wrong")
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="of JSON files, unlabelled")
    given = parser.parse_args()
    if given.texts is not None:
        print(in_folder(given.texts))
        return
    cases = read_cases(given.held_out)
    print(table(cases))
    for case in cases if given.wrong else ():
        found = {level for level in ("mask", "mark") if told(case, [level])}
        wanted = set() if case["label"] == "none" else {case["label"]}
        if found != wanted or (wanted and not is_right(case, [case["label"]])):
            print(
                f"{case['label']} {case['kind']}: {case['text']!r} -> {told(case, sorted(found))}"
            )


if __name__ == "__main__":
    main()
