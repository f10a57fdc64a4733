"""The live side of the journal: it logs what is said and knows what is on the companion's mind.

It writes `events` and `working_memory` and reads fragments; `desk.py` is the other side (C-107).
Calls take milliseconds and block: from async code call them through `asyncio.to_thread`.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, Self

from memory_butler.domain.elapsed import elapsed, require_aware
from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.text import one_line
from memory_butler.inference.language_models.port import Picture
from memory_butler.journal import corrections, events, lookups, memory, past, pictures, state
from memory_butler.journal.assembly import Prompt, assemble
from memory_butler.journal.calls import Lookup, SearchCall
from memory_butler.journal.due import Schedule, schedule
from memory_butler.journal.file import JournalFile
from memory_butler.journal.items import DISPLAY_TAGS, Event, Item, MemoryType, is_assistant
from memory_butler.journal.lifecycle import (
    ComeDue,
    Meant,
    OnMind,
    come_due,
    meant,
    plan_sweep,
)
from memory_butler.journal.lookups import Answer, Recollection
from memory_butler.journal.meaning import any_kept
from memory_butler.journal.memory import Change, Missed
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import MAX_HITS, Hit, Index, Questions, catch_up, search
from memory_butler.journal.tags import Command, Reading, Remember, read
from memory_butler.journal.texts import read_texts
from memory_butler.journal.wording import (
    MIN_TOLD_HOURS,
    WITHHELD,
    date_words,
    indented,
    withheld,
)

MAX_LISTED: Final = 1_000
# A command that missed is told in the next prompt: so much of it says which it was.
MAX_TOLD_CHARS: Final = 200
# A reply and what follows it are seldom more than two messages.
MAX_TOLD_MESSAGES: Final = 20

_RECALLED = "recalled"
_MISSED = "missed:"


@dataclass(frozen=True, slots=True)
class Logged:
    """A message in the log, and what it did: changed items, and commands that nothing matched."""

    event_id: int
    ts: datetime
    actor: str
    reading: Reading
    changes: tuple[Change, ...]
    unmatched: tuple[Missed, ...]
    answers: tuple[Answer, ...]
    decayed: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Greeting:
    """What opens a conversation.

    `spoken`: when a user last spoke. `left`: what the companion has said since, the oldest first,
    its answer and what it said by itself; twenty messages at most.
    """

    spoken: datetime | None
    left: tuple[Event, ...]
    plans: ComeDue


def utc_now() -> datetime:
    """The clock of a journal that is given no other."""
    return datetime.now(UTC)


class LiveJournal:
    """One companion's conversation. Holds no state but the file: any process may take over."""

    def __init__(
        self,
        file: JournalFile,
        policy: JournalPolicy | None = None,
        now: Callable[[], datetime] = utc_now,
        questions: Questions | None = None,
    ) -> None:
        """`questions`: what embeds them; without it, searches go by words alone."""
        self._file = file
        self._policy = policy or JournalPolicy()
        self._now = now
        self.questions = questions

    def at(self, known_at: datetime) -> Self:
        """This journal as it was known at a moment; its clock stands there, and nothing is written.

        A prompt has the wake and image contexts of today, for nobody keeps their former texts.
        """
        file = self._file.at(known_at, self._policy)
        return type(self)(file, self._policy, lambda: known_at, self.questions)

    def log(
        self,
        content: str,
        actor: str | None = None,
        image_path: str | None = None,
        *,
        picture: Picture | None = None,
    ) -> Logged:
        """Keep a message as it is, and do what its tags say, in one durable transaction.

        `actor` is who sent it. A leading identity tag may name another of the same side: a user's
        text never speaks as the assistant. Without `actor` the tag decides, else the first user;
        so give it wherever the text is not your own. Look-ups are answered in a reply only; the
        answers wait for the next prompt. A user's message is a turn, and sweeps what has decayed.
        `picture` is kept with the message, which then names it; `image_path` is a place elsewhere.

        Raises:
            InvalidInput: the text is too long or cannot be stored as it stands, or the actor is no
                name.
            Unavailable: the file cannot be written now; nothing was kept.
        """
        policy = self._policy
        reading = read(content, (*policy.assistant_actors, *policy.user_actors))
        speaker = self._speaker(actor, reading.identity)
        events.check(content, speaker, image_path)
        now = self.clock()
        # Before the transaction: the date library takes longer than the database.
        scheduled = [_scheduled(one, now, policy) for one in reading.changes]
        if searched := [one for one in reading.lookups if isinstance(one, SearchCall)]:
            # Before the transaction, too: the first search of a long log takes seconds.
            self._embed(one.question for one in searched)
            with self._file.reading() as db:
                catch_up(db, self._file.index, policy)
        changes: list[Change] = []
        unmatched: list[Missed] = []
        answers: tuple[Answer, ...] = ()
        decayed: tuple[OnMind, ...] = ()
        with self._file.writing() as db:
            ts = events.next_ts(db, now)
            if picture is not None:
                image_path = pictures.keep(db, picture, ts)
            id = events.append(db, ts, content, speaker, image_path, reading.tags)
            for one, when in zip(reading.changes, scheduled, strict=True):
                match one:
                    case Remember():
                        new: Remember | None = one
                    case Command():
                        new = None
                        done = memory.obey(db, one, ts, policy)
                        if not isinstance(done, Missed):
                            changes += done
                        elif one.instead is not None and done.is_of_none:
                            new = Remember(one.type, one.instead)
                        else:
                            unmatched.append(done)
                if new is not None:
                    changes += memory.remember(
                        db,
                        new,
                        scheduled=when,
                        event_id=id,
                        actor=speaker,
                        at=ts,
                        policy=policy,
                    )
            corrections.record(db, changes, ts)
            told = [*map(_told, unmatched), *_rounds_told(changes, policy)]
            if told:
                state.put(db, f"{_MISSED}{id}", lookups.to_json(told), ts)
            if is_assistant(speaker, policy.assistant_actors):
                answers = self._answer(db, id, reading, now, ts)
            else:
                decayed = memory.sweep(db, ts, policy)
        return Logged(
            event_id=id,
            ts=ts,
            actor=speaker,
            reading=reading,
            changes=tuple(changes),
            unmatched=tuple(unmatched),
            answers=answers,
            decayed=tuple(one.item for one in decayed),
        )

    def assemble(
        self,
        hot_event_id: int | None = None,
        *,
        also_recalled: Iterable[Answer] = (),
        looked_up: Iterable[Answer] = (),
        secrets: bool = True,
    ) -> Prompt:
        """The prompt for answering a logged message, by default the latest of a user (JASM).

        Changes nothing: asked twice, it answers the same. Recent holds only what came before.
        `also_recalled` follows the journal's own answers, within the same cap: what another memory
        has to say (C-86). `looked_up` precedes them: what a draft of the answer asked for. Without
        `secrets` it is the prompt as it may be shown to people.

        Raises:
            NotFound: there is no such message.
        """
        policy = self._policy
        assistants = policy.assistant_actors
        texts = read_texts(self._file.texts_dir)
        with self._file.reading() as db:
            if self._file.is_past:
                texts = replace(texts, ambient=past.ambient(db))
            elif (pending := state.get(db, state.AMBIENT_PENDING)) is not None:
                # Committed, and not yet in its place: the process was killed, or the disk is full.
                texts = replace(texts, ambient=pending)
            elif self._file.is_sealed:
                texts = replace(texts, ambient=state.get(db, state.AMBIENT) or "")
            hot = _hot(db, hot_event_id, policy)
            now = self.clock()
            minds = memory.on_minds(db, now, policy)
            first = lookups.distinct(db, looked_up)
            answered = lookups.distinct(db, (*first, *self._recalled(db)))
            calls = [one.call for one in answered]
            named = lookups.mentions(db, hot.content, calls, policy, now)
            reply = events.newest_of_companion(db, assistants)
            waiting = [
                lookups.again(db, one, answered, now, policy) or _dated(one, reply, now, policy)
                for one in answered[len(first) :]
            ]
            if not secrets:
                hot = replace(hot, content=withheld(hot.content))
                minds = [_withheld(one) for one in minds]
            return assemble(
                hot,
                texts=texts,
                minds=minds,
                answers=[
                    *self._missed(db),
                    *first,
                    *waiting,
                    *named,
                    *map(_as_item, also_recalled),
                ],
                earlier=events.before(db, hot, policy.recent_events),
                now=now,
                policy=policy,
            )

    def greeting(self) -> Greeting:
        """What opens a conversation: plans that are late or came near, and what was said since."""
        policy = self._policy
        with self._file.reading() as db:
            newest = events.newest_of_users(db, policy.assistant_actors)
            now = self.clock()
            since = newest.ts if newest else None
            left: list[Event] = []
            for one in events.page(db, None, MAX_TOLD_MESSAGES):
                if newest is not None and one.id == newest.id:
                    break
                left.insert(0, one)
            minds = memory.on_minds(db, now, policy)
        return Greeting(since, tuple(left), come_due(minds, since, now, policy))

    def hot(self, event_id: int | None = None) -> Event:
        """The message to answer: the latest of a user, or the given one.

        Raises:
            NotFound: there is no such message.
        """
        with self._file.reading() as db:
            return _hot(db, event_id, self._policy)

    def mind(self) -> tuple[OnMind, ...]:
        """The active items with score, turns and phase, the most present first."""
        with self._file.reading() as db:
            minds = memory.on_minds(db, self.clock(), self._policy)
        return tuple(sorted(minds, key=lambda one: (-one.score, -one.item.id)))

    def history(self, limit: int = 100) -> tuple[Item, ...]:
        """Items of every status, the newest first; `limit` from 1 to 1000."""
        with self._file.reading() as db:
            return tuple(memory.history(db, checked_limit(limit)))

    def meant(self, text: str) -> Meant:
        """The active item that a person means by some of its words; secrets are not looked at."""
        with self._file.reading() as db:
            return meant(text, memory.active(db, self._policy), self._policy)

    def forget(self, item: Item) -> Change:
        """Drop an active item; `undo` remembers it again.

        Raises:
            NotFound: the item is not active any more.
        """
        with self._file.writing() as db:
            return corrections.forget(db, item.id, self.clock())

    def edit(self, item: Item, text: str) -> tuple[Change, ...]:
        """Put another text in the place of an active item's, by a message of the user with its tag.

        Raises:
            InvalidInput: the text is empty, or holds tags.
            NotFound: the item is not active any more.
        """
        with self._file.writing() as db:
            actor = self._policy.user_actors[0]
            return corrections.edit(db, item.id, text, actor, self.clock(), self._policy)

    def keep(self, type: MemoryType, text: str) -> tuple[int, tuple[Change, ...]]:
        """Remember `text` as it is, by a message of the user with its tag alone; that, by id.

        Raises:
            InvalidInput: the text is empty, or holds tags.
        """
        with self._file.writing() as db:
            actor = self._policy.user_actors[0]
            return corrections.keep(db, type, text, actor, self.clock(), self._policy)

    def undo(self, of: int | None = None) -> tuple[Change, ...]:
        """Take back what the latest message or correction changed in mind; the log stays.

        Called again it takes back the one before, twenty at most. () where nothing is left.

        Raises:
            Conflict: the latest change is not one of the item `of`; nothing was taken back.
        """
        with self._file.writing() as db:
            return corrections.undo(db, self.clock(), of)

    def recall(
        self, key: str, *, deep: bool = False, direction: Literal["out", "both"] = "out"
    ) -> Recollection | None:
        """What is known of a key, or None (JLOOK-01, JLOOK-02, C-99)."""
        with self._file.reading() as db:
            return lookups.recall(db, key, deep=deep, direction=direction)

    def search(self, question: str, limit: int = MAX_HITS) -> tuple[Hit, ...]:
        """Messages that have the words of `question` or its meaning, best match first.

        `limit` from 1 to 1000.
        """
        self._embed([question])
        with self._file.reading() as db:
            return tuple(
                search(db, self._index, question, self._policy, limit=checked_limit(limit))
            )

    def plans(self, topic: str | None = None, when: str | None = None) -> tuple[OnMind, ...]:
        """The active items but secrets, by topic and by due date (JLOOK-04..06, C-100, C-101)."""
        with self._file.reading() as db:
            return lookups.plans(db, self.clock(), self._policy, topic=topic, when=when)

    def look_up(self, calls: Iterable[Lookup]) -> tuple[Answer, ...]:
        """The answers to look-ups, but for those that the next prompt has anyway."""
        asked = tuple(calls)
        self._embed(one.question for one in asked if isinstance(one, SearchCall))
        with self._file.reading() as db:
            # The message that is answered, and what follows it, stands in the prompt.
            newest = events.newest_of_users(db, self._policy.assistant_actors)
            found = lookups.answers(
                db,
                asked,
                self.clock(),
                self._policy,
                index=self._index,
                until=newest.id if newest else None,
            )
            known = set(self._recalled(db))
        return tuple(one for one in found if one not in known)

    def recalled(self) -> tuple[Answer, ...]:
        """The answers that wait for the next prompt."""
        with self._file.reading() as db:
            return tuple(self._recalled(db))

    def sweep(self, *, dry_run: bool = False) -> tuple[OnMind, ...]:
        """Mark as decayed what scores below the threshold (JDEC-09); the items as they were."""
        now = self.clock()
        if dry_run:
            with self._file.reading() as db:
                return plan_sweep(memory.on_minds(db, now, self._policy), self._policy)
        with self._file.writing() as db:
            return memory.sweep(db, now, self._policy)

    def event(self, id: int) -> Event | None:
        """One message, or None."""
        with self._file.reading() as db:
            return events.get(db, id)

    def picture(self, image_path: str | None) -> Picture | None:
        """The picture that a message names; None where it has none, or it lies elsewhere."""
        with self._file.reading() as db:
            return pictures.get(db, image_path)

    def picture_of(self, event_id: int) -> Picture | None:
        """The picture of a message; None where there is no such message, or it has none here."""
        found = self.event(event_id)
        return self.picture(found.image_path) if found else None

    def item(self, id: int) -> Item:
        """An item of working memory, whatever its status.

        Raises:
            NotFound: there is no such item.
        """
        with self._file.reading() as db:
            found = memory.get(db, id)
        if found is None:
            raise NotFound(f"there is no item {id} in this journal's mind")
        return found

    def events(self, after_id: int | None = None, limit: int = 100) -> tuple[Event, ...]:
        """Messages in order of time, after the given one; `limit` from 1 to 1000.

        Raises:
            NotFound: there is no message `after_id`.
        """
        with self._file.reading() as db:
            since = None if after_id is None else events.get(db, after_id)
            if after_id is not None and since is None:
                raise NotFound(f"there is no message {after_id} in the journal")
            ts, id = (since.ts, since.id) if since else (None, 0)
            return tuple(events.after(db, ts, id, checked_limit(limit)))

    def stream(
        self,
        before_id: int | None = None,
        limit: int = 100,
        *,
        actor: str | None = None,
        tag: str | None = None,
    ) -> tuple[Event, ...]:
        """Messages before the given one, the newest first; `limit` from 1 to 1000.

        Raises:
            NotFound: there is no message `before_id`.
        """
        with self._file.reading() as db:
            before = None if before_id is None else events.get(db, before_id)
            if before_id is not None and before is None:
                raise NotFound(f"there is no message {before_id} in the journal")
            return tuple(events.page(db, before, checked_limit(limit), actor=actor, tag=tag))

    def extent(self) -> tuple[int, datetime | None]:
        """How many messages there are, and when the latest came."""
        with self._file.reading() as db:
            return events.extent(db)

    def uses_display_tags(self) -> bool:
        """Whether any reply of the companion ever had a tag for what it says or does."""
        with self._file.reading() as db:
            return events.has_tagged(db, self._policy.assistant_actors, DISPLAY_TAGS)

    def clock(self) -> datetime:
        """The time of this journal, in UTC: now, or the moment that is looked at."""
        return require_aware(self._now(), "the journal's clock").astimezone(UTC)

    @property
    def _index(self) -> Index:
        """The index of the log; to be asked for within a transaction."""
        return replace(self._file.index, questions=self.questions)

    def _embed(self, questions: Iterable[str]) -> None:
        """Make the vectors of questions before a transaction asks for them."""
        if self.questions is not None and any_kept(self._file.texts_dir):
            for one in questions:
                self.questions.vector(one)

    def _speaker(self, actor: str | None, identity: str | None) -> str:
        assistants = self._policy.assistant_actors
        if actor is not None:
            # "Assistant" is the assistant.
            known = (*assistants, *self._policy.user_actors)
            actor = next((one for one in known if one.casefold() == actor.casefold()), actor)
        if actor is None:
            return identity or self._policy.user_actors[0]
        same_side = identity is not None and (
            is_assistant(identity, assistants) == is_assistant(actor, assistants)
        )
        return identity if same_side and identity is not None else actor

    def _recalled(self, db: sqlite3.Connection) -> list[Answer]:
        if self._file.is_past:
            return past.recalled(db, self._policy, self._index)
        text = state.get(db, _RECALLED)
        return lookups.from_json(text.partition(" ")[2]) if text else []

    def _missed(self, db: sqlite3.Connection) -> list[Answer]:
        """What the commands of the last reply missed, and those of the messages since."""
        told: list[Answer] = []
        replied = False
        for one in events.page(db, None, MAX_TOLD_MESSAGES):
            theirs = is_assistant(one.actor, self._policy.assistant_actors)
            if replied and not theirs:
                break
            replied = theirs
            if text := state.get(db, f"{_MISSED}{one.id}"):
                told = [*lookups.from_json(text), *told]
        return told

    def _answer(
        self, db: sqlite3.Connection, event_id: int, reading: Reading, now: datetime, ts: datetime
    ) -> tuple[Answer, ...]:
        """Answer a reply's look-ups, into the state row that the next prompt reads.

        They take the place of the former answers, unless those belong to the same turn: a reply in
        two messages keeps the look-ups of both.
        """
        index = self._index
        found = lookups.answers(db, reading.lookups, now, self._policy, index=index, until=event_id)
        kept: list[Answer] = []
        newest = events.newest_of_users(db, self._policy.assistant_actors)
        turn = newest.id if newest else 0
        if (text := state.get(db, _RECALLED)) is not None:
            former_turn, _, former = text.partition(" ")
            kept = lookups.from_json(former) if int(former_turn) == turn else []
        merged = {one.call: one for one in (*kept, *found)}
        state.put(db, _RECALLED, f"{turn} {lookups.to_json(merged.values())}", ts)
        return tuple(found)


def _scheduled(change: Remember | Command, now: datetime, policy: JournalPolicy) -> Schedule | None:
    """When what a tag keeps is due; of a command, when what it may mean instead is."""
    if change.type != "plan":
        return None
    if isinstance(change, Remember):
        return schedule(change.due, change.content, now, policy)
    return schedule(None, change.instead, now, policy) if change.instead else None


def _hot(db: sqlite3.Connection, event_id: int | None, policy: JournalPolicy) -> Event:
    if event_id is None:
        found = events.newest_of_users(db, policy.assistant_actors)
    else:
        found = events.get(db, event_id)
    if found is None:
        raise NotFound("there is no such message in the journal; log it first")
    return found


def _withheld(one: OnMind) -> OnMind:
    secret = one.item.type == "secret"
    return replace(one, item=replace(one.item, content=WITHHELD)) if secret else one


def _dated(answer: Answer, reply: Event | None, now: datetime, policy: JournalPolicy) -> Answer:
    """An answer that waited for hours or weeks says of when it is: more was said meanwhile."""
    if reply is None or elapsed(reply.ts, now) < timedelta(hours=MIN_TOLD_HOURS):
        return answer
    return replace(answer, call=f"{answer.call} (as of {date_words(reply.ts, policy)})")


def _told(missed: Missed) -> Answer:
    one = missed.command
    call = one_line(f"{one.type}>{one.verb} {one.text}")
    return Answer(call[:MAX_TOLD_CHARS], (f"- {missed.why()}",))


def _rounds_told(changes: Iterable[Change], policy: JournalPolicy) -> Iterator[Answer]:
    """What a model is to know of plans that repeat and were ended: for this time, or for good."""
    for one in changes:
        what = one_line(one.content)[:MAX_TOLD_CHARS]
        if one.event == "again" and one.due is not None:
            when = date_words(one.due, policy)
            yield Answer(f"ended for this time: {what}", (f"- its next time: {when}",))
        elif one.ends_series:
            yield Answer(f"ended for good: {what}", ("- it does not come round again",))


def _as_item(answer: Answer) -> Answer:
    """Another memory's answer in this one's shape, whatever its text holds."""
    return Answer(one_line(answer.call), tuple(f"- {indented(line)}" for line in answer.lines))


def checked_limit(limit: int) -> int:
    """How many are listed at once: from 1 to 1000."""
    if not 1 <= limit <= MAX_LISTED:
        raise InvalidInput(f"limit must be from 1 to {MAX_LISTED}, not {limit}")
    return limit
