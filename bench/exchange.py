"""What `memory-butler push` and `pull` take by way of a folder: time and memory of each.

    python bench/exchange.py [--facts 50000]

Fills a fresh store with made-up facts of one tenant and gives them to another tenant of the same
server, which embeds what it took. Then once more with nothing to do, and after one fact was stored.
Prints Markdown.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.listing import fill
from bench.mirror import measured
from bench.server import machine, running_server


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--facts", type=int, default=50_000, help="active ones")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as kept, running_server(indexing=False) as (_, data_dir):
        folder = str(Path(kept, "carried"))
        command = [sys.executable, "-m", "memory_butler"]

        def words(*said: str, tenant: str = "default") -> list[str]:
            return [*command, *said, "--data-dir", str(data_dir), "--tenant", tenant]

        asyncio.run(fill(data_dir, given.facts * 10 // 9))
        told = subprocess.check_output(words("peers", "list", "--json"))
        accept = ("peers", "accept", "desk", json.loads(told)["key"], "--trust", "user_said")
        subprocess.check_call(words(*accept, tenant="laptop"), stdout=subprocess.DEVNULL)
        rows = {}
        for what in ("all facts", "nothing to do", "one more fact"):
            if what == "one more fact":
                store = words("store-fact", "Ana", "home", "Lives in Porto")
                subprocess.check_call(store, stdout=subprocess.DEVNULL)
            rows[f"push, {what}"] = measured(words("push", folder))
            rows[f"pull, {what}"] = measured(words("pull", folder, tenant="laptop"))
    print(f"{machine()}, {given.facts} facts, load {os.getloadavg()[0]:.1f}\n")
    print("| command | s | processor s | MB at most |\n|---|---|---|---|")
    for name, (seconds, busy, megabytes) in rows.items():
        print(f"| {name} | {seconds:.1f} | {busy:.1f} | {megabytes:.0f} |")


if __name__ == "__main__":
    main()
