"""What the client knows of an operation: its name, the shape of its answer, where it is asked."""

from collections.abc import Mapping
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
    """An operation as the client asks for it: over REST where it has routes here, else over MCP."""

    def __init__(self, name: str, output: type[Output], *routes: Route) -> None:
        self.name = name
        self.output = output
        self.routes = routes


class Unset:
    """Stands for an argument that was left out: the server's default holds, as configured there."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> NoReturn:
        raise TypeError("UNSET is neither true nor false")


UNSET: Final = Unset()
