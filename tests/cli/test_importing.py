"""Importing: whole, resumed after a kill, with bad lines, from standard input."""

import gzip
import io
import json
import os
import random
import signal
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TextIO
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.installation import SECONDS, Installation
from forking import Forked
from memory_butler.engine import import_format, imports
from memory_butler.engine.import_format import BadLine, read_lines

# A process has stored the first batch of its lines when it is cut off, and cannot store all before.
BATCH = 64
CUT_OFF = 6 * BATCH
WORDS = "river stone garden music train letter morning coffee window paper silver".split()


def lines_of(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def many(count: int, words: int = 8) -> str:
    chance = random.Random(1)  # noqa: S311
    kinds: list[dict[str, Any]] = [
        {"kind": "episode", "butler": "b"},
        {"kind": "fact", "subject": "s", "predicate": "p"},
        {"kind": "rule"},
    ]
    return lines_of(
        *(
            {**kinds[i % 3], "content": f"{i} {' '.join(chance.choices(WORDS, k=words))}"}
            for i in range(count)
        )
    )


def counts(installation: Installation, tenant: str) -> tuple[int, int, int]:
    stats = installation.inside("stats", "--tenant", tenant, "--json").json
    facts = stats["facts"]
    return (
        stats["episodes"]["total"],
        facts["active"] + facts["superseded"],
        stats["rules"]["candidate"],
    )


@contextmanager
def after_a_batch(
    installation: Installation, folder: Path, *words: str
) -> Iterator[tuple[Forked, TextIO]]:
    """A process that has just stored its first batch of CUT_OFF lines, and its further errors."""
    log = folder / "errors"
    os.mkfifo(log)
    with closing(installation.fork(*words, log=log, BATCH=BATCH)) as process, log.open() as errors:
        told = (one for one in errors if not one.startswith("This begins the tenant"))
        assert next(told) == f"line {BATCH} of {CUT_OFF}\n"
        yield process, errors


@pytest.mark.nightly
def test_more_lines_than_are_stored_at_once(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text(many(imports.BATCH + 4, words=3))
    done = installation.apart("import", str(file), "--tenant", tenant)
    assert "Stored 172 episodes, 172 facts, 172 rules." in done.out
    assert "171 facts superseded an earlier one." in done.out
    assert "line 512 of 516" in done.err
    assert counts(installation, tenant) == (172, 172, 172)
    words = ("search", "s p", "--type", "fact", "--json", "--tenant", tenant)
    (fact,) = installation.inside(*words).json["results"]
    assert fact["content"].startswith("514 ")  # the last of the file is the one that holds


def test_killed_in_the_middle_and_run_again(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    file = tmp_path / "killed.jsonl"
    file.write_text(many(CUT_OFF, words=3))
    words = ("import", str(file), "--tenant", tenant)
    with after_a_batch(installation, tmp_path, *words) as (process, _):
        process.kill()
    stored = sum(counts(installation, tenant))
    assert BATCH <= stored < CUT_OFF

    again = (*words, "--no-wait", "--json")
    resumed = installation.inside(*again).json
    assert resumed["already_there"] == stored
    assert sum(resumed["stored"].values()) == CUT_OFF - stored
    assert counts(installation, tenant) == (CUT_OFF // 3,) * 3
    assert installation.inside(*again).json["already_there"] == CUT_OFF


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted(
    installation: Installation,
    tenant: str,
    tmp_path: Path,
    number: signal.Signals,
    code: int,
) -> None:
    file = tmp_path / "interrupted.jsonl"
    file.write_text(many(CUT_OFF, words=3))
    words = ("import", str(file), "--tenant", tenant)
    with after_a_batch(installation, tmp_path, *words) as (process, errors):
        assert process.process.pid is not None
        os.kill(process.process.pid, number)
        process.process.join(SECONDS)
        assert process.process.exitcode == code
        out, err = process.stdout.read(), errors.read()
    assert out == ""
    assert "Traceback" not in err
    assert ("The same command again goes on" in err) == (number == signal.SIGINT)


REFERRING = (
    {"kind": "entity", "id": "ana", "canonical_name": "Ana Silva", "entity_type": "person"},
    {"kind": "episode", "id": 7, "content": "Ana called", "butler": "notes"},
    {
        "kind": "fact",
        "id": "f",
        "subject": "Ana",
        "predicate": "city",
        "content": "Lives in Lisbon",
        "entity_id": "ana",
        "source_episode_id": 7,
    },
    {"kind": "rule", "id": "r", "content": "Call Ana at noon", "source_episode_id": "7"},
    {
        "kind": "link",
        "source_type": "fact",
        "source_id": "f",
        "target_type": "rule",
        "target_id": "r",
        "relation": "supports",
    },
)


def test_references_within_the_file(installation: Installation, tenant: str) -> None:
    words = ("import", "-", "--json", "--tenant", tenant)
    done = installation.inside(*words, stdin=lines_of(*REFERRING)).json
    assert done["stored"] == {"entity": 1, "episode": 1, "fact": 1, "link": 1, "rule": 1}
    results = installation.inside("search", "Ana", "--json", "--tenant", tenant).json["results"]
    by_type = {one["memory_type"]: one for one in results}
    fact = by_type["fact"]
    assert fact["source_episode_id"] == by_type["episode"]["id"]
    links = installation.inside(
        *("links", "fact", fact["id"], "--direction", "outgoing", "--json", "--tenant", tenant)
    ).json["links"]
    assert {(one["relation"], one["target_id"]) for one in links} == {
        ("derived_from", by_type["episode"]["id"]),
        ("supports", by_type["rule"]["id"]),
    }
    assert installation.inside(*words, stdin=lines_of(*REFERRING)).json["already_there"] == 5

    # An entity of that name is used, whoever registered it; a known id refers into the store.
    more = lines_of(
        {**REFERRING[0], "id": "x", "aliases": ["A."]},
        {**REFERRING[2], "entity_id": "x", "source_episode_id": None, "content": "Porto"},
        {**REFERRING[2], "entity_id": fact["entity_id"], "source_episode_id": None},
    )
    done = installation.inside(*words, stdin=more).json
    assert (done["stored"], done["superseded"]) == ({"fact": 2}, 2)
    assert done["already_there"] == 1


BAD = (
    '{"kind": "rule", "content": "The first"}',
    '{"kind": "fact", "content": "No subject"}',
    "not JSON",
    '{"kind": "dream", "content": "x"}',
    '{"kind": "rule", "content": "x", "surprise": 1}',
    '{"kind": "rule", "content": " "}',
    '{"kind": "fact", "subject": "a", "predicate": "b", "content": "c", "entity_id": "nobody"}',
    '{"kind": "fact", "subject": "a", "predicate": "b", "content": "c", "entity_id": "'
    + str(uuid4())
    + '"}',
    "",
    '{"kind": "rule", "content": "The last"}',
)


def test_bad_lines_are_told_and_left_out(installation: Installation, tenant: str) -> None:
    words = ("import", "-", "--tenant", tenant)
    done = installation.inside(*words, stdin="\n".join(BAD), code=3)
    assert done.out == "Stored 2 rules.\n7 bad lines were left out.\n"
    told = [line for line in done.err.splitlines() if line.startswith("line ") and ": " in line]
    assert [line.partition(":")[0] for line in told] == [f"line {n}" for n in range(2, 9)]
    assert "subject: is required" in told[0]
    assert "no earlier line stored the entity 'nobody'" in told[5]
    assert "does not exist" in told[6]

    # Mended, only the mended line is stored.
    mended = "\n".join(
        (BAD[0], BAD[1].replace('"content"', '"subject": "a", "predicate": "b", "content"'), BAD[9])
    )
    assert installation.inside(*words, stdin=mended).out.startswith("Stored 1 fact.\n2 lines")


def test_strict_stops_at_the_first(installation: Installation, tenant: str) -> None:
    words = ("import", "-", "--strict", "--json", "--tenant", tenant)
    done = installation.inside(*words, stdin="\n".join(BAD), code=3).json
    assert (done["stored"], done["bad_lines"][0]["line"]) == ({"rule": 1}, 2)
    late = "\n".join((BAD[0], BAD[6], BAD[9]))
    done = installation.inside(*words, stdin=late, code=3).json
    assert (done["already_there"], done["stored"], done["bad"]) == (1, {}, 1)
    assert counts(installation, tenant) == (0, 0, 1)


def test_a_file_that_is_not_there(installation: Installation) -> None:
    assert "cannot be read" in installation.inside("import", "/nowhere.jsonl", code=3).err
    assert "cannot be read" in installation.inside("import", "/", code=3).err


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("chats.json", b"[]", "is of no known format; name it with --format: claude-code, chatgpt"),
        ("takeout.zip", None, "is of no known format"),
        ("facts.csv", b"subject,predicate\n", 'are one JSON object a line: {"kind": "fact", '),
        ("conversations.json", b'[{"mapping": {"a', "conversations.json is not JSON"),
        ("notes.txt", "Milk, caf\u00e9".encode("latin-1"), "is of no known format"),
    ],
)
def test_a_file_of_no_known_format_is_told_as_that(
    installation: Installation, tmp_path: Path, name: str, data: bytes | None, said: str
) -> None:
    path = tmp_path / name
    if data is None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("Takeout/index.html", "<html>")
    else:
        path.write_bytes(data)
    done = installation.inside("import", str(path), code=3)
    assert said in done.err
    assert "line 1" not in done.err.split(name)[0]
    assert done.out == ""


def test_a_file_that_is_not_of_the_named_format_is_refused(
    installation: Installation, tmp_path: Path
) -> None:
    path = tmp_path / "logs.jsonl"
    path.write_text('{"event": "click"}\n')
    refused = installation.inside("import", str(path), "--format", "claude-code", code=3)
    assert "logs.jsonl holds nothing of the format claude-code" in refused.err
    assert refused.out == ""
    path.write_text('{"type": "user", "sessionId": "s", "uuid": "u", "message": {}}\n')
    for at in (path, tmp_path):
        refused = installation.inside("import", str(at), "--format", "jsonl", code=3)
        assert "our own JSON Lines. It holds claude-code: leave --format out" in refused.err


def test_a_file_of_our_own_may_have_any_name(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    path = tmp_path / "old.txt"
    path.write_text('no JSON\n{"kind": "rule", "content": "Ask first"}\n')
    done = installation.inside("import", str(path), "--tenant", tenant, code=3)
    assert done.out == "Stored 1 rule.\n1 bad line was left out.\n"


def test_a_file_that_is_not_utf8_is_told_as_that(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes('{"kind": "rule", "content": "Trink Kaff\u00e9"}\n'.encode("latin-1"))
    done = installation.inside("import", str(path), "--tenant", tenant, code=3)
    assert "line 1: it is not UTF-8: save the file as UTF-8" in done.err


def test_how_long_episodes_are_kept_is_told(installation: Installation, tenant: str) -> None:
    line = '{"kind": "episode", "butler": "b", "content": "We walked to the lake."}'
    words = ("import", "-", "--keep", "30", "--tenant", tenant)
    done = installation.inside(*words, stdin=line)
    until = datetime.now().astimezone() + timedelta(days=30)
    assert f"Episodes are kept until {until:%Y-%m-%d} (--keep DAYS)" in done.out
    assert "kept until" not in installation.inside(*words, stdin=line).out


def test_an_export_comes_through_a_pipe(installation: Installation, tenant: str) -> None:
    installation.inside("store-rule", "Serve it hot", "--tenant", tenant)
    exported = installation.inside("export", "-", "--tenant", tenant).out
    words = ("import", "-", "--tenant", f"{tenant}-other")
    assert "say whose export" in installation.inside(*words, stdin=exported, code=3).err
    restored = installation.inside(*words, "--trust", "user_said", stdin=exported)
    assert restored.out == f"Restored {exported.count(chr(10)) - 2} rows.\n"
    assert counts(installation, f"{tenant}-other") == (0, 0, 1)


@pytest.mark.parametrize(
    "content",
    [b"not packed", gzip.compress(many(9).encode())[:-9], b"\x1f\x8b\x08\x00" + b"x" * 99],
)
def test_a_packed_file_that_is_damaged_is_refused(
    installation: Installation, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "memories.jsonl.gz"
    file.write_bytes(content)
    told = installation.inside("import", str(file), code=3).err
    assert told == f"error: {file} is no gzip file, or it is damaged or cut off\n"


@given(st.lists(st.sampled_from(["a", "b", " a", "c"]), max_size=8), st.data())
def test_the_id_of_a_line_depends_on_equal_lines_before_it_only(
    texts: list[str], data: st.DataObject
) -> None:
    def ids(some: list[str]) -> list[tuple[str, object]]:
        file = io.BytesIO("\n".join(some).encode())
        return [(some[line.number - 1].strip(), line.id) for line in read_lines(file, "t")]

    whole = ids(texts)
    assert len(set(whole)) == len(texts)
    inserted = data.draw(st.integers(0, len(texts)))
    grown = ids([*texts[:inserted], "new", "", *texts[inserted:]])
    assert [one for one in grown if one[0] != "new"] == whole


def test_a_line_that_is_too_long_is_bad_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(import_format, "MAX_LINE_BYTES", 10)
    file = io.BytesIO(b"\xef\xbb\xbf1\n" + b"x" * 35 + b"\n2\n")
    found = [one.line for one in read_lines(file, "t")]
    assert [one.number for one in found if isinstance(one, BadLine)] == [1, 2, 3]
    said = [one.reason for one in found if isinstance(one, BadLine)]
    assert said[1] == "it is longer than 10 bytes"
    assert said[0] == said[2]
