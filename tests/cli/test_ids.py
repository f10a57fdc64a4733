"""The beginning of an id at the command line."""

import pytest

from cli.installation import Installation

_ALIKE = ("6f1c2a3b-0000-4000-8000-000000000001", "6f1c2a3b-0000-4000-8000-000000000002")


@pytest.fixture
def of(tenant: str) -> tuple[str, str]:
    return ("--tenant", tenant)


def test_the_beginning_of_an_id_is_enough(installation: Installation, of: tuple[str, str]) -> None:
    fact = installation.inside("store-fact", "user", "tea", "Oolong", "--json", *of).json["id"]
    rule = installation.inside("store-rule", "Serve it hot", "--json", *of).json["id"]
    ana = installation.inside("entities", "create", "Ana", "person", "--json", *of).json["entity"]
    for length in (8, 11, 35):
        shown = installation.inside("get", "fact", fact[:length], "--json", *of).json
        assert shown["memory"]["id"] == fact
    plural = installation.inside("get", "facts", fact[:8], "--json", *of).json
    assert plural["memory"]["id"] == fact
    assert installation.inside("rules", "show", rule[:8].upper(), *of).out
    found = installation.inside("entities", "get", ana["id"][:8], "--json", *of).json
    assert found["entity"]["id"] == ana["id"]
    linked = installation.inside("link", "fact", fact[:8], "rule", rule[:8], "supports", *of)
    assert linked.out == "Linked.\n"


def test_the_beginning_of_a_contexts_id_explains_it(
    installation: Installation, of: tuple[str, str]
) -> None:
    installation.inside("store-fact", "user", "tea", "Oolong", *of)
    built = installation.inside("context", "Which tea?", "cli", "--json", *of).json["receipt_id"]
    for command in ("explain", "replay"):
        told = installation.inside(command, built[:8], "--json", *of).json
        assert told["receipt"]["id"] == built
    missing = installation.inside("explain", "0" * 8, *of, code=4).err
    assert missing == "error: there is no context whose id begins with 00000000\n"


def test_undo_takes_the_beginning_of_the_ids_that_events_and_jobs_show(
    installation: Installation, of: tuple[str, str]
) -> None:
    installation.inside("store-fact", "user", "tea", "Oolong", *of)
    (event,) = installation.inside("events", "--json", *of).json["items"]
    assert event["id"] in installation.inside("events", *of).out
    undone = installation.inside("undo", "--event-id", event["id"][:8], "--json", *of).json
    assert undone["removed"] == 1
    missing = installation.inside("undo", "--event-id", "0" * 8, *of, code=4).err
    assert missing == "error: there is no event whose id begins with 00000000\n"
    little = installation.inside("undo", "--event-id", event["id"][:4], *of, code=3).err
    assert "type at least its first 8 digits" in little

    installation.inside("store-episode", "The user likes oolong.", "--butler", "cli", *of)
    run = installation.inside("consolidation", "begin", "--json", *of).json["run_id"]
    assert run in installation.inside("jobs", *of).out
    # It has learned nothing yet: the refusal names the run that was found.
    refused = installation.inside("undo", "--run-id", run[:8], *of, code=5).err
    assert f"run {run} is" in refused
    missing = installation.inside("undo", "--run-id", "0" * 8, *of, code=4).err
    assert missing == "error: there is no consolidation run whose id begins with 00000000\n"


def test_undo_of_an_id_that_is_another_kinds_says_which(
    installation: Installation, of: tuple[str, str]
) -> None:
    fact = installation.inside("store-fact", "user", "tea", "Oolong", "--json", *of).json["id"]
    event = installation.inside("events", "--json", *of).json["items"][0]["id"]
    installation.inside("store-episode", "The user likes oolong.", "--butler", "cli", *of)
    run = installation.inside("consolidation", "begin", "--json", *of).json["run_id"]
    typed = installation.inside("undo", event, *of, code=2).err
    assert "Give an id with --event-id or --run-id." in " ".join(typed.replace("│", "").split())
    for given, id, told in (
        ("--event-id", run, "it is the id of a consolidation run: give it as --run-id"),
        ("--run-id", event, "it is the id of an event: give it as --event-id"),
        ("--event-id", fact, "it is the id of a fact: give that of an event of its history"),
    ):
        assert f"{id}; {told}\n" in installation.inside("undo", given, id, *of, code=4).err
    told = installation.inside("undo", "--run-id", event[:8], *of, code=4).err
    assert told.endswith(f"whose id begins with {event[:8]}; that of an event does\n")
    told = installation.inside("get", "fact", event[:8], *of, code=4).err
    assert told.endswith("; that of an event does\n")


def test_the_beginning_of_an_id_is_enough_for_an_option(
    installation: Installation, of: tuple[str, str]
) -> None:
    ana = installation.inside("entities", "create", "Ana", "person", "--json", *of).json["entity"]
    told = installation.inside("store-episode", "Ana moved.", "--json", *of).json["id"]
    words = ("--entity-id", ana["id"][:8], "--source-episode-id", told[:8])
    installation.inside("store-fact", "Ana", "home", "Lives in Porto", *words, *of)
    listed = installation.inside("facts", "--entity-id", ana["id"][:8], "--json", *of).json
    (fact,) = listed["items"]
    assert (fact["entity_id"], fact["source_episode_id"]) == (ana["id"], told)


def test_an_entity_may_be_given_by_its_name(
    installation: Installation, of: tuple[str, str]
) -> None:
    def made(name: str, kind: str) -> str:
        words = ("entities", "create", name, kind, "--json", *of)
        return str(installation.inside(*words).json["entity"]["id"])

    # Letters of a name may be digits of an id.
    ada, bob = made("Ada", "person"), made("Bob Lind", "person")
    for name, id in (("ada", ada), ("Bob Lind", bob)):
        assert (
            installation.inside("entities", "get", name, "--json", *of).json["entity"]["id"] == id
        )
    installation.inside("store-fact", "Ada", "home", "Porto", "--entity-id", "Bob Lind", *of)
    (fact,) = installation.inside("facts", "--entity-id", "bob lind", "--json", *of).json["items"]
    assert fact["entity_id"] == bob
    merged = installation.inside("entities", "merge", "Bob Lind", "Ada", "--json", *of).json
    assert (merged["source_entity_id"], merged["target_entity_id"]) == (bob, ada)
    nobody = installation.inside("entities", "show", "Zoe", *of, code=4).err
    assert "is called Zoe; `memory-butler entities resolve NAME` finds those like it" in nobody
    made("Porto", "place")
    made("Porto", "organization")
    assert "more than one" in installation.inside("entities", "show", "Porto", *of, code=4).err
    assert "too little of an id" in installation.inside("entities", "show", "abc", *of, code=3).err


def test_an_id_without_its_kind_is_told_where_the_kind_goes(installation: Installation) -> None:
    for words in (("forget", "28bca302"), ("history", "28bca302-5148-4772-aa17-3e6163b822b6")):
        said = installation.inside(*words, code=2).err
        said = " ".join(said.replace("│", "").split())
        assert f"as in: memory-butler {words[0]} fact {words[1]}" in said


def test_the_beginning_of_an_id_is_enough_for_tokens_and_lists_of_memories(
    installation: Installation, of: tuple[str, str]
) -> None:
    made = installation.inside("token", "create", "--name", "ana", "--json", *of).json["id"]
    elsewhere = installation.inside("token", "revoke", made[:8], "--tenant", "nobody", code=4).err
    assert elsewhere == f"error: there is no token whose id begins with {made[:8]}\n"
    assert installation.inside("token", "revoke", made[:8], *of).out == f"Revoked token {made}.\n"

    told = installation.inside("store-episode", "Ana moved.", "--json", *of).json["id"]
    retry = ("dead-letters", "retry", "--episode-id")
    assert installation.inside(*retry, told[:8], "--json", *of).json == {"retried": []}
    missing = installation.inside(*retry, told, "--episode-id", "0" * 8, *of, code=4).err
    assert missing == "error: there is no episode whose id begins with 00000000\n"

    fact = installation.inside("store-fact", "user", "tea", "Oolong", "--json", *of).json["id"]
    rule = installation.inside("store-rule", "Serve tea hot", "--json", *of).json["id"]
    asked = ("context-without", "Which tea?", "cli", fact[:8], rule, "--json")
    gone = installation.inside(*asked, *of).json["left"]
    assert {one["id"] for one in gone} == {fact, rule}


def test_a_beginning_that_is_no_or_too_little_of_an_id_is_refused(
    installation: Installation, of: tuple[str, str]
) -> None:
    fact = installation.inside("store-fact", "user", "tea", "Oolong", "--json", *of).json["id"]
    # The whole of another tenant's id would not be found, either.
    elsewhere = installation.inside("get", "fact", fact[:8], "--tenant", "nobody", code=4).err
    assert elsewhere == f"error: there is no fact whose id begins with {fact[:8]}\n"
    for command in (("get", "fact"), ("forget", "fact"), ("rules", "show"), ("entities", "get")):
        for little in (fact[:4], fact[:7]):
            told = installation.inside(*command, little, *of, code=3).err
            assert told.endswith(
                f": {little} is too little of an id: type at least its first 8 digits\n"
            )
    # What is for good wants all of it.
    erased = installation.inside("erase", "--memory", "fact", fact[:8], *of, code=3).err
    assert f"{fact[:8]!r} is not a whole id" in erased
    assert "`memory-butler search TEXT --json` finds it" in erased
    named = installation.inside("erase", "--entity", "The club", *of, code=3).err
    assert "`memory-butler entities resolve NAME --json` finds it" in named
    told = installation.inside("get", "fact", "not-an-id", *of, code=3).err
    assert told.startswith("error: memory_id: must be a UUID, such as")
    words = ("store-episode", "Tea", "--episode-id", fact[:8])
    assert "--episode-id" in installation.inside(*words, *of, code=3).err


def test_a_beginning_that_two_memories_have_is_refused(
    installation: Installation, of: tuple[str, str]
) -> None:
    for id in _ALIKE:
        installation.inside("store-episode", f"Tea {id[-1]}", "--episode-id", id, *of)
    told = installation.inside("get", "episode", _ALIKE[0][:8], *of, code=3).err
    assert told == "error: more than one episode has an id that begins with 6f1c2a3b; type more\n"
    assert "Tea 2" in installation.inside("get", "episode", _ALIKE[1], *of).out
