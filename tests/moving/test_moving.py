"""A tenant moves to another installation: whole, or not at all, and never in two places."""

import asyncio
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Connection
from long_profile import by_day
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    Frozen,
    IntegrityViolation,
    MemoryButlerError,
)
from memory_butler.domain.moves import Move
from memory_butler.domain.principals import Principal
from memory_butler.engine import sealing
from memory_butler.engine.jobs.catalogue import BY_NAME
from memory_butler.engine.jobs.ticks import every_tenant
from memory_butler.engine.keys import set_up
from memory_butler.engine.tokens import create_token, list_tokens, revoke_token
from memory_butler.erasure import certificate, erasing
from memory_butler.erasure.scope import Target
from memory_butler.journal import queries, snapshots
from memory_butler.journal.file import JournalFile, journal_path
from memory_butler.moving import journals
from memory_butler.moving.moving import Moving
from memory_butler.operations.retrieval import memory_context
from memory_butler.store import seals, transfer
from memory_butler.store.transaction import transaction
from memory_butler.surfaces.calls import call
from moving.places import ACME, Place, cancel, fill, killed, move, mover

pytestmark = pytest.mark.anyio

OTHER = Principal("other", "tester")
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
QUESTION = "what tea does the user like?"


async def _rows(place: Place) -> dict[str, tuple[int, str]]:
    async with place.memory.reading(ACME.tenant) as tx:
        return {one.name: await transfer.digest(tx, one) for one in await transfer.tables(tx)}


async def _writes(place: Place, text: str) -> bool:
    """Whether the place takes a write now."""
    try:
        await place.stores(text)
    except Frozen:
        return False
    return True


async def _is_whole(place: Place) -> None:
    report = await sealing.audit(place.memory, ACME)
    assert report.breaks == []
    assert report.sealed > 0


@pytest.mark.parametrize("sealed", by_day((False, True), True), ids=["plain", "sealed"])
async def test_a_tenant_moves_with_all_it_has(here: Place, there: Place, sealed: bool) -> None:
    if sealed:
        set_up(here.settings)
        set_up(there.settings)
    tokens = await fill(here)
    await here.stores("likes the rain", OTHER)
    assert await here.recalls("Porto")  # so that something was served
    before, answers = await _rows(here), await here.recalls(QUESTION)
    before = await _rows(here)
    assert {name for name, (count, _) in before.items() if count} >= {
        "episodes", "facts", "rules", "memory_events", "memory_versions", "served", "erasures",
    }  # fmt: skip

    await move(here, there)

    assert await _rows(there) == before
    assert await there.recalls(QUESTION) == answers != []
    assert await there.messages() == ["hello there", "the viola is out of tune"]
    with JournalFile(journal_path(there.data_dir, "acme", "luna"), there.memory.keys) as file:
        assert file.is_sealed is sealed
    assert (await there.admits(tokens["a"])) is not None
    assert await there.admits(tokens["b"]) is None  # it was revoked before
    assert await here.admits(tokens["a"]) is None
    assert await list_tokens(here.memory, "acme") == []
    await _is_whole(there)
    await _is_whole(here)
    assert await _writes(there, "rides a bicycle")
    await there.writes("and it goes on")

    # What is left is only to be read, and to be erased.
    for refused in (here.stores("rides a horse"), here.recalls(QUESTION), here.writes("hello?")):
        with pytest.raises(Frozen, match="tenant acme has moved to there: use it there"):
            await refused
    erased = await erasing.erase(here.memory, ACME, Target(everything=True))
    assert certificate.verify(erased.path).certificate["rows"]["facts"] == before["facts"][0]
    assert not await _writes(here, "rides a horse")
    assert len(await there.messages()) == 3
    assert await there.recalls("bicycle")
    assert await here.recalls("rain", OTHER)


async def test_a_tenant_comes_back_only_where_the_erasure_of_its_stay_is_finished(
    here: Place, there: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Since to finish it takes all journals and keys of the tenant, those that came back too."""
    await fill(here)
    await move(here, there)
    with monkeypatch.context() as patched:

        def dies(*_: object) -> None:
            raise RuntimeError("cut off")

        patched.setattr(certificate, "signed", dies)
        with pytest.raises(RuntimeError, match="cut off"):
            await erasing.erase(here.memory, ACME, Target(everything=True))
    with pytest.raises(Conflict, match="at here an erasure was cut off: finish it there first"):
        await move(there, here)
    await there.writes("and it stays there")
    await erasing.finish(here.memory, ACME, Target(everything=True))
    await move(there, here)
    assert await erasing.finish(here.memory, ACME, Target(everything=True)) == []
    assert len(await here.messages()) == 3


# Where a move is killed: each run goes on from where the one before was, so calls are of one run.
# By day a few of them.
BEFORE = (("journals.freeze", 1), ("moves.mark", 1))
FROZEN = (
    ("sealing.seal", 2),  # the first is of the look whether its log is whole
    ("moves.mark", 1),
    ("journals.freeze", 1),
    ("sealing.adopt", 1),
    ("transfer.restore", 3),
    ("journals.copy", 1),
    ("transfer.digest", 1),
    ("moves.take_tokens", 1),
    ("moves.mark", 1),
)
SWITCHED = (
    ("journals.thaw", 1),
    ("sealing.seal", 2),
    ("erasure.erase_tokens", 1),
    ("moves.mark", 1),
    ("journals.freeze", 1),
    ("moves.mark", 2),
)


async def test_a_move_that_is_killed_wherever_it_is_goes_on(here: Place, there: Place) -> None:
    tokens = await fill(here)
    frozen, switched = (FROZEN, SWITCHED) if NIGHTLY else (FROZEN[::4], SWITCHED[::5])
    for point in BEFORE:
        killed(here, there, *point)
        assert await _writes(here, "was written meanwhile")
    before = await _rows(here)
    for number, point in enumerate(frozen):
        killed(here, there, *point)
        assert not await _writes(here, "was written meanwhile")
        with pytest.raises(Frozen):
            await here.writes("was written meanwhile")
        if number > (1 if NIGHTLY else 0):  # the mark there is set
            assert not await _writes(there, "was written meanwhile")
        assert await here.admits(tokens["a"]) is not None
        assert await there.admits(tokens["a"]) is None
    assert await _rows(there) == before
    for point in switched:
        killed(here, there, *point)
        assert not await _writes(here, "was written meanwhile")
        assert await _writes(there, "was written there")
        assert await there.admits(tokens["a"]) is not None
        with pytest.raises(Conflict, match="has come from here, where that is not closed yet"):
            await move(there, here)
        with pytest.raises(Conflict, match="has moved to there"):
            await cancel(here, there)
    for _ in range(2):  # the second time nothing is left to do
        await move(here, there)
        after = await _rows(there)
        assert after["episodes"] == before["episodes"]
        assert after["facts"][0] == before["facts"][0] + len(switched)
        assert await there.messages() == ["hello there", "the viola is out of tune"]
        assert await here.admits(tokens["a"]) is None
        await _is_whole(there)
    await there.writes("and it goes on")
    with pytest.raises(Frozen, match="has moved to there"):
        await here.writes("and it goes on")


@pytest.mark.parametrize(
    "point",
    by_day(
        (("moves.mark", 1), ("moves.mark", 2), ("transfer.restore", 3), ("moves.mark", 3)),
        ("moves.mark", 2),
    ),
    ids=str,
)
async def test_a_move_that_was_cut_off_is_taken_back(
    here: Place, there: Place, point: tuple[str, int]
) -> None:
    tokens = await fill(here)
    before = await _rows(here)
    killed(here, there, *point)
    await cancel(here, there)
    assert await _rows(here) == before
    assert await here.admits(tokens["a"]) is not None
    assert await _writes(here, "goes on here")
    await here.writes("and here")
    gone = await _rows(there)
    assert {name for name, (count, _) in gone.items() if count} <= {"erasures"}
    assert not journal_path(there.data_dir, "acme", "luna").exists()
    await move(here, there)
    assert await there.recalls("goes on here")
    await _is_whole(there)


async def test_every_table_of_a_journal_is_compared(here: Place) -> None:
    await here.writes("hello there")
    with JournalFile(journal_path(here.data_dir, "acme", "luna")) as file:
        with file.reading() as db:
            found = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            known = {row[0] for row in found}
        plain = snapshots.digest(file)
    known -= {"schema_version"}  # of the file: a sealed one has another
    assert plain.keys() == {name for name in known if not name.startswith("sqlite")}
    assert plain["events"][0] == 1
    assert "event_tags" in plain


async def test_a_move_goes_on_by_another_name_of_its_source(here: Place, there: Place) -> None:
    """As from a folder that is mounted elsewhere, or by localhost for 127.0.0.1."""
    tokens = await fill(here)
    killed(here, there, "journals.thaw", 1)
    assert await _writes(there, "was written there")
    # The source may never be closed: what has leaked can be revoked at the target all the same.
    for token in await list_tokens(there.memory, "acme"):
        if token["revoked_at"] is None:
            await revoke_token(there.memory, token["id"])
    assert await there.admits(tokens["a"]) is None
    async with mover(here, there) as moving:
        await replace(moving, source=replace(moving.source, place="the old machine")).move()
    assert not await _writes(here, "was written meanwhile")
    assert await _writes(there, "goes on there")
    await there.writes("and there")


async def test_a_journal_of_a_tenant_that_moves_is_not_copied_over_one_that_is_written(
    here: Place, there: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a process that was stopped while another one went on."""
    await fill(here)
    freeze = Moving._arriving

    async def and_thaw(moving: Moving, move: Move, there: Move | None, *, goes_on: bool) -> Move:
        arriving = await freeze(moving, move, there, goes_on=goes_on)
        journals.thaw(moving.target.data_dir, "acme")
        return arriving

    with monkeypatch.context() as patched:
        patched.setattr(Moving, "_arriving", and_thaw)
        with pytest.raises(Conflict, match="takes writes again"):
            await move(here, there)
    await move(here, there)
    assert await there.messages() == ["hello there", "the viola is out of tune"]


async def test_what_has_moved_is_not_taken_back(here: Place, there: Place) -> None:
    await fill(here)
    await move(here, there)
    with pytest.raises(Conflict, match="has moved to there"):
        await cancel(here, there)
    third = there.settings.model_copy(update={"data_dir": there.data_dir.with_name("third")})
    with pytest.raises(Conflict, match="has moved to there"):
        await move(here, replace(there, settings=third))


async def test_a_preview_changes_nothing(here: Place, there: Place) -> None:
    await fill(here)
    old = journal_path(here.data_dir, "acme", "old")
    with closing(sqlite3.connect(old)) as db:
        db.executescript(queries.text_of("schema.sql"))
        db.execute("INSERT INTO schema_version VALUES (2)")
        db.commit()
    before = old.read_bytes()
    async with here.memory.reading("acme") as tx:
        waiting = await seals.waiting(tx)
    assert waiting > 0
    async with mover(here, there) as moving:
        found = await moving.preview()
    assert found.journals == ("luna", "old")
    async with here.memory.reading("acme") as tx:
        assert await seals.waiting(tx) == waiting
    assert old.read_bytes() == before
    assert sorted(one.name for one in old.parent.iterdir()) == ["luna", "luna.sqlite", "old.sqlite"]
    await move(here, there)
    with JournalFile(journal_path(there.data_dir, "acme", "old")):
        pass


async def test_there_and_back_again(here: Place, there: Place) -> None:
    tokens = await fill(here)
    await move(here, there)
    with pytest.raises(Conflict, match="here has a tenant acme already"):
        await move(there, here)
    await there.stores("has a cat")  # the refusal left it as it was
    await erasing.erase(here.memory, ACME, Target(everything=True))
    await there.writes("a third message")
    # Taken back on its way, it has still left the place where it was before.
    killed(there, here, "transfer.restore", 2)
    await cancel(there, here)
    assert not await _writes(here, "begins an empty second life")
    with pytest.raises(Frozen, match="has moved to there"):
        await here.writes("begins an empty second life")
    await there.writes("a third message, told again")
    before = await _rows(there)
    await move(there, here)
    after = await _rows(here)
    assert after.pop("erasures")[0] > before.pop("erasures")[0]
    assert after == before
    assert await here.recalls("cat")
    assert len(await here.messages()) == 4
    assert await here.admits(tokens["a"]) is not None
    assert await there.admits(tokens["a"]) is None
    await _is_whole(here)
    await here.writes("a fourth")
    assert not await _writes(there, "has a dog")


async def test_what_cannot_move_is_left_as_it_was(
    here: Place, there: Place, admin: Connection, tmp_path: Path
) -> None:
    await fill(here)

    async def refused(kind: type[MemoryButlerError], said: str, target: Place = there) -> None:
        with pytest.raises(kind, match=said):
            async with mover(here, target) as moving:
                await moving.preview()
        with pytest.raises(kind, match=said):
            await move(here, target)
        assert await _writes(here, "goes on")
        await here.writes("goes on")

    elsewhere = there.settings.model_copy(update={"dsn": here.settings.dsn})
    await refused(Conflict, "both places are one database", replace(there, settings=elsewhere))
    same = there.settings.model_copy(update={"data_dir": here.data_dir})
    await refused(
        ConfigurationError, "both places have the data folder", replace(there, settings=same)
    )
    set_up(here.settings)
    with JournalFile(journal_path(here.data_dir, "acme", "ada"), here.memory.keys):
        pass
    await refused(
        ConfigurationError, "the journal ada is encrypted, and the other place has no keys"
    )
    set_up(there.settings)
    await there.stores("is somebody else")
    await refused(Conflict, r"there has a tenant acme already \(memory_events, facts\)")
    await erasing.erase(there.memory, ACME, Target(everything=True))
    made = await create_token(there.memory, "acme", "a", ["admin"])
    await revoke_token(there.memory, made.id)
    await refused(Conflict, r"there has a tenant acme already \(tokens\)")
    await erasing.erase(there.memory, ACME, Target(everything=True))
    await there.writes("somebody else's")
    await refused(Conflict, "journal/acme is there already, and is not empty")
    await erasing.erase(there.memory, ACME, Target(everything=True))
    await sealing.seal(here.memory, "acme")
    await admin.execute("UPDATE memory_events SET actor = 'x' WHERE event_type = 'rule_created'")
    await refused(Conflict, "the event log is not whole")
    await admin.execute(
        "UPDATE memory_events SET actor = 'tester' WHERE event_type = 'rule_created'"
    )
    await move(here, there)


async def test_a_difference_stops_it_before_the_switch(
    here: Place, there: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = await fill(here)
    copied = Moving._copy_files

    async def and_change(moving: Moving, arriving: object) -> None:
        await copied(moving, arriving)  # type: ignore[arg-type]
        async with transaction(moving.target.memory.pool, "acme") as tx:
            await tx.connection.execute(
                "UPDATE facts SET importance = importance + 1 WHERE tenant_id = 'acme' AND id ="
                " (SELECT id FROM facts WHERE tenant_id = 'acme' LIMIT 1)"
            )

    with monkeypatch.context() as patched:
        patched.setattr(Moving, "_copy_files", and_change)
        with pytest.raises(IntegrityViolation, match=r"differs in facts \(4 rows of 4\)"):
            await move(here, there)
    assert not await _writes(here, "goes on")
    assert not await _writes(there, "goes on")
    assert await there.admits(tokens["a"]) is None
    await cancel(here, there)
    await move(here, there)
    assert await there.admits(tokens["a"]) is not None


async def test_while_it_moves_nothing_is_written_and_readers_are_served(
    here: Place, there: Place, admin: Connection
) -> None:
    tokens = await fill(here)
    await here.stores("likes the rain", OTHER)
    seen: list[str] = []

    async def look() -> None:
        """At both places, half way."""
        for place, way in ((here, "to there"), (there, "from here")):
            with pytest.raises(Frozen, match=f"tenant acme is moving {way}: nothing is written"):
                await place.stores("was written meanwhile")
            with pytest.raises(Frozen, match=way):
                await place.writes("was written meanwhile")
            with pytest.raises(Frozen, match="make its tokens where it goes"):
                await create_token(place.memory, "acme", "c", ["admin"])
            done, failed = await every_tenant(place.memory, BY_NAME["decay_sweep"])
            assert not failed
            assert "acme" not in done
        (token, *_) = await list_tokens(here.memory, "acme")
        with pytest.raises(Frozen, match="revoke it when it is there"):
            await revoke_token(here.memory, token["id"])
        assert await here.admits(tokens["a"]) is not None
        assert await there.admits(tokens["a"]) is None
        assert len(await here.messages()) == 2
        # An agent is not blocked: its context is empty.
        given = memory_context.input_model(trigger_prompt="tea", butler="chef")
        context = await call(memory_context, here.memory, ACME, given)
        assert context.model_dump()["context"] == "# Memory Context\n"
        assert await here.recalls("rain", OTHER)
        with pytest.raises(Conflict, match="another process moves this tenant"):
            await move(here, there)
        seen.append("looked")

    halfway = Moving._compare

    async def look_and_compare(moving: Moving) -> None:
        await look()
        await halfway(moving)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Moving, "_compare", look_and_compare)
        await move(here, there)
    assert seen == ["looked"]


async def test_marks_and_tokens_are_reached_by_their_own_tenant_alone(
    here: Place, admin: Connection
) -> None:
    for tenant in ("acme", "other"):
        await create_token(here.memory, tenant, "a", ["read"])
    await admin.execute("UPDATE tenants SET move_state = 'leaving', move_place = 'there'")
    here.memory.pool.let_in = frozenset({"leaving", "arriving"})

    async def asked(asking: str, query: str, *given: object) -> object:
        async with transaction(here.memory.pool, asking) as tx:
            return await tx.connection.fetchval(query, "other", *given)

    mark = "SELECT tenant_mark($1, NULL, 'leaving', NULL, 'arriving', 'there')"
    given = await asked("other", "SELECT tenant_tokens($1)")
    assert [one["tenant_id"] for one in given] == ["other"]  # type: ignore[attr-defined]
    assert await asked("acme", "SELECT tenant_tokens($1)") == []
    assert await asked("other", "SELECT move_place FROM tenant_move($1)") == "there"
    assert await asked("acme", "SELECT move_place FROM tenant_move($1)") is None
    assert await asked("acme", mark) is False
    assert await asked("other", mark) is True
    await admin.execute("DELETE FROM tokens")
    assert await asked("acme", "SELECT tenant_take_tokens($1, $2)", given) == 0
    assert await asked("other", "SELECT tenant_take_tokens($1, $2)", given) == 1
    assert {row["tenant_id"] for row in await list_tokens(here.memory)} == {"other"}


async def test_the_move_waits_for_who_writes_already(here: Place, there: Place) -> None:
    await fill(here)
    async with transaction(here.memory.pool, "acme") as tx:
        going = asyncio.create_task(move(here, there))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await asyncio.shield(going)
        await tx.connection.execute(
            "UPDATE rules SET content = 'Answer in French' WHERE tenant_id = 'acme'"
        )
    await going
    async with there.memory.reading("acme") as tx:
        assert await tx.connection.fetchval("SELECT content FROM rules") == "Answer in French"
