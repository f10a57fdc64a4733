"""The operations of the registry as commands: named here, made by one loop."""

import inspect
import json
import re
import shlex
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin
from uuid import UUID

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandInfo

from memory_butler.domain.errors import InvalidInput, MemoryButlerError
from memory_butler.surfaces.cli import hints, ids, moments
from memory_butler.surfaces.cli.as_json import print_json
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.lazy import LazyCommand, command_of
from memory_butler.surfaces.cli.named import LIST, Named
from memory_butler.surfaces.cli.names import COMMANDS, GROUPS
from memory_butler.surfaces.cli.place import (
    AsJson,
    Place,
    is_unknown_tenant,
    located,
    tell_new_tenant,
    tell_unknown_tenant,
    with_memory,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

    from memory_butler.engine.memory import Memory
    from memory_butler.operations.operation import Operation

# What the same name means here as there, only shorter.
_METAVARS: Final = {
    "memory_type": "TYPE",
    "memory_id": "ID",
    "rule_id": "ID",
    "receipt_id": "ID",
    "token_id": "NAME|ID",
    "source_type": "SOURCE_TYPE",
    "source_id": "SOURCE_ID",
    "target_type": "TARGET_TYPE",
    "target_id": "TARGET_ID",
    "relation": "RELATION",
    "job": "JOB",
    "kind": "KIND",
    "q": "TEXT",
    "source_entity_id": "SOURCE_ID",
    "target_entity_id": "TARGET_ID",
    "trigger_prompt": "PROMPT",
    "canonical_name": "NAME",
    "entity_type": "TYPE",
}
_SINGULAR: Final = {
    "tags": "tag",
    "types": "type",
    "aliases": "alias",
    "scopes": "scope",
    "episode_ids": "episode_id",
    "since": "from",
    "until": "to",
}
# What is said at the command line, and the word of an input that it stands for.
_SYNONYMS: Final = {("job", "cleanup"): "episode_cleanup"}
# Where a day without a year is one to come.
_AHEAD: Final = ("valid_until",)
_ID: Final = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]{0,28}")
# What may name an input in an error: a word with an underscore, or the first one of a complaint.
_FIELD: Final = re.compile(r"(?<![\w-])[a-z]+(?:_[a-z]+)+\b|^[a-z]+(?=:| (?:is|are|must|takes|\d))")
# The one input that is not asked for: it is --tenant.
_TENANT: Final = "tenant_id"


class Group(TyperGroup):
    """A group; where it has a command `list`, that is what the group alone does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in `list` before options, and where there is nothing; help stays help."""
        asks = bool(args) and (not args[0].startswith("-") or args[0] in ctx.help_option_names)
        if LIST in self.commands and not asks and not ctx.resilient_parsing:
            args = [LIST, *args]
        return super().parse_args(ctx, args)


class _Command(TyperCommand):
    """A command that says how a text or an id is given, where it is given as it is not taken.

    That is a text without quotes, or one that looks like an option; an id without its option, or
    without the kind of the memory before it.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = [one for one in self.params if one.param_type_name == "option"]
        names = [name for one in options for name in one.opts if name.endswith("-id")]
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            if names and options == self.params and "extra argument" in error.message:
                error.message += f". Give an id with {' or '.join(names)}."
            elif options == self.params:
                raise  # it takes no text
            elif "extra argument" in error.message:
                error.message += ". Put a text of several words in quotes."
            elif text := _like_an_option(error, given):
                error.message += f". Put -- before a text that begins with a dash: -- {text}"
            takes_kind = any(one.name in ("memory_type", "source_type") for one in self.params)
            if takes_kind and given and _ID.fullmatch(given[0]):
                error.message = f"Give the kind first, as in: {ctx.command_path} fact {given[0]}"
            raise


def _like_an_option(error: Exception, given: list[str]) -> str | None:
    """The text that was read as an option that there is none of, in quotes; None for a word."""
    name = getattr(error, "option_name", None) or "--"
    texts = (one for one in given if one.startswith(name) and (" " in one or one[1:2].isdigit()))
    found = next(texts, None)
    return None if found is None else shlex.quote(found if len(found) < 40 else f"{found[:40]}…")


def add_commands(group: TyperGroup) -> None:
    """Add a command for every operation; its parameters are looked up when it is called."""
    for named in COMMANDS:
        _add(group, named, named.words, hidden=False)
        for words in named.also:
            _add(group, named, words, hidden=True)


def _add(group: TyperGroup, named: Named, words: str, *, hidden: bool) -> None:
    *above, name = words.split()
    panel = None if above else named.panel
    command = LazyCommand(name, named.summary, panel, lambda: make(named))
    if above:
        _subgroup(group, above[0], named.panel, hidden=hidden).add_command(command)
        return
    command.hidden = hidden
    group.add_command(command)


def _subgroup(group: TyperGroup, name: str, panel: str, *, hidden: bool) -> TyperGroup:
    found = group.commands.get(name)
    if not isinstance(found, TyperGroup):
        said = GROUPS.get(name)
        found = Group(
            name=name, help=said, rich_help_panel=panel, no_args_is_help=True, hidden=hidden
        )
        group.add_command(found)
    return found


def make(named: Named) -> TyperCommand:
    """The command of an operation, its parameters those of the input model."""
    operation = _operation(named)

    def command(place: Place, *, as_json: bool, **given: Any) -> None:
        _run(operation, named, place, given, as_json=as_json)

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
        cls=_Command,
        callback=located(command, parameters),
        help=named.summary,
        epilog=epilog(*named.examples) if named.examples else None,
        # Typer leaves a placeholder where nothing is said, and turns it into a type of its own.
        short_help=None,
        rich_help_panel=named.panel,
    )
    return command_of(info)


def _operation(named: Named) -> "Operation[Any, Any]":
    # Not by way of the registry, whose imports take longer than most commands.
    module = import_module(f"memory_butler.operations.{named.topic}")
    operation: Operation[Any, Any] = getattr(module, named.operation)
    return operation


def _parameter(name: str, described: "FieldInfo", named: Named) -> inspect.Parameter:
    kind = _kind(described.annotation)
    metavar = _METAVARS.get(name) or _metavar(kind, name)
    words = get_args(kind) if get_origin(kind) is Literal else ()
    complete = (lambda: list(words)) if words else None
    required = described.is_required() and name not in named.assumed
    if not _is_option(name, described, named):
        argument = typer.Argument(
            help=_help(described, words, named.last.get(name)),
            metavar=metavar,
            autocompletion=complete,
            show_default=False,
        )
        taken = list[str] if get_origin(kind) is list else str
        default = named.last.get(name, inspect.Parameter.empty)
        return _keyword(name, Annotated[taken, argument], default)
    option = typer.Option(
        _option(name, named),
        help=_help(described, (), named.assumed.get(name)),
        metavar=None if kind is bool else metavar,
        autocompletion=complete,
        show_default=False,
    )
    if kind is bool:
        return _keyword(name, Annotated[bool, option], False)
    if get_origin(kind) is list:
        return _keyword(name, Annotated[list[str] | None, option], None)
    if required:
        return _keyword(name, Annotated[str, option], inspect.Parameter.empty)
    return _keyword(name, Annotated[str | None, option], named.assumed.get(name))


def _is_option(name: str, described: "FieldInfo", named: Named) -> bool:
    """Whether an input is given by an option, and not by its place."""
    return not described.is_required() or name in named.assumed or name in named.options


def _option(name: str, named: Named) -> str:
    spelled = named.options.get(name) or _SINGULAR.get(name, name)
    return f"--{spelled.replace('_', '-')}"


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _kind(annotation: Any) -> Any:
    """The annotation without `| None`, and without what checks it."""
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    parts = [part for part in get_args(annotation) if part is not NoneType]
    optional = NoneType in get_args(annotation)
    return _kind(parts[0]) if optional and len(parts) == 1 else annotation


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
    if described.is_required() and not said and described.annotation is UUID:
        said = "Its id."
    shown = default if default is not None else described.default
    if default is None and (described.is_required() or shown in (None, False)):
        return said
    if isinstance(shown, list):
        shown = ", ".join(shown)
    return f"{said} [dim]\\[default: {shown}][/]"


def _run(
    operation: "Operation[Any, Any]",
    named: Named,
    place: Place,
    given: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from memory_butler.operations.operation import nothing_found

    fields = operation.input_model.model_fields
    given = {name: _chosen(name, fields[name].annotation, value) for name, value in given.items()}
    # The id of an episode that may be left out is one that is not there yet.
    there = {n: v for n, v in given.items() if n != "episode_id" or fields[n].is_required()}
    # Without the beginning of an id it is checked before a database is started.
    with _spelled(named, fields):
        begun = ids.beginnings(there)
    ready = None if begun else _input(operation, named, place, given)

    async def answered(memory: "Memory") -> "tuple[BaseModel, BaseModel]":
        who, asked = place.principal(), ready
        if asked is None:
            with _spelled(named, fields):
                found = await ids.completed(memory, who, there)
            asked = _input(operation, named, place, {**given, **found})
        begins = named.begins and await is_unknown_tenant(memory, place)
        # Not through surfaces.calls: here an outage is an error, never an empty answer.
        with _spelled(named, fields):
            output = await operation.run(memory, who, asked)
        if begins:
            await tell_new_tenant(memory, place)
        # An error is one line; and an id that is not there is told anyway.
        elif operation.read_only and not nothing_found(output):
            await tell_unknown_tenant(memory, place)
        return asked, output

    # An operation on what has an id asks no model.
    with_model = ready is not None and operation.asks_model(ready)
    embeds = named.embeds and given.get("mode") != "keyword"
    asked, output = with_memory(
        place, answered, with_model=with_model, create=named.begins, embeds=embeds
    )
    found = not nothing_found(output)
    if as_json:
        print_json(output)
    elif found:
        # Imported here: rich takes a tenth of the time of a command.
        from memory_butler.surfaces.cli.answers import show

        show(operation.name, output)
        hints.of_period(asked)
        if named.hint is not None:
            named.hint(asked, output)
    if not found:
        raise _missing(asked)
    if named.then is not None:
        named.then(output)


def _input(
    operation: "Operation[Any, Any]", named: Named, place: Place, given: dict[str, Any]
) -> "BaseModel":
    from pydantic import ValidationError

    from memory_butler.engine.complaints import told

    fields = operation.input_model.model_fields
    values: dict[str, Any] = {}
    for name, value in given.items():
        if value is None or value is False:
            continue
        if value == "-" and fields[name].is_required():
            value = sys.stdin.read().removesuffix("\n")
        if get_origin(_kind(fields[name].annotation)) is dict:
            is_option = _is_option(name, fields[name], named)
            value = _json(_option(name, named) if is_option else name, value)
        elif _kind(fields[name].annotation) is datetime:
            option = _option(name, named)
            now = datetime.now(UTC)
            value = moments.read(option, value, now, ahead=name in _AHEAD)
        values[fields[name].alias or name] = value
    if _TENANT in fields:
        values[_TENANT] = place.principal().tenant
    try:
        checked: BaseModel = operation.input_model.model_validate(values)
        return checked
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        for one in found:
            one["loc"] = _typed(one["loc"], named, fields)
        raise InvalidInput(told(found, "input")) from None


def _typed(
    place: tuple[int | str, ...], named: Named, fields: "Mapping[str, FieldInfo]"
) -> tuple[int | str, ...]:
    """Where a mistake is, as it was typed."""
    said = str(place[0]) if place else ""
    name = next((one for one in fields if said in (one, fields[one].alias)), None)
    if name is None:
        return place
    first = _option(name, named) if _is_option(name, fields[name], named) else said
    return (first, *place[1:]) if _has_members(fields[name]) else (first,)  # no number of several


def _has_members(described: "FieldInfo") -> bool:
    return get_origin(_kind(described.annotation)) is dict


@contextmanager
def _spelled(named: Named, fields: "Mapping[str, FieldInfo]") -> "Iterator[None]":
    """What goes wrong inside is told with the options as they are typed: `--valid-from`."""
    try:
        yield
    except MemoryButlerError as error:
        options = {
            described.alias or name: _option(name, named)
            for name, described in fields.items()
            if name != _TENANT and _is_option(name, described, named)
        }
        said = _FIELD.sub(lambda found: options.get(found[0], found[0]), str(error))
        error.args = (said, *error.args[1:])
        raise


def _chosen(name: str, annotation: Any, value: Any) -> Any:
    """The value; of a choice of words the one that is meant: `decay-sweep`, `facts`."""
    kind = _kind(annotation)
    if get_origin(kind) is list and isinstance(value, list):
        return [_chosen(name, get_args(kind)[0], one) for one in value]
    if get_origin(kind) is not Literal or not isinstance(value, str):
        return value
    words = {one.replace("_", "-"): one for one in get_args(kind)}
    typed = value.replace("_", "-")
    meant = words.get(typed) or words.get(typed.removesuffix("s"))
    return _SYNONYMS.get((name, value)) or meant or value


def _json(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{option} is not JSON: {error}; for example '{{\"a\": 1}}'") from None


def _missing(asked: "BaseModel") -> Exception:
    from memory_butler.domain.errors import NotFound

    given = asked.model_dump()
    kind = given.get("memory_type", "entity")
    told = f"there is no {kind} {given.get('memory_id') or given.get('entity_id')}"
    axes = (("known_at", "that was known"), ("as_of", "that was true"))
    asked_of = [f"{said} at {given[one].isoformat()}" for one, said in axes if given.get(one)]
    return NotFound(" ".join([told, *asked_of]))
