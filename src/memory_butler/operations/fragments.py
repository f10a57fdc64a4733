"""The compiled side of a journal: fragments, and the runs that make them."""

from datetime import timedelta

from pydantic import Field

from memory_butler.companions import maintaining, opening
from memory_butler.companions.opening import Companion, use
from memory_butler.domain.errors import NotFound
from memory_butler.domain.json_values import Moment
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.journal.desk import Decision
from memory_butler.journal.fragments import RunType
from memory_butler.journal_config import JournalConfig
from memory_butler.operations.journal import OfCompanion, on_journal
from memory_butler.operations.journal_views import (
    FragmentChange,
    FragmentEdge,
    FragmentView,
    JournalEvent,
    MaintenanceRun,
    change_view,
    event_view,
    fragment_view,
    run_view,
)
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import KnownAt, Output, Serial

# So many of the messages that a fragment rests on are told with it, the newest.
_SOURCES_TOLD = 20


class GraphInput(OfCompanion):
    """Which state of the map."""

    known_at: KnownAt = None


class FragmentNode(Output):
    """A fragment in the graph; the length of a tier is in characters, 0 where it is empty."""

    key: str
    ambient: str | None
    recognition_length: int
    inventory_length: int
    sources: int = Field(description="Messages that it rests on.")
    created_at: Moment | None
    updated_at: Moment | None


class GraphOutput(Output):
    """All fragments by key, and what connects them."""

    nodes: list[FragmentNode]
    edges: list[FragmentEdge]


@operation(
    "Fragments of a journal", Route("GET", "/api/journal/{companion}/fragments"), needs="read"
)
@on_journal
def journal_fragments(companion: Companion, given: GraphInput) -> GraphOutput:
    """What the companion has come to know, as a graph; now, or as it was known then."""
    fragments = companion.desk.fragments().values()
    return GraphOutput(
        nodes=[
            FragmentNode.copy_of(
                one,
                recognition_length=len(one.recognition or ""),
                inventory_length=len(one.inventory or ""),
                sources=len(one.sources),
            )
            for one in fragments
        ],
        edges=[edge for one in fragments for edge in fragment_view(one).edges],
    )


class FragmentInput(OfCompanion):
    """Which fragment."""

    key: str = Field(description="Its key, exactly.")
    known_at: KnownAt = None


class FragmentVersion(Output):
    """What a fragment was before a run changed it."""

    fragment: FragmentView
    known_from: Moment
    known_until: Moment
    run_id: int


class FragmentOutput(Output):
    """A fragment with all that is around it; a deleted one has its versions only."""

    fragment: FragmentView | None
    incoming: list[FragmentEdge] = Field(description="Edges that lead to it.")
    versions: list[FragmentVersion] = Field(description="Former states, the newest first.")
    sources: list[JournalEvent] = Field(description="The latest messages that it rests on.")


@operation("One fragment", Route("GET", "/api/journal/{companion}/fragment"), needs="read")
@on_journal
def journal_fragment(companion: Companion, given: FragmentInput) -> FragmentOutput:
    """A fragment with its tiers, edges, former states, and the messages it rests on."""
    fragments = companion.desk.fragments()
    one = fragments.get(given.key)
    versions = companion.desk.versions(given.key)
    if one is None and not versions:
        raise NotFound(f"there is no fragment {given.key[:64]!r}; keys are exact, case too")
    found = [companion.live.event(id) for id in (one.sources if one else ())[-_SOURCES_TOLD:]]
    return FragmentOutput(
        fragment=fragment_view(one) if one else None,
        incoming=[
            edge
            for other in fragments.values()
            for edge in fragment_view(other).edges
            if edge.target == given.key
        ],
        versions=[
            FragmentVersion.copy_of(version, fragment=fragment_view(version.fragment))
            for version in reversed(versions)
        ],
        sources=[event_view(event, companion.policy) for event in reversed(found) if event],
    )


class RunsInput(OfCompanion):
    """Which runs."""

    limit: int = Field(20, ge=1, le=200, description="How many, the newest first.")


class UpkeepView(Output):
    """When the journal is compiled by itself, and what that may cost."""

    after_messages: int = Field(description="It runs after so many messages, fewer at an end.")
    used: int = Field(description="Tokens that runs took within 24 hours.")
    budget: int = Field(description="Tokens that they may take within 24 hours; 0: it is off.")
    waits: str | None = Field(description="Why nothing runs by itself now; null where it may.")


class RunsOutput(Output):
    """The newest first."""

    runs: list[MaintenanceRun]
    unread: int = Field(description="Messages that no completed run has read; at most 1000.")
    upkeep: UpkeepView


def runs_of(
    companion: Companion, limit: int, config: JournalConfig, *, has_model: bool
) -> RunsOutput:
    """The latest runs, and how upkeep stands."""
    state = maintaining.upkeep(companion, config, companion.live.clock(), has_model=has_model)
    return RunsOutput(
        runs=[run_view(one) for one in companion.desk.runs(limit)],
        unread=len(companion.desk.unread_events(1_000)),
        upkeep=UpkeepView.copy_of(state),
    )


@operation("Maintenance runs", Route("GET", "/api/journal/{companion}/runs"), needs="read")
async def journal_runs(memory: Memory, principal: Principal, given: RunsInput) -> RunsOutput:
    """When the journal was compiled, by which model, and how that went."""
    config, has_model = memory.config.journal, maintaining.has_model(memory)

    def look(companion: Companion) -> RunsOutput:
        return runs_of(companion, given.limit, config, has_model=has_model)

    return await use(memory, principal, given.companion, look)


class RunInput(OfCompanion):
    """Which run."""

    run_id: Serial


class RunOutput(Output):
    """A run and what it changed."""

    run: MaintenanceRun
    changes: list[FragmentChange]


def run_of(companion: Companion, given: RunInput) -> RunOutput:
    """A run with everything that it changed, before and after."""
    return RunOutput(
        run=run_view(companion.desk.run(given.run_id)),
        changes=[change_view(one) for one in companion.desk.changes(given.run_id)],
    )


journal_run = operation(
    "One maintenance run", Route("GET", "/api/journal/{companion}/runs/{run_id}"), needs="read"
)(on_journal(run_of, "journal_run"))


class MaintainInput(OfCompanion):
    """What kind of run."""

    run_type: RunType = Field("manual", description="monthly reviews and prunes as well.")
    dry_run: bool = Field(False, description="Only tell what it would do; the model is asked.")


class MaintainOutput(Output):
    """What was done, or would be."""

    run_id: int | None = Field(description="Null for a dry run.")
    message: str
    events: int = Field(description="Messages that were read.")
    changes: list[FragmentChange]
    refused: list[str] = Field(description="What the model proposed and was not done, and why.")
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


@operation("Compile the journal", Route("POST", "/api/journal/{companion}/runs"), needs="admin")
async def journal_maintain(
    memory: Memory, principal: Principal, given: MaintainInput
) -> MaintainOutput:
    """Maintenance: let the server's language model read what was said since the last run and bring
    the fragments up to date. Runs on a schedule where configured; call it when asked."""
    config = memory.config.journal
    model = maintaining.model_of(memory)
    async with opening.kept_open(memory, principal, given.companion) as companion:
        if given.dry_run:
            run_id = None
            proposal = await maintaining.preview(companion, model, config, given.run_type)
        else:
            run_id, done = await maintaining.run_maintenance(
                companion, model, config, given.run_type
            )
            assert done is not None  # noqa: S101 -- nobody was asked to agree
            proposal = done
    changes = [change_view(one) for one in proposal.differences]
    return MaintainOutput.copy_of(proposal.report, run_id=run_id, changes=changes)


class LearnedInput(OfCompanion):
    """How far back."""

    days: int = Field(7, ge=1, le=366, description="Runs that ended within so many days.")


class LearnedChange(Output):
    """What a run changed in one fragment."""

    run_id: int
    run_type: RunType
    completed_at: Moment
    change: FragmentChange
    decision: Decision = Field(
        description="open: nobody has decided; replaced: a later run has changed it again. It "
        "holds in any case, unless it was taken back or replaced."
    )


class LearnedOutput(Output):
    """The newest first."""

    changes: list[LearnedChange]
    open: int = Field(description="How many nobody has decided on.")


@operation("What it learned lately", Route("GET", "/api/journal/{companion}/learned"), needs="read")
@on_journal
def journal_learned(companion: Companion, given: LearnedInput) -> LearnedOutput:
    """What maintenance changed in the companion's fragments within some days, before and after, and
    whether a person has approved it."""
    found = companion.desk.learned(companion.live.clock() - timedelta(days=given.days))
    return LearnedOutput(
        changes=[
            LearnedChange.copy_of(
                one.run,
                run_id=one.run.id,
                change=change_view(one.difference),
                decision=one.decision,
            )
            for one in found
            if one.run.completed_at is not None
        ],
        open=sum(one.decision == "open" for one in found),
    )


class KeepInput(OfCompanion):
    """Which changes."""

    run_id: Serial
    keys: list[str] = Field(min_length=1, max_length=1_000, description="Fragments by key.")
    kept: bool = Field(True, description="False takes the approval back.")


class KeepOutput(Output):
    """The changes of the run that are approved now."""

    kept: list[str]


@operation(
    "Approve what it learned",
    Route("POST", "/api/journal/{companion}/runs/{run_id}/keep"),
    needs="write",
    idempotent=True,
)
@on_journal
def journal_keep(companion: Companion, given: KeepInput) -> KeepOutput:
    """Note that a person approves what a run changed. It holds before that, too."""
    return KeepOutput(kept=companion.desk.keep(given.run_id, given.keys, kept=given.kept))


class UndoInput(OfCompanion):
    """Which run, or which of its changes."""

    run_id: Serial
    keys: list[str] | None = Field(
        None, min_length=1, max_length=1_000, description="Only these fragments, by key."
    )


class JournalUndoOutput(Output):
    """What was taken back, and the run that did so: undoing that brings it back."""

    run_id: int
    changes: list[FragmentChange]


@operation(
    "Take a run back",
    Route("POST", "/api/journal/{companion}/runs/{run_id}/undo"),
    needs="admin",
    destructive=True,
)
@on_journal
def journal_undo(companion: Companion, given: UndoInput) -> JournalUndoOutput:
    """Undo what a maintenance run changed, or some of it, if no later run has built on it."""
    id, back = companion.desk.undo(given.run_id, given.keys)
    return JournalUndoOutput(run_id=id, changes=[change_view(one) for one in back])
