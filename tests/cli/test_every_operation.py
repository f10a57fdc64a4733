"""Operations and commands: every operation is a command, and `--json` is the answer of REST."""

from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final

import httpx
import pytest
from typer.core import TyperGroup

from cli.installation import Installation
from memory_butler.__main__ import ADDITIONS
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.cli import ids
from memory_butler.surfaces.cli.named import PANELS
from memory_butler.surfaces.cli.names import COMMANDS, GROUPS
from memory_butler.surfaces.cli.program import build

# Operations that are no command of the table, and why.
EXCEPTIONS: Final = {
    "memory_erase": "`erase` asks first, finishes what was cut off and takes --admin-dsn",
    **dict.fromkeys(
        ("memory_exchange_state", "memory_exchange_facts", "memory_exchange_take"),
        "`pull` and `push` carry what these say between two installations",
    ),
    **dict.fromkeys(("episode_address", "episode_deliver"), "hooks ask it, and hand in letters"),
    "facts_rename": "a folder of the memory tool; `facts edit --subject` renames one",
    "memory_find": "the dashboard's search while somebody types; `search` is the command",
    "memory_map": "a picture; `entities list` and `entities show` have what is on it",
    "memory_trends": "figures that only a chart makes readable",
    **dict.fromkeys(
        (one.name for one in OPERATIONS if one.name.startswith("journal_")),
        "`journal` opens the file itself: no database is started, and a talk goes on",
    ),
    **dict.fromkeys(
        (one.name for one in OPERATIONS if one.name.startswith("items_")),
        "what programs keep for themselves, in shapes of their own",
    ),
}

# Commands that are written by hand, for they have no operation; `erase` is the exception above.
BY_HAND: Final = set(
    "serve demo mcp connect disconnect doctor butler import export move write-rules sync pull "
    "push peers scan-secrets erase verify journal reembed reindex-words backup restore-backup keys "
    "audit distribute index psql db-url db version".split()
)


def test_what_is_written_by_hand_has_no_operation() -> None:
    shown = {
        name for name, one in build(_nobody, *ADDITIONS).whole().commands.items() if not one.hidden
    }
    assert shown - {one.words.partition(" ")[0] for one in COMMANDS} == BY_HAND


def test_every_operation_is_a_command_or_an_exception() -> None:
    commands = [one.operation for one in COMMANDS]
    assert len(commands) == len(set(commands))
    assert {*commands, *EXCEPTIONS} == {one.name for one in OPERATIONS}
    assert not EXCEPTIONS.keys() & set(commands)


def test_every_command_finds_its_operation_by_its_path() -> None:
    for one in COMMANDS:
        module = import_module(f"memory_butler.operations.{one.topic}")
        names = [getattr(found, "name", None) for found in vars(module).values()]
        assert one.operation in names, one


def test_what_needs_the_id_of_a_memory_asks_no_model() -> None:
    """So it may be opened without one, to find the id that begins as it was typed."""
    for operation in OPERATIONS:
        fields = operation.input_model.model_fields.items()
        needed = {name for name, field in fields if field.is_required()}
        assert not (operation.uses_model and needed & {*ids._KINDS, *ids._NAMED_BY}), operation.name


def test_words_are_unique_and_stand_in_the_order_of_the_table() -> None:
    group = build(_nobody, *ADDITIONS).whole()
    words = [words for one in COMMANDS for words in (one.words, *one.also)]
    assert len(words) == len(set(words))
    for one in COMMANDS:
        first, _, second = one.words.partition(" ")
        found = group.commands[first]
        assert isinstance(found, TyperGroup) == bool(second), one
        assert not second or first in GROUPS, one
    shown = [name for name, command in group.commands.items() if not command.hidden]
    panels = [PANELS.index(group.commands[name].rich_help_panel) for name in shown]  # type: ignore[attr-defined]
    assert panels == sorted(panels)
    told = [
        one.words.partition(" ")[0] for panel in PANELS for one in COMMANDS if one.panel == panel
    ]
    assert [name for name in shown if name in told] == list(dict.fromkeys(told))


async def _nobody(*_: Any) -> None:
    pass


def test_what_is_left_out_of_the_help_still_works(installation: Installation, tenant: str) -> None:
    of = ("--tenant", tenant)
    assert "accept" not in installation.inside("--help").out.split()
    shown = installation.inside("entity", "create", "Ana Silva", "person", "--json", *of).json
    found = installation.inside("entity", "get", shown["entity"]["id"], "--json", *of).json
    assert found["entity"] == shown["entity"]
    nobody = shown["entity"]["id"]
    assert "there is no fact" in installation.inside("accept", nobody, *of, code=4).err


def test_a_group_alone_lists(installation: Installation, tenant: str) -> None:
    of = ("--tenant", tenant)
    installation.inside("store-rule", "Ask first", *of)
    for words in (("rules",), ("rules", "list")):
        assert "Ask first" in installation.inside(*words, *of).out
        assert installation.inside(*words, "--json", *of).json["total"] == 1
    assert "No rules." in installation.inside("rules", "--state", "disabled", *of).out
    help_page = installation.inside("rules", "--help").out
    assert all(word in help_page for word in ("list", "show", "edit", "move"))
    assert "Did you mean 'show'" in installation.inside("rules", "shaw", code=2).err


@pytest.fixture(scope="module")
def stored(installation: Installation) -> dict[str, str]:
    """A little of everything in the tenant that REST serves without a token; names to ids."""

    def say(*words: str) -> Any:
        return installation.inside(*words, "--json").json

    session = "0c6d2f0f-2a5e-4d1b-9f6b-8a7c5d4e3f21"
    ids = {
        "fact": say("store-fact", "user", "tea", "Likes oolong", "--tag", "taste")["id"],
        "rule": say("store-rule", "Serve tea hot")["id"],
        "episode": say("store-episode", "Tea was served", "--session-id", session)["id"],
        "entity": say("entities", "create", "Ana Silva", "person")["entity"]["id"],
        "other": say("entities", "create", "A. Silva", "person")["entity"]["id"],
        "session": session,
    }
    say("link", "fact", ids["fact"], "rule", ids["rule"], "supports")
    say("context", "tea", "cli")
    say("token", "create", "--name", "kitchen")
    message = {"content": "Good morning! <plan>water the garden tomorrow</plan>"}
    logged = httpx.post(f"{installation.url}/api/journal/default/events", json=message)
    assert logged.status_code < 300, logged.text
    ids["receipt"] = say("contexts")["receipts"][0]["id"]
    # What decays is the same twice only as it was at one moment.
    ids["then"] = datetime.now(UTC).isoformat()
    return ids


_LINK = {"source_type": "fact", "target_type": "rule", "relation": "supports"}

# Command, then the request of the same: one of each kind.
SAME: Final[tuple[tuple[str, str, str, dict[str, Any]], ...]] = (
    ("facts --known-at {then}", "GET", "facts?known_at={then}", {}),
    ("facts list --tag taste --known-at {then}", "GET", "facts?tag=taste&known_at={then}", {}),
    ("facts show {fact} --known-at {then}", "GET", "facts/{fact}?known_at={then}", {}),
    ("rules --known-at {then}", "GET", "rules?known_at={then}", {}),
    ("rules show {rule} --known-at {then}", "GET", "rules/{rule}?known_at={then}", {}),
    ("episodes --known-at {then}", "GET", "episodes?known_at={then}", {}),
    ("episodes show {episode} --known-at {then}", "GET", "episodes/{episode}?known_at={then}", {}),
    ("entities", "GET", "entities", {}),
    ("entities show {entity} --known-at {then}", "GET", "entities/{entity}?known_at={then}", {}),
    (
        "entities preview-merge {other} {entity}",
        "POST",
        "entities/merge/preview",
        {"source_entity_id": "{other}", "target_entity_id": "{entity}"},
    ),
    ("links fact {fact}", "GET", "facts/{fact}/links", {}),
    (
        "link fact {fact} rule {rule} supports",
        "POST",
        "links",
        {**_LINK, "source_id": "{fact}", "target_id": "{rule}"},
    ),
    ("history fact {fact}", "GET", "facts/{fact}/events", {}),
    ("events --limit 3", "GET", "events?limit=3", {}),
    ("activity", "GET", "activity", {}),
    ("sessions", "GET", "sessions", {}),
    ("butlers", "GET", "/api/butlers", {}),
    ("contexts", "GET", "contexts", {}),
    ("replay {receipt}", "GET", "contexts/{receipt}/replay", {}),
    ("stats --known-at {then}", "GET", "stats?known_at={then}", {}),
    ("token list", "GET", "/api/tokens", {}),
    ("dead-letters", "GET", "dead-letters", {}),
    ("conflicts", "GET", "conflicts", {}),
    ("run episode-cleanup --dry-run", "POST", "jobs/episode_cleanup/run", {"dry_run": True}),
    ("run decay_sweep --dry-run", "POST", "jobs/decay_sweep/run", {"dry_run": True}),
    ("journal list", "GET", "/api/journal/companions", {}),
    (
        "journal mind --known-at {then}",
        "GET",
        "/api/journal/default/mind?known_at={then}",
        {},
    ),
    ("journal runs", "GET", "/api/journal/default/runs", {}),
    (
        "erase --memory fact {fact} --preview",
        "POST",
        "erase",
        {"memory_type": "fact", "memory_id": "{fact}", "preview": True},
    ),
)


@pytest.mark.parametrize(("words", "method", "path", "body"), SAME, ids=[one[0] for one in SAME])
def test_json_is_the_answer_of_rest(
    installation: Installation,
    stored: dict[str, str],
    words: str,
    method: str,
    path: str,
    body: dict[str, Any],
) -> None:
    typed = [word.format(**stored) for word in words.split()]
    printed = installation.inside(*typed, "--json").json
    place, _, query = path.partition("?")
    place = place.format(**stored)
    asked = {
        name: one.format(**stored) if isinstance(one, str) else one for name, one in body.items()
    }
    answer = httpx.request(
        method,
        f"{installation.url}{place if place.startswith('/') else f'/api/memory/{place}'}",
        params=dict(one.format(**stored).split("=", 1) for one in query.split("&") if one),
        json=asked or None,
    )
    assert answer.status_code < 300, answer.text
    assert printed == answer.json()
    # For people it says the same, whatever it is.
    assert installation.inside(*typed).out.strip()
