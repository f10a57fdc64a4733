"""Work that goes on beside other work, and ends with it."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

# What the work still does when it is cancelled takes less.
_AGAIN_SECONDS: Final = 10.0

_Result = TypeVar("_Result")


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Let `work` go on in a task of this name for as long as the block lasts; it is then cancelled,
    and has ended when the block is left."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        await cancelled(task)
        if not task.cancelled():
            task.result()


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel a task until it has ended; what it raises stays in it.

    What waits for a connection with a time-out swallows a cancellation that meets it at once
    (python/cpython#86296), and would go on for ever.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=_AGAIN_SECONDS)


async def to_its_end(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Wait until the work is done, even where this is cancelled; a second time ends it, too."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise
