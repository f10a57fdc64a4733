"""Whether this memory can answer, and keep what it is told."""

import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.memory import Memory
from memory_butler.store import distribution
from memory_butler.store.transaction import transaction

# A file system that has less than this has nothing.
_BLOCK: Final = 8192
_KIND: Final = (
    "SELECT current_setting('transaction_read_only') = 'on',"
    " to_regclass('pg_dist_node') IS NOT NULL,"
    " coalesce((SELECT checksum_failures FROM pg_stat_database"
    " WHERE datname = current_database()), 0)"
)


@dataclass(frozen=True, slots=True)
class Health:
    """What was tried, and how long the database took, in milliseconds."""

    ready: bool
    database: str
    milliseconds: float | None


async def check(memory: Memory) -> Health:
    """Write as little as can be written, in the way in which every request writes.

    A full disk, or one that may only be read, answers questions for hours: so a record goes into
    the log of the database, to the disk, and a block into the data directory.
    """
    began = time.perf_counter()
    try:
        async with transaction(memory.pool, DEFAULT_TENANT) as tx:
            read_only, is_cluster, damaged = await tx.connection.fetchrow(_KIND)
            if read_only:
                return Health(False, "the database may only be read", None)
            await tx.connection.fetchval("SELECT pg_logical_emit_message(true, 'ready', '')")
        silent = await distribution.silent(memory.pool) if is_cluster else []
        # A server on somebody else's database may keep no file.
        if memory.data_dir is not None and memory.data_dir.is_dir():
            await asyncio.to_thread(_write, memory.data_dir)
    except Unavailable as error:
        return Health(False, str(error), None)
    except OSError as error:
        said = f"the data directory cannot be written: {error.strerror}"
        return Health(False, said, None)
    took = round((time.perf_counter() - began) * 1000, 2)
    # Of no use to take the server out of a balancer: every other has the same workers and pages.
    told = []
    if silent:
        told.append(f"{', '.join(silent)} of the cluster does not answer, and serves no tenant")
    if damaged:
        told.append(f"damaged pages were read: {damaged}")
    return Health(True, "; ".join(told) or "ok", took)


def _write(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(_BLOCK))
        file.flush()
        os.fsync(file.fileno())
