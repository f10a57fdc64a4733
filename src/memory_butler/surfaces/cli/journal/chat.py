"""A conversation in the terminal with a companion that remembers.

Each message is on disk before the model is asked; Ctrl-C, an error or a kill costs at most a reply
that was not finished, and `/retry` asks for it again.
"""

import asyncio
import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memory_butler.domain.errors import ConfigurationError, MemoryButlerError, NotFound
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.journal import looking
from memory_butler.surfaces.cli.journal.opened import (
    DEFAULT,
    ModelName,
    Script,
    Whose,
    companion,
    model,
)
from memory_butler.surfaces.cli.place import Place
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from memory_butler.companions.opening import Companion
    from memory_butler.config import Settings
    from memory_butler.engine.memory import Memory
    from memory_butler.inference.language_models.port import LanguageModel
    from memory_butler.journal.conversation import Reply
    from memory_butler.journal.live import Logged
    from memory_butler.journal.lookups import Answer
    from memory_butler.journal.memory import Change

EXAMPLES = epilog(
    "memory-butler journal chat",
    "memory-butler journal chat --companion ada --model ollama:llama3.2",
)
_KEPT = " Your message is kept; /retry asks again."
# How a change of working memory is told, by the event of its table; what made way is not.
_DONE = {
    "tag": "kept",
    "retag": "kept on",
    "done": "done",
    "cancel": "cancelled",
    "drop": "dropped",
    "reveal": "revealed",
}
# A person does not type the next line within that.
_PASTE_SECONDS = 0.05
_BEFORE = 4  # messages of before that are shown when one comes back


def chat(
    place: Place,
    whose: Whose = DEFAULT,
    named: ModelName = None,
    script: Script = None,
) -> None:
    """Talk with a companion. It remembers: quit, come back tomorrow, and go on.

    Without a language model your messages are kept and nobody answers. Ctrl-D or /quit leaves,
    /help tells what else there is. Who it is stands in its wake-context.md, which is yours to
    change.
    """
    settings = place.settings()
    asked, missing = None, None
    try:
        asked = model(settings, named, script)
    except ConfigurationError as error:
        if named is not None:
            raise
        missing = str(error)
    with companion(place, whose, settings, create=True) as one, asyncio.Runner() as runner:
        talk = _Talk(place, settings, one, asked, missing, runner)
        talk.greet()
        talk.open_bridge()
        try:
            talk.go_on()
        finally:
            talk.leave()


@dataclass(slots=True)
class _Talk:
    """A conversation while it lasts."""

    place: Place
    settings: "Settings"
    companion: "Companion"
    model: "LanguageModel | None"
    missing: str | None
    runner: asyncio.Runner
    memory: "Memory | None" = None
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    def greet(self) -> None:
        """Say who there is, and what was said last."""
        from memory_butler.journal.texts import begin_wake
        from memory_butler.journal.wording import date_words

        written = begin_wake(self.companion.file.texts_dir)
        number, latest = self.companion.live.extent()
        since = f", the last on {date_words(latest, self.companion.policy)}" if latest else ""
        named = self.model.name if self.model is not None else "none"
        _note(f"{self.companion.name}: {number:,} messages{since}. Model: {named}.")
        if self.missing is not None:
            _note(f"Your messages are kept, and nobody answers: {self.missing}")
        if written is not None:
            _note(f"Who it is stands in {written}; change it as you like.")
        _note("/help tells what there is; Ctrl-D leaves.")
        for event in reversed(self.companion.live.stream(limit=_BEFORE)):
            self._show(event.actor, event.content)

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
        while (line := _asked()) is not None:
            text = line.strip()
            if not text:
                continue
            kept = False
            try:
                if text == "/quit":
                    return
                if text.startswith("/"):
                    self._command(text)
                    continue
                logged = self.companion.live.log(text, self.companion.policy.user_actors[0])
                kept = True
                self._note_changes(logged)
                if self.model is not None:
                    self._answer(self.model)
            except KeyboardInterrupt:
                _note("\nStopped." + (_KEPT if kept else ""))
            except MemoryButlerError as error:
                complain(f"error: {error}")
                if kept:
                    _note(_KEPT.strip())

    def leave(self) -> None:
        """End the session, and hand it over where the bridge is on."""
        from memory_butler.journal import sessions
        from memory_butler.journal.live import utc_now

        sessions.end(self.companion.file, utc_now())
        try:
            if self.memory is not None and self.settings.memory.journal.bridge.episodes:
                self.runner.run(self._hand_over(self.memory))
        finally:
            self.runner.run(self._open.aclose())

    async def _hand_over(self, memory: "Memory") -> None:
        from memory_butler.companions.bridge import hand_over

        done = await hand_over(memory, self.place.principal(), self.companion.name)
        if done.problem is not None:
            _note(f"What was said waits for memory: {done.problem}")

    def _answer(self, model: "LanguageModel") -> None:
        with _thinking():
            done = self.runner.run(self._reply(model))
        if done.looked_up:
            _note(f"(looked up: {', '.join(done.looked_up)})")
        self._show(done.logged.actor, done.text)
        if done.cut:
            _note("(cut off at max_reply_tokens; what there was is kept)")
        self._note_changes(done.logged)

    def _retry(self) -> None:
        """Ask for an answer that is missing; one that is there is in the log, and stays."""
        if self.model is None:
            raise ConfigurationError(self.missing or "there is no model")
        latest = self.companion.live.stream(limit=1)
        if latest and latest[0].actor in self.companion.policy.assistant_actors:
            _note("Your last message is answered already; say what you would have otherwise.")
            return
        self._answer(self.model)

    async def _reply(self, model: "LanguageModel") -> "Reply":
        from memory_butler.journal.conversation import reply

        config = self.settings.memory.journal
        also: list[Answer] = []
        if self.memory is not None and config.bridge.recall:
            from memory_butler.companions.bridge import recalled

            hot = await asyncio.to_thread(self.companion.live.hot)
            also = await recalled(self.memory, self.place.principal(), hot.content)
        return await reply(
            self.companion.live,
            model,
            self.companion.policy,
            max_tokens=config.max_reply_tokens,
            also_recalled=also,
            look_ups=config.look_ups,
        )

    def _show(self, actor: str | None, content: str) -> None:
        """What the conversation shows of a message; thinking and secrets it does not."""
        from memory_butler.journal.tags import read
        from memory_butler.journal.wording import conversation_line, shown_pieces
        from memory_butler.surfaces.cli.answers import clean

        policy = self.companion.policy
        reading = read(content, (*policy.assistant_actors, *policy.user_actors))
        pieces = shown_pieces(actor, reading.pieces, reading.tags, policy)
        for piece in pieces:
            line = clean(conversation_line(actor, piece, False, policy))
            print(_styled(line, italic=True) if piece.kind in ("do", "narrate") else line)
        if not pieces:
            _note(f"({actor} says nothing aloud)")
        sys.stdout.flush()

    def _note_changes(self, logged: "Logged") -> None:
        """One line on what a message changed in mind, and one for each command that it missed."""
        told = [self._told(one) for one in logged.changes if one.event in _DONE]
        if told:
            _note(f"({'; '.join(told)})")
        for one in logged.unmatched:
            said = f"{one.command.type}>{one.command.verb} {one.command.text}"
            _note(f"({said}: {one.why()})")

    def _told(self, change: "Change") -> str:
        from memory_butler.journal.wording import WITHHELD, date_words
        from memory_butler.surfaces.cli.answers import short

        what = WITHHELD if change.type == "secret" else short(change.content)
        due = f", due {date_words(change.due, self.companion.policy)}" if change.due else ""
        return (
            f"{_DONE[change.event]} {change.type}: {what}{due if change.status == 'active' else ''}"
        )

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
            "/search": lambda: self._search(rest),
            "/prompt": self._prompt,
            "/retry": self._retry,
        }
        command = commands.get(name)
        if command is None:
            _note(f"There is no {name}; /help tells what there is.")
        else:
            command()

    def _mind(self) -> None:
        from memory_butler.journal.live import utc_now
        from memory_butler.operations.journal_views import mind_view

        now, policy = utc_now(), self.companion.policy
        items = [mind_view(one, now, policy) for one in self.companion.live.mind()]
        looking.show_items(items, policy.zone)

    def _plans(self, topic: str | None) -> None:
        from memory_butler.journal.live import utc_now
        from memory_butler.operations.journal_views import mind_view

        now, policy = utc_now(), self.companion.policy
        found = self.companion.live.plans(topic)
        looking.show_items([mind_view(one, now, policy) for one in found], policy.zone)

    def _recall(self, key: str) -> None:
        from memory_butler.surfaces.cli.answers import clean

        found = self.companion.live.recall(key, deep=True)
        if found is None:
            raise NotFound(f"there is no fragment {key[:64]!r}")
        print(clean(f"{found.key}: {found.text}"))

    def _keep(self, tag: str, text: str) -> None:
        """As a message with that tag alone; nobody is asked for an answer to it."""
        if not text:
            _note(f"Say what, such as /{'pin' if tag == 'pin' else 'remind'} buy tea tomorrow.")
            return
        message = f"<{tag}>{text}</{tag}>"
        self._note_changes(self.companion.live.log(message, self.companion.policy.user_actors[0]))

    def _search(self, question: str) -> None:
        from memory_butler.journal.search import said
        from memory_butler.journal.wording import date_words
        from memory_butler.surfaces.cli.answers import clean

        found = self.companion.live.search(question)
        for hit in found:
            _note(f"{date_words(hit.event.ts, self.companion.policy)}, message {hit.event.id}")
            for one in (hit.before, hit.event, hit.after):
                text = clean(said(one, self.companion.policy)) if one is not None else ""
                if text:
                    print(text if one is not hit.event else _styled(text, bold=True))
        if not found:
            _note("Nothing was found.")

    def _prompt(self) -> None:
        from memory_butler.operations.journal_views import prompt_view

        prompt = prompt_view(self.companion.live.assemble(secrets=False), self.companion.policy)
        looking.show_prompt(prompt)
        looking.show_receipt(prompt)


def _asked() -> str | None:
    """The next line; None where there is no more: Ctrl-D, Ctrl-C or the end of the input."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line if line else None
    import readline  # makes `input` a line that can be edited

    readline.parse_and_bind("set enable-bracketed-paste on")
    lines: list[str] = []
    try:
        lines = [input("> ")]
        # What is pasted arrives at once: a poem is one message, not one for each of its lines.
        while select.select([sys.stdin], [], [], _PASTE_SECONDS)[0]:
            lines.append(input())
        return "\n".join(lines)
    except EOFError:
        print()
        return "\n".join(lines) if lines else None
    except KeyboardInterrupt:
        print()
        return None


def _help() -> None:
    for name, does in (
        ("/mind", "what is on its mind, with scores"),
        ("/plans [TOPIC]", "what is planned, submerged plans too"),
        ("/recall KEY", "what it knows of a key"),
        ("/pin TEXT", "keep something in its mind for weeks"),
        ("/remind TEXT", 'keep a plan, such as "/remind water the garden tomorrow at 9am"'),
        ("/search WORDS", "what was said, however long ago"),
        ("/prompt", "the prompt for an answer to your last message, and the receipt"),
        ("/retry", "ask again for an answer that is missing"),
        ("/quit", "leave; Ctrl-D does, too"),
    ):
        print(f"  {name:<16} {does}")
    _note("Your messages may hold tags, such as <plan>water the garden tomorrow at 9am</plan>.")


@contextmanager
def _thinking() -> Iterator[None]:
    """A sign that the model is at work, while it is."""
    shown = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    if shown:
        print(_styled("thinking …", dim=True), end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            # To the beginning of the line, and nothing left of it.
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _note(said: str) -> None:
    """What is none of the conversation: dim, on standard error."""
    from memory_butler.surfaces.cli.answers import clean

    text = clean(said)
    print(_styled(text, dim=True) if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


def _styled(text: str, **style: bool) -> str:
    import typer

    return typer.style(text, **style) if sys.stdout.isatty() else text
