"""A move that ends at one installation, because the other one is lost for good."""

import socket
from pathlib import Path
from uuid import uuid4

import pytest

from conftest import Database
from long_profile import by_day
from memory_butler.domain.errors import Conflict, Frozen
from memory_butler.domain.moves import Move
from memory_butler.engine.opening import open_memory
from memory_butler.engine.tokens import create_token
from memory_butler.erasure import erasing
from memory_butler.erasure.scope import Target
from memory_butler.journal.file import journal_path
from memory_butler.moving.giving_up import GivingUp
from memory_butler.moving.sides import Side
from memory_butler.store.dump import with_database
from memory_butler.surfaces.cli.moving import place_of
from moving.places import ACME, Place, cancel, fill, killed, move

pytestmark = pytest.mark.anyio


async def _gives_up(place: Place, other: str) -> str:
    """As the command does; the state in which the move was."""
    async with open_memory(place.settings, with_model=False) as memory:
        ending = GivingUp(Side(memory, place.name, "acme"), other)
        seen = await ending.look()
        await ending.end(seen)
        return seen.state


async def test_a_source_goes_on_without_its_target(here: Place, there: Place) -> None:
    tokens = await fill(here)
    killed(here, there, "transfer.restore", 3)
    with pytest.raises(
        Frozen, match="lost for good, run `memory-butler move --tenant acme --give-up there`"
    ):
        await here.stores("is frozen")
    assert await _gives_up(here, "there") == "leaving"
    assert await here.admits(tokens["a"]) is not None
    await here.stores("goes on")
    await here.writes("and here")
    with pytest.raises(Conflict, match="tenant acme is not moving"):
        await _gives_up(here, "there")


async def test_an_installation_that_comes_back_is_taken_back(here: Place, there: Place) -> None:
    await fill(here)
    killed(here, there, "transfer.digest", 1)
    await _gives_up(here, "there")
    with pytest.raises(Frozen):
        await there.stores("is frozen")
    await cancel(here, there)
    assert await there.recalls("viola") == []
    await here.stores("goes on")
    await move(here, there)  # and may move there anew
    assert await there.recalls("viola")


async def test_a_source_that_comes_back_is_freed_and_erased(here: Place, there: Place) -> None:
    await fill(here)
    killed(here, there, "journals.thaw", 1)
    await _gives_up(there, "here")
    with pytest.raises(Conflict, match="stays frozen here: if it was given up there, it lives"):
        await move(here, there)  # as the refusal says
    with pytest.raises(Frozen):
        await here.stores("a second life")
    await cancel(here, there)
    await erasing.erase(here.memory, ACME, Target(everything=True))
    await there.stores("goes on")
    assert await there.recalls("viola")


async def test_a_move_that_went_on_meanwhile_is_not_given_up(here: Place, there: Place) -> None:
    await fill(here)
    killed(here, there, "transfer.restore", 3)
    async with open_memory(here.settings, with_model=False) as memory:
        ending = GivingUp(Side(memory, "here", "acme"), "there")
        seen = await ending.look()
        await move(here, there)
        with pytest.raises(Conflict, match="was changed by another process"):
            await ending.end(seen)
    with pytest.raises(Frozen, match="has moved to there"):
        await here.writes("a second life")


async def test_a_source_that_was_left_is_used_again(here: Place, there: Place) -> None:
    tokens = await fill(here)
    await move(here, there)
    assert await _gives_up(here, "there") == "left"
    await here.stores("goes on")
    await here.writes("and here")
    assert await here.admits(tokens["a"]) is None  # tokens went with the move
    made = await create_token(here.memory, "acme", "a", ["admin"])
    assert await here.admits(made.token) is not None


@pytest.mark.parametrize("point", ["journals.thaw", "erasure.erase_tokens"])
async def test_a_target_goes_on_without_its_source(here: Place, there: Place, point: str) -> None:
    """Which is lost right after the switch, or before it is closed."""
    tokens = await fill(here)
    killed(here, there, point, 1)
    await there.stores("was written there")
    with pytest.raises(
        Conflict, match="lost for good, run `memory-butler move --tenant acme --give-up here`"
    ):
        await move(there, here)
    with pytest.raises(Conflict, match="moves between here and here, not a third place"):
        await _gives_up(there, "a third place")
    assert await _gives_up(there, "here") == "arrived"
    assert await there.admits(tokens["a"]) is not None
    await there.stores("goes on")
    await there.writes("and there")
    assert len(await there.messages()) == 3


async def test_a_target_that_got_a_part_is_free_again(here: Place, there: Place) -> None:
    await fill(here)
    killed(here, there, "transfer.digest", 1)  # all is copied, nothing is compared
    assert journal_path(there.data_dir, "acme", "luna").exists()
    for _ in range(2):  # cut off after the copy is deleted, it is given up again
        with pytest.MonkeyPatch.context() as patched:

            async def dies(*_: object) -> None:
                raise RuntimeError("cut off")

            patched.setattr(Side, "set_in", dies)
            with pytest.raises(RuntimeError, match="cut off"):
                await _gives_up(there, "here")
    assert await _gives_up(there, "here") == "arriving"
    assert await there.recalls("viola") == []
    assert not journal_path(there.data_dir, "acme", "luna").exists()
    await there.stores("begins anew")
    await there.writes("and anew")


@pytest.mark.parametrize("what", by_day(("folder", "server", "database"), "server"))
async def test_an_installation_that_answers_is_not_given_up(
    here: Place, other_database: Database, tmp_path: Path, what: str
) -> None:
    there = other_database.runtime_dsn
    folder = tmp_path / "second"
    place = str(folder) if what == "folder" else place_of(there)
    async with open_memory(here.settings, with_model=False) as memory:
        side = Side(memory, "here", "acme")
        side.let_in()
        await side.set(None, Move(uuid4(), "leaving", place))

        async def refused(said: str, login: str | None = None) -> None:
            with pytest.raises(Conflict, match=said):
                await GivingUp(side, place, login).look()

        if what == "folder":
            (folder / "journal").mkdir(parents=True)
            await refused("the folder .*/second is there")
            folder.rename(tmp_path / "renamed")
            gone = None
        elif what == "server":
            await refused("the server of .* answers.* give the login with --to-dsn")
            gone = with_database(there, "gone")
        else:
            await refused(" answers: go on with the move", there)
            gone = with_database(there, "gone")
        assert (await GivingUp(side, place, gone).look()).state == "leaving"


@pytest.mark.parametrize(
    "hosts", by_day(("127.0.0.1:{0}", "127.0.0.1:{0},localhost:{0}", "[::1]:{0}"), "127.0.0.1:{0}")
)
async def test_a_server_that_is_gone_is_given_up(here: Place, hosts: str) -> None:
    with socket.socket() as taken:  # nobody listens
        taken.bind(("127.0.0.1", 0))
        place = place_of(f"postgresql://a:b@{hosts.format(taken.getsockname()[1])}/butler")
        async with open_memory(here.settings, with_model=False) as memory:
            side = Side(memory, "here", "acme")
            side.let_in()
            await side.set(None, Move(uuid4(), "leaving", place))
            assert (await GivingUp(side, place).look()).state == "leaving"
