"""Would the tests notice? Faults in what keeps memory safe, one by one, and who finds them.

    python bench/mutation.py [--only WORD]

Each fault of mutations.toml (guard, scopes, tenant, trust, fsync, erasure, sealing, audit) is put
into a copy of the sources, and the tests that should find it are run there. First they are run
without a fault, where they must pass. A fault is found where a test fails; where none can be run it
is neither found nor missed, and the run fails; a run that does not end has missed it. Fails, too,
where less than 95 % are found. Prints each verdict as it comes, then Markdown.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).resolve().parents[1]
MUTATIONS: Final = Path(__file__).with_name("mutations.toml")
TARGET: Final = 0.95
# Of the tests of one fault, and of all without one.
_SECONDS: Final = 300
_SECONDS_OF_ALL: Final = 3_600
_LEFT_OUT: Final = shutil.ignore_patterns(
    ".venv", ".git", "node_modules", ".*_cache", "__pycache__"
)

Verdict = Literal["found", "missed", "not run"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault: `old` of a file becomes `new`; one of `tests` must fail."""

    area: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """The text with the fault; ValueError where `old` is not there exactly once."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} has {text.count(self.old)} times: {self.old!r}")
        return text.replace(self.old, self.new)


def read() -> list[Mutation]:
    """All of them, in the order of the file."""
    found = tomllib.loads(MUTATIONS.read_text("utf-8"))["mutation"]
    return [Mutation(**(one | {"tests": tuple(one["tests"])})) for one in found]


def judged(mutation: Mutation, copy: Path) -> Verdict:
    """What the tests say of a copy of the sources while it has the fault."""
    file = copy / mutation.file
    sound = file.read_text("utf-8")
    file.write_text(mutation.applied(sound), "utf-8")
    try:
        done = _tested(copy, mutation.tests, _SECONDS)
    except subprocess.TimeoutExpired:
        return "missed"
    finally:
        file.write_text(sound, "utf-8")
    if done.returncode == 0:
        return "missed"
    # A fault that lets nothing begin has been noticed by the interpreter, not by a test.
    last = (done.stdout.splitlines() or [""])[-1]
    return "found" if " failed" in last else "not run"


def _tested(copy: Path, tests: tuple[str, ...], seconds: float) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(copy / "src")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *tests, "-x", "-q"],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def main() -> None:
    """Print who was found and who was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only faults whose area or file has this word")
    given = parser.parse_args()
    mutations = [one for one in read() if given.only in f"{one.area} {one.file}"]
    with tempfile.TemporaryDirectory(prefix="mb-mutation-") as folder:
        Path(folder).chmod(0o755)  # the database may run as another user
        copy = Path(shutil.copytree(ROOT, Path(folder) / "copy", ignore=_LEFT_OUT))
        named = tuple(sorted({test for one in mutations for test in one.tests}))
        sound = _tested(copy, named, _SECONDS_OF_ALL)
        if sound.returncode != 0:
            raise SystemExit(
                f"the tests fail without a fault:\n{(sound.stdout + sound.stderr)[-3000:]}"
            )
        verdicts = []
        for one in mutations:
            begun = time.monotonic()
            verdicts.append(judged(one, copy))
            took = f"{time.monotonic() - begun:.0f} s"
            print(f"{verdicts[-1]}: {one.area}, {one.file}, {took}", file=sys.stderr, flush=True)
    raise SystemExit(_report(mutations, verdicts))


def _report(mutations: list[Mutation], verdicts: list[Verdict]) -> int:
    print("| area | faults | found |\n|---|---|---|")
    areas = Counter(one.area for one in mutations)
    found = Counter(
        one.area for one, said in zip(mutations, verdicts, strict=True) if said == "found"
    )
    for area, count in areas.items():
        print(f"| {area} | {count} | {found[area]} |")
    share = found.total() / len(mutations)
    print(f"| **all** | {len(mutations)} | {found.total()} ({share:.1%}) |")
    for one, said in zip(mutations, verdicts, strict=True):
        if said != "found":
            print(f"\n{said}: {one.file}\n- {one.old.strip()}\n+ {one.new.strip()}")
    return int(share < TARGET or "not run" in verdicts)


if __name__ == "__main__":
    main()
