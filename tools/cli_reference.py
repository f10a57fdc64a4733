"""docs/cli.md, made from the commands themselves."""

from collections.abc import Iterable, Iterator, Sequence
from inspect import getdoc
from typing import Any

from rich.text import Text
from typer.core import TyperArgument, TyperGroup, TyperOption

from memory_butler.engine.import_format import LINES
from memory_butler.surfaces.cli.lazy import LazyCommand
from memory_butler.surfaces.cli.place import PANEL
from memory_butler.surfaces.cli.problems import exit_codes
from memory_butler.surfaces.cli.program import Addition, build

GENERATED = "<!-- Written by tools/make_docs.py. Change the code, then run `make docs`. -->"

_INTRO = """\
# Command line

Every command works on an installation: the one of the configuration, or the one that the options at
the end of its help name. Commands work beside a running server, and beside each other: they share
the embedded database, which is started by the first that needs it and stopped after the last.

An input of `-` reads the text from standard input. A TIME is ISO 8601, or words: `yesterday`,
`3 days ago`, `16 November 2026`. Without a time zone it is in UTC; a day means its beginning, or
as `--valid-until` all of it in the server's time zone. Words of an input may be written with
hyphens: `run decay-sweep`. Where a memory, an entity, a context, an event, a run or a token is
named, the first 8 or more characters of its ID are enough if no other ID begins so; `erase` takes
whole IDs alone. A valid token is also found by its name, and an entity by its name or an alias that
no other has.

With `--json` a command prints exactly the answer of REST, and nothing else, on standard output;
whatever else there is to say goes to standard error. A group alone lists: `facts` is `facts list`.
"""

_SHARED_INTRO = """\
These options belong to every command but `version`, `verify` and `demo`; `--tenant` to those that
are about one tenant. The first memory, import or token begins a tenant, and the command says so
where there are others.
"""

_CODES_INTRO = """\
## Exit codes

An error is one line on standard error, `error: ` and what to do. A line that begins with `bug: ` is
our own mistake. A consolidation that failed for every group of episodes ends with 7, with `--json`
too; one that failed for some ends with 0 and a line on standard error. One whose model refuses the
key ends with 8.
"""

_IMPORT_INTRO = """\
## Import format

`memory-butler import` reads JSON Lines: an object a line, UTF-8, blank lines ignored. `kind` says
what the line is; the other keys are those of the tables below, and an unknown one is an error.
Moments are ISO 8601 with a time zone. Lines are stored in the order of the file: a fact supersedes
an earlier one of the same subject, predicate and scope.

```json
{"kind": "entity", "id": "ana", "canonical_name": "Ana Silva", "entity_type": "person"}
{"kind": "episode", "id": "call", "content": "Ana called: she lives in Lisbon", "butler": "notes"}
{"kind": "fact", "id": "1", "subject": "Ana", "predicate": "city", "content": "Lisbon",
 "entity_id": "ana", "source_episode_id": "call"}
{"kind": "rule", "id": "2", "content": "Ask Ana before booking trains"}
{"kind": "link", "source_type": "fact", "source_id": "1", "target_type": "rule", "target_id": "2",
 "relation": "supports"}
```

(Here folded; in the file each object is one line.)

An `id` is the file's own: it stands for the memory in later lines of the same file, and is not
kept. Where no earlier line of the kind has it, a reference is taken for an id of the store.

**Nothing is stored twice.** The id that a memory gets follows from its tenant and its line, byte
for byte, and from how many equal lines stand before it in the file. So an import that was
interrupted, or left out bad lines, is finished by running the same command again, and a file that
has grown may be imported again. A line that another file had already is there already too.

A bad line is told with its number and the reason, and left out; the exit code is then 3. With
`--strict` the import stops at the first, and what stands before it is stored.
"""


def render_cli_reference(*additions: Addition) -> str:
    """The whole page, with the commands of the rooms above."""
    commands = list(commands_of(build(_nobody, *additions).whole()))
    parts = [GENERATED + "\n", _INTRO, _overview(commands)]
    parts += [_SHARED_INTRO, table_of(("Option", "Meaning"), _shared(commands[0][1]))]
    for words, command in commands:
        parts += _command(words, command)
    codes = ((str(code), title) for code, title in exit_codes())
    parts += [_CODES_INTRO, table_of(("Code", "Meaning"), codes), _IMPORT_INTRO]
    for line in LINES:
        parts += [f"### {line.model_fields['kind'].annotation.__args__[0]}\n"]  # type: ignore[union-attr]
        parts += [f"{getdoc(line)}\n", table_of(("Key", "Default", "Meaning"), _keys(line))]
    return "\n".join(parts)


async def _nobody(*_: Any) -> None:
    """Serves nothing: only the help is wanted."""


def commands_of(
    group: TyperGroup, above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of a group, by its words, in the order of the help."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        if isinstance(command, TyperGroup):
            yield from commands_of(command, (*above, name))
        else:
            loaded = command.loaded() if isinstance(command, LazyCommand) else command
            yield (*above, name), loaded


def _overview(commands: Sequence[tuple[tuple[str, ...], Any]]) -> str:
    rows = (
        (f"[`{' '.join(words)}`](#memory-butler-{'-'.join(words)})", _first(command.help))
        for words, command in commands
    )
    return table_of(("Command", "What it does"), rows)


def _first(help_text: str) -> str:
    return help_text.partition("\n\n")[0]


def _command(words: tuple[str, ...], command: Any) -> Iterator[str]:
    name = f"memory-butler {' '.join(words)}"
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    own = [
        one
        for one in command.params
        if isinstance(one, TyperOption) and one.rich_help_panel != PANEL
    ]
    shown = [_shown(one) for one in arguments]
    yield f"## {name}\n"
    yield f"    {' '.join([name, *shown, *(['[OPTIONS]'] if own else [])])}\n"
    yield f"{command.help}\n"
    if arguments or own:
        yield table_of(
            ("Parameter", "Meaning"),
            [
                *((f"`{one.metavar}`", _plain(one.help)) for one in arguments),
                *((_option(one), _meaning(one)) for one in own),
            ],
        )
    if command.epilog:
        lines = [line.strip() for line in _plain(command.epilog).splitlines()[1:]]
        yield "\n".join(["```console", *(f"$ {line}" for line in lines), "```", ""])


def _shown(argument: TyperArgument) -> str:
    return str(argument.metavar) if argument.required else f"[{argument.metavar}]"


def _option(option: TyperOption) -> str:
    value = "" if option.is_flag else f" {option.metavar}"
    return f"`{option.opts[0]}{value}`"


def _meaning(option: TyperOption) -> str:
    said = _plain(option.help)
    default = option.default
    if option.required:
        return f"{said} Required."
    if default in (None, "") or option.is_flag or "[default:" in said:
        return said
    return f"{said} [default: {default}]"


def _shared(command: Any) -> list[tuple[str, str]]:
    return [
        (_option(one), _meaning(one))
        for one in command.params
        if isinstance(one, TyperOption) and one.rich_help_panel == PANEL
    ]


def _keys(line: Any) -> Iterator[tuple[str, str, str]]:
    for name, one in line.model_fields.items():
        if name != "kind":
            default = "required" if one.is_required() else _default(one.default)
            yield f"`{name}`", default, one.description or ""


def _default(value: object) -> str:
    return "" if value is None else f"`{value}`"


def _plain(markup: str | None) -> str:
    return Text.from_markup(markup or "").plain


def table_of(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(in_a_cell(cell) for cell in line) + " |\n" for line in lines)


def in_a_cell(text: str) -> str:
    """A text on one line, as a cell of a table has it."""
    return " ".join(text.split()).replace("|", "\\|")
