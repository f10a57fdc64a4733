"""What the client knows of an operation: its name, the shape of its answer, where it is asked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from memory_butler.client.shape import Shape

Output = TypeVar("Output", bound=Shape)


class Route(NamedTuple):
    """Where REST offers an operation.

    Attributes:
        fixed: the inputs that the path says by itself.
        defaults: of the inputs in the path those that may be left out.
    """

    method: str
    path: str
    fixed: Mapping[str, Any]
    defaults: Mapping[str, Any] = {}


class Endpoint(Generic[Output]):
    """An operation as the client asks for it: over REST where it has routes here, else over MCP.

    Attributes:
        renamed: what the server calls arguments that have another name here, such as `from`, which
            is none in Python.
    """

    def __init__(
        self,
        name: str,
        output: type[Output],
        *routes: Route,
        renamed: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.output = output
        self.routes = routes
        self.renamed = renamed

    def inputs(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs of the operation, from the `locals()` of its method."""
        return {
            self.renamed.get(name, name): value
            for name, value in arguments.items()
            if name != "self"
        }


class Unset:
    """Stands for an argument that was left out: the server's default holds, as configured there."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> NoReturn:
        raise TypeError("UNSET is neither true nor false")


UNSET: Final = Unset()
