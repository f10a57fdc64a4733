"""How much later an agent's session starts for having a memory.

    python bench/session_start.py [--facts 10000] [--sessions 200]

A butler's session with an agent that does nothing (`true`), in turn: without memory, and with the
memory block of a server that holds made-up facts, over MCP, a connection for each session as the
spawner has it. No prompt repeats. What memory adds is the difference of the two in each turn; the
calls of `memory_context` alone are shown beside it. The memory server, its database, the model and
this program share the machine's cores.

Prints p50 and p95 in milliseconds, as Markdown.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from bench.everyday import question, stocked
from bench.metrics import percentile
from bench.server import machine, running_server
from memory_butler.host import roster
from memory_butler.host.agent import Agent, Server, Task
from memory_butler.host.butler import Butler, read
from memory_butler.host.prompt import system_prompt
from memory_butler.host.remembrance import Remembrance
from memory_butler.host.spool import Spool

WARM_UP = 10
# As the scaffolded butler's, so that the same files are written.
COMMAND = ("true", "{system_file}", "{mcp_config}", "{settings}")


async def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--sessions", type=int, default=200)
    given = parser.parse_args()
    with running_server() as (url, data_dir), tempfile.TemporaryDirectory() as created:
        async with stocked(data_dir, given.facts):
            await _measure(Server(f"{url}/mcp"), Path(created), given.facts, given.sessions)


async def _measure(server: Server, folder: Path, facts: int, sessions: int) -> None:
    roster.make(folder / "health", "health", "Looks after sleep")
    butler = read(folder / "health")
    remembrance = Remembrance(server, butler.name, Spool(folder / "spool"), 30)
    agent = Agent(COMMAND, folder, None, (), (), 60, 1_000_000)
    rng = random.Random(3)
    taken: dict[str, list[float]] = {"without": [], "context": [], "with": [], "added": []}
    characters = 0
    for turn in range(WARM_UP + sessions):
        asked = question(rng)
        began = time.perf_counter()
        await _session(agent, butler, server, asked, "")
        without = time.perf_counter() - began

        began = time.perf_counter()
        block = await remembrance.block(asked, uuid4())
        context = time.perf_counter() - began
        await _session(agent, butler, server, asked, block)
        with_memory = time.perf_counter() - began
        if len(block) < len("# Memory Context\n- a fact"):
            raise RuntimeError("memory gave no block")
        if turn < WARM_UP:
            continue
        characters += len(block)
        for name, seconds in (
            ("without", without),
            ("context", context),
            ("with", with_memory),
            ("added", with_memory - without),
        ):
            taken[name].append(seconds * 1000)
    print(f"Machine: {machine()}; {facts} facts, {sessions} sessions, no prompt repeats;")
    print(f"blocks of {characters // sessions} characters\n")
    print("| part | p50 ms | p95 ms |")
    print("|---|---|---|")
    for name, said in (
        ("without", "session without memory (an agent that does nothing)"),
        ("with", "session with memory"),
        ("added", "**added by memory**"),
        ("context", "of which memory_context over MCP, connection included"),
    ):
        p50, p95 = (percentile(taken[name], share) for share in (0.5, 0.95))
        print(f"| {said} | {p50:.1f} | {p95:.1f} |")


async def _session(agent: Agent, butler: Butler, server: Server, asked: str, block: str) -> None:
    task = Task(system_prompt(butler, block), asked, block, {"memory": server})
    outcome = await agent.run(task)
    if outcome.failure is not None:
        raise RuntimeError(outcome.failure)


if __name__ == "__main__":
    asyncio.run(main())
