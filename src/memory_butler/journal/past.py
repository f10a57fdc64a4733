"""The journal as it was known at a moment, read by the same queries as the present.

What was said, came to mind or left it has its own times, and former fragments are kept. What is
written over is found again in the log: when an item had last been refreshed, and what the last
reply's look-ups had been answered. That is how the rules of today read it. An imported message is
known from its own time on, not from the import.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from memory_butler.journal import events, lookups, state
from memory_butler.journal.due import schedule
from memory_butler.journal.fragments import Fragment, compose_ambient
from memory_butler.journal.items import is_assistant, to_moment, to_text
from memory_butler.journal.lifecycle import is_same_plan, normalised, subject_of
from memory_butler.journal.lookups import Answer
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.queries import load
from memory_butler.journal.sealing import of_opened, set_aside
from memory_butler.journal.search import Index
from memory_butler.journal.tags import Remember, read

SQL = load("past")

# What the views below read from.
_TABLES: Final = ("moment", "refreshed")
_SHADOWS: Final = (
    *_TABLES,
    "events",
    "working_memory",
    "fragments",
    "fragment_edges",
    "fragment_sources",
    "fragment_versions",
    "maintenance_runs",
    "state",
)


@contextmanager
def seen(
    db: sqlite3.Connection, moment: datetime, policy: JournalPolicy | None = None
) -> Iterator[None]:
    """Within an open transaction: every query of the block reads what was known at `moment`.

    `policy` reads the log for what working memory no longer tells; without it items that were
    refreshed since have the date of today's refresh. Blocks may be nested. Only what is temporary
    is written, and that is taken back.
    """
    db.execute("SAVEPOINT seen")
    for name in _SHADOWS:
        if name not in _TABLES:
            set_aside(db, name)
        db.execute(of_opened(db, SQL[name]))
    db.execute(SQL["forget_moment"])
    db.execute(SQL["stand_at"], (to_text(moment),))
    db.execute(SQL["forget_refreshed"])
    if policy is not None:
        _find_refreshes(db, moment, policy)
    yield
    # After an error the transaction is rolled back as a whole, and this with it.
    db.execute("ROLLBACK TO seen")
    db.execute("RELEASE seen")


def _find_refreshes(db: sqlite3.Connection, moment: datetime, policy: JournalPolicy) -> None:
    """When items that were refreshed since had been refreshed last (JSUP-05): the log knows."""
    names = (*policy.assistant_actors, *policy.user_actors)
    at = to_text(moment)
    for id, type, content, subject, repeats, created_at in db.execute(
        of_opened(db, SQL["refreshed_since"]), {"at": at}
    ).fetchall():
        refreshed_at, due = created_at, None
        tagged = {"type": type, "since": created_at, "at": at}
        for ts, message in db.execute(of_opened(db, SQL["tagged_between"]), tagged).fetchall():
            for one in read(message, names).changes:
                if not isinstance(one, Remember) or one.type != type:
                    continue
                is_plan = type == "plan"
                found = schedule(one.due, one.content, to_moment(ts), policy) if is_plan else None
                when = found.due if found else None
                same_rule = repeats is not None and found is not None and found.repeats == repeats
                if _is_of(one, content, subject) or is_same_plan(
                    (one.content, when), (content, due), policy.languages, same_rule=same_rule
                ):
                    refreshed_at, due = ts, when or due
        row = (id, refreshed_at, to_text(due) if due else None)
        db.execute(SQL["was_refreshed"], row)


def _is_of(tag: Remember, content: str, subject: str | None) -> bool:
    same = normalised(tag.content) == normalised(content)
    return same and (tag.type != "desc" or subject_of(tag) == subject)


def recalled(db: sqlite3.Connection, policy: JournalPolicy, index: Index) -> list[Answer]:
    """The answers that waited for the next prompt, within a block of `seen`.

    Those to the companion's latest messages, without one of a user between them, each answered
    from what was known when it was logged.
    """
    latest = events.newest_of_companion(db, policy.assistant_actors)
    if latest is None:
        return []
    replies = [latest]
    for one in events.before(db, latest, policy.recent_events):
        if not is_assistant(one.actor, policy.assistant_actors):
            break
        replies.append(one)
    names = (*policy.assistant_actors, *policy.user_actors)
    found: dict[str, Answer] = {}
    for reply in reversed(replies):
        if calls := read(reply.content, names).lookups:
            with seen(db, reply.ts, policy):
                answers = lookups.answers(db, calls, reply.ts, policy, index=index, until=reply.id)
            found |= {one.call: one for one in answers}
    return list(found.values())


def ambient(db: sqlite3.Connection) -> str:
    """What the latest run had written into ambient.md, within a block of `seen`; '' before any.

    The prose that it had brought, else the map of the fragments.
    """
    run = db.execute(SQL["newest_run"]).fetchone()
    if run is None:
        return ""
    prose = state.get(db, prose_key(run[0]))
    if prose is not None:
        return prose
    return compose_ambient(Fragment(key, line) for key, line in db.execute(SQL["ambients"]))


def prose_key(run_id: int) -> str:
    """The state key under which the desk keeps the prose that a run brought."""
    return f"ambient:{run_id}"
