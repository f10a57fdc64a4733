"""Both sides together: fragments from the desk, look-ups on the live side, runs and versions."""

import stat
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from conftest import NOW, Clock
from memory_butler.domain.errors import Conflict, InvalidInput, NotFound, Unavailable
from memory_butler.journal import texts
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import (
    DropEdge,
    DropFragment,
    Fragment,
    Operation,
    PutEdge,
    PutFragment,
)
from memory_butler.journal.items import to_text
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.lookups import KnownNeighbour, Recollection

KNOWLEDGE: tuple[Operation, ...] = (
    PutFragment("fairy", "A fairy.", "She lives in the garden.", "She is called Oda. Wings: two."),
    PutFragment("garden", "The garden behind the house.", "It has an old well."),
    PutFragment("well", ""),
    PutFragment("wings", "Wings of glass."),
    PutEdge("fairy", "wings", "has"),
    PutEdge("fairy", "garden", "lives in"),
    PutEdge("fairy", "well", "avoids"),
    PutEdge("garden", "well"),
)


@pytest.mark.requirement("JLOOK-01", "JFRAG-01")
def test_recall_tells_the_story_and_the_neighbours(
    desk: MaintenanceDesk, live: LiveJournal
) -> None:
    desk.apply("bootstrap", KNOWLEDGE)
    assert live.recall("fairy") == Recollection(
        "fairy",
        "recognition",
        "She lives in the garden.",
        (
            KnownNeighbour("garden", "lives in", "The garden behind the house."),
            KnownNeighbour("wings", "has", "Wings of glass."),
        ),
    )
    # Spellings of a key are the key; what may be two is none.
    for spelling in ("Fairy", " FAIRY", "fairy"):
        assert live.recall(spelling) == live.recall("fairy")
    desk.apply(
        "manual", [PutFragment("Body-Training", "Twice a week."), PutFragment("wing s", "x")]
    )
    assert live.recall("body training") == live.recall("Body-Training")
    desk.apply("manual", [PutFragment("body_training", "Another.")])
    assert live.recall("body training") is None
    assert live.recall("nobody") is None
    # Edges have a direction; the other is an option.
    assert live.recall("wings") == Recollection("wings", "ambient", "Wings of glass.", ())
    both = live.recall("wings", direction="both")
    assert both is not None
    assert both.neighbours == (KnownNeighbour("fairy", "has", "A fairy."),)


@pytest.mark.requirement("JLOOK-01", "JLOOK-02")
def test_another_name_is_answered_with_what_it_names(
    desk: MaintenanceDesk, live: LiveJournal
) -> None:
    desk.apply("bootstrap", KNOWLEDGE)
    alias: list[Operation] = [
        PutFragment("sprite", recognition="Another name of [fairy]."),
        PutEdge("sprite", "fairy", "another name of"),
    ]
    desk.apply("manual", alias)
    for deep in (False, True):
        assert live.recall("sprite", deep=deep) == live.recall("fairy", deep=deep)
    # One that has come to say something of its own says that.
    desk.apply("manual", [PutFragment("sprite", "A drink.", "Another name of [fairy].")])
    found = live.recall("sprite")
    assert found is not None
    assert found.key == "sprite"


@pytest.mark.requirement("JLOOK-02", "JFRAG-01")
def test_a_deep_recall_falls_back_tier_by_tier(desk: MaintenanceDesk, live: LiveJournal) -> None:
    desk.apply("bootstrap", KNOWLEDGE)
    tiers = {}
    for key in ("fairy", "garden", "wings", "well"):
        found = live.recall(key, deep=True)
        assert found is not None
        tiers[key] = (found.tier, found.text)
    assert tiers == {
        "fairy": ("inventory", "She is called Oda. Wings: two."),
        "garden": ("recognition", "It has an old well."),
        "wings": ("ambient", "Wings of glass."),
        "well": ("ambient", ""),
    }


@pytest.mark.requirement("JFRAG-01", "JASM-03")
def test_the_ambient_tier_is_always_in_view(desk: MaintenanceDesk, live: LiveJournal) -> None:
    desk.apply("bootstrap", KNOWLEDGE)
    live.log("Hello")
    prompt = live.assemble().user
    assert prompt.startswith(
        "[fairy] A fairy.\n[garden] The garden behind the house.\n[wings] Wings of glass.\n\n---\n"
    )
    assert "old well" not in prompt


@pytest.mark.requirement("JASM-05", "JLOOK-01", "JLOOK-03", "JST-01")
def test_the_answers_to_a_look_up_come_with_the_next_turn(
    desk: MaintenanceDesk, live: LiveJournal, file: JournalFile, clock: Clock
) -> None:
    desk.apply("bootstrap", KNOWLEDGE)
    live.log("Who is she? recall(nobody)")
    assert "## Recalled" not in live.assemble().user  # a user looks nothing up
    live.log('recall(fairy) recall("garden") recall(nobody)<say>Let me think.</say>', "assistant")
    live.log("Well?")
    prompt = live.assemble()
    assert (
        "## Recalled\n\n"
        "recall(fairy)\n"
        "- fairy: She lives in the garden.\n"
        "- wings (has): Wings of glass.\n"  # the garden is recalled itself
        "recall(garden)\n"
        "- garden: It has an old well.\n"
        "recall(nobody)\n"
        "- nothing found\n\n---"
    ) in prompt.user
    with file.reading() as db:
        dated = db.execute("SELECT key, updated_at FROM state WHERE key = 'recalled'").fetchall()
    assert len(dated) == 1
    assert dated[0][1] >= to_text(NOW)
    # A second message of the same turn adds to it; the next turn's reply clears it.
    live.log("plans()<say>Ah.</say>", "assistant")
    live.log("<say>And.</say>", "assistant")
    assert [one.call for one in live.recalled()] == ["plans()"]
    live.log("Go on")
    live.log("<say>No.</say>", "assistant")
    assert live.recalled() == ()


@pytest.mark.requirement("JLOOK-04")
def test_plans_lists_everything_active_but_secrets(live: LiveJournal, clock: Clock) -> None:
    live.log("<pin>a pin</pin><secret>hush</secret><thought>a thought</thought>")
    clock.advance(minutes=1)
    live.log('<plan due="2026-05-01">far</plan><plan>open</plan><plan due="2026-03-02">near</plan>')
    found = [(one.item.content, one.phase) for one in live.plans()]
    assert found == [
        ("near", "approaching"),
        ("far", "submerged"),
        ("open", "open-ended"),
        ("a pin", None),
        ("a thought", None),
    ]
    live.log("plans()", "assistant")
    (answer,) = live.recalled()
    assert not any("hush" in line for line in answer.lines)
    assert len(answer.lines) == 5


@pytest.mark.requirement("JLOOK-05", "JSUP-06", "JSCH-11")
def test_plans_by_topic(desk: MaintenanceDesk, live: LiveJournal) -> None:
    desk.apply("bootstrap", [PutFragment("body-training"), PutFragment("Running")])
    live.log(
        "<plan>[Body-Training] twice a week</plan><thought>running is fun</thought>"
        "<desc>Running: every Monday</desc><pin>outrunning the bus</pin><plan>rest</plan>"
    )

    def about(topic: str) -> set[str]:
        return {one.item.type for one in live.plans(topic)}

    assert about("body-training") == {"plan"}
    assert about("Running") == {"thought", "desc", "pin"}
    assert about("RUNNING") == {"thought", "desc", "pin"}
    assert about("swimming") == set()


@pytest.mark.requirement("JLOOK-06")
def test_plans_by_time(live: LiveJournal) -> None:
    # NOW is a Sunday.
    live.log(
        "<plan>dentist on tuesday at 9am</plan><plan>call mum next week</plan><plan>rest</plan>"
        '<plan due="2026-03-09T00:00:00">report</plan>'
    )

    def due(when: str, topic: str | None = None) -> list[str]:
        return [one.item.content.split()[0] for one in live.plans(topic, when)]

    assert due("next tuesday") == ["dentist"]
    assert due("next week") == ["dentist", "call"]
    assert due("march 9") == ["report"]
    assert due("next week", "mum") == ["call"]
    assert due("when pigs fly") == []


@pytest.mark.requirement("JFRAG-02")
def test_each_side_writes_its_own_tables(
    desk: MaintenanceDesk, live: LiveJournal, file: JournalFile
) -> None:
    theirs = ("fragments", "fragment_edges", "fragment_sources", "maintenance_runs")
    ours = ("events", "event_tags", "working_memory", "working_memory_refs")

    def counts(tables: tuple[str, ...]) -> list[int]:
        with file.reading() as db:
            return [db.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in tables]

    live.log("<plan>see the fairy</plan>")
    assert counts(theirs) == [0, 0, 0, 0]
    before = counts(ours)
    desk.apply("manual", [*KNOWLEDGE, PutFragment("fairy", sources=(1,))])
    assert counts(ours) == before
    assert counts(theirs) == [4, 4, 1, 1]
    after = counts(theirs)
    live.log("recall(fairy)<say>Hi</say><plan>feed the fairy</plan>", "assistant")
    assert counts(theirs) == after
    assert not {"propose", "apply", "complete", "begin"} & set(dir(live))
    assert not {"log", "sweep", "assemble"} & set(dir(desk))


@pytest.mark.requirement("JST-02", "JSCH-16")
def test_a_run_is_completed_only_on_success(
    desk: MaintenanceDesk, live: LiveJournal, clock: Clock
) -> None:
    crashed = desk.begin("weekly")
    clock.advance(hours=1)
    run = desk.begin("monthly")
    clock.advance(minutes=5)
    with pytest.raises(InvalidInput, match="operation 2: there is no fragment 'nowhere'"):
        desk.complete(run, [PutFragment("fairy", "A fairy."), PutEdge("fairy", "nowhere")])
    assert desk.fragments() == {}
    assert not (desk_folder(desk) / texts.AMBIENT).exists()
    assert [(one.id, one.completed_at) for one in desk.runs()] == [(run, None), (crashed, None)]
    desk.complete(run, [PutFragment("fairy", "A fairy.")])
    (last, first) = desk.runs()
    assert (last.started_at, last.completed_at) == (NOW + timedelta(hours=1), clock.now)
    assert (first.run_type, first.completed_at) == ("weekly", None)
    with pytest.raises(Conflict, match="has ended"):
        desk.complete(run, [])
    with pytest.raises(NotFound):
        desk.complete(99, [])
    with pytest.raises(InvalidInput, match="unknown run type"):
        desk.begin("daily")  # type: ignore[arg-type]


def desk_folder(desk: MaintenanceDesk) -> Path:
    return desk._file.texts_dir


def test_what_a_run_has_not_read_yet(desk: MaintenanceDesk, live: LiveJournal) -> None:
    live.log("one")
    run = desk.begin("weekly")
    live.log("two")
    assert [event.content for event in desk.unread_events()] == ["one", "two"]
    desk.complete(run, [])
    assert [event.content for event in desk.unread_events()] == ["two"]
    assert [event.content for event in desk.unread_events(limit=1, after_id=0)] == ["one"]


def test_a_proposal_shows_and_changes_nothing(desk: MaintenanceDesk, live: LiveJournal) -> None:
    live.log("hello")
    desk.apply("bootstrap", KNOWLEDGE)
    before = desk.fragments()
    differences = desk.propose(
        [
            PutFragment("fairy", "A kind fairy.", sources=(1,)),
            DropEdge("fairy", "well"),
            DropFragment("wings"),
            PutFragment("garden", "The garden behind the house."),
        ]
    )
    assert desk.fragments() == before
    assert {one.key: one.lines() for one in differences} == {
        "fairy": (
            "- fairy.ambient: A fairy.",
            "- fairy -> well: avoids",
            "- fairy -> wings: has",
            "+ fairy.ambient: A kind fairy.",
            "+ fairy rests on event 1",
        ),
        "wings": ("- wings.ambient: Wings of glass.",),
    }


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (PutFragment(""), "no fragment key"),
        (PutFragment("a[b"), "no fragment key"),
        (PutFragment("two\nlines"), "no fragment key"),
        (PutFragment("x", ambient="\ud800"), "surrogate"),
        (PutFragment("x", inventory="x" * 100_001), "100000 characters"),
        (PutFragment("x", sources=(42,)), "no such source events: 42"),
        (DropFragment("x"), "no fragment 'x'"),
        (PutEdge("fairy", "x"), "no fragment 'x'"),
        (PutEdge("fairy", "fairy"), "with itself"),
        (DropEdge("wings", "fairy"), "no edge from 'wings' to 'fairy'"),
    ],
    ids=str,
)
def test_operations_that_cannot_work(desk: MaintenanceDesk, operation: Operation, why: str) -> None:
    desk.apply("bootstrap", KNOWLEDGE)
    before = desk.fragments()
    with pytest.raises(InvalidInput, match=why):
        desk.apply("manual", [PutFragment("new"), operation])
    assert desk.fragments() == before


@pytest.mark.requirement("JSCH-12", "JSCH-13", "JSCH-14")
def test_time_travel(desk: MaintenanceDesk, live: LiveJournal, clock: Clock) -> None:
    live.log("see the fairy")
    pictures = [(clock.now - timedelta(seconds=1), dict[str, Fragment]())]
    runs: tuple[Sequence[Operation], ...] = (
        KNOWLEDGE,
        [PutFragment("fairy", "A kind fairy.", sources=(1,)), DropEdge("fairy", "well")],
        [DropFragment("fairy"), PutFragment("owl", "An owl.")],
        [PutFragment("fairy", "Another fairy."), PutEdge("owl", "fairy", "knows")],
    )
    for operations in runs:
        desk.apply("manual", operations)
        pictures.append((clock.now, desk.fragments()))
        clock.advance(days=1)
    for moment, picture in pictures:
        assert desk.at(moment).fragments() == picture
    assert desk.at(clock.now).fragments() == pictures[-1][1]
    kinds = [one.fragment.ambient for one in desk.versions("fairy")]
    assert kinds == ["A fairy.", "A kind fairy."]
    former = desk.versions("fairy")
    assert former[0].known_until == former[1].known_from
    assert pictures[-1][1]["owl"].edges == (("fairy", "knows"),)
    with pytest.raises(InvalidInput, match="no time zone"):
        desk.at(NOW.replace(tzinfo=None))


def test_two_runs_at_one_moment_are_two_versions(desk: MaintenanceDesk) -> None:
    for ambient in ("one", "two", "three"):
        desk.apply("manual", [PutFragment("x", ambient)])
    assert [one.fragment.ambient for one in desk.versions("x")] == ["one", "two"]
    assert all(one.known_from < one.known_until for one in desk.versions("x"))


@pytest.mark.requirement("JSCH-11")
def test_dropping_a_fragment_unlinks_it(
    desk: MaintenanceDesk, live: LiveJournal, file: JournalFile
) -> None:
    desk.apply("bootstrap", KNOWLEDGE)
    live.log("<plan>meet the fairy in the garden</plan>")

    def refs() -> list[str]:
        with file.reading() as db:
            rows = db.execute("SELECT fragment_key FROM working_memory_refs ORDER BY 1")
            return [key for (key,) in rows]

    assert refs() == ["fairy", "garden"]
    desk.apply("manual", [DropFragment("fairy")])
    assert refs() == ["garden"]
    assert [one.item.content for one in live.plans("garden")] == ["meet the fairy in the garden"]


@pytest.mark.requirement("JASM-03")
def test_the_ambient_file_follows_the_commit(
    desk: MaintenanceDesk,
    file: JournalFile,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ambient = file.texts_dir / texts.AMBIENT
    desk.apply("manual", [PutFragment("fairy", "A\nfairy.")])
    assert ambient.read_text() == "[fairy] A fairy.\n"
    assert stat.S_IMODE(ambient.stat().st_mode) == 0o600
    desk.apply("manual", [PutFragment("fairy", "Gone.")], ambient="Prose about the [fairy].\n")
    assert ambient.read_text() == "Prose about the [fairy].\n"

    def crash(folder: Path, text: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("memory_butler.journal.desk.write_ambient", crash)
        with pytest.raises(KeyboardInterrupt):
            desk.apply("manual", [PutFragment("fairy", "Back.")])
    assert ambient.read_text() == "Prose about the [fairy].\n"
    assert desk.runs()[0].completed_at is not None
    # The next desk finishes what was committed.
    MaintenanceDesk(file, clock)
    assert ambient.read_text() == "[fairy] Back.\n"
    assert sorted(one.name for one in file.texts_dir.iterdir()) == [texts.AMBIENT]


@pytest.mark.requirement("JASM-03")
def test_a_full_disk_costs_neither_the_run_nor_the_map(
    desk: MaintenanceDesk,
    live: LiveJournal,
    file: JournalFile,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was committed is what the companion knows, wherever its text lies."""
    desk.apply("manual", [PutFragment("fairy", "A fairy.")])

    def full(folder: Path, text: str) -> None:
        raise Unavailable("ambient.md cannot be written: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("memory_butler.journal.desk.write_ambient", full)
        desk.apply("manual", [PutFragment("fairy", "A kind fairy.")])
        assert desk.runs()[0].completed_at is not None
        # Who opens the journal meanwhile can read it.
        MaintenanceDesk(file, clock)
        live.log("Hello.")
        assert live.assemble().user.startswith("[fairy] A kind fairy.\n\n---")
    assert texts.read_texts(file.texts_dir).ambient == "[fairy] A fairy.\n"
    MaintenanceDesk(file, clock)
    assert texts.read_texts(file.texts_dir).ambient == "[fairy] A kind fairy.\n"


def test_a_text_that_cannot_be_written_is_told(file: JournalFile) -> None:
    file.texts_dir.rename(file.texts_dir.with_name("elsewhere"))
    file.texts_dir.write_text("no folder")
    with pytest.raises(Unavailable, match=r"ambient.md cannot be written: "):
        texts.write_ambient(file.texts_dir, "x")
