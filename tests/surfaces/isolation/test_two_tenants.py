"""Two tenants ask one server for whatever it offers; neither may learn anything of the other.

Not by an answer, an error, a header, a count or an order. What is asked is generated from the
operations' own schemas, over every surface that has them, with the other's ids and name, and with
SQL that would change the tenant if it reached the database.
"""

import asyncio
import io
import json
import os
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from arguments import fitting, requesting
from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.export import export_all
from memory_butler.operations.registry import OPERATIONS
from memory_butler.store.transaction import untenanted
from surfaces.conftest import Serve
from surfaces.isolation.asking import Answer, Way, ways
from surfaces.isolation.household import Tenant, ids_in, move_in
from surfaces.serving import NO_TLS, Served

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("TEN-01", "TEN-02", "TEN-03")]

NIGHTLY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
ROUNDS: Final = 100 if NIGHTLY else 2
EXAMPLES: Final = 1_000 if NIGHTLY else 3
STEPS: Final = 25 if NIGHTLY else 12
# Looking before changing: what is merged or forgotten is not there to be looked at.
WAYS: Final = tuple(
    way
    for operation in sorted(OPERATIONS, key=lambda one: not one.read_only)
    for way in ways(operation)
)
# Asked with the other's ids alone, they may not work; with one's own each does at least once,
# except these, and why.
NEVER_DONE: Final = {
    "consolidation_submit": "it needs the answer of a run that was begun",
    "memory_unmask": "it needs a key that was told; tests/engine/test_unmasking.py has another's",
    "episode_deliver": "it needs keys and a letter; tests/integrations/test_sealed_hooks.py",
    "memory_exchange_take": "it needs what another installation signed; tests/engine/exchange",
    "fact_accept": "it needs a fact that waits; tests/engine/test_lived_with.py has another's",
}
# Done by chance alone, once `fact_edit` had its turn; see tests/engine/test_renaming.py.
SELDOM_DONE: Final = {"facts_rename"}
# These inputs exclude each other, or must be there already; generated ones hardly ever fit.
AT_HOME: Final[Mapping[str, tuple[str, ...]]] = {
    "fact_edit": ("fact_id", "content"),
    "journal_edit": ("companion", "words", "content"),
    "journal_forget": ("companion", "words"),
    "journal_keep": ("companion", "run_id", "keys"),
    "journal_log": ("companion", "actor", "content"),
    "journal_remember": ("companion", "type", "content"),
    "journal_undo_latest": ("companion",),
    "memory_erase": ("session_id",),
    "memory_exchange_facts": ("parts",),
    "memory_exchange_state": (),
    "memory_undo": (),
}
# What one's own question changes about the next answer, and nobody else.
# (A tool's answer is there twice: as a text, in which they cannot be told apart, and in its parts.)
_OF_READING: Final = {
    "reference_count",
    "last_referenced_at",
    "milliseconds",
    "receipt_id",
}


@dataclass(frozen=True, slots=True)
class Street:
    """The server on which every pair of tenants lives."""

    served: Served
    loop: asyncio.AbstractEventLoop
    data_dir: Path

    def do(self, work: Any) -> Any:
        """Asynchronous work, from the thread of the generated cases."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    @contextmanager
    def two(self) -> Iterator[tuple[Tenant, Tenant]]:
        """Two new tenants, each with a household."""
        number = next(_numbers)
        names = [f"{side}-{number}" for side in ("left", "right")]
        pair = [Tenant(name, self._client(name, names)) for name in names]
        try:
            for tenant in pair:
                move_in(tenant, self.data_dir)
            yield pair[0], pair[1]
        finally:
            for tenant in pair:
                tenant.client.close()

    @contextmanager
    def nobody(self) -> Iterator[Tenant]:
        """A tenant that has nothing."""
        name = f"nobody-{next(_numbers)}"
        tenant = Tenant(name, self._client(name, [name, "left-1"]))
        with tenant.client:
            yield tenant

    def _client(self, name: str, names: list[str]) -> httpx.Client:
        other = next(one for one in names if one != name)
        headers = {
            "authorization": f"Bearer {self.do(self.served.make_token(name))}",
            "x-tenant-id": other,
            "butler.tenant_id": other,
            "x-request-id": f"'; SET butler.tenant_id = '{other}'; --",
            "cookie": f"memory_butler=x'; tenant={other}; butler.tenant_id={other}",
            "forwarded": f"for={other};host={other}",
        }
        return httpx.Client(
            base_url=self.served.url, headers=headers, timeout=60, trust_env=False, verify=NO_TLS
        )


_numbers = count(1)


@pytest.fixture
async def street(serve: Serve, tmp_path: Path) -> AsyncIterator[Street]:
    toolsets = ("memory", "consolidation", "journal", "trust")
    async with serve(require_token=True, toolsets=toolsets) as served:
        yield Street(served, asyncio.get_running_loop(), tmp_path)
        await _nobody_is_left_in_the_pool(served)


async def _nobody_is_left_in_the_pool(served: Served) -> None:
    """Whatever was asked, no connection kept a tenant."""
    for _ in range(2 * served.memory.pool.get_max_size()):
        async with untenanted(served.memory.pool) as connection:
            assert not await connection.fetchval("SELECT current_setting('butler.tenant_id', true)")


def check(asking: Tenant, other: Tenant, answer: Answer, what: object) -> None:
    """The answer has nothing of the other's, and is no failure."""
    # A receipt keeps the prompt, which is what the asking one said, with the other's words here.
    told = re.sub(r'"prompt":"(?:[^"\\]|\\.)*"', "", answer.seen)
    assert other.marker not in told, f"{what} shows the other's text: {answer.seen}"
    strange = ids_in(answer.seen) & {*other.ids[""]} - asking.said
    assert not strange, f"{what} shows the other's ids {strange}: {answer.seen}"
    not_set_up = '"code":"configuration"' in answer.body  # there is no language model
    assert answer.status < 500 or not_set_up, f"{what} failed: {answer.seen}"
    assert f'"tenant_id":"{other.name}"' not in answer.seen.replace(" ", ""), (
        f"{what}: {answer.seen}"
    )


def ask(
    asking: Tenant, other: Tenant, way: Way, draw: Callable[..., Any], *, at_home: bool = False
) -> Answer:
    """One generated call, checked; one with the other's ids is told what anybody's would be."""
    schema = way.schema
    if at_home and way.operation.name in AT_HOME:
        schema = {**schema, "required": AT_HOME[way.operation.name]}
        schema["properties"] = {name: way.schema["properties"][name] for name in schema["required"]}
    arguments = draw(fitting(schema, asking.words(None if at_home else other)))
    foreign = ids_in(json.dumps(arguments)) & {*other.ids[""], *other.ids["session"]}
    foreign -= {*asking.ids["given"]}
    nobodys = {one: str(uuid4()) for one in sorted(foreign)}
    instead = json.loads(_instead(json.dumps(arguments), nobodys))
    # Asked before as well: what is done with the other's id would have to be done with nobody's.
    refused = foreign and not asking.ask(way, instead).ok
    answer = asking.ask(way, arguments)
    check(asking, other, answer, (str(way), arguments))
    assert not (refused and answer.ok), f"{way} does with the other's id what it should not"
    if foreign and not answer.ok:
        same = asking.ask(way, instead)
        told = _instead(answer.body, nobodys)
        assert (answer.status, told) == (same.status, same.body), (str(way), arguments)
    return answer


def _instead(text: str, ids: Mapping[str, str]) -> str:
    for one, other in ids.items():
        text = text.replace(one, other)
    return text


async def test_every_operation_over_every_surface(street: Street, clock: Clock) -> None:
    assert {way.operation.name for way in WAYS} == {one.name for one in OPERATIONS}
    done: set[str] = set()
    refused: dict[str, Any] = {}

    @requesting(ROUNDS)
    @given(data=st.data())
    def go_round(data: st.DataObject) -> None:
        with street.two() as (left, right):
            for way in WAYS:
                clock.advance(seconds=1)
                answer = ask(left, right, way, data.draw, at_home=True)
                if answer.ok:
                    done.add(way.operation.name)
                else:
                    refused[way.operation.name] = answer
                ask(right, left, way, data.draw)

    await asyncio.to_thread(go_round)
    never = {name: answer for name, answer in refused.items() if name not in done}
    assert never.keys() - SELDOM_DONE == NEVER_DONE.keys(), never


# Their answers are numbers, digests, or names that every household has: the owner's differ from
# those of a tenant that has nothing, and their numbers are the same for two who have the same.
FIGURES: Final = {
    "memory_stats",
    "memory_trends",
    "memory_exchange_state",
    "butler_stats",
    "butlers_list",
    "journal_companions",
    "items_namespaces",
}
# What a household has nothing of, and where another's is tried.
EMPTY: Final = {
    "episode_address": "no keys are set up; tests/integrations/test_sealed_hooks.py",
    "dead_letters_list": "no run has failed; tests/engine/consolidation/test_retries.py",
    "memory_calibration": "no time has passed; tests/engine/test_calibration.py",
    "memory_jobs": "no job has run; tests/engine/jobs/test_ticks.py",
    "journal_runs": "no maintenance has run",
    "journal_run": "no maintenance has run",
}


async def test_what_one_does_not_see_its_owner_does(street: Street) -> None:
    """The same question by the same way: the owner's answer has it, another's has not."""

    def ask_all() -> None:
        with street.two() as (left, right), street.nobody() as empty:
            blind = []
            own_ids = {one for ids in left.ids.values() for one in ids}
            for way in (way for way in WAYS if way.operation.read_only):
                arguments = left.question(way)
                own = left.ask(way, arguments)
                check(right, left, right.ask(way, arguments), (str(way), arguments))
                if way.operation.name in FIGURES:
                    theirs = right.ask(way, right.question(way))
                    seen = _steady(own) != _steady(empty.ask(way, arguments))
                    assert _counted(own) == _counted(theirs), (str(way), own.body, theirs.body)
                else:
                    named = ids_in(own.body) - ids_in(repr(arguments))
                    seen = left.marker in own.seen or bool(named & own_ids)
                if not (own.ok and seen) and way.operation.name not in EMPTY:
                    blind.append((str(way), arguments, own.body))
            assert blind == [], "\n".join(
                ("owners do not see their own; see FIGURES and EMPTY:", *map(str, blind))
            )

    await asyncio.to_thread(ask_all)


def _counted(answer: Answer) -> list[str]:
    """The numbers of an answer, but for those that tell when it was asked."""
    return re.findall(
        r'"(\w+)":(\d+)', re.sub(r'"\w*(?:milliseconds|_at|_count)":[^,}]*', "", answer.body)
    )


async def test_any_sequence_of_calls(street: Street) -> None:
    class TwoTenants(_TwoTenants):
        where = street

    await asyncio.to_thread(
        run_state_machine_as_test, TwoTenants, settings=requesting(EXAMPLES, STEPS)
    )


class _TwoTenants(RuleBasedStateMachine):
    """Both act in any order; what one does, the other cannot notice."""

    where: Street

    @initialize()
    def move_in(self) -> None:
        self._door = self.where.two()
        self.pair = self._door.__enter__()

    def teardown(self) -> None:
        if hasattr(self, "_door"):
            self._door.__exit__(None, None, None)

    @rule(data=st.data(), way=st.sampled_from(WAYS), turned=st.booleans())
    def somebody_asks(self, data: st.DataObject, way: Way, turned: bool) -> None:
        asking, other = self.pair[::-1] if turned else self.pair
        ask(asking, other, way, data.draw)

    @rule(
        data=st.data(),
        looking=st.sampled_from([way for way in WAYS if way.operation.read_only]),
        acting=st.sampled_from([way for way in WAYS if not way.operation.read_only]),
        turned=st.booleans(),
    )
    def nothing_moves_for_the_other(
        self, data: st.DataObject, looking: Way, acting: Way, turned: bool
    ) -> None:
        watching, busy = self.pair[::-1] if turned else self.pair
        arguments = data.draw(fitting(looking.schema, watching.words(busy)))
        before = watching.ask(looking, arguments)
        ask(busy, watching, acting, data.draw)
        after = watching.ask(looking, arguments)
        check(watching, busy, after, (str(looking), arguments))
        assert _steady(after) == _steady(before), (str(looking), arguments, str(acting))

    @rule(turned=st.booleans())
    def somebody_exports(self, turned: bool) -> None:
        asking, other = self.pair[::-1] if turned else self.pair
        file = io.StringIO()
        memory = self.where.served.memory
        self.where.do(export_all(memory, Principal(asking.name, "exporter"), file))
        check(asking, other, Answer(200, True, file.getvalue()), "export")
        assert asking.marker in file.getvalue()


def _steady(answer: Answer) -> Any:
    """An answer without what reading itself changes."""
    try:
        found = json.loads(answer.body)
    except ValueError:
        return answer.status, answer.body
    if isinstance(found, dict) and "structuredContent" in found.get("result", {}):
        found = found["result"]["structuredContent"]
    return answer.status, _bare(found)


def _bare(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _bare(one) for key, one in value.items() if key not in _OF_READING}
    return [_bare(one) for one in value] if isinstance(value, list) else value
