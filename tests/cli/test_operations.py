"""The operations as commands: every one, for people and as JSON."""

import json
from dataclasses import replace
from functools import partial
from io import StringIO
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from rich.console import Console
from rich.text import Text

from cli.installation import Answer, Installation
from memory_butler.engine import opening
from memory_butler.inference.language_models.port import ModelAccessDenied, ModelRateLimited
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.surfaces.cli.answers import table


class Typist:
    """Types commands for one tenant."""

    def __init__(self, installation: Installation, tenant: str) -> None:
        self._installation = installation
        self._tenant = tenant

    def say(self, *words: str, code: int = 0, stdin: str = "") -> str:
        answer = self._type(words, code, stdin)
        return answer.out if code == 0 else answer.err

    def json(self, *words: str, stdin: str = "") -> Any:
        return self._type((*words, "--json"), 0, stdin).json

    def _type(self, words: tuple[str, ...], code: int, stdin: str) -> Answer:
        tenant = ("--tenant", self._tenant)
        return self._installation.inside(*words, *tenant, code=code, stdin=stdin)


@pytest.fixture
def butler(installation: Installation, tenant: str) -> Typist:
    return Typist(installation, tenant)


def id_in(sentence: str) -> str:
    """The first id of a sentence."""
    return str(
        UUID(next(word for word in sentence.replace(";", ".").split() if len(word) > 35)[:36])
    )


def test_undo(butler: Typist) -> None:
    first = id_in(butler.say("store-fact", "user", "pet", "A dog"))
    butler.say("store-fact", "user", "pet", "A cat")
    would = butler.say("undo", "--dry-run")
    assert would.startswith("Would undo the change of 20")
    told = " UTC: a fact was stored; a newer or more certain fact took a fact's place.\n"
    assert told in would
    said = butler.say("undo")
    assert "1 removed, 1 restored; links: 1 removed." in said
    assert "A cat" in said
    assert butler.json("get", "fact", first)["memory"]["validity"] == "active"
    assert butler.json("undo")["removed"] == 1
    assert "nothing that can be undone" in butler.say("undo", code=4)


def test_who_stores_a_second_pet_reads_how_to_keep_the_first(butler: Typist) -> None:
    butler.say("store-fact", "user", "pet", "Has a dog")
    said = butler.say("store-fact", "user", "pet", "Keeps bees")
    assert said.endswith(" (Has a dog).\nIf that is still true, store it again as pet_dog.\n")


def test_facts(butler: Typist) -> None:
    said = butler.say("store-fact", "user", "color", "Prefers green", "--tag", "a", "--tag", "b")
    first = id_in(said)
    assert said == f"Stored fact {first}.\n"
    stored = butler.json("store-fact", "user", "color", "Prefers blue", "--importance", "7")
    assert (stored["supersedes_id"], stored["superseded"]) == (first, "Prefers green")

    again = butler.say("store-fact", "user", "color", "-", stdin="Prefers [red] things\n")
    assert again.endswith(f"; it supersedes {stored['id']} (Prefers blue).\n")
    red = id_in(again)

    shown = butler.say("get", "fact", red)
    assert "Prefers [red] things" in shown
    found = butler.json("get", "fact", first)["memory"]
    assert (found["content"], found["tags"]) == ("Prefers green", ["a", "b"])
    assert found["validity"] == "superseded"

    assert "decay starts anew" in butler.say("confirm", "fact", red)
    assert butler.json("confirm", "fact", red)["memory"]["id"] == red
    superseded = f", but fact {first} was superseded; the one that holds now is {red}.\n"
    assert butler.say("confirm", "fact", first).endswith(superseded)
    forgot = butler.say("forget", "fact", red)
    assert f"memory-butler restore fact {red}" in forgot
    assert butler.json("forget", "fact", red)["status"] == "was_forgotten_before"
    assert "was forgotten before" in butler.say("forget", "fact", red)
    assert butler.say("restore", "fact", red) == f"Restored fact {red}.\n"
    assert "nothing to restore" in butler.say("restore", "fact", red, code=5)


def test_rules(butler: Typist) -> None:
    rule = id_in(butler.say("store-rule", "Confirm before sending messages"))
    assert UUID(butler.json("store-rule", "Be brief", "--scope", "mail")["id"])
    assert "is candidate: helped 1, harmed 0" in butler.say("mark-helpful", rule)
    assert butler.json("mark-helpful", rule)["rule"]["success_count"] == 2
    assert "harmed 1" in butler.say("mark-harmful", rule, "--reason", "too slow")
    assert butler.json("mark-harmful", rule)["rule"]["harmful_count"] == 2
    assert "Maturity" in butler.say("search", "messages", "--type", "rule")


def test_episodes(butler: Typist) -> None:
    episode = id_in(butler.say("store-episode", "-", stdin="Ana called\n"))
    stored = butler.json(
        "store-episode",
        "Ana wrote",
        *("--butler", "mail", "--occurred-at", "2026-01-02T03:04:05Z", "--turn", "3"),
        *("--metadata", '{"from": "ana"}', "--session-id", str(uuid4())),
    )
    found = butler.json("get", "episode", stored["id"])["memory"]
    assert (found["metadata"], found["turn"], found["butler"]) == ({"from": "ana"}, 3, "mail")
    assert butler.json("get", "episode", episode)["memory"]["butler"] == "cli"
    assert "2026-01-02 03:04" in butler.say("search", "Ana", "--type", "episode")
    assert "2 episodes wait" in butler.say("consolidate")
    assert butler.json("consolidate")["groups"] == {"cli": 1, "mail": 1}
    assert butler.say("cleanup").startswith("Deleted 0 expired and 0 surplus")
    assert butler.json("cleanup", "--max-entries", "0")["remaining"] == 2


_NOTHING_NEW = '{"new_facts": [], "updated_facts": [], "new_rules": [], "confirmations": []}'


def _answering(monkeypatch: pytest.MonkeyPatch, *replies: str | Exception) -> None:
    """Let the model of the next commands give these answers."""
    monkeypatch.setattr(opening, "_language_model", lambda _: ScriptedModel(replies))


@pytest.mark.parametrize("words", [("consolidate",), ("run", "consolidate")])
def test_a_consolidation_in_which_every_group_failed_ends_with_an_error(
    installation: Installation,
    tenant: str,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use = ("--tenant", tenant)
    answering = partial(_answering, monkeypatch)

    def wait(*butlers: str) -> None:
        for one in butlers:
            installation.inside("store-episode", "Ana wrote", "--butler", one, *use)

    answering()
    assert installation.inside(*words, *use).err == ""  # nothing waits, so nothing failed
    wait("cli", "mail")
    answering("Sorry.", "Sorry.")
    failed = installation.inside(*words, *use, code=7)
    assert "mail" in failed.out
    assert failed.told.startswith("error: consolidation failed for all 2 groups of episodes")
    wait("one", "two")
    answering("Sorry.", _NOTHING_NEW)
    partly = installation.inside(*words, *use)
    assert partly.told == "Consolidation failed for 1 of 2 groups of episodes.\n"
    wait("three")
    answering("Sorry.")
    failed = installation.inside(*words, "--json", *use, code=7)
    assert failed.json.get("detail", failed.json)["status"] == "failed"
    assert "failed for all 1 group of episodes" in failed.told


@pytest.mark.parametrize("words", [("consolidate",), ("run", "consolidate")])
def test_a_consolidation_that_waits_for_the_model_did_not_fail(
    installation: Installation,
    tenant: str,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use = ("--tenant", tenant)
    answering = partial(_answering, monkeypatch)
    busy = ModelRateLimited("the model is busy")
    waits = "Episodes wait for the next run: {}: the model is busy.\n"

    for one in ("a", "b", "c"):
        installation.inside("store-episode", "Ana wrote", "--butler", one, *use)
    answering(_NOTHING_NEW, busy)
    assert installation.inside(*words, *use).told == waits.format("b")
    answering("Sorry.", busy)
    said = "Consolidation failed for 1 of 2 groups of episodes.\n"
    assert installation.inside(*words, *use).told == said + waits.format("c")
    answering(busy)
    assert installation.inside(*words, *use).told == waits.format("c")
    assert "None" in installation.inside("dead-letters", "list", *use).out


@pytest.mark.parametrize("words", [("consolidate",), ("run", "consolidate")])
def test_a_consolidation_whose_key_is_refused_ends_with_an_error(
    installation: Installation,
    tenant: str,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use = ("--tenant", tenant)
    installation.inside("store-episode", "Ana wrote", "--butler", "a", *use)
    _answering(monkeypatch, ModelAccessDenied("the key is refused"))
    denied = installation.inside(*words, *use, code=8)
    assert denied.told == "error: the language model refused access: a: the key is refused\n"
    assert "consolidate: done" not in denied.out


def test_kinds_may_be_typed_in_the_plural(installation: Installation, tenant: str) -> None:
    use = ("--tenant", tenant)
    installation.inside("store-fact", "user", "drink", "Likes green tea", *use)
    found = installation.inside("search", "green tea", "--type", "facts", "--type", "rules", *use)
    assert "Likes green tea" in found.out


@pytest.mark.parametrize(
    "words",
    [
        ("facts", "list"),
        ("recall", "tea"),
        ("facts", "list", "--json"),
        ("scan-secrets",),
        ("write-rules", "no-such-file.md", "--dry-run"),
    ],
)
def test_reading_a_tenant_that_nobody_began_says_so(
    installation: Installation, tenant: str, words: tuple[str, ...]
) -> None:
    installation.inside("store-fact", "user", "tea", "Oolong", "--tenant", tenant)
    said = installation.inside(*words, "--tenant", f"{tenant}-mistyped")
    assert said.err.startswith(f"There is no tenant {tenant}-mistyped yet. Tenants with memories: ")
    assert len(said.err.splitlines()) == 1
    assert installation.inside(*words, "--tenant", tenant).err == ""
    # A first write begins one, and so does a token; both say so, once.
    begun = f"{tenant}-begun"
    for writing in (("store-episode", "Tea"), ("store-fact", "user", "tea", "Oolong")):
        said = installation.inside(*writing, "--tenant", begun)
        told = f"This begins the tenant {begun}. Others with memories: "
        assert said.err.startswith(told) == (writing[0] == "store-episode")
    assert installation.inside(*words, "--tenant", begun).err == ""
    invited = f"{tenant}-invited"
    said = installation.inside("token", "create", "--name", "laptop", "--tenant", invited)
    assert said.err.startswith(f"This begins the tenant {invited}. Others with memories: ")
    assert installation.inside(*words, "--tenant", invited).err == ""
    line = '{"kind": "rule", "content": "Serve it hot"}'
    moved = f"{tenant}-imported"
    said = installation.inside("import", "-", "--tenant", moved, stdin=line)
    assert said.err.startswith(f"This begins the tenant {moved}. Others with memories: ")


def test_whose_memories_there_are_is_told_where_a_tenant_is_mistyped(
    installation: Installation, tenant: str
) -> None:
    first = f"0{tenant}"  # of many, the first are named
    installation.inside("store-rule", "Serve it hot", "--tenant", first)
    said = installation.inside("recall", "tea", "--tenant", f"{tenant}-mistyped").err
    named = said.removesuffix(".\n").partition("memories: ")[2].split(", ")
    assert first in named
    assert len(named) <= 21


def test_what_runs_by_itself(butler: Typist) -> None:
    assert "Language model: none" in butler.say("jobs")
    assert butler.json("jobs")["expiring_unread"] == 0
    assert butler.say("dead-letters", "list").startswith("None")
    assert butler.json("dead-letters", "list") == {"dead_letters": []}
    assert butler.say("dead-letters", "retry") == "0 episodes wait again.\n"
    assert butler.json("dead-letters", "retry", "--episode-id", str(uuid4())) == {"retried": []}


def test_finding(butler: Typist) -> None:
    assert butler.say("recall", "colours") == "Nothing found.\n"
    fact = id_in(butler.say("store-fact", "user", "color", "Prefers dark green"))
    shown = butler.say("recall", "which colour is preferred")
    assert all(part in shown for part in ("color", "Prefers dark green", fact, "Score"))
    assert butler.json("recall", "colour", "--limit", "1")["results"][0]["id"] == fact
    explained = butler.say("search", "green", "--mode", "keyword", "--explain")
    assert "keyword_rank=1" in explained
    assert butler.json("search", "green", "--explain")["results"][0]["scores"]["explain"]

    block = butler.json("context", "colours", "cli", "--token-budget", "500")
    assert block["included"] == [fact]
    assert butler.say("context", "colours", "cli", "--token-budget", "500") == block["context"]
    assert butler.json("stats")["facts"]["active"] == 1
    said = butler.say("stats")
    assert "unconsolidated" in said
    assert "confidence distribution: from 0.50 to 0.80" in said


def test_a_memory_cannot_write_to_the_terminal(butler: Typist) -> None:
    butler.say("store-fact", "user", "trick", "red \x1b[31m alert \x9b2J")
    shown = butler.say("recall", "trick")
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert butler.json("recall", "trick")["results"][0]["content"] == "red \x1b[31m alert \x9b2J"


def test_entities(butler: Typist) -> None:
    ana = id_in(butler.say("entities", "create", "Ana Silva", "person", "--alias", "Ana"))
    other = butler.json("entities", "create", "Ana S.", "person", "--metadata", '{"seen": 1}')
    other_id = other["entity"]["id"]
    assert "Ana Silva" in butler.say("entities", "get", ana)
    assert butler.json("entities", "get", ana)["entity"]["aliases"] == ["Ana"]
    assert "Updated" in butler.say("entities", "update", ana, "--alias", "Ana", "--alias", "Anita")
    assert butler.json("entities", "update", ana, "--metadata", '{"a": 1}')["entity"]["metadata"]
    assert "Ana Silva" in butler.say("entities", "resolve", "Anita")
    resolved = butler.json("entities", "resolve", "ana", "--context-hints", '{"topic": "trip"}')
    assert {one["entity_id"] for one in resolved["candidates"]} == {ana, other_id}
    assert "Nobody of that name" in butler.say("entities", "resolve", "Zoltan")
    assert "1 alias added" in butler.say("entities", "merge", other_id, ana)
    assert "merged" in butler.say("entities", "merge", other_id, ana, code=3)
    assert butler.json("entities", "get", other_id)["entity"]["metadata"]["merged_into"] == ana


def test_which_earlier_facts_an_entity_takes_is_told_as_agents_are_told(butler: Typist) -> None:
    known = butler.json("entities", "create", "Maria Costa", "person")["entity"]["id"]
    for subject in ("Maria Costa", "Mia"):
        butler.say("store-fact", subject, "city", f"{subject} lives in \x1b[31mPorto")
    said = butler.say("entities", "update", known, "--alias", "Mia")
    told = f"Updated entity {known}.\nEarlier facts linked: 1\n- superseded: city: "
    assert said.startswith(told)
    assert "\x1b" not in said


def test_links(butler: Typist) -> None:
    fact = id_in(butler.say("store-fact", "user", "color", "Green"))
    rule = id_in(butler.say("store-rule", "Choose green"))
    assert "No links." in butler.say("links", "fact", fact)
    words = ("link", "fact", fact, "rule", rule, "supports")
    assert butler.say(*words) == "Linked.\n"
    assert "stays as it is" in butler.say(*words)
    assert rule in butler.say("links", "fact", fact)
    (link,) = butler.json("links", "rule", rule, "--direction", "incoming")["links"]
    assert (link["source_id"], link["relation"]) == (fact, "supports")
    assert butler.json("links", "rule", rule, "--direction", "outgoing")["links"] == []


def test_what_is_not_there(butler: Typist, installation: Installation, tenant: str) -> None:
    nobody = str(uuid4())
    assert butler.say("get", "rule", nobody, code=4) == f"error: there is no rule {nobody}\n"
    assert "there is no entity" in butler.say("entities", "get", nobody, code=4)
    assert "there is no entity" in butler.say("entities", "update", nobody, code=4)
    answer = installation.inside("get", "fact", nobody, "--json", "--tenant", tenant, code=4)
    nothing = {"memory": None, "deleted": None, "content_length": None, "offset": 0}
    assert answer.json == nothing


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("get", "fact", "nope"), "memory_id: "),
        (("get", "dream", str(uuid4())), "memory_type: "),
        (("recall", "x", "--limit", "0"), "error: --limit: must be at least 1"),
        (("facts", "list", "--min-confidence", "3"), "error: --min-confidence: must be at most"),
        (
            ("store-fact", "a", "b", "c", "--importance", "12"),
            "error: --importance must be between",
        ),
        (
            ("store-fact", "a", "b", "c", "--valid-until", "2001-01-01"),
            "give the --valid-from of a fact that has ended",
        ),
        (("store-fact", "a", "b", "c", "--entity-id", "123"), "error: --entity-id: 123 is too"),
        (("diff", "--from", "2999-01-01"), "error: --from 2999-01-01T"),
        (("store-fact", "a", "", "c"), "error: predicate is empty"),
        (("store-episode", "x", "--metadata", "{"), "--metadata is not JSON"),
        (
            ("store-fact", "a", "b", "c", "--valid-from", "new year"),
            "--valid-from 'new year' is not a date",
        ),
        (("links", "fact", str(uuid4()), "--direction", "up"), "error: --direction: "),
        (("search", "x", "--type", "dream"), "error: --type: must be 'episode', 'fact' or 'rule'"),
        (("token", "create", "--name", "x", "--expires-days", "0"), "error: --expires-days: must"),
        (("consolidation", "submit", str(uuid4()), "{"), "error: answer is not JSON"),
    ],
)
def test_wrong_input(butler: Typist, words: tuple[str, ...], said: str) -> None:
    complaint = butler.say(*words, code=3)
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1
    assert said in complaint


def test_a_json_object_is_read_from_standard_input(butler: Typist) -> None:
    run = str(uuid4())
    said = butler.say("consolidation", "submit", run, "-", stdin='{"new_facts": []}\n', code=4)
    assert said.startswith(f"error: no run {run} waits")
    assert "answer is not JSON" in butler.say("consolidation", "submit", run, "-", code=3)


def test_a_context_is_of_the_command_line_where_no_butler_is_named(butler: Typist) -> None:
    butler.say("store-fact", "user", "tea", "Likes oolong", "--scope", "cli")
    butler.say("store-fact", "user", "cup", "Has a blue tea cup", "--scope", "designer")
    assert "Likes oolong" in butler.say("context", "Which tea does the user like?")
    named = butler.say("context", "Which tea cup does the user like?", "designer")
    assert "blue tea cup" in named
    assert "oolong" not in named


def test_a_wrong_tenant(installation: Installation) -> None:
    assert "is no tenant name" in installation.inside("stats", "--tenant", "a b", code=3).err


def test_real_commands_beside_the_server_share_its_data(installation: Installation) -> None:
    before = httpx.get(f"{installation.url}/api/memory/stats").json()["facts"]["active"]
    stored = installation.run("store-fact", "shared", str(uuid4()), "Seen by all", "--json")
    after = httpx.get(f"{installation.url}/api/memory/stats").json()["facts"]["active"]
    assert after == before + 1
    shown = installation.run("get", "fact", json.loads(stored.out)["id"])
    assert "Seen by all" in shown.out
    assert stored.err == ""


def test_a_command_that_needs_no_language_model_works_without_its_key(
    installation: Installation, tenant: str
) -> None:
    keyless = replace(
        installation,
        extra={
            "MEMORY_BUTLER_MEMORY__CONSOLIDATION__MODEL": "openai:a-model",
            "MEMORY_BUTLER_MEMORY__CONSOLIDATION__API_KEY_ENV": "NO_SUCH_KEY",
        },
    )
    use = ("--tenant", tenant)
    stored = keyless.inside("store-fact", "user", "color", "Prefers green", *use)
    assert stored.out.startswith("Stored fact")
    assert "Prefers green" in keyless.inside("recall", "colour", *use).out
    assert "NO_SUCH_KEY" in keyless.inside("consolidate", *use, code=8).err
    assert "NO_SUCH_KEY" in keyless.inside("run", "consolidate", *use, code=8).err
    assert "done" in keyless.inside("run", "decay-sweep", *use).out


def test_what_is_wrong_is_named_as_it_is_typed(butler: Typist, installation: Installation) -> None:
    assert "error: --kind: must be 'episode_created'" in butler.say("events", "--kind", "x", code=3)
    assert "error: without: must be a UUID" in butler.say("context-without", "a", "b", "x", code=3)
    early = installation.inside("--data-dir", "elsewhere", "facts", code=2).err
    assert "memory-butler facts --data-dir" in " ".join(early.replace("│", "").split())


def test_importance_beyond_its_scale_is_refused_with_the_scale(butler: Typist) -> None:
    fact = ("store-fact", "user", "color", "Prefers green", "--importance", "11")
    assert "importance must be between 1 (trivial) and 10 (vital)" in butler.say(*fact, code=3)


def test_ask(butler: Typist) -> None:
    owl = id_in(butler.say("store-fact", "garden", "owl", "A barn owl lives in the old barn"))
    said = butler.say("ask", "Where does the owl live?")
    assert (
        said == f"A barn owl lives in the old barn\n  fact {owl}, about garden, confidence 100%\n"
    )
    graf = id_in(butler.say("store-fact", "Bruno Graf", "home", "Bruno Graf lives in Bern"))
    said = butler.say("ask", "Where does Bruno Graf live?")
    assert f"fact {graf}, confidence 100%\n" in said
    asked = ("ask", "How do database indexes work?")
    nothing = butler.say(*asked)
    assert nothing.startswith("Nothing is known about that.\nThe nearest")
    assert "store-fact SUBJECT PREDICATE CONTENT" in nothing
    assert not butler.json(*asked)["known"]
    assert butler.json(*asked, "--min-relevance", "0")["known"]


def test_inbox(butler: Typist) -> None:
    assert butler.say("inbox") == "Nothing waits for a decision.\n"
    butler.say("store-fact", "Berengar", "hand", "is left-handed")
    butler.say("store-fact", "Berengar", "handedness", "is right-handed")
    said = butler.say("inbox")
    assert "contradiction" in said
    assert "is right-handed" in said
    assert "conflicts settle" in said
    assert butler.say("inbox", "--kind", "duplicate") == "None of this kind waits.\n"
    assert butler.json("inbox")["waiting"] == {"contradiction": 1}
    butler.say("store-fact", "Ida", "hand", "is left-handed")
    butler.say("store-fact", "Ida", "handedness", "is right-handed")
    assert "1 shown of: contradiction 2. --kind and" in butler.say("inbox", "--limit", "1")


def test_ids_stay_whole_in_a_narrow_terminal() -> None:
    id = str(uuid4())
    made = table("Fact", "State", "Scope", "Confidence>")
    made.add_row(Text.assemble("Lives in Porto", "\n", (id, "dim")), "active", "–", "1.00")

    def printed(width: int) -> list[str]:
        screen = StringIO()
        Console(width=width, file=screen).print(made)
        return screen.getvalue().splitlines()

    assert printed(60) == ["Fact: Lives in Porto", id, "State: active", "Confidence: 1.00", ""]
    assert "State" in printed(80)[0]
    assert any(line.startswith(id) for line in printed(80))
