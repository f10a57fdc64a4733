"""`move` as a person types it: two installations, each with its own embedded database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.installation import Installation, own_engine
from folders import open_folder
from memory_butler.moving.moving import Moving
from memory_butler.store import embedded


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Of both, with an engine of their own."""
    with open_folder() as folder, own_engine():
        yield folder


@pytest.fixture(scope="module")
def one(folder: Path) -> Iterator[Installation]:
    """Where acme lives, with a journal and a token."""
    made = Installation(folder / "one")
    made.folder.mkdir(mode=0o755)
    lease = embedded.acquire(made.data_dir, cluster_root=made.folder / "clusters")
    made.inside("store-fact", "user", "likes", "green tea", "--tenant", "acme")
    made.inside("token", "create", "--name", "agent", "--tenant", "acme")
    said = '{"ts": "2026-03-01T12:00:00Z", "actor": "user", "content": "hello there"}'
    (made.folder / "said.jsonl").write_text(said)
    file = str(made.folder / "said.jsonl")
    made.inside("journal", "import", file, "--companion", "luna", "--tenant", "acme")
    yield made
    lease.release()


@pytest.fixture(scope="module")
def two(folder: Path) -> Iterator[Installation]:
    made = Installation(folder / "two")
    made.folder.mkdir(mode=0o755)
    lease = embedded.acquire(made.data_dir, cluster_root=made.folder / "clusters")
    yield made
    lease.release()


def test_a_tenant_moves_to_another_data_folder(one: Installation, two: Installation) -> None:
    to = ["move", "--tenant", "acme", "--to-data-dir", str(two.data_dir)]
    told = one.inside(*to, "--preview").out
    assert told.startswith("Would move ")
    assert f" from {one.data_dir} to {two.data_dir}:" in told
    assert "1 journal, 1 token " in told
    assert "  facts: 1\n" in told
    assert "  journal luna\n" in told
    said = one.inside(*to, code=3).err
    assert "not a terminal; look with --preview, then rerun with --yes" in said

    moved = one.apart(*to, "--yes")
    assert moved.out.startswith("Moved ")
    assert "Erase what is left: memory-butler erase --everything --tenant acme" in moved.out
    assert [line for line in moved.err.splitlines() if not line.startswith("row ")] == [
        "freezing",
        "copying the memories",
        "copying the journals",
        "comparing what is there with what was here",
        "switching",
        "closing the old place",
    ]
    refused = one.inside("recall", "tea", "--tenant", "acme", code=7).err
    assert f"tenant acme has moved to {two.data_dir}: use it there" in refused
    one.inside("erase", "--everything", "--tenant", "acme", "--yes")
    one.inside("store-fact", "user", "likes", "coffee", "--tenant", "acme", code=7)
    assert "green tea" in two.inside("recall", "tea", "--tenant", "acme").out
    assert (
        "hello there"
        in two.inside("journal", "export", "--companion", "luna", "--tenant", "acme").out
    )
    assert "agent" in two.inside("token", "list", "--tenant", "acme").out
    assert "0 breaks." in two.inside("audit", "--tenant", "acme").out


def test_who_interrupts_a_move_is_told_how_the_tenant_is_left(
    one: Installation, two: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(_: Moving) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Moving, "move", interrupted)
    words = ("move", "--tenant", "other", "--to-data-dir", str(two.data_dir), "--yes")
    said = one.inside(*words, code=130).err
    assert "tenant other takes no writes: the same command goes on, or with --cancel" in said


def test_what_is_asked_for_wrongly_is_said(one: Installation, two: Installation) -> None:
    assert "name the other installation" in one.inside("move", code=3).err
    both = ["--to-config", "butler.toml", "--to-data-dir", str(two.data_dir)]
    assert "give --to-config alone" in one.inside("move", *both, code=3).err
    same = one.inside("move", "--to-data-dir", str(one.data_dir), "--preview", code=5).err
    assert "both places are one database" in same
    bad = one.inside("move", "--to-data-dir", "x", "--to-dsn", "nonsense", code=8).err
    assert "--to-dsn must look like postgresql://" in bad


def test_a_mistyped_tenant_does_not_move(one: Installation, two: Installation) -> None:
    """It would leave a mark on the name, and say that all went well."""
    to = ["move", "--tenant", "acne", "--to-data-dir", str(two.data_dir)]
    for words in ([*to, "--preview"], [*to, "--yes"]):
        assert "there is nothing of tenant acne" in one.inside(*words, code=4).err
    one.inside("store-fact", "user", "likes", "coffee", "--tenant", "acne")


def test_the_other_installation_may_be_named_by_its_file(
    one: Installation, two: Installation, tmp_path: Path
) -> None:
    """Of which the environment, as it is of this installation, says nothing."""
    file = tmp_path / "butler.toml"
    file.write_text(
        f'[server]\ndata_dir = "{two.data_dir}"\ncluster_root = "{two.folder / "clusters"}"\n'
    )
    one.inside("store-fact", "user", "owns", "a bicycle", "--tenant", "beta")
    one.inside("move", "--tenant", "beta", "--to-config", str(file), "--yes")
    assert "bicycle" in two.inside("recall", "bicycle", "--tenant", "beta").out
    one.inside("move", "--tenant", "beta", "--to-config", str(file), "--cancel", code=5)


def test_a_preview_makes_no_database(one: Installation, folder: Path) -> None:
    third = folder / "third"
    one.inside("store-fact", "user", "owns", "a kayak", "--tenant", "gamma")
    told = one.inside("move", "--tenant", "gamma", "--to-data-dir", str(third), "--preview").out
    assert told.startswith("Would move 2 rows")
    assert f"{third} has no database of this version yet: the move makes or upgrades it" in told
    assert told.endswith("Nothing was changed.\n")
    assert not third.exists()


@pytest.mark.nightly
def test_an_installation_that_is_lost_is_given_up(one: Installation, folder: Path) -> None:
    made = Installation(folder / "lost")
    made.folder.mkdir(mode=0o755)
    to = ["move", "--tenant", "delta", "--to-data-dir", str(made.data_dir)]
    one.inside("store-fact", "user", "owns", "a canoe", "--tenant", "delta")
    one.apart(*to, "--yes")
    giving = ["move", "--tenant", "delta", "--give-up", str(made.data_dir)]
    assert "is there: go on with the move" in one.inside(*giving, code=5).err
    made.data_dir.rename(folder / "gone")
    assert "--give-up goes with" in one.inside(*giving, "--yes", code=3).err
    looked = one.inside(*giving, "--preview").out
    assert "Tenant delta takes writes here again, with what is left of it here" in looked
    assert looked.endswith("Nothing was changed.\n")
    assert "nothing was changed" in one.inside(*giving, stdin="dellta\n", code=3).err
    one.inside("store-fact", "user", "wants", "a raft", "--tenant", "delta", code=7)
    said = one.run(*giving, stdin="delta\n").out
    assert said.endswith(f"{made.data_dir} is given up.\n")
    one.inside("store-fact", "user", "wants", "a raft", "--tenant", "delta")
    assert "canoe" in one.inside("recall", "canoe", "--tenant", "delta").out
