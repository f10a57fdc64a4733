"""The live side of a journal: what is said, what is on the companion's mind, its next prompt."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from pydantic import Field

from memory_butler.companions import bridge, opening
from memory_butler.companions.opening import DEFAULT_COMPANION, Companion, use
from memory_butler.domain.errors import InvalidInput, MemoryButlerError, NotFound
from memory_butler.domain.json_values import Moment
from memory_butler.domain.principals import Principal
from memory_butler.domain.text import one_line
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import screened_text
from memory_butler.journal import sessions
from memory_butler.journal.items import Event, Item
from memory_butler.journal.memory import Change
from memory_butler.journal.pictures import PREFIX, picture_from
from memory_butler.journal.search import MAX_HITS
from memory_butler.journal.tags import ShownPiece
from memory_butler.journal.wording import change_lines, kept_of, missed_line, shown_pieces
from memory_butler.logs import get_logger
from memory_butler.operations.journal_views import (
    AssembledPrompt,
    JournalEvent,
    RecalledFragment,
    WorkingItem,
    event_view,
    item_view,
    mind_view,
    prompt_view,
)
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    AllowSecrets,
    FoundSecrets,
    Input,
    KnownAt,
    Nothing,
    Output,
    Serial,
)

log = get_logger()


class OfCompanion(Input):
    """Whose journal."""

    companion: str = Field(DEFAULT_COMPANION, description="The companion's name.")


Given = TypeVar("Given", bound=OfCompanion)
Answer = TypeVar("Answer", bound=Output)


def on_journal(
    do: Callable[[Companion, Given], Answer], name: str | None = None
) -> Callable[[Memory, Principal, Given], Awaitable[Answer]]:
    """The handler of an operation that needs nothing but the open journal.

    `name` is the operation's, where the command line, which opens the journal by itself, calls
    `do` by its own.
    """

    async def handler(memory: Memory, principal: Principal, given: Given) -> Answer:
        return await use(memory, principal, given.companion, lambda one: do(one, given))

    # Name, description and shapes of the operation are those of `do`.
    handler.__name__, handler.__doc__ = name or do.__name__, do.__doc__
    handler.__annotations__ = do.__annotations__
    return handler


class CompanionSummary(Output):
    """A companion, and how much its journal holds: nothing where there is a `problem`."""

    name: str
    events: int = 0
    latest: Moment | None = None
    on_mind: int = Field(0, description="Active items of working memory.")
    fragments: int = 0
    problem: str | None = Field(None, description="Why its journal cannot be read, if so.")


class CompanionsOutput(Output):
    """By name."""

    companions: list[CompanionSummary]


def unreadable(name: str, error: Exception) -> CompanionSummary:
    """A companion whose journal is damaged, in whatever way."""
    if isinstance(error, MemoryButlerError):
        return CompanionSummary(name=name, problem=str(error))
    log.warning("a journal cannot be read", companion=name, exc_info=error)
    return CompanionSummary(name=name, problem=f"its journal cannot be read: {error}")


def summary(companion: Companion) -> CompanionSummary:
    number, latest = companion.live.extent()
    return CompanionSummary(
        name=companion.name,
        events=number,
        latest=latest,
        on_mind=len(companion.live.mind()),
        fragments=len(companion.desk.fragments()),
    )


@operation("List companions", Route("GET", "/api/journal/companions"), needs="read")
async def journal_companions(
    memory: Memory, principal: Principal, _given: Nothing
) -> CompanionsOutput:
    """List the companions that keep a journal on this server."""
    data_dir = opening.data_dir(memory)
    names = await asyncio.to_thread(opening.names, data_dir, principal.tenant)
    found = []
    for name in names:
        try:
            found.append(await use(memory, principal, name, summary))
        except Exception as error:
            found.append(unreadable(name, error))
    return CompanionsOutput(companions=found)


class LogInput(OfCompanion):
    """A message."""

    content: str = Field(description="The message as it was sent, with its tags.")
    actor: str | None = Field(
        None,
        description="Who sent it: assistant or user, or a name of the configuration; the user when "
        "left out.",
    )
    image_path: str | None = Field(None, description="Where its picture lies.")
    picture: str | None = Field(
        None,
        description="Its picture in base64 (PNG, JPEG, WebP or GIF): kept in the journal, and "
        "shown to a model that can see.",
    )
    allow_secrets: AllowSecrets = False


class LoggedAnswer(Output):
    """An answer that waits for the next prompt."""

    call: str
    lines: list[str]


class LogOutput(Output):
    """What the message did."""

    event_id: int
    ts: Moment
    actor: str
    shown: list[ShownPiece] = Field(description="What of it is to be shown.")
    changed: list[WorkingItem] = Field(description="Items that came, went or were refreshed.")
    noted: list[str] = Field(description="The same in words, no secret among them.")
    unmatched: list[str] = Field(description="Commands that changed nothing, and why.")
    recalled: list[LoggedAnswer]
    decayed: int = Field(description="Items that have faded away, and are no longer active.")
    secrets: FoundSecrets = None


def changed_views(
    companion: Companion, changes: Iterable[Change], *, secrets: bool
) -> list[WorkingItem]:
    """The items that changes are about, each once, as they are now, the oldest first."""
    ids = dict.fromkeys(one.item_id for one in changes)
    return [item_view(companion.live.item(id), secrets=secrets) for id in sorted(ids)]


def logging(
    memory: Memory, principal: Principal, given: LogInput
) -> Callable[[Companion], LogOutput]:
    """What keeps a message in its open journal; it is looked at before.

    Both take long for a large message or a picture: neither is for the event loop.

    Raises:
        InvalidInput: it cannot be kept as it stands.
    """
    if given.picture is not None and given.image_path is not None:
        raise InvalidInput("give a picture or an image_path, not both")
    if given.image_path is not None and given.image_path.startswith(PREFIX):
        # It would be another message's, and erasing either would take it from both.
        raise InvalidInput(f"an image_path beginning with {PREFIX!r} is the journal's own")
    picture = None if given.picture is None else picture_from(given.picture)
    content, found = screened_text(
        memory.config.trust, principal, given.content, allow_secrets=given.allow_secrets
    )

    def log(companion: Companion) -> LogOutput:
        actor = given.actor or companion.policy.user_actors[0]
        policy = companion.policy
        known = (*policy.assistant_actors, *policy.user_actors)
        if actor.casefold() not in {one.casefold() for one in known}:
            # Whoever is neither would count as a user, and a companion's replies as questions.
            raise InvalidInput(
                f"unknown actor {actor[:64]!r}; here speak {', '.join(known)} (more: "
                "assistant_actors and user_actors in [modules.memory.journal] of butler.toml)"
            )
        logged = companion.live.log(content, actor, given.image_path, picture=picture)
        return LogOutput(
            event_id=logged.event_id,
            ts=logged.ts,
            actor=logged.actor,
            shown=shown_pieces(
                logged.actor, logged.reading.pieces, logged.reading.tags, companion.policy
            ),
            # Whoever logs a message knows what is in it.
            changed=changed_views(companion, logged.changes, secrets=True),
            noted=change_lines(logged.changes, policy),
            unmatched=[missed_line(one) for one in logged.unmatched],
            recalled=[LoggedAnswer.copy_of(one) for one in logged.answers],
            decayed=len(logged.decayed),
            secrets=found,
        )

    return log


@operation(
    "Log a message",
    Route("POST", "/api/journal/{companion}/events"),
    needs="write",
    toolset="journal",
)
async def journal_log(memory: Memory, principal: Principal, given: LogInput) -> LogOutput:
    """Write a message of the conversation into the companion's journal, and do what its tags say.
    Log the user's message first, then journal_prompt, then your reply with actor "assistant". Tags:
    <say>, <do>, <narrate> for what is shown; <feeling>, <thought>, <pattern>, <desc>, <plan
    due="…">, <pin>, <secret> for what stays on your mind; plan>done …, pin>drop …, secret>reveal …
    on a line of their own; recall(key), search("…") and plans() are answered in the next prompt."""
    keep = await asyncio.to_thread(logging, memory, principal, given)
    return await use(memory, principal, given.companion, keep, create=True)


class StreamInput(OfCompanion):
    """Which messages, the newest first."""

    before: Serial | None = Field(None, description="Only those before this one, by id.")
    actor: str | None = Field(None, description="Of this speaker alone.")
    tag: str | None = Field(None, description="With this tag alone, such as plan or say.")
    limit: int = Field(50, ge=1, le=200, description="How many at most.")
    secrets: bool = Field(False, description="Whether the text of secrets is told.")
    known_at: KnownAt = None


class StreamOutput(Output):
    """A page of the stream; ask on with `before` = `next`."""

    events: list[JournalEvent]
    next: int | None = Field(description="Null: there is nothing older.")
    total: int = Field(description="Messages in the journal, whatever was asked for.")


@operation(
    "Read the log", Route("GET", "/api/journal/{companion}/events"), needs="read", toolset="journal"
)
@on_journal
def journal_events(companion: Companion, given: StreamInput) -> StreamOutput:
    """The messages of a journal, the newest first, by speaker or tag."""
    found = companion.live.stream(given.before, given.limit + 1, actor=given.actor, tag=given.tag)
    rows = found[: given.limit]
    return StreamOutput(
        events=[event_view(one, companion.policy, secrets=given.secrets) for one in rows],
        next=rows[-1].id if len(found) > given.limit else None,
        total=companion.live.extent()[0],
    )


class MindInput(OfCompanion):
    """What is on the companion's mind."""

    secrets: bool = Field(False, description="Whether the text of secrets is told.")
    past: int = Field(0, ge=0, le=200, description="How many items that are over, as well.")
    known_at: KnownAt = None


class MindOutput(Output):
    """Active items, the most present first; then those that are over, the newest first."""

    items: list[WorkingItem]
    past: list[WorkingItem]
    now: Moment
    hide_at: float = Field(description="At this score or less an item is left out of the prompt.")


def mind(companion: Companion, given: MindInput) -> MindOutput:
    """The companion's working memory: feelings, thoughts, plans, pins, with scores."""
    now, policy = companion.live.clock(), companion.policy
    over: list[Item] = []
    if given.past:
        over = [one for one in companion.live.history(1_000) if one.status != "active"]
    return MindOutput(
        items=[mind_view(one, now, policy, secrets=given.secrets) for one in companion.live.mind()],
        past=[item_view(one, secrets=given.secrets) for one in over[: given.past]],
        now=now,
        hide_at=policy.hide_at,
    )


journal_mind = operation(
    "What is on its mind",
    Route("GET", "/api/journal/{companion}/mind"),
    needs="read",
    toolset="journal",
)(on_journal(mind, "journal_mind"))


class PromptInput(OfCompanion):
    """Which message is to be answered."""

    event_id: Serial | None = Field(None, description="The latest of a user when left out.")
    secrets: bool = Field(
        True, description="Whether secrets are told: to the companion; false to look at it only."
    )
    known_at: KnownAt = None


@operation(
    "Assemble the prompt",
    Route("GET", "/api/journal/{companion}/prompt"),
    needs="read",
    toolset="journal",
    render=lambda output: f"{output.system}\n\n{output.user}".lstrip(),
)
async def journal_prompt(
    memory: Memory, principal: Principal, given: PromptInput
) -> AssembledPrompt:
    """The prompt for the companion's answer to the latest message: who it is, what it knows, what
    lingers, what it looked up, what was said, within its caps. Changes nothing."""
    also = []
    if memory.config.journal.bridge.recall:
        hot = await use(
            memory, principal, given.companion, lambda one: one.live.hot(given.event_id)
        )
        also = await bridge.recalled(memory, principal, hot.content)

    def assemble(companion: Companion) -> AssembledPrompt:
        prompt = companion.live.assemble(given.event_id, also_recalled=also, secrets=given.secrets)
        return prompt_view(prompt, companion.policy)

    return await use(memory, principal, given.companion, assemble)


class RecallKeyInput(OfCompanion):
    """What to look up."""

    key: str = Field(description="A key of the ambient prose, as in its brackets.")
    deep: bool = Field(False, description="Every detail, instead of the story.")
    known_at: KnownAt = None


def recall(companion: Companion, given: RecallKeyInput) -> RecalledFragment:
    """What the companion knows of a key, and of what is connected with it.

    Raises:
        NotFound: there is no such fragment.
    """
    found = companion.live.recall(given.key, deep=given.deep)
    if found is None:
        known = sorted(companion.desk.fragments())
        some = f"there are {', '.join(known[:8])}" if known else "nothing is compiled yet"
        raise NotFound(f"there is no fragment {given.key[:64]!r}; {some}")
    return RecalledFragment.copy_of(found)


journal_recall = operation(
    "Look up a key",
    Route("GET", "/api/journal/{companion}/recall"),
    needs="read",
    toolset="journal",
)(on_journal(recall, "journal_recall"))


class PlansInput(OfCompanion):
    """Which plans."""

    topic: str | None = Field(None, description="A fragment's key, or words of the item.")
    when: str | None = Field(None, description='When it is due, such as "next tuesday".')
    known_at: KnownAt = None


class PlansOutput(Output):
    """Those with a due date first, also those set aside until it is near; secrets never."""

    items: list[WorkingItem]


def plans(companion: Companion, given: PlansInput) -> PlansOutput:
    """Everything active, what is due first: by topic, or by a phrase for the time."""
    now, policy = companion.live.clock(), companion.policy
    found = companion.live.plans(given.topic, given.when)
    return PlansOutput(items=[mind_view(one, now, policy) for one in found])


journal_plans = operation(
    "Look up plans", Route("GET", "/api/journal/{companion}/plans"), needs="read", toolset="journal"
)(on_journal(plans, "journal_plans"))


class SearchLogInput(OfCompanion):
    """What to look for."""

    question: str = Field(
        description='Some words, or a question, such as "when did we plant the roses".',
    )
    limit: int = Field(MAX_HITS, ge=1, le=50, description="How many messages at most.")
    known_at: KnownAt = None


class FoundMessage(Output):
    """A message that was found, and what was said right before and after it."""

    event: JournalEvent
    kept: list[str] | None = Field(
        None,
        description='What it keeps in mind, such as "pin: likes green tea": plans, pins and '
        "descriptions, which are found, too.",
    )
    before: JournalEvent | None
    after: JournalEvent | None


class FoundMessages(Output):
    """Best match first."""

    found: list[FoundMessage]


def search(companion: Companion, given: SearchLogInput) -> FoundMessages:
    """Find messages of the whole conversation, however long ago, by their words and their meaning,
    each with its date and with what was said before and after it."""
    policy = companion.policy

    def view(event: Event | None) -> JournalEvent | None:
        return None if event is None else event_view(event, policy)

    return FoundMessages(
        found=[
            FoundMessage(
                event=event_view(one.event, policy),
                kept=kept_of(one.event, policy),
                before=view(one.before),
                after=view(one.after),
            )
            for one in companion.live.search(given.question, given.limit)
        ]
    )


def _search_text(output: FoundMessages) -> str:
    """As the companion itself is told: a line for each message, with its neighbours."""
    lines: list[str] = []
    for one in output.found:
        for place, event in (("before", one.before), ("", one.event), ("after", one.after)):
            if event is None:
                continue
            kept = [f"({'; '.join(one.kept)})"] if event is one.event and one.kept else []
            said = one_line(" ".join([*(piece.text for piece in event.shown), *kept]))
            if not said:
                continue
            when = f"message {event.id}, {event.ts:%Y-%m-%d %H:%M} UTC"
            lines.append(f"{f'  {place}' if place else f'- {when}'}: {event.called}: {said}")
    return "\n".join(lines) or "nothing found"


journal_search = operation(
    "Search what was said",
    Route("GET", "/api/journal/{companion}/search"),
    needs="read",
    toolset="journal",
    render=_search_text,
)(on_journal(search, "journal_search"))


class EndSessionInput(OfCompanion):
    """Whose conversation is over for now."""


class EndSessionOutput(Output):
    """Sessions that memory has now, and those that wait for it."""

    stored: int
    waiting: int


@operation(
    "Close the session",
    Route("POST", "/api/journal/{companion}/sessions/end"),
    needs="write",
    toolset="journal",
    idempotent=True,
)
async def journal_end_session(
    memory: Memory, principal: Principal, given: EndSessionInput
) -> EndSessionOutput:
    """End the conversation for now. Where the bridge to memory is on, what was said becomes an
    episode; otherwise nothing happens."""
    await use(
        memory, principal, given.companion, lambda one: sessions.end(one.file, memory.clock())
    )
    if not memory.config.journal.bridge.episodes:
        return EndSessionOutput(stored=0, waiting=0)
    done = await bridge.hand_over(memory, principal, given.companion)
    return EndSessionOutput(stored=done.stored, waiting=done.waiting)
