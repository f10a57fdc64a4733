"""How a command is declared that is made from an operation, and where the help shows commands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

RUN: Final = "Run"
FIND: Final = "Find"
STORE: Final = "Store"
CURATE: Final = "Curate"
TALK: Final = "Talk"
KEEP: Final = "Keep in order"
OPERATE: Final = "Operate"
# In the order of the help.
PANELS: Final = (RUN, FIND, STORE, CURATE, TALK, KEEP, OPERATE)

# What a group alone does, where it has this command: `facts` is `facts list`.
LIST: Final = "list"


@dataclass(frozen=True, slots=True)
class Named:
    """How an operation is called at the command line.

    Attributes:
        words: the command, as it is typed; the first of two words is its group.
        path: the module below `operations` and the name of the operation, so that a command imports
            its own operation alone.
        assumed: values of required inputs that may be left out; such an input is an option.
        last: values of required inputs that may be left out, and stay arguments: the last ones.
        options: options by another name than their inputs have; such an input is never an argument.
        also: other words for the same command, which the help leaves out.
        then: called with the output once it is shown; it may raise an error, which the command ends
            with.
        hint: called with the input and the output once a person was shown it.
        begins: it needs nothing that is there, so that it makes the database where there is none.
        embeds: it embeds a text, so that the model is loaded while the database is opened.
    """

    words: str
    path: str
    panel: str
    summary: str
    examples: tuple[str, ...] = ()
    assumed: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    then: Callable[[Any], None] | None = None
    hint: Callable[[Any, Any], None] | None = None
    begins: bool = False
    embeds: bool = False

    @property
    def topic(self) -> str:
        """The module of the operation."""
        return self.path.partition(".")[0]

    @property
    def operation(self) -> str:
        """The name of the operation."""
        return self.path.partition(".")[2]
