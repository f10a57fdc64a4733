"""Memory Butler with one more operation, as if its sources declared it.

    python tests/cli/added_operation.py serve --port 0    any command line
    python tests/cli/added_operation.py --written         what is made from the registry, as JSON

The three lines that declare it are those of docs/architecture.md: the operation, its place in the
registry, its place in the table of commands.
"""

import json
import sys
from pathlib import Path

from pydantic import Field

from memory_butler.__main__ import main
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.operations import registry
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output
from memory_butler.surfaces.cli import named, names, operations


class GreetInput(Input):
    """Who is greeted, and how."""

    whom: str = Field(description="Who to greet.")
    loudly: bool = Field(False, description="In capitals.")


class Greeting(Output):
    """The greeting."""

    text: str
    tenant: str


@operation("Greet somebody", Route("POST", "/api/memory/greetings"), needs="read", toolset="memory")
async def memory_greet(_memory: Memory, principal: Principal, given: GreetInput) -> Greeting:
    """Greet somebody by name."""
    text = f"Hello {given.whom}"
    return Greeting(text=text.upper() if given.loudly else text, tenant=principal.tenant)


sys.modules["memory_butler.operations.greetings"] = sys.modules[__name__]
registry.OPERATIONS = (*registry.OPERATIONS, memory_greet)
_NAMED = named.Named("greet", "greetings.memory_greet", named.FIND, "Greet somebody by name.")
names.COMMANDS = operations.COMMANDS = (*names.COMMANDS, _NAMED)  # type: ignore[misc, attr-defined]


def _written() -> dict[str, str]:
    sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
    import client_code
    import make_docs

    pages = {name: make_docs.PAGES[name]() for name in ("tools.md", "rest.md", "cli.md")}
    return pages | client_code.modules()


if __name__ == "__main__":
    if sys.argv[1:] == ["--written"]:
        print(json.dumps(_written()))
    else:
        main()
