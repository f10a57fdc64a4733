"""Would the tests notice? Faults in what keeps memory safe, one by one, and who finds them.

    python bench/mutation.py [--only WORD] [--jobs 1]

Each fault of mutations.toml (guard, scopes, tenant, trust, fsync, erasure) is put into a copy of
the sources, and the tests that should find it are run there. First they are run without a fault,
where they must pass. A fault is found where a test fails; where none can be run it is neither found
nor missed, and the run fails. Fails, too, where less than 95 % are found. Prints Markdown.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).resolve().parents[1]
MUTATIONS: Final = Path(__file__).with_name("mutations.toml")
TARGET: Final = 0.95
_SECONDS: Final = 900
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


def judged(mutation: Mutation, scratch: Path) -> Verdict:
    """What the tests say of a copy of the sources with the fault."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        copy = _copied(Path(folder))
        file = copy / mutation.file
        file.write_text(mutation.applied(file.read_text("utf-8")), "utf-8")
        done = _tested(copy, mutation.tests)
    if done.returncode == 0:
        return "missed"
    # A fault that lets nothing begin has been noticed by the interpreter, not by a test.
    return "found" if " failed" in done.stdout.splitlines()[-1] else "not run"


def _copied(folder: Path) -> Path:
    return Path(shutil.copytree(ROOT, folder / "copy", ignore=_LEFT_OUT))


def _tested(copy: Path, tests: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *tests, "-x", "-q"],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )


def main() -> None:
    """Print who was found and who was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only faults whose area or file has this word")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once")
    given = parser.parse_args()
    mutations = [one for one in read() if given.only in f"{one.area} {one.file}"]
    with tempfile.TemporaryDirectory(prefix="mb-mutation-") as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)  # the database may run as another user
        named = tuple(sorted({test for one in mutations for test in one.tests}))
        sound = _tested(_copied(scratch), named)
        if sound.returncode != 0:
            raise SystemExit(
                f"the tests fail without a fault:\n{(sound.stdout + sound.stderr)[-3000:]}"
            )
        with ThreadPoolExecutor(given.jobs) as pool:
            verdicts = list(pool.map(partial(judged, scratch=scratch), mutations))
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
