"""Write what is made from code: pages of docs/ (states, configuration, tools, the API).

    .venv/bin/python tools/make_docs.py [--check]

With `--check` nothing is written; a page that is out of date is shown as a diff, and the exit
status is 1.
"""

import argparse
import asyncio
import difflib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast, get_args, get_origin

import httpx
from pydantic import TypeAdapter

from cli_reference import GENERATED, in_a_cell, render_cli_reference, table_of
from client_code import fields_of, is_shape
from memory_butler.__main__ import ADDITIONS
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.domain.episodes import CONSOLIDATION_TRANSITIONS
from memory_butler.domain.events import EVENT_TYPES
from memory_butler.domain.facts import VALIDITY_TRANSITIONS
from memory_butler.domain.rules import MATURITY_TRANSITIONS
from memory_butler.domain.transitions import START, Transition
from memory_butler.engine.memory import Memory
from memory_butler.host.butler import ButlerTable, Entry
from memory_butler.host.heartbeat_module import HeartbeatConfig
from memory_butler.operations.operation import Operation
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.errors import BY_CODE
from memory_butler.surfaces.guard import REFUSALS
from memory_butler.surfaces.http import served
from memory_butler.surfaces.rest.problems import MEANINGS
from memory_butler.surfaces.rest.routes import tag_of

DOCS: Final = Path(__file__).parents[1] / "docs"
DIFF_LINES_SHOWN: Final = 40

Schema = Mapping[str, Any]

# --- states.md ------------------------------------------------------------------------------------

_STATES_INTRO = """\
# States and events

A change of state that has no row in these tables does not happen. Numbers in the conditions are the
defaults of [the configuration](configuration.md).
"""

_VALIDITY_INTRO = """\
A fact is active until it decays, is superseded, or is forgotten; `fading` is kept as `validity`
`active` with `fading` in `metadata.status`, so that one confirmation brings it back.
"""

_MATURITY_INTRO = """\
A rule starts as a candidate, rises by helping, falls by harming, one step per mark, and turns into
a warning against itself when it has done too much harm. Each time that it helps, its decay starts
anew, and its confidence is at least (successes + 1) / (applications + 2): 0.67 after one help, 0.83
after four. What nobody confirms fades after 92 days, what the user said themselves after 458.
"""

_CONSOLIDATION_INTRO = """\
An episode is pending until consolidation ends for it in exactly one of three ways; a failure that
can be retried leaves it pending.
"""

_EVENTS_INTRO = """\
Every change is an entry of the append-only event log, written in the transaction of the change; its
`event_type` is one of these.
"""


def states_page() -> str:
    events = table_of(
        ("Event type", "Meaning"), ((f"`{name}`", said) for name, said in EVENT_TYPES.items())
    )
    return _page(
        _STATES_INTRO,
        *_state_machine("Validity of a fact", _VALIDITY_INTRO, VALIDITY_TRANSITIONS),
        *_state_machine("Maturity of a rule", _MATURITY_INTRO, MATURITY_TRANSITIONS),
        *_state_machine(
            "Consolidation of an episode", _CONSOLIDATION_INTRO, CONSOLIDATION_TRANSITIONS
        ),
        "## Events\n",
        _EVENTS_INTRO,
        events,
    )


def _state_machine(title: str, intro: str, table: Sequence[Transition]) -> Iterator[str]:
    yield f"## {title}\n"
    yield intro
    arrows = (f"    {row.source} --> {row.target}: {row.event}\n" for row in table)
    yield "```mermaid\nstateDiagram-v2\n" + "".join(arrows) + "```\n"
    yield table_of(
        ("From", "Event", "To", "Only if"),
        (
            (
                "(new)" if row.source == START else f"`{row.source}`",
                f"`{row.event}`",
                f"`{row.target}`",
                row.guard,
            )
            for row in table
        ),
    )


# --- configuration.md -----------------------------------------------------------------------------

_CONFIGURATION_INTRO = """\
# Configuration

Everything has a default: without any configuration Memory Butler serves on loopback, from a
database of its own. A value is taken from the first of these that gives it:

1. a flag of the command line,
2. an environment variable, as named in the tables below,
3. the file `butler.toml`,
4. the default.

The file is the one that the command line names, else the one that `MEMORY_BUTLER_CONFIG` names,
else `butler.toml` in the current directory, if there is one. A file that is named but missing is an
error.

Unknown keys are errors in every table of this program, and so is another table than `[server]`,
`[butler]` and `[modules.…]`, and a variable that begins with `MEMORY_BUTLER_` and names no
setting. Tables of another host's modules (`[modules.NAME]`) are left alone, unless the name is
nearly that of a module here: `[modules.memmory]` is an error. The variables of the hooks
(`MEMORY_BUTLER_URL`, `MEMORY_BUTLER_TOKEN`, `MEMORY_BUTLER_HOOK_DIR`) and of a butler's session
(`MEMORY_BUTLER_CONTEXT_FILE`) are no settings, and no mistakes.

`[butler.memory]` is an alias of `[modules.memory]`, with the same tables inside; where both give a
key, `[modules.memory]` wins. `port` may also stand in `[butler]`; `[server]` wins.

In the environment a list or a table is written as JSON.
"""


_BUTLER_INTRO = """\
# The `butler.toml` of a butler

These tables are read by `memory-butler butler run DIR`, beside those above; see
[butlers](butlers.md). No variable stands for them.
"""


def configuration_page() -> str:
    server = (name for name in Settings.model_fields if name != "memory")
    return _page(
        _CONFIGURATION_INTRO,
        *_config_table(Settings, "server", "Where and how this process serves.", tuple(server)),
        *_config_table(
            MemoryModuleConfig, "modules.memory", Settings.model_fields["memory"].description or ""
        ),
        _BUTLER_INTRO,
        *_config_table(ButlerTable, "butler", "What the butler is.", variables=False),
        *_config_table(Entry, "butler.schedule.NAME", "One entry.", variables=False),
        *_config_table(
            HeartbeatConfig, "modules.heartbeat", "Which butlers are ticked.", variables=False
        ),
    )


def _config_table(
    model: type[Any],
    table: str,
    intro: str,
    names: Sequence[str] = (),
    *,
    variables: bool = True,
) -> Iterator[str]:
    """The section of one TOML table, then those of the tables inside it."""
    schema = TypeAdapter(model).json_schema()
    fields = fields_of(model)
    rows = []
    inner: list[Iterator[str]] = []
    for name in names or tuple(fields):
        field = fields[name]
        meaning = field.description or ""
        inside = _model_in(field.annotation)
        if inside is not None:
            inner.append(_config_table(inside, f"{table}.{name}", meaning, variables=variables))
            continue
        row = (
            f"`{name}`",
            _type(schema["properties"][name]),
            "required"
            if field.is_required()
            else _default(field.get_default(call_default_factory=True)),
            meaning,
        )
        rows.append((*row, f"`{_variable(table, name)}`") if variables else row)
    yield f"## `[{table}]`\n"
    yield f"{intro}\n"
    if rows:
        heads = ("Key", "Type", "Default", "Meaning")
        yield table_of((*heads, "Environment variable") if variables else heads, rows)
    for section in inner:
        yield from section


def _model_in(annotation: object) -> type[Any] | None:
    """The shape of a table inside, which may be optional; None for a plain key."""
    for one in (annotation, *get_args(annotation)):
        if is_shape(one) and isinstance(one, type):
            return None if get_origin(annotation) is dict else one
    return None


def _variable(table: str, key: str) -> str:
    """The environment variable of a key: the table's names below `server` or `modules`, then it."""
    return "MEMORY_BUTLER_" + "__".join([*table.split(".")[1:], key]).upper()


# --- tools.md -------------------------------------------------------------------------------------

_TOOLS_INTRO = """\
# Tools

The MCP tools, in the order in which the server lists them. Each takes one object of named
parameters; a parameter with a default may be left out or null, and an unknown one is refused. No
answer holds an embedding. A NUL cannot be stored and is left out; an unpaired surrogate becomes
U+FFFD.

What a model sends is read as meant: a list or an object as its JSON text, a choice in any case, ""
for what it leaves out where no text fits. A program that asks for `structuredContent` is refused
there.

A model reads text: of memories a line each, what they say before what is known of them, numbers
rounded, and of a content above 1,000 characters the beginning. The tools that show memories or
entities answer with this text alone and have no output schema, because clients that find JSON show
their model the JSON; the answers of the others are short, and JSON in both places. A program gets
the whole answer, described below under *Gives*, as `structuredContent` where the request's `_meta`
has `"memory-butler/structured": true`. The objects inside answers are described once,
[at the end](#objects).

The toolset `core` is for clients that put every tool before the model: the six tools that are
marked so, with the parameters that a model needs most. A server has it at `/mcp/core`
([what an agent can do with it](integrations.md#six-tools-instead-of-19)).
"""


def tools_page() -> str:
    offered = [one for one in OPERATIONS if one.toolset is not None]
    objects: dict[str, Schema] = {}
    sections: list[str] = []
    for toolset in dict.fromkeys(one.toolset for one in offered):
        tools = [one for one in offered if one.toolset == toolset]
        sections.append(f"## Toolset `{toolset}`\n")
        sections.append(_bullets(f"[{one.name}](#{one.name}): {one.title}" for one in tools))
        for tool in tools:
            sections.extend(_tool(tool, objects))
    sections.append("## Objects\n")
    for name in sorted(objects):
        sections.append(f"### {name}\n")
        if text := objects[name].get("description"):
            sections.append(f"{in_a_cell(text)}\n")
        sections.append(_fields(objects[name]))
    return _page(_TOOLS_INTRO, *sections)


def _tool(tool: Operation[Any, Any], objects: dict[str, Schema]) -> Iterator[str]:
    """One tool; the objects that it takes or gives are added to `objects`."""
    takes = tool.input_model.model_json_schema()
    gives = tool.output_model.model_json_schema(mode="serialization")
    for schema in (takes, gives):
        definitions = schema.get("$defs", {}).items()
        objects.update((name, one) for name, one in definitions if "properties" in one)
    yield f"### {tool.name}\n"
    yield f"{tool.description}\n"
    yield f"{_hints(tool)}\n"
    if tool.core:
        shown = ", ".join(f"`{name}`" for name in tool.core)
        yield f"In the toolset `core`, with {shown}.\n"
    if tool.programs:
        hidden = ", ".join(f"`{name}`" for name in tool.programs)
        yield f"For programs, not shown to models: {hidden}.\n"
    if takes.get("properties"):
        configured = tool.configured_defaults
        values = configured(MemoryModuleConfig()) if configured else {}
        yield "Takes:\n"
        yield _parameters(takes, values)
    else:
        yield "Takes nothing.\n"
    yield "Gives:\n"
    if gives.get("properties"):
        yield _fields(gives)
    else:
        yield _bullets([_type(gives)])


def _hints(tool: Operation[Any, Any]) -> str:
    """The needed scope, and what the tool's annotations promise."""
    if tool.read_only:
        hints = ["Changes nothing that is remembered."]
    elif tool.destructive:
        hints = ["May take away or overwrite what was remembered."]
    else:
        hints = ["Changes what is remembered, and takes nothing away."]
    if tool.idempotent and not tool.read_only:
        hints.append("Doing it twice is doing it once.")
    if tool.open_world:
        hints.append("May ask a language model of another provider.")
    if tool.render is not None:
        hints.append("Answers with text.")
    return " ".join([f"Needs the scope `{tool.needs}`.", *hints])


def _parameters(schema: Schema, configured: Mapping[str, Any]) -> str:
    rows = []
    required = schema.get("required", ())
    for name, one in schema["properties"].items():
        if name in configured:
            default = f"{_default(configured[name])}, or as configured"
        elif name in required:
            default = "required"
        else:
            default = _default(one.get("default"))
        rows.append((f"`{name}`", _type(one), default, one.get("description", "")))
    return table_of(("Parameter", "Type", "Default", "Meaning"), rows)


def _fields(schema: Schema) -> str:
    return table_of(
        ("Field", "Type", "Meaning"),
        (
            (f"`{name}`", _type(one), one.get("description", ""))
            for name, one in schema.get("properties", {}).items()
        ),
    )


# --- Markdown and JSON Schema ---------------------------------------------------------------------

_FORMATS = {"uuid": "UUID", "date-time": "time", "password": "secret string", "path": "path"}
_BOUNDS = {
    "minimum": "from {}",
    "exclusiveMinimum": "above {}",
    "maximum": "up to {}",
    "exclusiveMaximum": "below {}",
    "minLength": "of {} characters or more",
    "maxLength": "of at most {} characters",
    "minItems": "with {} items or more",
    "maxItems": "with at most {} items",
}


def _type(schema: Schema) -> str:
    """A JSON schema in words, such as "integer from 1 up to 200 or null"."""
    for either in ("anyOf", "oneOf"):
        if either in schema:
            return " or ".join(dict.fromkeys(_type(one) for one in schema[either]))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    bounds = [said.format(schema[key]) for key, said in _BOUNDS.items() if key in schema]
    return " ".join([_kind(schema), *bounds])


def _kind(schema: Schema) -> str:
    kind: str = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_inner(schema['items'])}" if schema.get("items") else "list"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"table of {_inner(values)}" if isinstance(values, Mapping) and values else "object"
    return _FORMATS.get(schema.get("format", ""), kind)


def _inner(schema: Schema) -> str:
    said = _type(schema)
    return f"({said})" if " or " in said else said


def _default(value: object) -> str:
    """A default as it would be written; one that depends on the machine is not shown."""
    if value is None:
        return "none"
    if isinstance(value, Path):
        return "the platform's user data directory"
    if isinstance(value, Mapping):
        return "`{ " + ", ".join(f"{key} = {json.dumps(one)}" for key, one in value.items()) + " }`"
    return f"`{json.dumps(value)}`"


def _bullets(items: Iterable[str]) -> str:
    return "".join(f"- {item}\n" for item in items)


def _page(*parts: str) -> str:
    return "\n".join([f"{GENERATED}\n", *parts])


# --- the API --------------------------------------------------------------------------------------


def openapi_document() -> str:
    """What the server gives at /api/openapi.json: the dashboard's types are made from it."""
    # Describing needs neither a database nor a model.
    memory = Memory(cast(Any, None), cast(Any, None), 0, MemoryModuleConfig())
    transport = httpx.ASGITransport(served(memory, Settings()).app)

    async def ask() -> str:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.get("/api/openapi.json")
            return json.dumps(answer.raise_for_status().json(), indent=1, ensure_ascii=False)

    return f"{asyncio.run(ask())}\n"


_REST_INTRO = """\
# REST

Everything under `/api`, for the dashboard and for programs. The whole description, with the shape
and an example of every request and answer, is at `/api/openapi.json` (and in
[openapi.json](openapi.json)).

**Who asks.** `Authorization: Bearer <token>`; `memory-butler token create` makes one. On loopback
none is demanded unless `require_token` says so. A browser exchanges its token for a cookie that no
script can read, at `POST /api/session`; a page of another origin is refused. A request with
`Memory-Butler-Tenant: <name>` is refused with 409 where the token is of another tenant; so is one
for a picture or a stream with `?memory-butler-tenant=<name>`.

**Lists** take `limit` (50 by default, 200 at most) and `offset`, and tell the `total`; the order is
stable. What more than 5,000 have (words of `q`, a `tag`) is counted no further than 500, or than
was read: then `total_is_exact` is false, there are at least `total`, and who reads on until `total`
comes to the end. Where others write meanwhile, pass one `known_at` with every part, or `until` to
events. A list shows at most 2,000 characters of a content and its whole
`content_length`. Looking counts no reference and changes nothing.

**Times** are ISO 8601. A `known_at` or `valid_from` up to a minute ahead counts as now, because
clocks differ. One without a time zone is read in UTC; a date is its midnight, or as
`valid_until` all of that day in the server's time zone.

**Input** of `GET` and `DELETE` comes in the query, that of the others in a JSON body. What is not
read is refused with 422, and nothing is done: an unknown name, and a query beside a body
(`POST /api/memory/erase?preview=true`).

**Errors** are problems (RFC 9457, `application/problem+json`): `code` is stable, `detail` says what
to do ([all codes](#errors)). 503 is for what is away (the database, a model) and for what is not
set up, such as a model that nobody has named; 500 is a bug.

**Limits.** A content has up to 65,536 bytes (`max_content_bytes`), a subject 1,000 bytes, a name
such as a scope 500 bytes; a list passes over 1,000,000 at most. What is beyond a limit is refused
with 422, and `detail` names the limit and what to do; a body beyond 8 MB with 413. Requests with a
token are not counted. What is reached without one (`/healthz`, `/readyz`, `/api/session`) is
answered 20 times a second for each address, then with 429. A NUL cannot be stored and is left out;
an unpaired surrogate becomes U+FFFD (�).

**Edits.** `GET` of one fact or rule gives an `ETag`; pass it back as `If-Match`. Of two people who
edit one thing the second gets 409, with the state that holds now as `current` and its
`current_revision`. A fact is never overwritten: the edit makes a new one that supersedes it, and
answers with its id. Without `If-Match` a rule is edited whatever happened in between; a fact that
was superseded is refused with 409, which names the one that holds now. What is deleted can be
restored. A merge of entities takes the `ETag` of its preview: it does what that showed, or is
refused with 409. Here the second edit comes too late, and is answered with 409 (the examples need
curl 7.84 or later):

<!-- The tests run these lines. -->
```sh
rules=http://127.0.0.1:8150/api/memory/rules
stored=$(curl -s $rules --json '{"content": "Write short letters"}')
id=$(echo "$stored" | grep -o '[0-9a-f-]\\{36\\}' | head -1)
etag=$(curl -s -o /dev/null -w '%header{etag}' $rules/$id)
curl -s $rules/$id -X PUT -H "If-Match: $etag" --json '{"content": "Write brief letters"}'
curl -s $rules/$id -X PUT -H "If-Match: $etag" --json '{"content": "Write long letters"}'
```

**Live events.** `GET /api/memory/events/stream` tells what happens as server-sent events. After a
break a client sends the `Last-Event-ID` that it saw, and is told all that it missed; an event may
come twice then. A new stream begins with an id that has no data: what to come back with where
nothing has happened yet. So does one whose `Last-Event-ID` is unknown, as after a restore: what was
missed cannot be told. A stream ends after five minutes, and browsers come back by themselves. A
comment comes every 15 seconds: wait longer than that before you give a connection up.

<!-- The tests run these lines. -->
```sh
curl -sN http://127.0.0.1:8150/api/memory/events/stream
```

A rule stored elsewhere meanwhile, as below, shows here at once.

<!-- The tests run these lines. -->
```sh
curl -s http://127.0.0.1:8150/api/memory/rules --json '{"content": "Ask before sending"}'
curl -s 'http://127.0.0.1:8150/api/memory/rules?q=sending&limit=10'
curl -s http://127.0.0.1:8150/api/memory/search --json '{"query": "messages", "types": ["rule"]}'
curl -s http://127.0.0.1:8150/api/memory/stats
```

In the tables, "Scope" is what a token must allow.
"""


def _errors() -> str:
    """Each status with its codes: those of the operations, and those of the guard before them."""
    codes: dict[int, dict[str, None]] = {}
    given = [(one.http_status, code) for code, one in BY_CODE.items()]
    for status, code in given + [(status, code) for status, (_, code) in REFUSALS.items()]:
        codes.setdefault(status, {})[f"`{code}`"] = None
    rows = [(str(status), ", ".join(codes[status]), said) for status, said in MEANINGS.items()]
    return table_of(("Status", "Code", "What it means"), rows)


def rest_page() -> str:
    rows: dict[str, list[tuple[str, ...]]] = {}
    for operation in OPERATIONS:
        for route in operation.routes:
            path = route.path.replace(":path}", "}")
            shown = route.title or operation.title
            needs = f"`{operation.needs}`" + (" or `exchange`" if operation.for_peers else "")
            row = (f"`{route.method}`", f"`{path}`", shown, needs)
            rows.setdefault(tag_of(route), []).append(row)
    parts = [_REST_INTRO, "## Errors\n", _errors()]
    for noun in sorted(rows):
        parts.append(f"## {noun.replace('-', ' ').capitalize()}\n")
        parts.append(table_of(("Method", "Path", "What it does", "Scope"), rows[noun]))
    return _page(*parts)


# --- the pages ------------------------------------------------------------------------------------

PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "states.md": states_page,
    "configuration.md": configuration_page,
    "tools.md": tools_page,
    "cli.md": lambda: render_cli_reference(*ADDITIONS),
    "rest.md": rest_page,
    "openapi.json": openapi_document,
}


def difference(name: str) -> str:
    """How the page on disk differs from what the code says now; '' where it does not."""
    file = DOCS / name
    found = file.read_text(encoding="utf-8") if file.is_file() else ""
    lines = difflib.unified_diff(
        found.splitlines(), PAGES[name]().splitlines(), f"docs/{name}", "the code", lineterm="", n=1
    )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the pages of docs/ made from code.")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if out of date")
    if parser.parse_args().check:
        stale = [diff for name in PAGES if (diff := difference(name))]
        for diff in stale:
            lines = diff.splitlines()
            print("\n".join(lines[:DIFF_LINES_SHOWN]))
            if len(lines) > DIFF_LINES_SHOWN:
                print(f"... and {len(lines) - DIFF_LINES_SHOWN} more lines")
        return 1 if stale else 0
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
        print(f"docs/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
