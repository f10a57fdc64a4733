"""The operations of a memory that is open in this process, asked for as from afar."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from pydantic import ValidationError

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine.complaints import complaints
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Operation
from memory_butler.operations.registry import OPERATIONS

_TENANT: Final = "tenant_id"
_NAMED: Final[dict[str, Operation[Any, Any]]] = {one.name: one for one in OPERATIONS}


def caller(
    memory: Memory, principal: Principal | None = None
) -> Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]:
    """A function that runs an operation by name, with the checks and the JSON of a server.

    It raises the errors of `domain.errors`; a `KeyError` for a name that is no operation.
    """
    who = principal or Principal()

    async def run(name: str, given: dict[str, Any]) -> dict[str, Any]:
        operation = _NAMED[name]
        if _TENANT in operation.input_model.model_fields:
            given = {_TENANT: who.tenant} | given
        try:
            asked = operation.input_model.model_validate(given)
        except ValidationError as error:
            raise InvalidInput(complaints(error, "the input")) from None
        output = await operation.run(memory, who, asked)
        answer: dict[str, Any] = output.model_dump(mode="json")
        return answer

    return run
