"""Every tool with generated arguments, those that fit and those that do not: always an answer.

No crash, no error that the operations do not declare, and nothing that takes long. REST is asked
the same by schemathesis (rest/test_schema.py).
"""

import asyncio
import os
import time
from typing import Final

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arguments import fitting, mutated, requesting
from conftest import Clock
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.operations.registry import OPERATIONS
from surfaces.conftest import Serve
from surfaces.isolation.asking import Way
from surfaces.isolation.household import Tenant, move_in
from surfaces.serving import NO_TLS

pytestmark = pytest.mark.anyio

NIGHTLY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
ROUNDS: Final = 150 if NIGHTLY else 2
SECONDS: Final = 20  # what takes longer hangs, whatever else the machine does
TOOLS: Final = tuple(Way(one) for one in OPERATIONS if one.toolset is not None)
# What a caller can mend, and an outage; anything else would be a bug.
DECLARED: Final = ("invalid_input", "not_found", "conflict", "permission_denied", "configuration")


async def test_no_call_of_a_tool_is_more_than_refused(serve: Serve, clock: Clock) -> None:
    toolsets = ("memory", "consolidation", "journal", "trust")
    async with serve(toolsets=toolsets) as served:
        assert served.memory.data_dir is not None
        with httpx.Client(
            base_url=served.url, timeout=SECONDS, trust_env=False, verify=NO_TLS
        ) as client:
            caller = Tenant(DEFAULT_TENANT, client)
            await asyncio.to_thread(move_in, caller, served.memory.data_dir)
            await asyncio.to_thread(_call_everything, caller, clock)


def _call_everything(caller: Tenant, clock: Clock) -> None:
    @requesting(ROUNDS)
    @given(data=st.data())
    def call(data: st.DataObject) -> None:
        for tool in TOOLS:
            for made in (fitting, mutated):
                arguments = data.draw(made(tool.schema, caller.words()))
                clock.advance(seconds=1)
                began = time.monotonic()
                answer = caller.ask(tool, arguments)
                assert time.monotonic() - began < SECONDS, (str(tool), arguments)
                assert answer.status == 200, (str(tool), arguments, answer)
                told = answer.result["content"][0]["text"]
                refused = told.partition(":")[0]
                assert answer.ok or refused in DECLARED, (str(tool), arguments, told)

    call()
