"""The whole description, asked by schemathesis: what is generated from it is answered as it says.

Requests that fit the description and requests that do not, to a real server with a small household.
No answer may be a server error; each has a status, a content type and a shape that are described;
what does not fit is refused. The nightly profile goes round for 20 minutes, or SCHEMA_MINUTES.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import pytest
import schemathesis
from hypothesis import given, seed
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.generation.stateful.state_machine import StepInput, StepOutput
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from arguments import requesting
from conftest import Connection
from memory_butler.domain.principals import Principal
from surfaces.rest.household import move_in
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

Operation: TypeAlias = APIOperation[Any, Any, Any, Any]

# Not asked here, and why.
LEFT_OUT: Final = {
    "events_stream": "it goes on for five minutes; test_live.py listens to it",
    "journal_maintain": "it calls a language model; tests/operations compile with a transcript",
}
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
# For each of some 80 operations and both kinds of request, in one round; the default profile goes
# round once, which takes 20 seconds of processor time and about a minute where CI has two cores.
EXAMPLES: Final = 2
NIGHTLY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
MINUTES: Final = float(os.environ.get("SCHEMA_MINUTES", "20" if NIGHTLY else "0"))
# Where nothing about a request could be wrong (no parameter, or any text will do), none is made.
MIN_REFUSING: Final = 60
# Sequences of requests, and the operations that at least one link led to.
SEQUENCES, STEPS, MIN_LINKED = (200, 30, 20) if NIGHTLY else (4, 15, 3)
_MOSTLY: Final = st.sampled_from([True, True, True, False])


async def test_every_answer_is_as_the_description_says(
    served: Served, principal: Principal, admin: Connection
) -> None:
    document = await _described(served, principal, admin)
    operations = list(_operations(document))
    assert len(operations) == sum(map(len, document["paths"].values())) - len(LEFT_OUT)
    until = time.monotonic() + 60 * MINUTES
    while True:
        refusing, complaints = await _go_round(operations, served.url)
        assert not complaints, "\n\n".join(complaints)
        assert refusing >= MIN_REFUSING
        if time.monotonic() >= until:
            break


async def test_what_an_answer_names_is_asked_about(
    served: Served, principal: Principal, admin: Connection
) -> None:
    """Sequences: what one request made or named, the next is about, by inferred links."""
    document = await _described(served, principal, admin)
    described = schemathesis.openapi.from_dict(document).exclude(operation_id=list(LEFT_OUT))
    followed: Counter[str] = Counter()

    class Asking(described.as_state_machine()):  # type: ignore[misc]
        def get_call_kwargs(self, _: Case[Any]) -> dict[str, Any]:
            return {"base_url": served.url, "timeout": 30}

        def step(self, input: StepInput) -> StepOutput:
            if input.is_applied:
                followed[input.case.operation.label] += 1
            output: StepOutput = super().step(input)
            return output

        def validate_response(self, response: Any, case: Case[Any], *_: Any, **__: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    # Each is a run of its own, of the simplest case and one by chance: Hypothesis goes back over
    # what it did within a run, and calls it flaky where the server is not what it was.
    first = time.time_ns() % 2**32 if NIGHTLY else 0
    for number in range(first, first + SEQUENCES):
        try:
            await asyncio.to_thread(seed(number)(Asking).run, settings=requesting(2, STEPS))
        except BaseException as failure:
            failure.add_note(f"of the sequence of seed {number}")
            raise
    assert len(followed) >= MIN_LINKED, followed


async def _described(served: Served, principal: Principal, admin: Connection) -> dict[str, Any]:
    """The description of a server on which a household has moved in."""
    await move_in(served.memory, principal, admin)
    async with served.rest() as rest:
        document: dict[str, Any] = (await rest.get("/api/openapi.json")).json()
        return document


def _operations(document: dict[str, Any]) -> Iterator[Operation]:
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(result, Ok), result
        operation = result.ok()
        if operation.definition.raw.get("operationId") not in LEFT_OUT:
            yield operation


async def _go_round(operations: list[Operation], url: str) -> tuple[int, list[str]]:
    """How many operations refused what does not fit, and what is wrong with the answers."""
    refusing = 0
    complaints: list[str] = []
    for operation in operations:
        try:
            await asyncio.to_thread(_ask_rightly, operation, url)
            await asyncio.to_thread(_ask_wrongly, operation, url)
            refusing += 1
        except Unsatisfiable:
            continue
        except FailureGroup as found:
            complaints.append(f"{operation.label}\n{found}")
    return refusing, complaints


def _ask_rightly(operation: Operation, url: str) -> None:
    """Send what fits, mostly about what is in the household; in a thread, for the server's sake."""
    known = {
        parameter["name"]: parameter["example"]
        for parameter in operation.definition.raw.get("parameters", ())
        if parameter["in"] == "path"
    }

    @requesting(EXAMPLES)
    @given(case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE), at_home=_MOSTLY)
    def ask(case: Case[Any], at_home: bool) -> None:
        if at_home and known:
            case.path_parameters = dict(known)
        case.call_and_validate(base_url=url, checks=CHECKS, timeout=30)

    ask()


def _ask_wrongly(operation: Operation, url: str) -> None:
    """Send what does not fit.

    Raises:
        Unsatisfiable: everything fits.
    """
    if _takes_any_text(operation):
        raise Unsatisfiable  # which generating would find out a thousand cases later

    @requesting(EXAMPLES)
    @given(case=operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def ask(case: Case[Any]) -> None:
        case.call_and_validate(base_url=url, checks=CHECKS, timeout=30)

    ask()


def _takes_any_text(operation: Operation) -> bool:
    """Whether nothing is asked but texts of a path, of which no schema wants anything."""
    described = operation.definition.raw
    wanted = [parameter["schema"].keys() for parameter in described.get("parameters", ())]
    in_path = all(parameter["in"] == "path" for parameter in described.get("parameters", ()))
    return (
        in_path
        and "requestBody" not in described
        and not any(keys - {"type", "title", "description"} for keys in wanted)
    )
