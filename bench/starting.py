"""How soon a server answers after it was started, and how much memory it holds.

    python bench/starting.py [--starts 10]

The first start finds nothing: it makes the database and its schema. Every other finds both, and
starts the database, which ended with the server before it. Until `serve` says its address, which it
does once requests are answered, and one search with the model has been. Reads /proc: Linux alone.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.metrics import percentile
from bench.server import QUIET, Client, data_folder, machine, resident, started

RECALLS = 20


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--starts", type=int, default=10)
    given = parser.parse_args()
    with data_folder() as data_dir:
        first = _start(data_dir)
        warm = [_start(data_dir) for _ in range(given.starts)]
    print(f"Machine: {machine()}; {given.starts} warm starts\n")
    print("| start | answers after, s | slowest, s | first recall after, s | server holds, MB |")
    print("|---|---|---|---|---|")
    for name, starts in (("first, on no data", [first]), ("warm", warm)):
        answers, recalls, held = zip(*starts, strict=True)
        middle = f"{percentile(answers, 0.5):.2f} | {max(answers):.2f}"
        print(f"| {name} | {middle} | {percentile(recalls, 0.5):.2f} | {max(held):.0f} |")


def _start(data_dir: Path) -> tuple[float, float, float]:
    """Seconds to the address and to the first recall, and the megabytes after some more."""
    began = time.perf_counter()
    with started(data_dir, QUIET) as (url, pid):
        answers = time.perf_counter() - began
        client = Client(url)
        client.call("memory_recall", topic="what was said first")
        recalled = time.perf_counter() - began
        for turn in range(RECALLS):
            client.call("memory_recall", topic=f"what was said in turn {turn}")
        return answers, recalled, resident(pid)


if __name__ == "__main__":
    main()
