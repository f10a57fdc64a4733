"""Kill a worker, the coordinator or a server of a cluster while clients write; then add a worker.

    PYTHONPATH=tests python -m cluster.attack --kills 50 --seed 1

Two servers on one cluster, and a client for each of some tenants of both workers: it stores facts
at the one server until that does not answer, then at the other. Whatever was answered must be there
at the end, after shards moved to the added worker. The short form is in test_attack.py.
"""

import argparse
import asyncio
import hashlib
import random
import secrets
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import asyncpg
import httpx

from cli.installation import Installation
from cluster.citus import Cluster, Node, running
from forking import Forked
from memory_butler.config import Settings
from memory_butler.engine.distribution import distribute
from memory_butler.engine.tokens import TOKEN_PREFIX
from memory_butler.store import tokens
from memory_butler.store.transaction import connected, open_pool

# Of 8 shards on two workers, each of which then has tenants, but for bad luck in one of 128 ways.
TENANTS: Final = tuple(f"tenant-{number}" for number in range(8))
SERVERS: Final = 2
VICTIMS: Final = ("worker", "coordinator", "server")
# Seconds of work between two kills, until everybody must be answered again, and between attempts.
_WORK: Final = (0.3, 1.5)
_AGAIN: Final = 120.0
_PAUSE: Final = 0.2


@dataclass(slots=True)
class Report:
    """What a run did and found; facts by tenant, seconds until all were answered again."""

    kills: Counter[str] = field(default_factory=Counter)
    stored: dict[str, dict[str, str]] = field(default_factory=dict)
    refused: int = 0
    recovery: dict[str, list[float]] = field(default_factory=dict)
    moved: int = 0
    longest_refused: float = 0.0
    lost: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = [
            f"{sum(self.kills.values())} kills ({dict(self.kills)}), "
            f"{sum(map(len, self.stored.values()))} writes acknowledged, {self.refused} attempts "
            f"refused or cut off, {len(self.lost)} lost"
        ]
        told += [
            f"until each tenant is answered after killing the {whom}: median "
            f"{sorted(took)[len(took) // 2]:.1f} s, longest {max(took):.1f} s"
            for whom, took in self.recovery.items()
        ]
        told.append(
            f"{self.moved} shards moved to an added worker; meanwhile a tenant was refused for "
            f"{self.longest_refused:.1f} s at most"
        )
        return "\n".join([*told, *(f"LOST: {one}" for one in self.lost)])


@dataclass(slots=True)
class Outage:
    """What tenants met while a worker was down, those of the others and its own.

    `stored`: facts by tenant meanwhile; `refused`: for how many seconds at most; `ticks`: how the
    decay sweeps of that time ended, and of how many tenants.
    """

    others: list[str]
    own: list[str]
    stored: dict[str, int]
    refused: dict[str, float]
    ticks: list[tuple[str, int]]
    back: float
    lost: list[str]

    def __str__(self) -> str:
        stored = {
            whose: [self.stored[one] for one in tenants]
            for whose, tenants in (("others", self.others), ("own", self.own))
        }
        longest = max(self.refused[one] for one in self.others)
        return (
            f"stored meanwhile: {stored}; a tenant of another worker was refused for "
            f"{longest:.1f} s at most; sweeps {self.ticks}; all answered {self.back:.1f} s after "
            f"the worker was started; {len(self.lost)} lost"
        )


class Servers:
    """Servers as processes, on ports that they keep, which can be killed and started."""

    def __init__(self, folder: Path, runtime_dsn: str, **extra: str) -> None:
        settings = {"MEMORY_BUTLER_DSN": runtime_dsn, "MEMORY_BUTLER_POOL_SIZE": "4"}
        self._settings = settings | extra
        self._places = [folder / f"server-{number}" for number in range(SERVERS)]
        self._processes: dict[int, Forked] = {}
        self.urls = [""] * SERVERS

    async def start(self, number: int) -> None:
        place = self._places[number]
        place.mkdir(exist_ok=True)
        own = Installation(place, extra=self._settings)
        words = ("serve", "--port", "0", "--require-token")
        self._processes[number] = process = own.fork(*words, log=place / "log")
        first = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), _AGAIN)
        assert first, (place / "log").read_text()
        self.urls[number] = first.split()[-1]

    async def kill(self, number: int) -> None:
        process = self._processes.pop(number)
        await asyncio.to_thread(process.kill)
        process.close()

    async def stop(self) -> None:
        for process in self._processes.values():
            await asyncio.to_thread(process.close)


class Client:
    """Stores facts of one tenant, one after the other, until it is told to stop.

    `breath`: seconds that it waits after each.
    """

    def __init__(self, tenant: str, token: str, servers: Servers, report: Report) -> None:
        self._tenant, self._servers, self._report = tenant, servers, report
        self._known = report.stored.setdefault(tenant, {})
        headers = {"authorization": f"Bearer {token}"}
        self._http = httpx.AsyncClient(headers=headers, timeout=30, trust_env=False)
        self._server = 0
        self.breath = 0.0
        self.longest_refused = 0.0
        self.refused = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        async with self._http:
            number, refused_since = 0, None
            while not stop.is_set():
                if await self._stored(number):
                    number, refused_since = number + 1, None
                    await asyncio.sleep(self.breath)
                    continue
                self.refused.set()
                refused_since = refused_since or time.monotonic()
                await asyncio.sleep(_PAUSE)
                self.longest_refused = max(self.longest_refused, time.monotonic() - refused_since)

    async def _stored(self, number: int) -> bool:
        content = f"fact {number} of {self._tenant}"
        body = {"subject": f"thing {number}", "predicate": "is", "content": content}
        url = f"{self._servers.urls[self._server]}/api/memory/facts"
        try:
            answer = await self._http.post(url, json=body)
        except httpx.HTTPError:
            answer = None
        if answer is not None and answer.is_success:
            self._known[answer.json()["id"]] = content
            return True
        assert answer is None or answer.status_code >= 500, answer.text
        self._report.refused += 1
        self._server = (self._server + 1) % SERVERS
        return False


async def attack(
    cluster: Cluster, runtime_dsn: str, folder: Path, plan: list[str], breath: float = 0.0
) -> Report:
    """Kill one after the other of the plan, and have each back before the next; then grow.

    `breath`: seconds that a client waits after each write while the cluster grows.
    """
    report, servers, stop = Report(), Servers(folder, runtime_dsn), asyncio.Event()
    made = await _tokens(runtime_dsn)
    clients = [Client(tenant, token, servers, report) for tenant, token in made.items()]
    await asyncio.gather(*map(servers.start, range(SERVERS)))
    working = [asyncio.create_task(client.run(stop)) for client in clients]
    chance = random.Random(len(plan))  # noqa: S311 -- to be repeated
    grown = AsyncExitStack()
    try:
        await _all_answered(report, working)
        for whom in plan:
            await asyncio.sleep(chance.uniform(*_WORK))
            began = time.monotonic()
            if whom == "server":
                number = chance.randrange(SERVERS)
                await servers.kill(number)
                await servers.start(number)
            else:
                node = (
                    cluster.coordinator if whom == "coordinator" else chance.choice(cluster.workers)
                )
                node.kill()
                await asyncio.to_thread(node.start_again)
            await _all_answered(report, working)
            report.kills[whom] += 1
            report.recovery.setdefault(whom, []).append(time.monotonic() - began)
        for client in clients:
            client.longest_refused, client.breath = 0.0, breath
        report.moved = await _grow(cluster, grown)
        await _all_answered(report, working)
        report.longest_refused = max(client.longest_refused for client in clients)
        stop.set()
        await asyncio.gather(*working)
        report.lost = await lost(cluster.coordinator, report)
    finally:
        stop.set()
        await asyncio.gather(*working, return_exceptions=True)
        await servers.stop()
        await grown.aclose()
    return report


async def outage(cluster: Cluster, runtime_dsn: str, folder: Path, seconds: float) -> Outage:
    """Keep a worker down for so long, while clients write and the sweep runs each minute."""
    sweep = {"MEMORY_BUTLER_MEMORY__SCHEDULE__DECAY_SWEEP": "* * * * *"}
    report, servers, stop = Report(), Servers(folder, runtime_dsn, **sweep), asyncio.Event()
    made = await _tokens(runtime_dsn)
    clients = {tenant: Client(tenant, token, servers, report) for tenant, token in made.items()}
    await asyncio.gather(*map(servers.start, range(SERVERS)))
    working = [asyncio.create_task(client.run(stop)) for client in clients.values()]
    connection = await asyncpg.connect(cluster.coordinator.dsn())
    worker = cluster.workers[0]
    try:
        await _all_answered(report, working)
        at = {tenant: await connection.fetchval(_PLACE, tenant) for tenant in TENANTS}
        own = [tenant for tenant, port in at.items() if port == worker.port]
        for client in clients.values():
            client.longest_refused = 0.0
            client.refused.clear()
        began = await connection.fetchval("SELECT now()")
        worker.kill()
        # An answer that was on its way when the worker was killed still arrives.
        refusals = asyncio.gather(*(clients[tenant].refused.wait() for tenant in own))
        await asyncio.wait_for(refusals, _AGAIN)
        before = {tenant: len(known) for tenant, known in report.stored.items()}
        await asyncio.sleep(seconds)
        others = [tenant for tenant in TENANTS if tenant not in own]
        for _ in range(2):  # the first may have been on its way; however slow this machine is
            await _all_answered(report, working, others)
        stored = {tenant: len(known) - before[tenant] for tenant, known in report.stored.items()}
        refused = {tenant: client.longest_refused for tenant, client in clients.items()}
        ticks = [tuple(row) for row in await connection.fetch(_TICKS, began)]
        up = time.monotonic()
        await asyncio.to_thread(worker.start_again)
        await _all_answered(report, working)
        back = time.monotonic() - up
        stop.set()
        await asyncio.gather(*working)
        return Outage(
            others,
            own,
            stored,
            refused,
            ticks,
            back,
            await lost(cluster.coordinator, report),
        )
    finally:
        stop.set()
        await asyncio.gather(*working, return_exceptions=True)
        await servers.stop()
        await connection.close()
        if not worker.is_running():
            worker.start()


async def _grow(cluster: Cluster, stack: AsyncExitStack) -> int:
    """Add a worker and give it its share, while clients write; how many shards of facts it got.

    The worker, and the database with it, goes with the stack.
    """
    added = await stack.enter_async_context(cluster.with_another())
    await distribute(Settings(), cluster.coordinator.dsn())
    async with connected(cluster.coordinator.dsn()) as connection:
        await connection.execute(
            "SELECT rebalance_table_shards(shard_transfer_mode:='force_logical')"
        )
        moved: int = await connection.fetchval(_SHARES, added.port)
        return moved


_PLACE: Final = """
SELECT s.nodeport FROM citus_shards s
WHERE s.shardid = get_shard_id_for_distribution_column('facts', $1::text)
"""
_TICKS: Final = """
SELECT status, (SELECT count(*) FROM jsonb_object_keys(detail)) FROM job_runs
WHERE job = 'decay_sweep' AND started_at > $1 AND status <> 'running' ORDER BY started_at
"""
_SHARES: Final = """
SELECT count(*) FROM citus_shards WHERE table_name = 'facts'::regclass AND nodeport = $1
"""


async def _tokens(runtime_dsn: str) -> dict[str, str]:
    """A new token of each tenant."""
    made = {tenant: f"{TOKEN_PREFIX}{secrets.token_urlsafe()}" for tenant in TENANTS}
    async with await open_pool(runtime_dsn, max_size=1) as pool:
        for tenant, token in made.items():
            hashed = hashlib.sha256(token.encode()).digest()
            await tokens.create(pool, tenant, "agent", hashed, ["admin"], datetime.now(UTC), None)
    return made


async def _all_answered(
    report: Report, working: "list[asyncio.Task[None]]", tenants: Sequence[str] = TENANTS
) -> None:
    """Wait until one more write of each of these tenants was answered."""
    before = {tenant: len(report.stored[tenant]) for tenant in tenants}
    async with asyncio.timeout(_AGAIN):
        while any(len(report.stored[tenant]) == count for tenant, count in before.items()):
            for task in working:
                if task.done():
                    task.result()
            await asyncio.sleep(0.05)


async def lost(coordinator: Node, report: Report) -> list[str]:
    """What was acknowledged and is not there, or is changed."""
    async with connected(coordinator.dsn()) as connection:
        rows = await connection.fetch("SELECT tenant_id, id::text, content FROM facts")
    there = {(row["tenant_id"], row["id"]): row["content"] for row in rows}
    return [
        f"{id} of {tenant}"
        for tenant, known in report.stored.items()
        for id, content in known.items()
        if there.get((tenant, id)) != content
    ]


async def _main(kills: int, seed: int) -> int:
    chance = random.Random(seed)  # noqa: S311 -- to be repeated
    plan = [chance.choice(VICTIMS) for _ in range(kills)]
    folder = Path(tempfile.mkdtemp(prefix="mb-attack-"))
    try:
        with running() as cluster:
            runtime_dsn = await cluster.prepare()
            await distribute(Settings(), cluster.coordinator.dsn())
            report = await attack(cluster, runtime_dsn, folder, plan)
    finally:
        shutil.rmtree(folder)
    print(f"seed {seed}: {report}")
    return 1 if report.lost else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))  # noqa: S311
    given = parser.parse_args()
    sys.exit(asyncio.run(_main(given.kills, given.seed)))
