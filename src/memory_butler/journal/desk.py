"""The maintenance desk: it turns what was said into fragments, one transaction a run (C-107).

It writes fragments, edges, sources, versions and runs, and reads events. Who proposes the
operations (a model, a person) is not its business: it takes them as values. Like `live.py` it
blocks for milliseconds: call it through `asyncio.to_thread`.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, Self

from memory_butler.domain.choices import choose
from memory_butler.domain.elapsed import require_aware
from memory_butler.domain.errors import Conflict, Frozen, InvalidInput, NotFound, Unavailable
from memory_butler.journal import events, memory, runs, state
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import (
    RUN_TYPES,
    Difference,
    Fragment,
    Operation,
    RunType,
    compose_ambient,
    plan,
)
from memory_butler.journal.items import Event, to_moment, to_text
from memory_butler.journal.live import MAX_LISTED, checked_limit, utc_now
from memory_butler.journal.past import prose_key, seen
from memory_butler.journal.queries import load
from memory_butler.journal.runs import Mark, Run, RunReport
from memory_butler.journal.texts import write_ambient

SQL = load("fragments")

_COMPILED = "compiled_until"
_KEPT = "kept:"
# Runs that are looked through for a report: one that was killed has none.
_REPORTS: Final = 10
_TICK = timedelta(microseconds=1)


# What became of a change: nobody has decided, a person approved it, a person took it back, or a
# later run has changed the same fragment.
Decision = Literal["open", "kept", "taken_back", "replaced"]


@dataclass(frozen=True, slots=True)
class Learned:
    """What a run changed in one fragment, and what became of that."""

    run: Run
    difference: Difference
    decision: Decision


@dataclass(frozen=True, slots=True)
class Version:
    """What a fragment was from `known_from` up to, not including, `known_until`; UTC."""

    fragment: Fragment
    known_from: datetime
    known_until: datetime
    run_id: int


class MaintenanceDesk:
    """The other side of the journal: compiled knowledge."""

    def __init__(self, file: JournalFile, now: Callable[[], datetime] = utc_now) -> None:
        """Finishes the rewrite of ambient.md that a crash after a commit has left undone."""
        self._file = file
        self._now = now
        with file.reading() as db:
            pending = state.get(db, state.AMBIENT_PENDING) is not None
        if pending:
            self._rewrite_ambient()

    def at(self, known_at: datetime) -> Self:
        """This desk as it was known at a moment, for looking only."""
        return type(self)(self._file.at(known_at), lambda: known_at)

    def begin(self, run_type: RunType) -> int:
        """Note that a run has started; its id. Crash, and the row stays without an end (JST-02)."""
        kind = choose(run_type, RUN_TYPES, "run type")
        with self._file.writing() as db:
            now = self._clock()
            row = {"at": to_text(now), "run_type": kind}
            id = int(db.execute(SQL["begin_run"], row).fetchall()[0][0])
            state.put(db, f"run:{id}", str(events.newest_id(db)), now)
            return id

    def propose(self, operations: Iterable[Operation]) -> list[Difference]:
        """What the operations would change, and nothing changed.

        Raises:
            InvalidInput: an operation that cannot work; the message gives its number.
        """
        with self._file.reading() as db:
            return _plan(db, operations)

    def complete(
        self,
        run_id: int,
        operations: Iterable[Operation],
        ambient: str | None = None,
        report: RunReport | None = None,
    ) -> list[Difference]:
        """Carry out the operations and end the run, all in one transaction or nothing (JST-02).

        Then, and only then, ambient.md is rewritten: with `ambient`, or the map composed from the
        fragments. Former states go to `fragment_versions`. Messages count as read up to the
        report's `read_to`; without a report, up to where the log ended when the run began.

        Raises:
            InvalidInput: an operation that cannot work; nothing was changed.
            NotFound: there is no such run.
            Conflict: the run has ended already.
        """
        with self._file.writing() as db:
            run = _run(db, run_id)
            if run.completed_at is not None:
                raise Conflict(f"maintenance run {run_id} has ended; begin another")
            differences = _plan(db, operations)
            text = self._end(db, run, differences, report, ambient)
            _check_ambient(text)
        self._rewrite_ambient()
        return differences

    def note(self, run_id: int, report: RunReport) -> None:
        """Report a run that does not end well: it stays without a completion (JST-02)."""
        with self._file.writing() as db:
            run = _run(db, run_id)
            if run.completed_at is not None:
                raise Conflict(f"maintenance run {run_id} has ended and takes no further report")
            state.put(db, f"report:{run_id}", runs.to_json(report), self._clock())
            state.drop(db, f"run:{run_id}")

    def undo(
        self, run_id: int, keys: Collection[str] | None = None
    ) -> tuple[int, list[Difference]]:
        """Take back what a run has changed, by a manual run: that one's id, and what it did.

        The latest run's messages count as unread again, so that another run may do better; but not
        where `keys` name some of its fragments only.

        Raises:
            NotFound: there is no such run, or it has not changed one of `keys`.
            Conflict: it has not ended, a later run has built on what it changed, or what was before
                it was erased.
        """
        with self._file.writing() as db:
            run = _run(db, run_id)
            made = _changes(db, run)
            if keys is not None:
                made = _of_keys(made, keys)
            if lost := _erased_before(db, run, made):
                raise Conflict(
                    f"what {', '.join(lost[:5])} said before was erased with a message, and so "
                    "cannot come back"
                )
            current = _all(db)
            gone = {one.key for one in made if one.before is None}
            touched = {one.key for one in made}
            stuck = {one.key for one in made if current.get(one.key) != one.after}
            stuck |= {
                one.key
                for one in current.values()
                if one.key not in touched and gone & {target for target, _ in one.edges}
            }
            if stuck:
                raise Conflict(
                    f"later runs have changed {', '.join(sorted(stuck)[:5])}, or linked it with "
                    "what this run made; undo those first"
                )
            there = {*current, *(one.key for one in made if one.before is not None)} - gone
            missing = {
                target for one in made if one.before for target, _ in one.before.edges
            } - there
            if missing:
                raise Conflict(
                    f"it was linked with {', '.join(sorted(missing)[:5])}, which is gone; take "
                    "that back, too"
                )
            back = [Difference(one.key, one.after, one.before) for one in made]
            now = self._clock()
            row = {"at": to_text(now), "run_type": "manual"}
            id = int(db.execute(SQL["begin_run"], row).fetchall()[0][0])
            mark = state.get(db, _COMPILED) or "0"
            if keys is None and run.report is not None and _mark_of(run.report) == mark:
                mark = run.report.mark_before or str(run.report.read_from)
            read = Mark.parse(mark).low
            report = RunReport(
                f"took back run {run_id}" + (f": {', '.join(sorted(keys))}" if keys else ""),
                read_from=read,
                read_to=read,
                mark_before=mark,
                mark=mark,
                took_back=run_id,
            )
            self._end(db, _run(db, id), back, report, None)
        self._rewrite_ambient()
        return id, back

    def changes(self, run_id: int) -> list[Difference]:
        """What a run has changed, by key; nothing for one that has not ended."""
        with self._file.reading() as db:
            run = _run(db, run_id)
            return _changes(db, run) if run.completed_at is not None else []

    def learned(self, since: datetime) -> tuple[Learned, ...]:
        """What runs that ended after `since` have changed, the newest first; what took something
        back again is left out."""
        with self._file.reading() as db:
            found = [runs.from_row(row) for row in db.execute(SQL["runs"], (MAX_LISTED,))]
            recent = [one for one in found if one.completed_at and one.completed_at > since]
            back: set[tuple[int, str]] = set()
            for one in recent:
                if one.report is not None and one.report.took_back is not None:
                    changes = _changes(db, one)
                    back |= {(one.report.took_back, change.key) for change in changes}
            current = _all(db)
            told: list[Learned] = []
            for one in recent:
                if one.report is not None and one.report.took_back is not None:
                    continue
                kept = set(json.loads(state.get(db, f"{_KEPT}{one.id}") or "[]"))
                for change in _changes(db, one):
                    decision: Decision = "open"
                    if (one.id, change.key) in back:
                        decision = "taken_back"
                    elif current.get(change.key) != change.after:
                        decision = "replaced"
                    elif change.key in kept:
                        decision = "kept"
                    told.append(Learned(one, change, decision))
        return tuple(told)

    def keep(self, run_id: int, keys: Collection[str], *, kept: bool = True) -> list[str]:
        """Note that a person approves what a run changed in these fragments, or does no longer;
        the keys of the run that are approved now.

        Nothing waits for it: what a run changed holds from its end on.

        Raises:
            NotFound: there is no such run, or it has not changed one of `keys`.
        """
        with self._file.writing() as db:
            _of_keys(_changes(db, _run(db, run_id)), keys)
            name = f"{_KEPT}{run_id}"
            former = set(json.loads(state.get(db, name) or "[]"))
            now = former | set(keys) if kept else former - set(keys)
            state.put(db, name, json.dumps(sorted(now)), self._clock())
            return sorted(now)

    def apply(
        self, run_type: RunType, operations: Iterable[Operation], ambient: str | None = None
    ) -> list[Difference]:
        """A whole run: `begin` and `complete`."""
        return self.complete(self.begin(run_type), operations, ambient)

    def unread_events(self, limit: int = 100, after_id: int | None = None) -> tuple[Event, ...]:
        """The messages that reached the log since the last completed run began, in that order.

        Imported ones count from their import. `limit` is from 1 to 1000; for the next page give
        the id of the last message as `after_id`.
        """
        with self._file.reading() as db:
            checked_limit(limit)
            if after_id is not None:
                return tuple(events.appended_after(db, after_id, limit))
            mark = Mark.parse(state.get(db, _COMPILED))
            found = events.batch(db, mark.low, mark.high, mark.at, limit)
            after = max(mark.low, mark.high)
            return (*found, *events.appended_after(db, after, limit - len(found)))

    def next_batch(self, mark: Mark, limit: int) -> tuple[Mark, tuple[Event, ...]]:
        """What is to be read next after `mark`, in order of time, and the mark to go on from.

        A batch is all that is in the log when it is begun; nothing, and there is nothing more.
        """
        with self._file.reading() as db:
            found = events.batch(db, mark.low, mark.high, mark.at, checked_limit(limit))
            if not found:
                low = max(mark.low, mark.high)
                mark = Mark(low, events.newest_id(db))
                found = events.batch(db, mark.low, mark.high, mark.at, limit)
            return (mark if found else Mark(mark.low)), tuple(found)

    def mark(self) -> Mark:
        """How far completed runs have read."""
        with self._file.reading() as db:
            return Mark.parse(state.get(db, _COMPILED))

    def at_once(self) -> int:
        """With how many messages the next run begins; 0 where the latest report says nothing."""
        reports = (one.report for one in self.runs(_REPORTS))
        return next((one.at_once for one in reports if one is not None), 0)

    def secrets(self) -> tuple[str, ...]:
        """What no fragment may hold: the text of every secret that was not revealed."""
        with self._file.reading() as db:
            return memory.secrets(db)

    def fragments(self) -> dict[str, Fragment]:
        """Every fragment by key."""
        with self._file.reading() as db:
            return _all(db)

    def versions(self, key: str) -> tuple[Version, ...]:
        """The former states of a fragment, the oldest first; a deleted one keeps its own."""
        with self._file.reading() as db:
            return tuple(
                Version(_from_json(key, text), to_moment(start), to_moment(end), run_id)
                for start, end, text, run_id in db.execute(SQL["versions_of"], (key,))
            )

    def run(self, id: int) -> Run:
        """One run; `NotFound` where there is none."""
        with self._file.reading() as db:
            return _run(db, id)

    def runs(self, limit: int = 100) -> tuple[Run, ...]:
        """Runs, the newest first; `limit` from 1 to 1000."""
        with self._file.reading() as db:
            return tuple(map(runs.from_row, db.execute(SQL["runs"], (checked_limit(limit),))))

    def unreviewed_since(self) -> datetime | None:
        """When the latest completed monthly run began, else the first run; None before any."""
        with self._file.reading() as db:
            found = db.execute(SQL["unreviewed_since"]).fetchone()[0]
        return to_moment(found) if found else None

    def _end(
        self,
        db: sqlite3.Connection,
        run: Run,
        differences: Sequence[Difference],
        report: RunReport | None,
        ambient: str | None,
    ) -> str:
        """Write a plan and the end of its run; the map that awaits its file."""
        # Later than every state that it ends and every run before it, also where the clock stepped
        # back: a moment names one state.
        former = [one.before.updated_at for one in differences if one.before]
        newest = db.execute(SQL["newest_completion"]).fetchone()[0]
        former += [to_moment(newest)] if newest else []
        at = max([self._clock(), run.started_at, *(one + _TICK for one in former if one)])
        _write(db, differences, run.id, at)
        db.execute(SQL["complete_run"], {"id": run.id, "at": to_text(at)})
        read_to = state.get(db, f"run:{run.id}") or "0"
        if report is not None:
            state.put(db, f"report:{run.id}", runs.to_json(report), at)
            read_to = _mark_of(report)
        state.put(db, _COMPILED, read_to, at)
        state.drop(db, f"run:{run.id}")
        if ambient is not None:
            state.put(db, prose_key(run.id), ambient, at)
        text = map_of(db) if ambient is None else ambient
        state.put(db, state.AMBIENT_PENDING, text, at)
        return text

    def _rewrite_ambient(self) -> None:
        """Bring ambient.md to what was committed last.

        Inside a writing transaction: it keeps two processes from writing in the wrong order. A
        sealed journal has no such file, and keeps its text itself. What cannot be written, on a
        full disk, waits for the next desk; prompts have the new text already.
        """
        with suppress(Unavailable, Frozen), self._file.writing() as db:
            text = state.get(db, state.AMBIENT_PENDING)
            if text is not None:
                if self._file.is_sealed:
                    state.put(db, state.AMBIENT, text, self._clock())
                else:
                    write_ambient(self._file.texts_dir, text)
                state.drop(db, state.AMBIENT_PENDING)

    def _clock(self) -> datetime:
        return require_aware(self._now(), "the desk's clock").astimezone(UTC)


def map_of(db: sqlite3.Connection) -> str:
    """The map of all fragments, as a run without prose of its own writes it."""
    return compose_ambient(_all(db).values())


def _mark_of(report: RunReport) -> str:
    return report.mark or str(report.read_to)


def _plan(db: sqlite3.Connection, operations: Iterable[Operation]) -> list[Difference]:
    differences = plan(_all(db), operations)
    wanted = {id for one in differences if one.after for id in one.after.sources}
    known = {row[0] for row in db.execute(SQL["known_events"], (json.dumps(sorted(wanted)),))}
    if missing := sorted(wanted - known):
        raise InvalidInput(f"no such source events: {', '.join(map(str, missing[:10]))}")
    return differences


def _write(
    db: sqlite3.Connection, differences: Sequence[Difference], run_id: int, at: datetime
) -> None:
    """Carry out a plan: remember what was, then fragments, then what points at them."""
    for one in differences:
        if one.before is not None:
            _keep_version(db, one.before, run_id, at)
            db.execute(SQL["forget_edges"], (one.key,))
            db.execute(SQL["forget_sources"], (one.key,))
        if one.after is not None:
            row = {
                "key": one.key,
                "ambient": one.after.ambient,
                "recognition": one.after.recognition,
                "inventory": one.after.inventory,
                "created_at": to_text(one.after.created_at or at),
                "at": to_text(at),
            }
            db.execute(SQL["put"], row)
    for one in differences:
        if one.after is None:
            db.execute(SQL["forget_refs"], (one.key,))
            db.execute(SQL["delete"], (one.key,))
            continue
        edges = [(one.key, target, relation) for target, relation in one.after.edges]
        db.executemany(SQL["add_edge"], edges)
        db.executemany(SQL["add_source"], [(one.key, id) for id in one.after.sources])


def _keep_version(db: sqlite3.Connection, old: Fragment, run_id: int, at: datetime) -> None:
    tiers = {"ambient": old.ambient, "recognition": old.recognition, "inventory": old.inventory}
    links = {"edges": old.edges, "sources": old.sources}
    dates = {
        "created_at": to_text(old.created_at) if old.created_at else None,
        "updated_at": to_text(old.updated_at) if old.updated_at else None,
    }
    row = {
        "key": old.key,
        "known_from": to_text(old.updated_at or at),
        "known_until": to_text(at),
        "state": json.dumps({**tiers, **links, **dates}),
        "run_id": run_id,
    }
    db.execute(SQL["add_version"], row)


def _from_json(key: str, text: str) -> Fragment:
    kept = json.loads(text)
    return Fragment(
        key,
        kept["ambient"],
        kept["recognition"],
        kept["inventory"],
        tuple((target, relation) for target, relation in kept["edges"]),
        tuple(kept["sources"]),
        to_moment(kept["created_at"]),
        to_moment(kept["updated_at"]),
    )


def _all(db: sqlite3.Connection) -> dict[str, Fragment]:
    edges: dict[str, list[tuple[str, str | None]]] = {}
    for source, target, relation in db.execute(SQL["edges"]):
        edges.setdefault(source, []).append((target, relation))
    sources: dict[str, list[int]] = {}
    for key, id in db.execute(SQL["sources"]):
        sources.setdefault(key, []).append(id)
    return {
        key: Fragment(
            key,
            ambient,
            recognition,
            inventory,
            tuple(edges.get(key, ())),
            tuple(sources.get(key, ())),
            to_moment(created_at),
            to_moment(updated_at),
        )
        for key, ambient, recognition, inventory, created_at, updated_at in db.execute(SQL["all"])
    }


def _known_at(db: sqlite3.Connection, moment: datetime) -> dict[str, Fragment]:
    with seen(db, moment):
        return _all(db)


def _changes(db: sqlite3.Connection, run: Run) -> list[Difference]:
    """Told by the versions alone: the fragments just before the run's end, and at it."""
    if run.completed_at is None:
        raise Conflict(f"maintenance run {run.id} has not ended, and so has changed nothing")
    before, after = _known_at(db, run.completed_at - _TICK), _known_at(db, run.completed_at)
    return [
        Difference(key, before.get(key), after.get(key))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def _erased_before(db: sqlite3.Connection, run: Run, made: Iterable[Difference]) -> list[str]:
    """The fragments that a run seems to have made, and that are older: an erasure took their former
    states. One that a run has brought back has them."""
    end = run.completed_at
    return [
        one.key
        for one in made
        if one.before is None
        and one.after is not None
        and end is not None
        and one.after.created_at is not None
        and one.after.created_at < end
        and all(to_moment(row[1]) > end for row in db.execute(SQL["versions_of"], (one.key,)))
    ]


def _of_keys(made: Sequence[Difference], keys: Collection[str]) -> list[Difference]:
    """The changes of these fragments; `NotFound` for one that was not changed."""
    if missing := sorted(set(keys) - {one.key for one in made}):
        raise NotFound(f"this run has not changed {', '.join(missing[:5])}")
    return [one for one in made if one.key in keys]


def _run(db: sqlite3.Connection, id: int) -> Run:
    row = db.execute(SQL["run"], (id,)).fetchone()
    if row is None:
        raise NotFound(f"there is no maintenance run {id}; `memory-butler journal runs` lists them")
    return runs.from_row(row)


def _check_ambient(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("the ambient prose holds half of a surrogate pair") from error
