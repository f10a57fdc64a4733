"""What `memory-butler sync` takes with a large store: time and memory of one pass.

    python bench/mirror.py [--facts 50000]

Fills a fresh store with made-up facts of 2,000 subjects, and runs the command as a person does:
first a pass that writes all notes, then one with nothing to do, then one after a line was changed.
Prints Markdown.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.listing import fill
from bench.server import machine, running_server


def _pass(folder: Path, data_dir: Path) -> tuple[float, float, float]:
    command = [sys.executable, "-m", "memory_butler", "sync", str(folder)]
    return measured([*command, "--data-dir", str(data_dir)])


def measured(words: list[str]) -> tuple[float, float, float]:
    """Seconds of a command, those of the processor in it alone, and the most megabytes it held."""
    began = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{words} ended with {status}")
    busy = used.ru_utime + used.ru_stime
    return time.perf_counter() - began, busy, used.ru_maxrss * 1024 / 1e6


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--facts", type=int, default=50_000, help="active ones")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept, running_server(indexing=False) as (_, data_dir):
        folder = Path(kept, "notes")
        asyncio.run(fill(data_dir, given.facts * 10 // 9))
        passes = {"first: all notes are written": _pass(folder, data_dir)}
        passes["nothing to do"] = _pass(folder, data_dir)
        note = max(folder.glob("**/*.md"))
        note.write_text(note.read_text() + "My own words.\n")
        passes["a note was changed, and no fact"] = _pass(folder, data_dir)
        note = min(folder.glob("**/*.md"))
        note.write_text(re.sub(r"Note \d+ tells", "A person tells", note.read_text(), count=1))
        passes["one line was changed"] = _pass(folder, data_dir)
        notes = len(list(folder.glob("**/*.md")))
    print(f"{machine()}, {given.facts} facts, {notes} notes, load {os.getloadavg()[0]:.1f}\n")
    print("| pass | s | processor s | MB at most |\n|---|---|---|---|")
    for name, (seconds, busy, megabytes) in passes.items():
        print(f"| {name} | {seconds:.1f} | {busy:.1f} | {megabytes:.0f} |")


if __name__ == "__main__":
    main()
