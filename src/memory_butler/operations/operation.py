"""An operation: one thing that a caller can ask for, declared once for every surface."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import PermissionDenied, Unavailable
from memory_butler.domain.principals import Principal, Scope
from memory_butler.engine.memory import Memory

Input = TypeVar("Input", bound=BaseModel)
Output = TypeVar("Output", bound=BaseModel)

# MCP offers operations in toolsets that an operator turns on; `memory` is the default one (C-63).
# An operation of no toolset is not offered over MCP.
Toolset = Literal["memory", "consolidation", "journal"]


@dataclass(frozen=True, slots=True)
class Route:
    """Where REST offers an operation: GET takes the input from the query string."""

    method: Literal["GET"]
    path: str


@dataclass(frozen=True, slots=True)
class Operation(Generic[Input, Output]):
    """Name, shapes and handler of one operation.

    Attributes:
        description: for a model that must choose among the tools: when to use it, and when not.
        configured_defaults: defaults of the input that come from the configuration (CFG-03).
        render: the answer as the text that a model should read; JSON where there is none, or where
            it gives None.
        when_unavailable: the answer while the database is away, for operations that must never
            block their caller (FAIL-03, FAIL-04); the error is logged by whoever runs it.
    """

    name: str
    title: str
    description: str
    input_model: type[Input]
    output_model: type[Output]
    handler: Callable[[Memory, Principal, Input], Awaitable[Output]]
    needs: Scope
    toolset: Toolset | None = "memory"
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    route: Route | None = None
    configured_defaults: Callable[[MemoryModuleConfig], Mapping[str, Any]] | None = None
    render: Callable[[Output], str | None] | None = None
    when_unavailable: Callable[[Input, Unavailable], Output] | None = None

    async def run(self, memory: Memory, principal: Principal, given: Input) -> Output:
        """Do it, if the caller may.

        Raises:
            PermissionDenied: the caller lacks the needed scope.
        """
        if not principal.may(self.needs):
            raise PermissionDenied(
                f"{self.name} needs the scope {self.needs!r}, which this token does not have"
            )
        return await self.handler(memory, principal, self._configured(memory.config, given))

    def _configured(self, config: MemoryModuleConfig, given: Input) -> Input:
        """The input, what the caller left out as the configuration has it (CFG-03)."""
        if self.configured_defaults is None:
            return given
        defaults = self.configured_defaults(config)
        left_out = {key: defaults[key] for key in defaults.keys() - given.model_fields_set}
        return given.model_copy(update=left_out)
