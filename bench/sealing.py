"""Backups, plain and encrypted: how long they take, and how large they are.

Fills an embedded database with facts of several tenants, each with a vector of 384 numbers drawn at
random (as digits these are as long, and as hard to compress, as a model's), and backs it up in turn
in both ways, without the check by restoring, which costs both the same. The size of what goes
through is that of the rows as text.

    python bench/sealing.py --facts 20000 --tenants 4 --rounds 3

With `--levels` instead: the steps of compression that an encrypted backup could take. With
`--keyring 3000`: what a keyring of so many tenants costs, without a database.
"""

import argparse
import asyncio
import random
import resource
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import asyncpg
import numpy as np

from bench.importing import _WORDS
from bench.made_facts import LOAD, STAGE
from bench.server import data_folder, machine
from memory_butler.backup.making import back_up
from memory_butler.config import Settings
from memory_butler.engine.keys import set_up
from memory_butler.engine.opening import open_database
from memory_butler.logs import configure
from memory_butler.store import embeddings
from memory_butler.store.transaction import open_pool, prepare_connection
from memory_butler.vault import keyring, sealed
from memory_butler.vault.keyring import Keyring
from memory_butler.vault.master import KEY_BYTES, new_master

_NOW = datetime(2026, 1, 5, tzinfo=UTC)
_CHUNK = 5_000


async def fill(settings: Settings, facts: int, tenants: int) -> None:
    """Store so many facts, spread over the tenants."""
    chance, numbers = random.Random(7), np.random.default_rng(7)
    async with open_database(settings) as database:
        pool = await open_pool(database.runtime_dsn, max_size=2)
        version = await embeddings.register(pool, "made", "1", 384, _NOW)
        await pool.close()
        assert database.admin_dsn is not None
        connection = await asyncpg.connect(database.admin_dsn)
        await prepare_connection(connection)
        await connection.execute(STAGE)
        for begin in range(0, facts, _CHUNK):
            vectors = numbers.standard_normal((min(_CHUNK, facts - begin), 384))
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            rows = [
                (
                    f"tenant{(begin + place) % tenants}",
                    f"p{begin + place}",
                    " ".join(chance.choices(_WORDS, k=20)),
                    vector.astype(np.float32),
                )
                for place, vector in enumerate(vectors)
            ]
            await connection.copy_records_to_table("staged", records=rows)
            await connection.execute(LOAD, version)
            await connection.execute("TRUNCATE staged")
        await connection.close()


async def backed_up(settings: Settings, target: Path, *, plain: bool) -> tuple[float, float]:
    """Seconds and megabytes of one backup."""
    began = time.perf_counter()
    await back_up(settings, target, _NOW, check=False, plain=plain)
    seconds = time.perf_counter() - began
    return seconds, _removed(target)


def _removed(path: Path) -> float:
    size = path.stat().st_size / 1e6
    path.unlink()
    return size


async def compare(settings: Settings, folder: Path, rounds: int) -> None:
    """Both ways in turn; medians and their ratio."""
    found: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    await backed_up(settings, folder / "warm", plain=True)
    for number in range(rounds):
        for plain in (True, False):
            found[plain].append(await backed_up(settings, folder / "one", plain=plain))
        (a, _), (b, _) = found[True][-1], found[False][-1]
        print(f"round {number + 1}: plain {a:.2f} s, encrypted {b:.2f} s, ratio {b / a:.2f}")
    for plain in (True, False):
        seconds = statistics.median(one for one, _ in found[plain])
        size = found[plain][0][1]
        print(f"{'plain' if plain else 'encrypted'}: {seconds:.2f} s, {size:.1f} MB")
    ratios = [b / a for (a, _), (b, _) in zip(found[True], found[False], strict=True)]
    print(f"encrypted against plain, median of the rounds: {statistics.median(ratios):.2f}")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB")


async def levels(settings: Settings, folder: Path) -> None:
    """Encrypted backups by the step of compression."""
    for level in (0, 1, 3, 6):
        sealed._LEVEL = level  # type: ignore[misc]
        seconds, size = await backed_up(settings, folder / "one", plain=False)
        print(f"level {level}: {seconds:.2f} s, {size:.1f} MB")


def keyring_of(folder: Path, tenants: int) -> None:
    """Seconds for keys of a keyring, which is filled as `Keyring` writes it."""
    names = [f"tenant{number}" for number in range(tenants)]
    ring = keyring.create(folder, new_master())
    made = {}
    for name in names:
        id, secret = secrets.token_hex(8), secrets.token_bytes(KEY_BYTES)
        made[id] = ring._wrapped(ring.master, id, name, secret, _NOW)
    keyring._write(folder / keyring.FILE, keyring.Content(master=ring.master.id, keys=made))
    known = _timed(lambda: ring.key_of(names[-1], _NOW), 20)
    new = _timed(lambda: ring.key_of(secrets.token_hex(4), _NOW), 20)
    print(f"{tenants} tenants: a known key {known * 1e3:.1f} ms, a new key {new * 1e3:.1f} ms")
    all_known = _timed(lambda: Keyring(folder, ring.master).held(names, _NOW), 3)
    fresh = keyring.create(folder / "fresh", new_master())
    all_new = _timed(lambda: fresh.held(names, _NOW), 1)
    print(f"all keys of a backup: known {all_known:.2f} s, new {all_new:.2f} s")


def _timed(work: Callable[[], object], times: int) -> float:
    """Seconds of one, the median."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--tenants", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--levels", action="store_true")
    parser.add_argument("--keyring", type=int, default=0, metavar="TENANTS")
    given = parser.parse_args()
    configure("warning", "console")
    print(machine())

    if given.keyring:
        with tempfile.TemporaryDirectory() as folder:
            keyring_of(Path(folder) / "keys", given.keyring)
        return

    async def work(data_dir: Path) -> None:
        settings = Settings(data_dir=data_dir, cluster_root=data_dir.parent / "clusters")
        # The database stays up between the backups: starting it is not what is measured.
        async with open_database(settings):
            await fill(settings, given.facts, given.tenants)
            set_up(settings)
            if given.levels:
                await levels(settings, data_dir)
            else:
                await compare(settings, data_dir, given.rounds)

    with data_folder() as data_dir:
        asyncio.run(work(data_dir))


if __name__ == "__main__":
    main()
