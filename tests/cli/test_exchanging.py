"""`pull`, `push` and `peers` as a person types them; two tenants are two installations."""

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from cli.installation import Installation
from long_profile import by_day


class Place:
    """One tenant, with the commands for it."""

    def __init__(self, installation: Installation, tenant: str) -> None:
        self.installation, self.tenant = installation, tenant

    def run(self, *words: str, code: int | None = 0) -> str:
        answer = self.installation.inside(*words, "--tenant", self.tenant, code=code)
        return answer.out + answer.err

    def says(self, *words: str) -> str:
        return self.installation.inside(*words, "--tenant", self.tenant).out

    def store(self, predicate: str, content: str, scope: str = "global") -> None:
        self.run("store-fact", "Ana", predicate, content, "--scope", scope)

    @property
    def key(self) -> str:
        found: str = json.loads(self.says("peers", "list", "--json"))["key"]
        return found

    def accept(self, other: "Place", trust: str = "user_said") -> None:
        self.run("peers", "accept", other.tenant, other.key, "--trust", trust)

    def facts(self) -> dict[str, str]:
        given = self.says("facts", "list", "--json")
        return {one["predicate"]: one["content"] for one in json.loads(given)["items"]}

    def with_token_of(self, other: "Place", scope: str, name: str = "exchange") -> "Place":
        """This place, with a token of the other in the variable THEIR_TOKEN."""
        made = json.loads(other.run("token", "create", "--name", name, "--scope", scope, "--json"))
        theirs = {"THEIR_TOKEN": made["token"], "THEIR_URL": other.installation.url}
        extra = {**self.installation.extra, **theirs}
        return Place(replace(self.installation, extra=extra), self.tenant)

    def killed(self, owner: str, called: str, count: int, *words: str) -> None:
        self.installation.killed(owner, called, count, *words, "--tenant", self.tenant)


@pytest.fixture
def pair(installation: Installation, tenant: str) -> tuple[Place, Place]:
    one, other = Place(installation, tenant), Place(installation, f"{tenant}-other")
    one.accept(other)
    other.accept(one)
    one.store("home", "Lives in Porto")
    other.store("pet", "Has a dog")
    return one, other


BOTH = {"home": "Lives in Porto", "pet": "Has a dog"}


def test_two_servers_pull_and_push(pair: tuple[Place, Place]) -> None:
    one, other = pair
    url = one.installation.url
    reader = one.with_token_of(other, "read")
    assert reader.says("pull", url, "--token-env", "THEIR_TOKEN") == "Facts and rules: 1 new.\n"
    assert reader.says("pull", url, "--token-env", "THEIR_TOKEN") == "Up to date.\n"
    assert "needs the scope" in reader.run("push", url, "--token-env", "THEIR_TOKEN", code=None)
    writer = one.with_token_of(other, "write")
    assert writer.says("push", url, "--token-env", "THEIR_TOKEN") == "Facts and rules: 1 new.\n"
    assert one.facts() == other.facts() == BOTH
    one.store("home", "Lives in Faro")
    other.store("home", "Lives in Braga")
    pushed = writer.run("push", url, "--token-env", "THEIR_TOKEN")
    assert "1 conflict waits" in pushed
    assert other.facts()["home"] == "Lives in Braga"
    found = other.run("conflicts")
    assert "Lives in Faro" in found
    assert "Lives in Braga" in found
    # What came is found by its meaning, too.
    assert "Has a dog" in one.run("recall", "which animal lives with Ana?")


@pytest.fixture
def apart(installation: Installation, empty_folder: Path, tenant: str) -> Iterator[list[Place]]:
    """Two installations: each its own data folder, database, keys and server, and one tenant."""
    second = Installation(empty_folder / f"second-{tenant}")
    second.folder.mkdir(mode=0o755)
    log = second.folder / "serve.log"
    with contextlib.closing(second.fork("serve", "--port", "0", log=log)) as server:
        first = server.stdout.readline()
        assert first, log.read_text()
        other = replace(second, url=first.split()[-1])
        yield [Place(installation, tenant), Place(other, tenant)]


@pytest.mark.nightly
def test_two_installations_with_a_server_each_pull_and_push(apart: list[Place]) -> None:
    one, other = apart
    assert one.key != other.key
    assert one.installation.data_dir != other.installation.data_dir
    one.store("home", "Lives in Porto")
    other.store("pet", "Has a dog")
    there = (other.installation.url, "--token-env", "THEIR_TOKEN")
    reader = one.with_token_of(other, "read")
    assert f"peers accept NAME {other.key}" in reader.run("pull", *there, code=None)
    one.run("peers", "accept", "laptop", other.key, "--trust", "user_said")
    assert reader.says("pull", *there) == "Facts and rules: 1 new.\n"
    assert one.facts() == BOTH
    assert other.facts() == {"pet": "Has a dog"}
    writer = one.with_token_of(other, "write")
    assert f"peers accept NAME {one.key}" in writer.run("push", *there, code=None)
    other.run("peers", "accept", "desk", one.key, "--trust", "user_said")
    assert writer.says("push", *there) == "Facts and rules: 1 new.\n"
    assert one.facts() == other.facts() == BOTH
    rule = one.says("store-rule", "Ask before booking", "--json")
    assert writer.says("push", *there) == "Facts and rules: 1 new.\n"
    assert "Ask before booking" in other.says("rules", "list")
    id = json.loads(rule)["id"]
    other.run("rules", "edit", id, "--content", "Ask before booking a flight")
    assert reader.says("pull", *there) == "Facts and rules: 1 changed.\n"
    assert "Ask before booking a flight" in one.says("recall", "whether to buy a plane ticket")
    # Both say something else meanwhile; a conflict is shown on both sides, and settled on one.
    one.store("home", "Lives in Faro")
    other.store("home", "Lives in Braga")
    assert "1 conflict waits" in reader.run("pull", *there)
    assert "1 conflict waits" in writer.run("push", *there)
    for place in apart:
        assert place.facts() == {**BOTH, "home": "Lives in Braga"}
        assert "Lives in Faro" in place.run("conflicts")
    assert reader.says("pull", *there) == "Up to date.\n"
    # From now on they exchange what is of work, whoever asks for more.
    one.run("peers", "accept", "laptop", other.key, "--trust", "user_said", "--scope", "work")
    other.run("peers", "accept", "desk", one.key, "--trust", "user_said", "--scope", "work")
    for place, said in ((one, "Reports on Mondays"), (other, "Reads on Fridays")):
        place.store(said.split()[0], said, "work")
        place.store("secret", f"Never {said}")
    desk = one.with_token_of(other, "exchange", "desk")
    assert desk.says("pull", *there) == "Facts and rules: 1 new.\n"
    assert "work; not global" in desk.run("pull", *there, "--scope", "global", code=None)
    assert "needs the scope 'read'" in _asked(desk, "/api/memory/facts")
    statement = json.loads(_asked(desk, "/api/memory/exchange?scopes=global&scopes=work"))
    assert json.loads(statement["statement"])["scopes"] == ["work"]
    assert desk.says("push", *there) == "Facts and rules: 1 new.\n"
    assert desk.says("push", *there) == desk.says("pull", *there) == "Up to date.\n"
    for place, said in ((one, "Never Reports on Mondays"), (other, "Never Reads on Fridays")):
        known = place.facts()
        assert {known.pop("Reports"), known.pop("Reads")} == {
            "Reports on Mondays",
            "Reads on Fridays",
        }
        assert known == {**BOTH, "home": "Lives in Braga", "secret": said}
    # With the token of another peer it gets no more.
    both = ("--scope", "work", "--scope", "global")
    other.run("peers", "accept", "third", "0" * 64, "--trust", "imported", *both)
    third = one.with_token_of(other, "exchange", "third")
    assert "for the peer 'third'" in third.run("push", *there, *both, code=None)
    assert "work; not global" in third.run("push", *there, "--scope", "global", code=None)
    # A server that is nobody's whose key is known gets what is named, or nothing.
    one.run("peers", "remove", "laptop")
    assert "of these scopes alone" not in one.run("peers", "list")
    refused = desk.run("push", *there, code=None)
    assert f"nobody has accepted the key {other.key}" in refused
    assert desk.says("push", *there, "--scope", "work") == "Up to date.\n"


def _asked(place: Place, path: str) -> str:
    """What a server says to the holder of a token."""
    url = place.installation.extra["THEIR_URL"] + path
    token = place.installation.extra["THEIR_TOKEN"]
    return httpx.get(url, headers={"Authorization": f"Bearer {token}"}).text


@pytest.mark.nightly
def test_a_folder_has_the_named_scopes_alone(pair: tuple[Place, Place], tmp_path: Path) -> None:
    one, other = pair
    folder = tmp_path / "carried"
    one.store("task", "Reports on Mondays", "work")

    def carried() -> bytes:
        return b"".join(path.read_bytes() for path in folder.rglob("*.*"))

    one.run("push", str(folder))
    assert b"Porto" in carried()
    # What was there before goes, and what a killed push has left.
    (state,) = folder.rglob("state.json")
    state.with_name(f".129-{'0' * 32}.facts.ab12_x").write_text("Lives in Porto")
    one.run("push", str(folder), "--scope", "work")
    assert b"Reports on Mondays" in carried()
    assert b"Porto" not in carried()
    assert one.says("push", str(folder), "--scope", "work") == "0 files written.\n"
    assert other.says("pull", str(folder)) == "Facts and rules: 1 new.\n"
    assert other.facts() == {"pet": "Has a dog", "task": "Reports on Mondays"}
    assert other.says("pull", str(folder)) == "Up to date.\n"
    # Of a folder with everything, too, only what is asked for is taken.
    one.store("room", "Sits in room 3", "work")
    one.run("push", str(folder))
    assert other.says("pull", str(folder), "--scope", "work") == "Facts and rules: 1 new.\n"
    assert "home" not in other.facts()
    # Nor is what was not agreed refused again with each pull.
    other.run("peers", "accept", one.tenant, one.key, "--trust", "user_said", "--scope", "work")
    one.store("desk", "Has a desk by the window", "work")
    one.run("push", str(folder))
    assert other.says("pull", str(folder)) == "Facts and rules: 1 new.\n"
    assert other.says("pull", str(folder)) == "Up to date.\n"
    # Whoever has agreed on scopes says which of them a folder gets.
    one.run("peers", "accept", "office", "0" * 64, "--trust", "imported", "--scope", "work")
    assert "of these scopes alone: work" in one.run("peers", "list")
    assert "a folder is for everybody" in one.run("push", str(folder), code=None)
    assert "of these scopes alone: global, work" in one.run(
        *("peers", "accept", "office", "0" * 64, "--trust", "imported"),
        *("--scope", "work", "--scope", "global"),
    )
    # Another key by the same name does not open the folder to everybody; the same key does.
    assert "Now it is of all" in one.run(
        "peers", "accept", "office", "1" * 64, "--trust", "imported"
    )
    assert "a folder is for everybody" in one.run("push", str(folder), code=None)
    for _ in range(2):
        one.run("peers", "accept", "office", "0" * 64, "--trust", "imported")
    assert "files written" in one.run("push", str(folder))


def test_an_unknown_key_is_refused_with_what_to_do(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    one, other = Place(installation, tenant), Place(installation, f"{tenant}-other")
    other.store("pet", "Has a dog")
    other.run("push", str(tmp_path))
    told = one.run("pull", str(tmp_path), code=1)
    assert f"peers accept NAME {other.key} --trust user_said" in told
    assert "Nothing was exchanged." in told
    assert one.facts() == {}
    assert "at most" in one.run("peers", "accept", "desk", other.key, "--trust", "imported")
    assert one.says("pull", str(tmp_path)) == "Facts and rules: 1 new.\n"
    one.run("peers", "remove", "desk")
    assert "nobody has accepted" in one.run("pull", str(tmp_path), code=1)
    assert "no peer 'desk'" in one.run("peers", "remove", "desk", code=None)
    assert "64 hexadecimal" in one.run(
        "peers", "accept", "desk", "abc", "--trust", "imported", code=None
    )


def test_a_folder_carries_what_changed(pair: tuple[Place, Place], tmp_path: Path) -> None:
    one, other = pair
    folder = tmp_path / "carried"
    assert one.says("push", str(folder)) == "2 files written.\n"
    assert one.says("push", str(folder)) == "0 files written.\n"
    assert one.says("pull", str(folder)).startswith("No other installation has written")
    other.run("push", str(folder))
    assert one.says("pull", str(folder)) == "Facts and rules: 1 new.\n"
    assert other.says("pull", str(folder)) == "Facts and rules: 1 new.\n"
    assert one.facts() == other.facts() == BOTH
    assert {oct(one.stat().st_mode)[-3:] for one in folder.rglob("*") if one.is_file()} == {"600"}
    one.run("store-fact", "Ana", "home", "Lives in Faro")
    one.run("push", str(folder))
    other.run("pull", str(folder))
    assert other.facts() == {**BOTH, "home": "Lives in Faro"}
    # A file that is half copied, is missing, or leads elsewhere is told; the next pull goes on.
    one.run("store-fact", "Ana", "drink", "Likes tea")
    before = set(folder.rglob("*.facts"))
    one.run("push", str(folder))
    (new,) = set(folder.rglob("*.facts")) - before
    whole = new.read_bytes()
    new.write_bytes(whole[: len(whole) // 2])
    assert "still being copied" in other.run("pull", str(folder), code=1)
    new.unlink()
    assert "not here yet" in other.run("pull", str(folder), code=1)
    new.symlink_to("/etc/passwd")
    assert "cannot be read" in other.run("pull", str(folder), code=1)
    new.unlink()
    new.write_bytes(whole.replace(b"Likes tea", b"Likes gin"))
    assert "changed on the way" in other.run("pull", str(folder), code=1)
    new.write_bytes(whole)
    assert other.says("pull", str(folder)) == "Facts and rules: 1 new.\n"


@pytest.mark.parametrize("count", by_day((1, 2, 3), 2))
def test_a_killed_push_or_pull_is_finished_by_the_next(
    pair: tuple[Place, Place], tmp_path: Path, count: int
) -> None:
    one, other = pair
    for number in range(4):
        one.store(f"note {number}", "Rows a boat")
    folder = str(tmp_path / "carried")
    one.killed("integrations.exchange", "_write", count, "push", folder)
    one.run("push", folder)
    other.killed("client:MemoryClient", "exchange_take", count, "pull", folder)
    other.run("pull", folder)
    assert other.facts() == {**one.facts(), "pet": "Has a dog"}
    assert other.says("pull", folder) == "Up to date.\n"


@pytest.fixture
def keyed(installation: Installation) -> Iterator[Installation]:
    """The shared installation, with keys while a test runs."""
    installation.inside("keys", "init")
    yield installation
    shutil.rmtree(installation.data_dir / "keys")


@pytest.mark.usefixtures("keyed")
def test_files_are_encrypted_where_keys_are_set_up(
    pair: tuple[Place, Place], tmp_path: Path
) -> None:
    one, other = pair
    one.run("push", str(tmp_path / "sealed"))
    one.run("push", str(tmp_path / "plain"), "--plain")
    texts = {
        folder: b"".join(path.read_bytes() for path in (tmp_path / folder).rglob("*.*"))
        for folder in ("sealed", "plain")
    }
    assert b"Porto" not in texts["sealed"]
    assert b"Porto" in texts["plain"]
    assert one.says("push", str(tmp_path / "sealed")) == "0 files written.\n"
    assert other.says("pull", str(tmp_path / "sealed")) == "Facts and rules: 1 new.\n"
    # What lay there in clear, or is damaged, is written again, and one damaged file is not all.
    assert one.says("push", str(tmp_path / "plain")) == "2 files written.\n"
    one.store("drink", "Likes tea")
    one.run("push", str(tmp_path / "plain"))
    carried = sorted((tmp_path / "plain").rglob("*.facts"))
    assert all(b"Ana" not in path.read_bytes() for path in carried)
    whole = [path.read_bytes() for path in carried]
    carried[0].write_bytes(whole[0][: len(whole[0]) // 2])
    told = other.run("pull", str(tmp_path / "plain"), code=1)
    assert carried[0].name in told
    one.run("push", str(tmp_path / "plain"))
    other.run("pull", str(tmp_path / "plain"))
    assert other.facts() == {**BOTH, "drink": "Likes tea"}
