"""The operations of the registry as commands: named here, made by one loop."""

import inspect
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.lazy import LazyCommand
from memory_butler.surfaces.cli.place import AsJson, Place, located, with_memory
from memory_butler.surfaces.errors import explain_validation

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from memory_butler.operations.operation import Operation

FIND: Final = "Find"
STORE: Final = "Store"
CURATE: Final = "Curate"
KEEP: Final = "Keep in order"


@dataclass(frozen=True, slots=True)
class Named:
    """How an operation is called here. `assumed` makes options of required inputs."""

    words: str
    operation: str
    panel: str
    summary: str
    examples: tuple[str, ...] = ()
    assumed: Mapping[str, str] = field(default_factory=dict)


_COLOUR = 'memory-butler store-fact user favorite_color "Prefers dark green" --tag taste'

COMMANDS: Final[tuple[Named, ...]] = (
    Named(
        "recall",
        "memory_recall",
        FIND,
        "The facts and rules that matter most for a topic.",
        ('memory-butler recall "dinner with Ana" --limit 5', "memory-butler recall travel --json"),
    ),
    Named(
        "search",
        "memory_search",
        FIND,
        "Find episodes, facts and rules by meaning and by words.",
        ('memory-butler search "lost luggage" --type episode --mode keyword',),
    ),
    Named(
        "context",
        "memory_context",
        FIND,
        "The memory block for a prompt, as a session gets it.",
        ('memory-butler context "Plan my week" claude-code --token-budget 1000',),
    ),
    Named("get", "memory_get", FIND, "One memory, whole and in whatever state it is."),
    Named("stats", "memory_stats", FIND, "How much memory there is, and how healthy it is."),
    Named(
        "store-fact",
        "memory_store_fact",
        STORE,
        "Store what is true; the fact of the same subject and predicate is superseded.",
        (_COLOUR, "memory-butler store-fact user city Lisbon --valid-from 2026-01-01T00:00:00Z"),
    ),
    Named(
        "store-rule",
        "memory_store_rule",
        STORE,
        "Store a lesson on how to behave.",
        ('memory-butler store-rule "Confirm before sending messages"',),
    ),
    Named(
        "store-episode",
        "memory_store_episode",
        STORE,
        "Store what happened; - reads it from standard input.",
        (
            'memory-butler store-episode "Ana called about the trip"',
            "memory-butler store-episode - --butler notes < today.txt",
        ),
        {"butler": "cli"},
    ),
    Named("confirm", "memory_confirm", CURATE, "Say that a fact or rule still holds."),
    Named("forget", "memory_forget", CURATE, "Take a memory out of retrieval, recoverably."),
    Named("mark-helpful", "memory_mark_helpful", CURATE, "Say that a rule helped."),
    Named("mark-harmful", "memory_mark_harmful", CURATE, "Say that a rule did harm."),
    Named(
        "entity create",
        "entity_create",
        CURATE,
        "Register a person, organisation or place.",
        ('memory-butler entity create "Ana Silva" person --alias Ana',),
    ),
    Named("entity get", "entity_get", CURATE, "One entity with its names."),
    Named("entity update", "entity_update", CURATE, "Correct an entity."),
    Named("entity resolve", "entity_resolve", CURATE, "Whom a name may mean, the likeliest first."),
    Named("entity merge", "entity_merge", CURATE, "Make two entities one."),
    Named("consolidate", "memory_run_consolidation", KEEP, "Turn waiting episodes into facts."),
    Named("cleanup", "memory_run_episode_cleanup", KEEP, "Delete episodes that had their time."),
)

# What the same name means here as there, only shorter.
_METAVARS: Final = {
    "memory_type": "TYPE",
    "memory_id": "ID",
    "rule_id": "ID",
    "source_entity_id": "SOURCE_ID",
    "target_entity_id": "TARGET_ID",
    "trigger_prompt": "PROMPT",
    "canonical_name": "NAME",
    "entity_type": "TYPE",
}
_SINGULAR: Final = {"tags": "tag", "types": "type", "aliases": "alias"}
_ENTITY_HELP: Final = "The people, organisations and places that facts are about."
# The one input that is not asked for: it is --tenant.
_TENANT: Final = "tenant_id"


def add_commands(group: TyperGroup) -> None:
    """Add a command for every operation; its parameters are looked up when it is called."""
    for named in COMMANDS:
        *above, name = named.words.split()
        into = _subgroup(group, above[0]) if above else group
        command = LazyCommand(name, named.summary, named.panel, lambda named=named: make(named))  # type: ignore[misc]
        into.add_command(command)


def _subgroup(group: TyperGroup, name: str) -> TyperGroup:
    found = group.commands.get(name)
    if not isinstance(found, TyperGroup):
        found = TyperGroup(
            name=name, help=_ENTITY_HELP, rich_help_panel=CURATE, no_args_is_help=True
        )
        group.add_command(found)
    return found


def make(named: Named) -> TyperCommand:
    """The command of an operation, its parameters those of the input model."""
    from memory_butler.operations.registry import OPERATIONS

    operation = next(one for one in OPERATIONS if one.name == named.operation)

    def command(place: Place, *, as_json: bool, **given: Any) -> None:
        _run(operation, place, given, as_json=as_json)

    parameters = [
        _parameter(name, one, named)
        for name, one in operation.input_model.model_fields.items()
        if name != _TENANT
    ]
    parameters.append(
        inspect.Parameter(
            "as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson
        )
    )
    info = CommandInfo(
        name=named.words.split()[-1],
        callback=located(command, parameters),
        help=named.summary,
        epilog=epilog(*named.examples) if named.examples else None,
        # Typer leaves a placeholder where nothing is said, and turns it into a type of its own.
        short_help=None,
        rich_help_panel=named.panel,
    )
    made = get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode="rich")
    assert isinstance(made, TyperCommand)  # noqa: S101 -- no other class was asked for
    return made


def _parameter(name: str, described: "FieldInfo", named: Named) -> inspect.Parameter:
    kind = _kind(described.annotation)
    metavar = _METAVARS.get(name) or _metavar(kind, name)
    words = get_args(kind) if get_origin(kind) is Literal else ()
    complete = (lambda: list(words)) if words else None
    if described.is_required() and name not in named.assumed:
        argument = typer.Argument(
            help=_help(described, words), metavar=metavar, autocompletion=complete
        )
        return _keyword(name, Annotated[str, argument], inspect.Parameter.empty)
    shown = _SINGULAR.get(name, name).replace("_", "-")
    option = typer.Option(
        f"--{shown}",
        help=_help(described, (), named.assumed.get(name)),
        metavar=None if kind is bool else metavar,
        autocompletion=complete,
        show_default=False,
    )
    if kind is bool:
        return _keyword(name, Annotated[bool, option], False)
    if get_origin(kind) is list:
        return _keyword(name, Annotated[list[str] | None, option], None)
    return _keyword(name, Annotated[str | None, option], named.assumed.get(name))


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _kind(annotation: Any) -> Any:
    """The annotation without `| None`."""
    parts = [part for part in get_args(annotation) if part is not NoneType]
    optional = NoneType in get_args(annotation)
    return parts[0] if optional and len(parts) == 1 else annotation


def _metavar(kind: Any, name: str) -> str:
    if get_origin(kind) is list:
        return _metavar(get_args(kind)[0], _SINGULAR.get(name, name))
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    if get_origin(kind) is dict:
        return "JSON"
    if name.endswith("_id"):
        return "ID"
    simple = {"datetime": "TIME", "int": "NUMBER", "float": "NUMBER"}
    return simple.get(getattr(kind, "__name__", ""), name.upper())


def _help(described: "FieldInfo", words: tuple[str, ...], default: str | None = None) -> str:
    said = (described.description or "").replace("[", "\\[")
    if words and not said:
        said = f"{', '.join(words[:-1])} or {words[-1]}."
    shown = default if default is not None else described.default
    if default is None and (described.is_required() or shown in (None, False)):
        return said
    return f"{said} [dim]\\[default: {shown}][/]"


def _run(
    operation: "Operation[Any, Any]", place: Place, given: dict[str, Any], *, as_json: bool
) -> None:
    from memory_butler.surfaces.cli.answers import print_json, show

    asked = _input(operation, place, given)
    output: BaseModel = with_memory(
        # Not through surfaces.calls: here an outage is an error, never an empty answer.
        place,
        lambda memory: operation.run(memory, place.principal(), asked),
    )
    found = getattr(output, "memory", output) is not None
    found = found and getattr(output, "entity", output) is not None
    if as_json:
        print_json(output)
    elif found:
        show(operation.name, output)
    if not found:
        raise _missing(asked)


def _input(operation: "Operation[Any, Any]", place: Place, given: dict[str, Any]) -> "BaseModel":
    from pydantic import ValidationError

    fields = operation.input_model.model_fields
    values: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or value is False:
            continue
        if get_origin(_kind(fields[name].annotation)) is dict:
            value = _json(name, value)
        elif value == "-" and fields[name].is_required():
            value = sys.stdin.read().removesuffix("\n")
        values[name] = value
    if _TENANT in fields:
        values[_TENANT] = place.principal().tenant
    try:
        checked: BaseModel = operation.input_model.model_validate(values)
        return checked
    except ValidationError as error:
        raise InvalidInput(explain_validation(error)) from None


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        option = name.replace("_", "-")
        raise InvalidInput(f"--{option} is no JSON: {error}; for example '{{\"a\": 1}}'") from None


def _missing(asked: "BaseModel") -> Exception:
    from memory_butler.domain.errors import NotFound

    given = asked.model_dump()
    kind = given.get("memory_type", "entity")
    return NotFound(f"there is no {kind} {given.get('memory_id') or given.get('entity_id')}")
