"""Many agents at once for a while: how many calls are answered, how fast, and in how much memory.

    python bench/load.py [--agents 64] [--minutes 10] [--facts 100000] [--store 0.2] [--pause 0]

Each agent calls over MCP on a connection of its own, one call after the other: it recalls, and now
and then stores a fact. Prints calls a second, p50, p95 and p99 of each kind, what was refused, and
the resident memory of the server at the start and after each tenth of the time. A refused agent
waits as long as the server says; anything else that goes wrong is an error.
Server, database and agents share the machine's cores.
"""

import argparse
import asyncio
import http.client
import json
import random
import sys
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psutil

from bench.everyday import question, sentence, stocked
from bench.metrics import percentile
from bench.server import machine, running_server

HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
MEGABYTE = 1024 * 1024


@dataclass(slots=True)
class Told:
    """What the agents saw; appended to by all of them."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    ended: Counter[str] = field(default_factory=Counter)


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--agents", type=int, default=64)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--store", type=float, default=0.2, help="share of calls that store")
    parser.add_argument("--pause", type=float, default=0, help="seconds between an agent's calls")
    given = parser.parse_args()
    with running_server() as (url, data_dir):
        async with stocked(data_dir, given.facts):
            pass
        await asyncio.to_thread(_load, url, given)


def _load(url: str, given: argparse.Namespace) -> None:
    server = _server()
    told = Told()
    until = time.monotonic() + 60 * given.minutes
    agents = [
        threading.Thread(target=_agent, args=(url, number, until, given.store, given.pause, told))
        for number in range(given.agents)
    ]
    for agent in agents:
        agent.start()
    held = [server.memory_info().rss]
    for _ in range(10):
        time.sleep(6 * given.minutes)
        held.append(server.memory_info().rss)
    for agent in agents:
        agent.join()
    _print(given, told, held)


def _server() -> psutil.Process:
    """The server that this process started."""
    return next(
        one for one in psutil.Process().children() if "memory_butler" in " ".join(one.cmdline())
    )


def _agent(url: str, number: int, until: float, store: float, pause: float, told: Told) -> None:
    rng = random.Random(number)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
    calls = 0
    while time.monotonic() < until:
        calls += 1
        tool, arguments = "memory_recall", {"topic": question(rng)}
        if rng.random() < store:
            key = f"agent_{number}_{calls}"
            said = {"subject": "someone", "predicate": key, "content": sentence(rng)}
            tool, arguments = "memory_store_fact", said
        began = time.perf_counter()
        outcome, wait = _call(connection, tool, arguments)
        if outcome == "answered":
            told.milliseconds[tool].append((time.perf_counter() - began) * 1000)
        told.ended[outcome] += 1
        time.sleep(wait or pause)


def _call(
    connection: http.client.HTTPConnection, tool: str, arguments: dict[str, str]
) -> tuple[str, float]:
    """How a call ended, and how long to wait before the next one."""
    params = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    try:
        connection.request("POST", "/mcp", json.dumps(body), HEADERS)
        answer = connection.getresponse()
        said = answer.read()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return f"error: {type(error).__name__}", 1
    if answer.status == 503:
        return "refused with 503", float(answer.headers["Retry-After"])
    result = json.loads(said).get("result", {})
    if answer.status != 200 or result.get("isError") is not False:
        text = str((result.get("content") or [{}])[0].get("text", ""))
        return (f"refused: {text[:60]}" if text.startswith("unavailable") else "error"), 0
    return "answered", 0


def _print(given: argparse.Namespace, told: Told, held: list[int]) -> None:
    print(machine())
    print(f"{given.agents} agents, {given.facts:,} facts, {given.minutes:g} minutes\n")
    print("| call | answered | calls/s | p50 ms | p95 ms | p99 ms |\n|---|---|---|---|---|---|")
    for tool, times in sorted(told.milliseconds.items()):
        p50, p95, p99 = (percentile(times, share) for share in (0.5, 0.95, 0.99))
        rate = len(times) / (60 * given.minutes)
        print(f"| {tool} | {len(times):,} | {rate:.1f} | {p50:.0f} | {p95:.0f} | {p99:.0f} |")
    print("\n| ended | calls |\n|---|---|")
    for outcome, count in told.ended.most_common():
        print(f"| {outcome} | {count:,} |")
    print("\nMB held by the server:", ", ".join(f"{one / MEGABYTE:.0f}" for one in held))


if __name__ == "__main__":
    asyncio.run(main())
