"""Opening a memory: what is begun for it is given back, however often one is interrupted."""

import asyncio
import threading
from pathlib import Path

import pytest

from memory_butler.config import Settings
from memory_butler.engine.opening import open_database
from memory_butler.store import embedded


@pytest.mark.anyio
async def test_a_lease_that_comes_after_two_cancellations_is_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal during the imports of a server cancels it twice."""
    asked, may_come, released = threading.Event(), threading.Event(), threading.Event()

    class Lease:
        def release(self) -> None:
            released.set()

    def acquire(*_: object, **__: object) -> Lease:
        asked.set()
        may_come.wait()
        return Lease()

    async def use() -> None:
        async with open_database(Settings(data_dir=tmp_path)):
            raise AssertionError("it was cancelled")

    monkeypatch.setattr(embedded, "acquire", acquire)
    using = asyncio.create_task(use())
    await asyncio.to_thread(asked.wait)
    for _ in range(2):
        using.cancel()
        await asyncio.wait({using}, timeout=0)
    may_come.set()
    with pytest.raises(asyncio.CancelledError):
        await using
    assert released.is_set()
