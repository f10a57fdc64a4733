"""A conversation in the terminal with a companion that remembers.

Each message is on disk before the model is asked; Ctrl-C, an error or a kill costs at most a reply
that was not finished, and `/retry` asks for it again.
"""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from memory_butler.domain.errors import ConfigurationError, Conflict, MemoryButlerError, NotFound
from memory_butler.surfaces.cli.cleaning import clean, short
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.journal import introducing, looking
from memory_butler.surfaces.cli.journal.opened import (
    DEFAULT,
    ModelName,
    Script,
    Whose,
    companion,
    model,
)
from memory_butler.surfaces.cli.journal.tending import Tending
from memory_butler.surfaces.cli.journal.terminal import Writing, asked, note, styled
from memory_butler.surfaces.cli.place import Place
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from memory_butler.companions.opening import Companion
    from memory_butler.config import Settings
    from memory_butler.engine.memory import Memory
    from memory_butler.inference.language_models.port import LanguageModel
    from memory_butler.journal.conversation import Reply
    from memory_butler.journal.items import Item, MemoryType
    from memory_butler.journal.live import Logged
    from memory_butler.journal.lookups import Answer
    from memory_butler.journal.memory import Change
    from memory_butler.journal.tags import ShownPiece

EXAMPLES = epilog(
    "memory-butler journal chat",
    "memory-butler journal chat --companion ada --model ollama:llama3.2",
)
_KEPT = " Your message is kept; /retry asks again."
_NOTHING_SAID = "Nothing was said, so there is no companion yet."
_LATEST = 20  # messages among which `/retry` looks for one without an answer
_BEFORE = 4  # messages of before that are shown when one comes back


def chat(
    place: Place,
    whose: Whose = DEFAULT,
    named: ModelName = None,
    script: Script = None,
) -> None:
    """Talk with a companion. It remembers: quit, come back tomorrow, and go on.

    Without a language model your messages are kept and nobody answers. The first time it asks for
    your names, time zone and manner; /self asks again. Ctrl-D or /quit leaves, /help tells what
    else there is. Who it is stands in its wake-context.md, which is yours to change.
    """
    from memory_butler.companions.opening import is_unused
    from memory_butler.journal.erasing import erase_journal

    settings = place.settings()
    answering, missing = None, None
    try:
        answering = model(settings, named, script)
    except ConfigurationError as error:
        if named is not None:
            raise
        missing = str(error)
    waiting: list[str] = []
    is_first = not _is_there(place, whose, settings)
    if not sys.stdin.isatty() and is_first:
        first = next((line for line in iter(asked, None) if line.strip()), None)
        if first is None:
            note(_NOTHING_SAID)
            return
        waiting.append(first)
    with (
        companion(place, whose, settings, create=True) as one,
        asyncio.Runner() as runner,
        Tending(one, settings, answering) as tending,
    ):
        talk = _Talk(place, settings, one, answering, missing, runner, tending, waiting)
        talk.greet()
        talk.open_bridge()
        try:
            talk.go_on()
        finally:
            talk.leave()
        unused = is_first and is_unused(one)
    if unused:
        erase_journal(one.file.path)
        note(_NOTHING_SAID)


def _is_there(place: Place, whose: str, settings: "Settings") -> bool:
    from memory_butler.journal.file import journal_path

    return journal_path(settings.data_dir, place.principal().tenant, whose).exists()


@dataclass(slots=True)
class _Talk:
    """A conversation while it lasts."""

    place: Place
    settings: "Settings"
    companion: "Companion"
    model: "LanguageModel | None"
    missing: str | None
    runner: asyncio.Runner
    tending: Tending
    waiting: list[str]  # lines that were read before there was a companion
    memory: "Memory | None" = None
    undo_told: bool = False
    # The last message as it was typed, where it was stored otherwise.
    masked: str | None = None
    # The last message, by id, as long as it has no answer: another window may have had one since.
    unanswered: int | None = None
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    def greet(self) -> None:
        """Say who there is, what was said last, and which plans are late or came near."""
        from memory_butler.journal.texts import begin_wake
        from memory_butler.journal.wording import come_due_words, date_words

        number, latest = self.companion.live.extent()
        since = f", the last on {date_words(latest, self.companion.policy)}" if latest else ""
        named = self.model.name if self.model is not None else "none"
        note(f"{self._name()}: {counted(number, 'message')}{since}. Model: {named}.")
        if self.missing is not None:
            note(f"Your messages are kept, nobody answers, and upkeep is off: {self.missing}")
        if introducing.first_time(self.companion):
            note("A few questions first.")
            self._introduce()
        elif (written := begin_wake(self.companion.file.texts_dir)) is not None:
            note(f"Who it is stands in {written}; change it as you like.")
        note("/help tells what there is; Ctrl-D leaves.")
        greeting = self.companion.live.greeting()
        # All that it said by itself since then, and some of what was before.
        before = max(_BEFORE, len(greeting.left) + 1)
        for event in reversed(self.companion.live.stream(limit=before)):
            self._show(event.actor, event.content)
        for line in come_due_words(greeting.plans, self.companion.policy):
            note(f"({clean(line)})")

    def _name(self) -> str:
        """What the companion is called: its own name, else that of its journal."""
        policy = self.companion.policy
        return policy.names.get(policy.assistant_actors[0], self.companion.name)

    def _introduce(self) -> None:
        note(introducing.HOW_TO_ANSWER)
        self.companion = introducing.introduce(self.companion, self.settings)

    def open_bridge(self) -> None:
        """Open memory where the bridge is on; the conversation goes on without it."""
        bridge = self.settings.memory.journal.bridge
        if not (bridge.episodes or bridge.recall):
            return
        from memory_butler.engine.opening import open_memory

        try:
            opening = open_memory(self.settings)
            self.memory = self.runner.run(self._open.enter_async_context(opening))
        except MemoryButlerError as error:
            complain(f"memory is away, the journal goes on without it: {error}")

    def go_on(self) -> None:
        """Line after line, until there is no more."""
        for line in chain(self.waiting, iter(asked, None)):
            text = line.strip()
            if not text:
                continue
            kept = False
            try:
                if text == "/quit":
                    return
                if text == "/keep" and self.masked is not None:
                    text, self.masked = self.masked, None
                    text = self._screened(text, allow_secrets=True)
                elif text.startswith("/"):
                    self._command(text)
                    continue
                else:
                    given = text
                    text = self._screened(given, keep_it="/keep says it again as it was.")
                    self.masked = given if text != given else None
                logged = self.companion.live.log(text, self.companion.policy.user_actors[0])
                kept, self.unanswered = True, logged.event_id
                self._note_changes(logged)
                if self.model is not None:
                    self._answer(self.model, logged.event_id)
            except KeyboardInterrupt:
                note("\nStopped." + (_KEPT if kept else ""))
            except MemoryButlerError as error:
                complain(f"error: {error}")
                if kept:
                    note(_KEPT.strip())

    def _screened(self, text: str, *, allow_secrets: bool = False, keep_it: str = "") -> str:
        """What was typed, as secrets may be stored; what was found in it is told."""
        from memory_butler.engine.screening import screened_text

        trust, who = self.settings.memory.trust, self.place.principal()
        clean, found = screened_text(trust, who, text, allow_secrets=allow_secrets, keep_it=keep_it)
        if found is not None:
            note(f"({found})")
        return clean

    def leave(self) -> None:
        """End the session, and hand it over where the bridge is on."""
        from memory_butler.journal import sessions
        from memory_butler.journal.live import utc_now

        sessions.end(self.companion.file, utc_now())
        try:
            self.tending.end()
            if self.memory is not None and self.settings.memory.journal.bridge.episodes:
                self.runner.run(self._hand_over(self.memory))
        finally:
            self.runner.run(self._open.aclose())

    async def _hand_over(self, memory: "Memory") -> None:
        from memory_butler.companions.bridge import hand_over

        done = await hand_over(memory, self.place.principal(), self.companion.name)
        if done.problem is not None:
            note(f"What was said waits for memory: {done.problem}")

    def _answer(self, model: "LanguageModel", answers: int) -> None:
        from memory_butler.journal.conversation import Stopped, answering

        speaker = self.companion.policy.assistant_actors[0]
        writing = Writing(lambda pieces: self._lines(speaker, pieces))
        stop = asyncio.Event()
        with answering(self.companion.file), writing:
            try:
                done = self.runner.run(self._reply(model, answers, writing, stop))
            except (Stopped, asyncio.CancelledError):
                raise KeyboardInterrupt from None
            self.unanswered = None
            pieces = self._shown(done.logged.actor, done.text)
            if writing.streams:
                writing.end(pieces)
        if done.looked_up:
            note(f"(looked up: {', '.join(done.looked_up)})")
        if not (writing.streams and pieces):
            self._show(done.logged.actor, done.text)
        if done.cut:
            why = "stopped" if stop.is_set() else "cut off at max_reply_tokens"
            note(f"({done.problem or why}; what there was is kept)")
        self._note_changes(done.logged)

    def _retry(self) -> None:
        """Ask for an answer that is missing; one that is there is in the log, and stays."""
        if self.model is None:
            raise ConfigurationError(self.missing or "there is no model")
        if self.unanswered is not None:
            self._answer(self.model, self.unanswered)
            return
        # What only keeps something in mind asks nobody for an answer.
        live, policy = self.companion.live, self.companion.policy
        latest = next(
            (one for one in live.stream(limit=_LATEST) if self._shown(one.actor, one.content)), None
        )
        if latest is None:
            note("There is nothing to answer.")
            return
        if latest.actor in policy.assistant_actors:
            note("Your last message is answered already; say what you would have otherwise.")
            return
        self._answer(self.model, latest.id)

    async def _reply(
        self, model: "LanguageModel", answers: int, writing: Writing, stop: asyncio.Event
    ) -> "Reply":
        """The model's reply; Ctrl-C stops it, and what was shown by then is kept.

        Before and after the model writes nothing heeds that: a second one cancels what there is.
        """
        from memory_butler.journal.conversation import reply

        config = self.settings.memory.journal
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()

        def interrupted() -> None:
            if stop.is_set() and task is not None:
                task.cancel()
            stop.set()

        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            also: list[Answer] = []
            if self.memory is not None and config.bridge.recall:
                from memory_butler.companions.bridge import recalled

                hot = await asyncio.to_thread(self.companion.live.hot, answers)
                also = await recalled(self.memory, self.place.principal(), hot.content)
            return await reply(
                self.companion.live,
                model,
                self.companion.policy,
                answers=answers,
                max_tokens=config.max_reply_tokens,
                also_recalled=also,
                look_ups=config.look_ups,
                heard=writing.show if writing.streams else None,
                stop=stop,
            )
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    def _shown(self, actor: str | None, content: str) -> "list[ShownPiece]":
        """What the conversation shows of a message; thinking and secrets it does not."""
        from memory_butler.journal.tags import read
        from memory_butler.journal.wording import shown_pieces

        policy = self.companion.policy
        reading = read(content, (*policy.assistant_actors, *policy.user_actors))
        return shown_pieces(actor, reading.pieces, reading.tags, policy)

    def _lines(self, actor: str | None, pieces: "Iterable[ShownPiece]") -> list[tuple[str, bool]]:
        """Pieces as lines, and whether each is in italics."""
        from memory_butler.journal.wording import conversation_line

        policy = self.companion.policy
        return [
            (clean(conversation_line(actor, one, False, policy)), one.kind in ("do", "narrate"))
            for one in pieces
        ]

    def _show(self, actor: str | None, content: str) -> None:
        pieces = self._shown(actor, content)
        for line, italic in self._lines(actor, pieces):
            print(styled(line, italic=True) if italic else line)
        if not pieces:
            note(f"({self.companion.policy.called(actor)} says nothing aloud)")
        sys.stdout.flush()

    def _note_changes(self, logged: "Logged") -> None:
        """One line on what a message changed in mind, and one for each command that it missed."""
        from memory_butler.journal.wording import missed_line

        self._note_done(logged.changes)
        for one in logged.unmatched:
            note(f"({missed_line(one)})")

    def _note_done(self, changes: "Iterable[Change]", *, taken_back: bool = False) -> None:
        from memory_butler.journal.wording import change_lines

        told = change_lines(changes, self.companion.policy, taken_back=taken_back, shorten=short)
        if told:
            how = "" if self.undo_told else " /undo takes it back."
            self.undo_told = True
            note(f"({'; '.join(told)}){how}")

    def _command(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        rest = rest.strip()
        commands: Mapping[str, Callable[[], None]] = {
            "/help": _help,
            "/mind": self._mind,
            "/plans": lambda: self._plans(rest or None),
            "/recall": lambda: self._recall(rest),
            "/pin": lambda: self._keep("pin", rest),
            "/remind": lambda: self._keep("plan", rest),
            "/undo": self._undo,
            "/forget": lambda: self._forget(rest),
            "/edit": lambda: self._edit(rest),
            "/search": lambda: self._search(rest),
            "/self": self._introduce,
            "/prompt": self._prompt,
            "/retry": self._retry,
            "/keep": lambda: note("Nothing of your last message was masked."),
        }
        command = commands.get(name)
        if command is None:
            note(f"There is no {name}; /help tells what there is.")
        else:
            command()

    def _mind(self) -> None:
        from memory_butler.operations import journal

        found = journal.mind(self.companion, journal.MindInput())
        looking.show_items(found.items, self.companion.policy.zone)

    def _plans(self, topic: str | None) -> None:
        from memory_butler.operations import journal

        found = journal.plans(self.companion, journal.PlansInput(topic=topic))
        looking.show_plans(found.items, self.companion.policy.zone)

    def _recall(self, key: str) -> None:
        if not key:
            note("Say which key, such as /recall garden; /prompt shows those that there are.")
            return
        from memory_butler.operations import journal

        given = journal.RecallKeyInput(key=key, deep=True)
        looking.show_recalled(journal.recall(self.companion, given))

    def _keep(self, tag: "MemoryType", text: str) -> None:
        """Exactly this text; nobody is asked for an answer to it."""
        if not text:
            note(f"Say what, such as /{'pin' if tag == 'pin' else 'remind'} buy tea tomorrow.")
            return
        _, changes = self.companion.live.keep(tag, self._screened(text))
        self._note_done(changes)

    def _undo(self) -> None:
        changes = self.companion.live.undo()
        self.undo_told = True
        self._note_done(changes, taken_back=True)
        if not changes:
            note("There is nothing to take back.")

    def _forget(self, text: str) -> None:
        if (item := self._meant(text, "/forget")) is not None:
            self._note_done([self.companion.live.forget(item)])

    def _edit(self, text: str) -> None:
        """The item that a few words mean, with its text to be changed."""
        if (item := self._meant(text, "/edit")) is None:
            return
        note(f"{item.type}: {item.content}")
        if (new := (asked("edit> ", item.content) or "").strip()) and new != item.content:
            self._note_done(self.companion.live.edit(item, self._screened(new)))
        else:
            note("Nothing was changed.")

    def _meant(self, text: str, command: str) -> "Item | None":
        from memory_butler.operations.journal_corrections import meant

        if not text:
            note(f"Say which, by some of its words, such as {command} green tea. /mind shows all.")
            return None
        try:
            return meant(self.companion, text)
        except (Conflict, NotFound) as error:
            note(f"({error}; /mind shows what is there)")
            return None

    def _search(self, question: str) -> None:
        if not question:
            note("Say what, such as /search old roses.")
            return
        from memory_butler.operations import journal

        found = journal.search(self.companion, journal.SearchLogInput(question=question))
        looking.show_found(found, self.companion.policy.zone)

    def _prompt(self) -> None:
        from memory_butler.operations.journal_views import prompt_view

        prompt = prompt_view(self.companion.live.assemble(secrets=False), self.companion.policy)
        looking.show_prompt(prompt)
        looking.show_receipt(prompt)


def _help() -> None:
    for name, does in (
        ("/mind", "what is on its mind, with scores"),
        (
            "/plans [TOPIC]",
            "what is planned, also what is set aside; then what else it has in mind",
        ),
        ("/recall KEY", "what it knows of a key"),
        ("/pin TEXT", "keep something in its mind for weeks"),
        ("/remind TEXT", 'keep a plan, such as "/remind water the garden tomorrow at 9am"'),
        ("/undo", "take back what was kept or changed last; again, what was before it"),
        ("/forget WORDS", "drop what it has in mind, by some of its words"),
        ("/edit WORDS", "change the text of what it has in mind"),
        ("/search WORDS", "what was said, however long ago"),
        ("/self", "say again who you are, and who it is"),
        ("/prompt", "the prompt for an answer to your last message, and the receipt"),
        ("/retry", "ask again for an answer that is missing"),
        ("/keep", "say your last message again with what was masked in it"),
        ("/quit", "leave; Ctrl-D does, too"),
    ):
        print(f"  {name:<16} {does}")
    note("Your messages may hold tags, such as <plan>water the garden tomorrow at 9am</plan>.")
