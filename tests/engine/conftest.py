"""What tests of the engine share: a world for generated histories."""

import asyncio
from collections.abc import Iterator

import pytest

from conftest import Template

from .worlds import World, made_world


@pytest.fixture(scope="module")
def world(template: Template) -> Iterator[World]:
    """One a file: a pool belongs to the event loop that opened it."""
    with asyncio.Runner() as runner:
        yield from made_world(runner, template)
