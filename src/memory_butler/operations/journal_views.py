"""What a journal holds, as callers see it."""

from dataclasses import replace
from datetime import datetime
from typing import Literal

from pydantic import Field

from memory_butler.domain.elapsed import elapsed
from memory_butler.domain.json_values import Moment
from memory_butler.journal.assembly import Prompt, PromptPart
from memory_butler.journal.fragments import Difference, Fragment, RunType
from memory_butler.journal.items import Event, Item, MemoryType, Status, is_assistant
from memory_butler.journal.lifecycle import OnMind, Phase
from memory_butler.journal.lookups import KnownNeighbour, Tier
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.runs import Run, RunReport
from memory_butler.journal.tags import ShownPiece
from memory_butler.journal.wording import WITHHELD, repeats_words, shown_of, withheld
from memory_butler.operations.views import Output


class JournalEvent(Output):
    """A message as it was sent, and what of it the conversation shows."""

    id: int
    ts: Moment
    actor: str | None
    called: str = Field(description="The speaker's name in the conversation.")
    by_companion: bool
    content: str = Field(description="With its tags; untouched, but for secrets not asked for.")
    image_path: str | None
    tags: list[str]
    shown: list[ShownPiece] = Field(description="Empty where all of it is thinking.")


class WorkingItem(Output):
    """An item of working memory; score, turns and phase of active ones only."""

    id: int
    event_id: int | None
    type: MemoryType
    content: str
    subject: str | None
    actor: str | None
    status: Status = Field(
        description="active: on its mind. decayed: it faded away. superseded: another replaced it."
    )
    due: Moment | None
    repeats: str | None = Field(
        None,
        description="How a plan comes round again: a rule of RFC 5545, by your local clock.",
    )
    often: str | None = Field(None, description='The same in words: "every Tuesday".')
    created_at: Moment
    refreshed_at: Moment
    resolved_at: Moment | None
    score: float | None = Field(None, description="How present it is, from 0 to 1.")
    hours: float | None = Field(None, description="Hours since it was refreshed.")
    turns: int | None = Field(None, description="User messages since it was refreshed.")
    half_life_hours: float | None = Field(None, description="Null: it does not decay.")
    half_life_turns: float | None = Field(None, description="Null: it does not decay.")
    phase: Phase | None = Field(None, description="Where a plan stands on the way to its date.")
    submerged: bool = Field(
        False, description="A plan that is set aside, out of the prompt, until its date is near."
    )
    hidden: bool = Field(False, description="Left out of the prompt: faded, or a plan set aside.")


class RecalledFragment(Output):
    """What is known of a key; `tier` says how deep `text` is."""

    key: str
    tier: Tier
    text: str
    neighbours: tuple[KnownNeighbour, ...]


class FragmentEdge(Output):
    """How one fragment is connected with another."""

    source: str
    target: str
    relation: str | None


class FragmentView(Output):
    """A fragment with all its tiers, its outgoing edges and the messages that it rests on."""

    key: str
    ambient: str | None
    recognition: str | None
    inventory: str | None
    edges: list[FragmentEdge]
    sources: list[int]
    created_at: Moment | None
    updated_at: Moment | None


class FragmentChange(Output):
    """One fragment before and after a run."""

    key: str
    change: Literal["created", "changed", "deleted"]
    lines: list[str] = Field(description='"- " what goes, "+ " what comes.')
    before: FragmentView | None
    after: FragmentView | None


class MaintenanceRun(Output):
    """A run; without an end it failed, crashed or is still at work."""

    id: int
    run_type: RunType
    started_at: Moment
    completed_at: Moment | None
    state: Literal["completed", "failed", "unfinished"]
    message: str | None
    model: str | None
    events: int = Field(description="Messages that it read.")
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    refused: list[str] = Field(description="What the model proposed and was not done, and why.")


class TokenPool(Output):
    """A pool of the conversation."""

    pool: Literal["user", "say", "do", "flex"]
    used: int
    cap: int


class AssembledPrompt(Output):
    """What the companion wakes up to, and the receipt."""

    system: str
    user: str
    image_path: str | None
    now: Moment
    parts: tuple[PromptPart, ...]
    pools: list[TokenPool]
    total: int
    warnings: list[str]


def event_view(event: Event, policy: JournalPolicy, *, secrets: bool = False) -> JournalEvent:
    """A message; reading it again tells what of it is shown."""
    return JournalEvent.copy_of(
        event,
        called=policy.called(event.actor),
        by_companion=is_assistant(event.actor, policy.assistant_actors),
        content=event.content if secrets else withheld(event.content),
        shown=shown_of(event, policy),
    )


def item_view(item: Item, *, secrets: bool) -> WorkingItem:
    """An item of whatever status; the text of a secret only where `secrets`."""
    if item.type == "secret" and not secrets:
        # A new field of an item that holds text must be blanked here, too.
        item = replace(item, content=WITHHELD, subject=None)
    shown = WorkingItem.copy_of(item)
    return shown.model_copy(update={"often": repeats_words(item.repeats) if item.repeats else None})


def mind_view(
    one: OnMind, now: datetime, policy: JournalPolicy, *, secrets: bool = False
) -> WorkingItem:
    """An active item with all that its score is made of."""
    half = policy.half_lives.get(one.item.type)
    return item_view(one.item, secrets=secrets).model_copy(
        update={
            "score": one.score,
            "hours": elapsed(one.item.refreshed_at, now).total_seconds() / 3600,
            "turns": one.turns,
            "half_life_hours": half.hours if half else None,
            "half_life_turns": half.turns if half else None,
            "phase": one.phase,
            "submerged": one.submerged,
            "hidden": one.hidden,
        }
    )


def fragment_view(one: Fragment) -> FragmentView:
    """A fragment, whole."""
    edges = [
        FragmentEdge(source=one.key, target=target, relation=relation)
        for target, relation in one.edges
    ]
    return FragmentView.copy_of(one, edges=edges)


def change_view(one: Difference) -> FragmentChange:
    """A difference, for people and for programs."""
    change: Literal["created", "changed", "deleted"] = "changed"
    if one.before is None:
        change = "created"
    elif one.after is None:
        change = "deleted"
    return FragmentChange(
        key=one.key,
        change=change,
        lines=list(one.lines()),
        before=fragment_view(one.before) if one.before else None,
        after=fragment_view(one.after) if one.after else None,
    )


def run_view(run: Run) -> MaintenanceRun:
    """A run with what is known about it."""
    state = "completed"
    if run.completed_at is None:
        state = "unfinished" if run.report is None else "failed"
    message = None if run.report is None else run.report.message
    report = run.report or RunReport("")
    return MaintenanceRun.copy_of(run, report, state=state, message=message)


def prompt_view(prompt: Prompt, policy: JournalPolicy) -> AssembledPrompt:
    """A prompt with its receipt."""
    budget, receipt = policy.budget, prompt.receipt
    caps: dict[Literal["user", "say", "do", "flex"], int] = {
        "user": budget.user,
        "say": budget.say,
        "do": budget.do,
        "flex": budget.flex,
    }
    pools = [TokenPool(pool=pool, used=receipt.pools[pool], cap=cap) for pool, cap in caps.items()]
    return AssembledPrompt.copy_of(prompt, receipt, pools=pools)
