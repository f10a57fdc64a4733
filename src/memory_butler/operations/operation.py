"""An operation: one thing that a caller can ask for, declared once for every surface."""

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    TypedDict,
    TypeVar,
    Unpack,
    get_type_hints,
)

from pydantic import BaseModel

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal, Scope
from memory_butler.engine.memory import Memory

Input = TypeVar("Input", bound=BaseModel)
Output = TypeVar("Output", bound=BaseModel)
Handler = Callable[[Memory, Principal, Input], Awaitable[Output]]

# MCP offers operations in toolsets that an operator turns on; `memory` is the default one (C-63).
# An operation of no toolset is not offered over MCP. `core` is the least that a memory is worked
# with, for clients that put all their tools before the model: six of `memory`, with few inputs.
Toolset = Literal["memory", "consolidation", "journal", "trust", "core"]

# What a call's `_meta` holds where a program asks for the whole answer as JSON (C-152).
STRUCTURED: Final = "memory-butler/structured"

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_IN_PATH: Final = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True, slots=True)
class Route:
    """Where REST offers an operation, and where each field of its input comes from.

    A field that stands in braces in the path comes from there, one in `fixed` is what the path says
    by itself (`/facts/{memory_id}/confirm` is about a fact). All others come from the query string
    of GET and DELETE, and from the JSON body of the other methods.

    Attributes:
        path: `{name}` ends at a slash, `{name:path}` may hold some (the name of a butler).
        name: the operationId, where the operation has several routes.
        title: what this route does, where the operation's title says less.
        status: of an answer that succeeds.
        may_conflict: the state of the memory may forbid it, though it only reads.
    """

    method: Method
    path: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    name: str | None = None
    title: str | None = None
    status: int = 200
    may_conflict: bool = False

    @property
    def in_path(self) -> tuple[str, ...]:
        """The fields that come from the path."""
        return tuple(_IN_PATH.findall(self.path))

    @property
    def in_body(self) -> bool:
        """Whether what is left comes as a JSON body."""
        return self.method in ("POST", "PUT", "PATCH")


def routes_of(
    method: Method, act: str, title: str, *kinds: MemoryType, tail: str | None = None
) -> tuple[Route, ...]:
    """A route for each type of memory, which stands in the path.

    In the title stands `{}` for "a fact", `{kind}` for "fact". `tail` is what follows the id, where
    that is not what is done.
    """
    one = {"episode": "an episode", "fact": "a fact", "rule": "a rule"}
    return tuple(
        Route(
            method,
            f"/api/memory/{kind}s/{{memory_id}}{f'/{act}' if tail is None else tail}",
            fixed={"memory_type": kind},
            name=f"{kind}_{act}",
            title=title.format(one[kind], kind=kind),
        )
        for kind in kinds
    )


@dataclass(frozen=True, slots=True)
class Operation(Generic[Input, Output]):
    """Name, handler and conditions of one operation; its shapes are those of its handler.

    Attributes:
        description: for a model that must choose among the tools: when to use it, and when not.
        input_model: what the handler takes.
        output_model: what it returns.
        configured_defaults: defaults of the input that come from the configuration (CFG-03).
        read_only: it changes no memory; so is whatever `needs` no more than to read. What reading
            leaves behind (a count of references, a note of what was served, a receipt) is no change
            of what is remembered (C-153).
        destructive: it may take away or overwrite what is there, not only add to it.
        idempotent: of one that changes memory: a second call with the same inputs changes nothing
            more.
        for_peers: a token of the scope `exchange` will do as well.
        open_world: it may reach out, to the provider of a model.
        core: the inputs that the toolset `core` shows; without any it does not offer the operation.
        programs: inputs that no tool shows, because only programs know what to give there.
        render: the answer as the text that a model reads in its place; where there is none, it
            reads JSON.
        uses_model: whether a language model may be asked; where that depends on the input, a
            function of it.
        when_unavailable: the answer while the database is away, for operations that must never
            block their caller (FAIL-03, FAIL-04); the error is logged by whoever runs it.
    """

    name: str
    title: str
    description: str
    handler: Handler[Input, Output]
    needs: Scope
    toolset: Toolset | None = None
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    for_peers: bool = False
    open_world: bool = False
    routes: tuple[Route, ...] = ()
    configured_defaults: Callable[[MemoryModuleConfig], Mapping[str, Any]] | None = None
    core: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    render: Callable[[Output], str] | None = None
    uses_model: bool | Callable[[Input], bool] = False
    when_unavailable: Callable[[Input, Unavailable], Output] | None = None
    input_model: type[Input] = field(init=False)
    output_model: type[Output] = field(init=False)

    def __post_init__(self) -> None:
        *_, given, answer = get_type_hints(self.handler).values()
        object.__setattr__(self, "input_model", given)
        object.__setattr__(self, "output_model", answer)
        object.__setattr__(self, "read_only", self.read_only or self.needs == "read")

    def asks_model(self, given: Input) -> bool:
        """Whether a language model may be asked for this."""
        return self.uses_model if isinstance(self.uses_model, bool) else self.uses_model(given)

    async def run(self, memory: Memory, principal: Principal, given: Input) -> Output:
        """Do it, if the caller may.

        Raises:
            PermissionDenied: the caller lacks the needed scope.
        """
        if not (self.for_peers and principal.may("exchange")):
            principal.require(self.needs, self.name)
        # What can be asked of the past has these two inputs, whatever it is.
        seen = memory.at(getattr(given, "known_at", None), getattr(given, "as_of", None))
        return await self.handler(seen, principal, self._configured(memory.config, given))

    def _configured(self, config: MemoryModuleConfig, given: Input) -> Input:
        """The input, what the caller left out as the configuration has it (CFG-03)."""
        if self.configured_defaults is None:
            return given
        defaults = self.configured_defaults(config)
        left_out = {key: defaults[key] for key in defaults.keys() - given.model_fields_set}
        return given.model_copy(update=left_out)


class Conditions(TypedDict, total=False):
    """What else is said where an operation is declared: see the attributes of `Operation`."""

    toolset: Toolset
    read_only: bool
    destructive: bool
    idempotent: bool
    for_peers: bool
    open_world: bool
    configured_defaults: Callable[[MemoryModuleConfig], Mapping[str, Any]]
    core: tuple[str, ...]
    programs: tuple[str, ...]
    render: Callable[[Any], str]
    uses_model: bool | Callable[[Any], bool]
    when_unavailable: Callable[[Any, Unavailable], Any]


def operation(
    title: str, *routes: Route, needs: Scope, **conditions: Unpack[Conditions]
) -> Callable[[Handler[Input, Output]], Operation[Input, Output]]:
    """Declare the handler of an operation; its name is that of the operation.

    The first paragraph of its docstring is the description.
    """

    def declared(handler: Handler[Input, Output]) -> Operation[Input, Output]:
        told = (inspect.getdoc(handler) or "").partition("\n\n")[0]
        if not told:
            raise TypeError(
                f"{handler.__name__} has no docstring, which is the description that models read; "
                "start Python without -OO or PYTHONOPTIMIZE=2, which leave docstrings out"
            )
        description = " ".join(told.split())
        return Operation(
            handler.__name__, title, description, handler, needs, routes=routes, **conditions
        )

    return declared


def nothing_found(output: BaseModel) -> bool:
    """Whether an operation that looks for one thing answers that there is none."""
    if getattr(output, "deleted", None) is not None:
        return False  # it was known once, and the answer says what became of it
    return any(getattr(output, name, output) is None for name in ("memory", "entity"))
