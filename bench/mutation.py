"""Would the tests notice? Faults in what keeps memory safe, one by one, and who finds them.

    python bench/mutation.py [--only WORD] [--together 2] [--seconds 300]

Each fault of mutations.toml (guard, scopes, tenant, trust, fsync, erasure, sealing, audit) is put
into a copy of the sources, and the tests that should find it are run there. First they are run
without a fault, where they must pass. A fault is found where a test fails; where none can be run it
is neither found nor missed, and the run fails; a run that does not end has missed it. Fails, too,
where less than 95 % are found. Prints each verdict as it comes, then Markdown.

`--together` copies are worked on at once. On a machine that does much else, allow more `--seconds`.
"""

import argparse
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Final, Literal

ROOT: Final = Path(__file__).resolve().parents[1]
MUTATIONS: Final = Path(__file__).with_name("mutations.toml")
TARGET: Final = 0.95
# Of the tests of one fault; all of them without one may take twelve times as long.
_SECONDS: Final = 300
_TIMES_FOR_ALL: Final = 12
# For what a test that does not end has started to be stopped.
_LAST_SECONDS: Final = 60
_LEFT_OUT: Final = shutil.ignore_patterns(
    ".venv", ".git", "node_modules", ".*_cache", "__pycache__"
)

# Each run of tests is a fork of one process that has imported what takes longest, once.
_IMPORTED_ONCE: Final = (
    "alembic",
    "asyncpg",
    "fastapi",
    "httpx",
    "hypothesis",
    "langsmith",
    "mcp",
    "numpy",
    "onnxruntime",
    "pytest",
    "schemathesis",
    "sqlalchemy",
    "tokenizers",
)
_processes: Final = multiprocessing.get_context("forkserver")

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


def judged(mutation: Mutation, copy: Path, seconds: float) -> Verdict:
    """What the tests say of a copy of the sources while it has the fault."""
    file = copy / mutation.file
    sound = file.read_text("utf-8")
    file.write_text(mutation.applied(sound), "utf-8")
    try:
        code, said = _tested(copy, mutation.tests, seconds)
    except TimeoutError:
        return "missed"
    finally:
        file.write_text(sound, "utf-8")
    if code == 0:
        return "missed"
    # A fault that lets nothing begin has been noticed by the interpreter, not by a test.
    last = (said.splitlines() or [""])[-1]
    return "found" if " failed" in last else "not run"


def _tested(copy: Path, tests: Sequence[str], seconds: float) -> tuple[int, str]:
    """The exit code of pytest in a copy, and what it said.

    Raises:
        TimeoutError: it did not end.
    """
    said = copy / ".said"
    run = _processes.Process(target=_test, args=(copy, tests, said))
    run.start()
    run.join(seconds)
    if run.exitcode is None:
        assert run.pid is not None
        # Interrupted, it stops its database; killed, it would leave it running.
        os.kill(run.pid, signal.SIGINT)
        run.join(_LAST_SECONDS)
        run.kill()
        run.join()
        raise TimeoutError
    return run.exitcode, said.read_text("utf-8", errors="replace")


def _test(copy: Path, tests: Sequence[str], said: Path) -> None:
    """Run pytest in this process, as `python -m pytest` in the copy would."""
    import pytest

    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(copy)
    ours = {str(ROOT), str(ROOT / "bench"), str(ROOT / "src")}
    sys.path[:] = [str(copy), str(copy / "src"), *(one for one in sys.path if one not in ours)]
    os.environ["PYTHONPATH"] = str(copy / "src")
    # What is compiled is kept, else each run would compile everything that it imports.
    sys.pycache_prefix = str(copy / ".bytecode")
    sys.dont_write_bytecode = False
    # What is imported already cannot be rewritten, nor need it.
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.exit(int(pytest.main([*tests, "-x", "-q", *quiet])))


@contextmanager
def _copies(count: int) -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory(prefix="mb-mutation-") as folder:
        Path(folder).chmod(0o755)  # the database may run as another user
        names = [Path(folder) / f"copy-{number}" for number in range(count)]
        yield [Path(shutil.copytree(ROOT, name, ignore=_LEFT_OUT)) for name in names]


def main() -> None:
    """Print who was found and who was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only faults whose area or file has this word")
    parser.add_argument("--together", type=int, default=2, help="so many faults at once")
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="for the tests of a fault")
    given = parser.parse_args()
    _processes.set_forkserver_preload(list(_IMPORTED_ONCE))
    mutations = [one for one in read() if given.only in f"{one.area} {one.file}"]
    with _copies(given.together) as copies, ThreadPoolExecutor(given.together) as workers:
        named = sorted({test for one in mutations for test in one.tests})
        shares = [named[number :: given.together] for number in range(given.together)]
        shares = [share for share in shares if share]  # without a name pytest would run all tests
        limit = given.seconds * _TIMES_FOR_ALL
        for code, said in workers.map(
            lambda copy, share: _tested(copy, share, limit), copies, shares
        ):
            if code != 0:
                raise SystemExit(f"the tests fail without a fault:\n{said[-3000:]}")
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in copies:
            free.put(copy)

        def judge(one: Mutation) -> Verdict:
            copy, begun = free.get(), time.monotonic()
            try:
                verdict = judged(one, copy, given.seconds)
            finally:
                free.put(copy)
            took = f"{time.monotonic() - begun:.0f} s"
            print(f"{verdict}: {one.area}, {one.file}, {took}", file=sys.stderr, flush=True)
            return verdict

        verdicts = list(workers.map(judge, mutations))
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
