"""The registry: what holds for every operation."""

import inspect
from typing import Any, cast

import pytest
from pydantic import ValidationError

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import PermissionDenied
from memory_butler.domain.principals import SCOPES, Principal
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Operation
from memory_butler.operations.operation import operation as declared
from memory_butler.operations.registry import OPERATIONS, of_toolsets

every_operation = pytest.mark.parametrize(
    "operation", OPERATIONS, ids=[operation.name for operation in OPERATIONS]
)


@pytest.mark.requirement("TOOL-01")
def test_names_are_unique_and_the_default_toolset_has_nineteen() -> None:
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)
    assert len(of_toolsets(["memory"])) == 19


@every_operation
def test_unknown_keys_are_refused(operation: Operation[Any, Any]) -> None:
    assert operation.input_model.model_config["extra"] == "forbid"
    with pytest.raises(ValidationError, match="no_such_key"):
        operation.input_model.model_validate({"no_such_key": 1})


# What only reads and is not asked for by GET: its inputs belong into a body, or it has no route.
_READ_OTHERWISE = frozenset(
    """
    entity_get entity_merge_preview entity_resolve items_get items_namespaces items_search
    items_tail memory_ask memory_context memory_context_without memory_exchange_facts memory_get
    memory_recall memory_search
    """.split()
)


@every_operation
def test_what_only_reads_needs_no_right_to_write(operation: Operation[Any, Any]) -> None:
    # To look at what is the administrator's, such as tokens, needs that right.
    assert operation.read_only is (operation.needs == "read") or (
        operation.read_only and operation.needs == "admin"
    )
    assert not (operation.read_only and operation.destructive)
    # Said apart from the scope, so that an operation that asks for `read` by mistake is found.
    by_get = bool(operation.routes) and all(one.method == "GET" for one in operation.routes)
    assert operation.read_only is (by_get or operation.name in _READ_OTHERWISE)


def test_what_reaches_a_whole_tenant_is_its_administrators() -> None:
    """Each by name: what moves to a lesser right, or is new among these, is decided here."""
    assert {operation.name for operation in OPERATIONS if operation.needs == "admin"} == {
        "dead_letters_retry",
        "fact_accept",
        "job_run",
        "journal_maintain",
        "journal_undo",
        "memory_erase",
        "memory_run_consolidation",
        "memory_run_episode_cleanup",
        "token_create",
        "token_revoke",
        "tokens_list",
    }


@every_operation
@pytest.mark.anyio
async def test_a_caller_without_the_right_is_stopped_first(operation: Operation[Any, Any]) -> None:
    memory = cast(Memory, None)  # nothing of it may be touched
    weaker = frozenset(SCOPES[: SCOPES.index(operation.needs)])
    caller = Principal(scopes=weaker)
    with pytest.raises(PermissionDenied, match=f"{operation.name} needs the scope"):
        await operation.run(memory, caller, operation.input_model.model_construct())


@every_operation
def test_configured_defaults_are_parameters(operation: Operation[Any, Any]) -> None:
    if operation.configured_defaults is not None:
        configured = operation.configured_defaults(MemoryModuleConfig())
        fields = operation.input_model.model_fields
        assert set(configured) <= set(fields)
        # Without any configuration they are the documents' own.
        for name, default in configured.items():
            assert fields[name].default in (default, None)


@every_operation
def test_a_handler_takes_memory_caller_and_input_alone(operation: Operation[Any, Any]) -> None:
    assert len(inspect.signature(operation.handler).parameters) == 3


def test_an_operation_that_nobody_describes_is_refused() -> None:
    """As all are in a Python that leaves docstrings out: a tool would have no description."""

    async def memory_anything(memory: Memory, principal: Principal, given: Any) -> Any:
        return given

    with pytest.raises(TypeError, match="memory_anything has no docstring"):
        declared("Do anything", needs="read")(memory_anything)
