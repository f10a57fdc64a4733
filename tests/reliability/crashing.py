"""Kill the server or its database while clients write; then hold what is there against the answers.

    make crash ARGS="--kills 200 --seed 1"

Clients ask a real server over MCP, each with a random sequence of its own. At random moments the
server or the embedded PostgreSQL gets SIGKILL; the server is started again, the database is brought
back by the server. Whatever was answered must be there, and every invariant must hold. The seed
decides what clients ask, when is killed and whom; what the machine makes of it differs from run to
run, so a seed replays the same attack, not the same interleaving.
"""

import argparse
import asyncio
import contextlib
import copy
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from folders import open_folder
from memory_butler.operations.operation import STRUCTURED
from memory_butler.store import embedded, schema
from memory_butler.store.transaction import connected
from reliability.invariants import Acknowledged, violations

CLIENTS: Final = 6
_TESTS: Final = Path(__file__).parents[1]
# Seconds of work between two kills, and until a server must answer again.
_WORK: Final = (0.2, 1.5)
_START_SECONDS: Final = 180.0
# Between two attempts of a client while nothing answers.
_AWAY_SECONDS: Final = 0.2
# Faults are looked for after so many kills, and at the end.
_CHECK_EVERY: Final = 10
_TAIL: Final = 5_000


@dataclass(slots=True)
class Report:
    """What a run did and found."""

    seed: int
    kills: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    unanswered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    recovery: dict[str, list[float]] = field(default_factory=lambda: {"server": [], "database": []})
    seconds: float = 0.0

    def lines(self) -> list[str]:
        told = [
            f"seed {self.seed}: {sum(self.kills.values())} kills in {self.seconds:.0f} s "
            f"({', '.join(f'{count} of the {whom}' for whom, count in self.kills.items())})",
            f"answered: {sum(self.answered.values())} "
            f"({', '.join(f'{name} {count}' for name, count in self.answered.most_common())})",
            f"cut off or unavailable: {self.unanswered}; refused: {dict(self.refused)}",
        ]
        for whom, seconds in self.recovery.items():
            if seconds:
                ordered = sorted(seconds)
                told.append(
                    f"until a write is answered after killing the {whom}: median "
                    f"{ordered[len(ordered) // 2]:.1f} s, longest {ordered[-1]:.1f} s"
                )
        return [*told, *(f"FOUND: {one}" for one in self.found or ["nothing wrong"])]


class Victim:
    """The server as a process of ours, and where it answers."""

    def __init__(self, data_dir: Path, log: Path) -> None:
        self.data_dir = data_dir
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self.url = ""

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                str(_TESTS / "reliability" / "server.py"),
                str(self.data_dir),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=os.environ | {"PYTHONPATH": str(_TESTS)},
            )
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), _START_SECONDS)
        self.url = line.decode().strip()
        if not self.url:
            raise AssertionError(f"the server did not start; see {self._log}")

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """Orderly; one that hangs is a finding, and is killed."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.terminate()
            await asyncio.wait_for(self._process.wait(), 60)

    def kill_database(self) -> bool:
        pid = embedded.status(self.data_dir).pid
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return pid is not None


class Client:
    """One agent: asks at random, and notes what was answered."""

    def __init__(
        self, number: int, seed: int, victim: Victim, known: Acknowledged, report: Report
    ) -> None:
        self._random = random.Random(f"{seed}/{number}")  # noqa: S311 -- to be repeated
        self._name = f"c{number}"
        self._victim, self._known, self._report = victim, known, report
        self._count = 0
        self.last_trouble = ""
        self._http = httpx.AsyncClient(timeout=30, trust_env=False)

    async def run(self, stop: asyncio.Event) -> None:
        acts = (
            *[self._store_fact] * 6, *[self._store_episode] * 3, *[self._recall] * 4,
            self._store_rule, self._mark_rule, self._forget, self._confirm, self._merge,
            self._journal, self._journal, self._consolidate, self._sweep,
        )  # fmt: skip
        async with self._http:
            while not stop.is_set():
                await self._random.choice(acts)()

    async def close(self) -> None:
        await self._http.aclose()

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """The structured answer; None where there was none: whether it happened is not known."""
        request = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": {STRUCTURED: True}},
        }
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        }
        try:
            answer = await self._http.post(f"{self._victim.url}/mcp", json=request, headers=headers)
            result = answer.json()["result"]
        except (httpx.HTTPError, ValueError, KeyError) as error:
            self._report.unanswered += 1
            self.last_trouble = repr(error)
            await asyncio.sleep(_AWAY_SECONDS)
            return None
        if result.get("isError"):
            said = result["content"][0]["text"]
            code = said.partition(":")[0]
            if code == "unavailable":
                self._report.unanswered += 1
                await asyncio.sleep(_AWAY_SECONDS)
            else:
                self._report.refused[code] += 1
                self.last_trouble = said
                if code in ("internal", "integrity"):
                    self._report.found.append(f"{tool} answered {said}")
            return None
        self._report.answered[tool] += 1
        structured: dict[str, Any] = result["structuredContent"]
        return structured

    def _text(self, what: str) -> str:
        self._count += 1
        return f"{what} {self._name}-{self._count} of {self._random.randbytes(4).hex()}"

    async def _store_fact(self) -> None:
        content = self._text("fact")
        key = self._random.randrange(40)
        stored = await self.call(
            "memory_store_fact", subject=f"thing {key}", predicate="is", content=content
        )
        if stored:
            self._known.facts[stored["id"]] = content

    async def _store_episode(self) -> None:
        content = self._text("episode")
        stored = await self.call("memory_store_episode", content=content, butler=self._name)
        if stored and stored["id"]:
            self._known.episodes[stored["id"]] = content

    async def _store_rule(self) -> None:
        content = self._text("rule")
        stored = await self.call("memory_store_rule", content=content)
        if stored:
            self._known.rules[stored["id"]] = content

    async def _mark_rule(self) -> None:
        if self._known.rules:
            rule = self._random.choice(list(self._known.rules))
            self._known.marks_tried[rule] += 1
            if await self.call("memory_mark_helpful", rule_id=rule):
                self._known.marks[rule] += 1

    async def _forget(self) -> None:
        if self._known.facts:
            fact = self._random.choice(list(self._known.facts))
            if await self.call("memory_forget", memory_type="fact", memory_id=fact):
                self._known.forgotten.add(fact)

    async def _confirm(self) -> None:
        if self._known.facts:
            fact = self._random.choice(list(self._known.facts))
            await self.call("memory_confirm", memory_type="fact", memory_id=fact)

    async def _recall(self) -> None:
        topic = f"what is thing {self._random.randrange(40)}"
        if self._random.random() < 0.5:
            await self.call("memory_recall", topic=topic)
        else:
            await self.call("memory_context", trigger_prompt=topic, butler=self._name)

    async def _merge(self) -> None:
        ids = []
        for _ in range(2):
            made = await self.call(
                "entity_create",
                canonical_name=self._text("entity"),
                entity_type="person",
                tenant_id="default",
            )
            if not made:
                return
            ids.append(made["entity"]["id"])
            self._known.entities.add(ids[-1])
            content = self._text("fact")
            stored = await self.call(
                "memory_store_fact",
                subject="somebody",
                predicate="likes",
                content=content,
                entity_id=ids[-1],
            )
            if stored:
                self._known.facts[stored["id"]] = content
        source, target = ids
        if await self.call("entity_merge", source_entity_id=source, target_entity_id=target):
            self._known.merged[source] = target

    async def _journal(self) -> None:
        content = self._text("turn")
        if await self.call("journal_log", content=content):
            self._known.turns.add(content)

    async def _consolidate(self) -> None:
        await self.call("memory_run_consolidation")

    async def _sweep(self) -> None:
        with contextlib.suppress(httpx.HTTPError):
            path = f"/api/memory/jobs/{self._random.choice(['decay_sweep', 'episode_cleanup'])}/run"
            answer = await self._http.post(f"{self._victim.url}{path}", json={})
            if answer.is_success:
                self._report.answered["job_run"] += 1
            else:
                self._report.refused[f"job_run {answer.status_code}"] += 1


async def crash(
    data_dir: Path, seed: int, kills: int, log: Path, seconds: float = 7200.0
) -> Report:
    """Run the attack on a new data directory; what it found is in the report.

    It ends after so many kills, or at the first one after so many seconds.
    """
    began = time.monotonic()
    chance = random.Random(seed)  # noqa: S311 -- to be repeated
    report, known = Report(seed), Acknowledged()
    victim = Victim(data_dir, log)
    await victim.start()
    stop = asyncio.Event()
    clients = [Client(n, seed, victim, known, report) for n in range(CLIENTS)]
    working = [asyncio.create_task(client.run(stop)) for client in clients]
    probe = Client(-1, seed, victim, known, report)
    try:
        for number in range(1, kills + 1):
            await asyncio.sleep(chance.uniform(*_WORK))
            whom = chance.choice(["server", "database"])
            if whom == "server":
                await victim.kill()
            elif not victim.kill_database():
                report.found.append("there was no database to kill")
            report.kills[whom] += 1
            killed = time.monotonic()
            if whom == "server":
                await victim.start()
            await _answers_again(probe)
            report.recovery[whom].append(time.monotonic() - killed)
            print(f"{number}: {whom}, {report.recovery[whom][-1]:.1f} s", file=sys.stderr)
            if number % _CHECK_EVERY == 0:
                report.found += await _examine(data_dir, known)
            for task in working:
                if task.done():
                    task.result()
            if report.found or time.monotonic() - began > seconds:
                break
        stop.set()
        await asyncio.gather(*working)
        report.found += await _examine(data_dir, known)
    finally:
        stop.set()
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        await probe.close()
        await victim.stop()
    report.seconds = time.monotonic() - began
    return report


async def _answers_again(probe: Client) -> None:
    deadline = time.monotonic() + _START_SECONDS
    # Not an episode: storing one answers with an error object while the database is away.
    while not await probe.call("memory_store_rule", content="a probe"):
        if time.monotonic() > deadline:
            raise AssertionError(f"no write was answered any more: {probe.last_trouble}")
        await asyncio.sleep(_AWAY_SECONDS)


async def _examine(data_dir: Path, known: Acknowledged) -> list[str]:
    # What was known before is looked for: clients go on meanwhile.
    before = copy.deepcopy(known)
    lease = await asyncio.to_thread(embedded.acquire, data_dir)
    try:
        async with connected(lease.endpoint.dsn(schema.DATABASE)) as connection:
            return await violations(connection, data_dir, before, known)
    finally:
        await asyncio.to_thread(lease.release)


async def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=7200.0, help="End after so long.")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311
    given = parser.parse_args()
    with open_folder() as folder:
        log = folder / "server.log"
        try:
            report = await crash(folder / "data", given.seed, given.kills, log, given.seconds)
        except BaseException:
            print(log.read_text(errors="replace")[-_TAIL:], file=sys.stderr)
            raise
        print("\n".join(report.lines()))
        if report.found:
            print(log.read_text(errors="replace")[-_TAIL:], file=sys.stderr)
    return 1 if report.found else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(_main()))
