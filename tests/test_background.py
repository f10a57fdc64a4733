"""Work beside other work ends with it."""

import asyncio

import pytest

from memory_butler import background
from memory_butler.background import beside

pytestmark = pytest.mark.anyio


async def test_work_that_swallows_a_cancellation_ends_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a wait for a connection may, which kept an import from ending (python/cpython#86296)."""
    monkeypatch.setattr(background, "_AGAIN_SECONDS", 0.01)
    swallowed: list[int] = []

    async def work() -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if swallowed:
                    raise
                swallowed.append(1)

    async with asyncio.timeout(10):
        async with beside(work(), "stubborn"):
            await asyncio.sleep(0)
    assert swallowed == [1]


async def test_what_the_work_raised_is_raised() -> None:
    async def work() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        async with beside(work(), "broken"):
            await asyncio.sleep(0)
