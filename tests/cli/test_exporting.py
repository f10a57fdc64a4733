"""`export`, and `import` of what it wrote, as a person types them."""

import gzip
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.installation import Installation
from long_profile import by_day


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_out_and_in(installation: Installation, tmp_path: Path, name: str) -> None:
    tenant, copy = f"out-{len(name)}", f"in-{len(name)}"
    words = ("store-fact", "user", "drink", "Prefers tea", "--tenant", tenant)
    installation.inside(*words)
    installation.inside("recall", "drink", "--tenant", tenant)
    file = tmp_path / name
    done = installation.inside("export", str(file), "--tenant", tenant)
    assert "\n1 fact\n" in done.err
    assert "\n1 event\n" in done.err
    assert "\n1 served memory\n" in done.err
    assert (
        "already exists" in installation.inside("export", str(file), "--tenant", tenant, code=3).err
    )
    data = gzip.decompress(file.read_bytes()) if name.endswith(".gz") else file.read_bytes()
    assert b"Prefers tea" in data
    taken = ("import", str(file), "--tenant", copy)
    assert "say whose export this is" in installation.inside(*taken, code=3).err
    own = (*taken, "--trust", "user_said")
    assert "Restored" in installation.inside(*own).out
    again = installation.inside(*own, "--json").json
    assert again["restored"] == {} or sum(again["restored"].values()) == 0
    found = installation.inside("recall", "drink", "--tenant", copy, "--json").json["results"]
    assert [one["content"] for one in found] == ["Prefers tea"]


def test_what_memory_has_of_a_person_or_a_writer(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    def say(*words: str, code: int = 0) -> Any:
        return installation.inside(*words, "--tenant", tenant, code=code)

    ana = say("entities", "create", "Ana Silva", "person", "--json").json["entity"]["id"]
    told = ("store-episode", "Ana Silva and Ben met", "--butler", "notes", "--json")
    met = say(*told).json["id"]
    words = ("store-fact", "Ana Silva", "drink", "--entity-id", ana, "--source-episode-id", met)
    say(*words, "Drinks coffee")
    say(*words, "Drinks tea")
    say("store-fact", "Ben", "sister", "Is the brother of Ana Silva")
    say("store-fact", "Ben", "home", "Lives in Bern")

    def rows(*options: str) -> list[dict[str, Any]]:
        out = say("export", "-", "--without-vectors", *options).out.splitlines()
        assert (
            json.loads(out[-1])["rows"] == len(out) - 2 == sum(json.loads(out[0])["rows"].values())
        )
        return [json.loads(line) for line in out[1:-1]]

    def contents(found: list[dict[str, Any]]) -> set[str]:
        return {one["row"]["content"] for one in found if "content" in one["row"]}

    of_ana = rows("--entity", "Ana Silva")
    assert contents(of_ana) == {"Drinks coffee", "Drinks tea"}
    assert {one["table"] for one in of_ana} == {
        "entities",
        "facts",
        "memory_events",
        "memory_links",
        "memory_versions",
    }
    # No row names what is not in the file.
    assert met not in json.dumps([one["row"] for one in of_ana if one["table"] != "memory_events"])
    assert contents(rows("--entity", ana, "--sources", "--mentions")) == {
        "Drinks coffee",
        "Drinks tea",
        "Ana Silva and Ben met",
        "Is the brother of Ana Silva",
    }
    # With what was drawn from it alone.
    assert contents(rows("--writer", "notes")) == {
        "Ana Silva and Ben met",
        "Drinks coffee",
        "Drinks tea",
    }
    file = tmp_path / "ana.jsonl"
    done = say("export", str(file), "--entity", "Ana Silva").err
    assert "What memory has of entity Ana Silva" in done
    assert "Not in it: 2 memories that may say the same" in done
    taken = ("import", str(file), "--trust", "user_said", "--tenant", f"{tenant}-copy")
    assert installation.inside(*taken, "--json").json["bad_lines"] == []
    copied = installation.inside("entities", "show", "Ana Silva", "--tenant", f"{tenant}-copy").out
    assert "Drinks tea" in copied
    assert "Lives in Bern" not in copied
    for wrong in (("--mentions",), ("--sources",), ("--entity", ana, "--writer", "notes")):
        say("export", "-", *wrong, code=3)
    assert "no entity" in say("export", "-", "--entity", "Nobody", code=4).err


def test_the_next_export_removes_what_a_killed_one_left(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    installation.inside("store-fact", "user", "drink", "Prefers tea", "--tenant", tenant)
    words = ("export", str(tmp_path / "all.jsonl"), "--tenant", tenant)
    installation.killed("store.transfer", "dump", 3, *words)
    (left,) = tmp_path.iterdir()
    assert left.name in installation.inside(*words).err
    assert [one.name for one in tmp_path.iterdir()] == ["all.jsonl"]


def test_a_folder_and_standard_output(installation: Installation, tmp_path: Path) -> None:
    installation.inside("export", str(tmp_path), "--tenant", "nobody", "--without-vectors")
    assert (tmp_path / "memory-butler-nobody.jsonl").exists()
    exported = installation.inside("export", "-", "--tenant", "nobody")
    # An empty export of a mistyped name must not look like a backup.
    assert exported.err.startswith("There is no tenant nobody yet. Tenants with memories: ")
    assert exported.out.splitlines()[-1] == '{"kind": "end", "rows": 0}'
    refused = installation.inside("export", "/nowhere/x.jsonl", code=3).err
    assert "cannot be written" in refused


@pytest.mark.parametrize("words", [("export", "-"), ("facts", "list"), ("peers", "list")])
def test_a_full_disk_is_told_as_one(installation: Installation, words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        process = installation.start(*words, "--tenant", "nobody", stdout=full)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.splitlines()[-1]) == (7, "error: No space left on device")


def _hear(said: str, installation: Installation, *use: str) -> None:
    """Give the default companion a message."""
    line = {"actor": "user", "content": said, "ts": "2026-03-04T10:00:00+00:00"}
    (installation.folder / "said.jsonl").write_text(json.dumps(line) + "\n")
    installation.inside("journal", "import", str(installation.folder / "said.jsonl"), *use)


@pytest.mark.parametrize("words", by_day((("export",), ("journal", "export")), ("export",)))
def test_a_full_disk_is_told_as_one_of_a_named_file(
    installation: Installation, words: tuple[str, ...]
) -> None:
    if words[0] == "journal":
        _hear("Hello.", installation, "--tenant", "nobody")
    said = installation.inside(*words, "/dev/full", "--tenant", "nobody", code=7).err
    assert said.splitlines()[-1] == ("error: /dev/full cannot be written: No space left on device")
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("words", by_day((("export",), ("journal", "export")), ("export",)))
def test_a_pipe_and_standard_output_are_written_to(
    installation: Installation, tmp_path: Path, words: tuple[str, ...]
) -> None:
    use = ("--tenant", "piped")
    if words[0] == "journal":
        _hear("Hello.", installation, *use)
    last = installation.inside(*words, "-", *use).out.splitlines()[-1]
    pipe, file = tmp_path / "pipe", tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reading:
        writing = installation.start(*words, str(pipe), *use)
        try:
            writing.communicate(timeout=60)
            assert reading.communicate(timeout=60)[0].splitlines()[-1] == last
        finally:
            writing.kill()
            reading.kill()
    with file.open("w") as redirected:
        process = installation.start(*words, "/dev/stdout", *use, stdout=redirected)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, file.read_text().splitlines()[-1]) == (0, last), err


@pytest.mark.parametrize(
    "words",
    [
        ("export", "-", "--tenant", "nobody"),  # writes within a transaction
        ("facts", "list"),  # a table
        *by_day((("--help",), ("stats", "--help"), ("stats", "--json"))),
    ],
    ids=" ".join,
)
def test_a_reader_that_has_seen_enough_ends_a_command(
    installation: Installation, words: tuple[str, ...]
) -> None:
    installation.inside("store-fact", "user", "tea", "Oolong")
    _closes_the_pipe(installation, *words)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_so_does_one_that_writes_each_line_at_once(
    installation: Installation, unbuffered: str
) -> None:
    _closes_the_pipe(replace(installation, extra={"PYTHONUNBUFFERED": unbuffered}), "version")


def test_so_does_one_whose_errors_go_the_same_way(installation: Installation) -> None:
    with installation.start("jobs", "--tenant", "nobody", stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=60) == 141


def _closes_the_pipe(installation: Installation, *words: str) -> None:
    with installation.start(*words) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        told = [line for line in process.stderr if not line.startswith("There is no tenant")]
        assert (process.wait(timeout=60), told) == (141, [])
