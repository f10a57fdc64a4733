"""A consolidation run, group after group; no failure stops the rest (CONG, CONS, FAIL-05)."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal

from memory_butler.domain.errors import Conflict, IntegrityViolation, MemoryButlerError
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.consolidation import claims
from memory_butler.engine.consolidation.claims import Begun, EpisodeForgotten
from memory_butler.engine.consolidation.conclude import Usage, conclude
from memory_butler.engine.consolidation.pending import (
    episodes_left,
    keep_waiting,
    pending,
    pending_groups,
)
from memory_butler.engine.consolidation.prompt import output_schema
from memory_butler.engine.memory import Memory
from memory_butler.inference.language_models.port import (
    Completion,
    LanguageModel,
    ModelAccessDenied,
    ModelError,
    ModelRateLimited,
    ModelRejectedRequest,
    ModelUnreachable,
    Request,
)
from memory_butler.logs import get_logger
from memory_butler.store import consolidation
from memory_butler.store.consolidation import RunOutcome
from memory_butler.store.transaction import transaction

log = get_logger()

SCHEDULED = "schedule:consolidation"  # CONS-01
MAX_OUTPUT_TOKENS = 8000
# So many episodes may fail alone in a run before the model counts as broken.
_MAX_ALONE: Final = 3

# `given_back` and `denied`: the episodes are as they were; a person must act on `denied`.
Status = Literal["succeeded", "retrying", "failed", "given_back", "denied", "lost"]
_UNREAD: Final[frozenset[Status]] = frozenset({"given_back", "denied"})
# failed: nothing worked; partly: some did; waiting: nothing is wrong, and more waits.
RunEnd = Literal["dry_run", "done", "partly", "failed", "waiting"]


@dataclass(frozen=True, slots=True)
class GroupReport:
    """What became of one butler's episodes."""

    butler: str
    status: Status
    episodes: int
    counts: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did. A dry run has no groups, only what waits.

    `waiting` are the episodes that waited when it began, `left` those that wait now, by butler.
    """

    dry_run: bool
    waiting: dict[str, int]
    groups: list[GroupReport] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    why: str = ""

    @property
    def status(self) -> RunEnd:
        """How it ended, all in all."""
        if self.dry_run:
            return "dry_run"
        ends = [one.status for one in self.groups if one.status != "given_back"]
        worked = ends.count("succeeded")
        if worked < len(ends):
            return "partly" if worked else "failed"
        return "waiting" if self.left else "done"

    @property
    def message(self) -> str:
        """The same for a person."""
        if self.dry_run:
            return "no language model is configured: nothing was consolidated, nothing changed"
        waiting = sum(self.left.values())
        left = (
            f"; {waiting} {'episode waits' if waiting == 1 else 'episodes wait'}" if waiting else ""
        )
        why = f": {self.why}" if self.why else ""
        if all(one.status == "given_back" for one in self.groups):
            why = why or ", since another run has them or their next attempt is later"
            return f"nothing was consolidated{left}{why}" if self.left else "nothing waits"
        return f"{self.status}{left}{why}"

    @property
    def errors(self) -> list[str]:
        """All errors, each with its butler (CONS-03)."""
        return [f"{one.butler}: {error}" for one in self.groups for error in one.errors]

    def total(self, name: str) -> int:
        """One count, over all groups."""
        return sum(one.counts.get(name, 0) for one in self.groups)


async def run_consolidation(
    memory: Memory,
    principal: Principal,
    model: LanguageModel | None,
    *,
    trigger_source: str = SCHEDULED,
) -> Report:
    """Consolidate all that waits, one session a butler and level of trust (C-111).

    It goes on until nothing waits, a budget is used up, or the model cannot be reached. Without a
    model it only counts (CONG-07, C-62).
    """
    await keep_waiting(memory, principal)
    waiting = await pending(memory, principal)
    if model is None:
        return Report(True, waiting)
    groups: list[GroupReport] = []
    why = ""
    failed: set[tuple[str, Trust]] = set()
    alone = 0
    while not why and (group := await _next_group(memory, principal, failed)) is not None:
        spent = sum(one.usage.tokens_in + one.usage.tokens_out for one in groups)
        allowance = await _allowance(memory, principal, spent)
        if allowance <= 0:
            why = "the token budget is used up"
            break
        report = await _one_group(memory, principal, model, *group, trigger_source, allowance)
        alone += report is not None and report.status == "failed" and report.episodes == 1
        if report is None or not _may_go_on(report, alone):
            failed.add(group)
        if report is not None:
            groups.append(report)
            if report.status in _UNREAD:  # the next fares alike
                why = report.errors[-1]
    left = await episodes_left(memory, principal)
    return Report(False, waiting, groups, left, why)


def _may_go_on(report: GroupReport, alone: int) -> bool:
    """Whether the rest of a group may fare better; `alone`: how many have failed by themselves."""
    failed_alone = report.status == "failed" and report.episodes == 1
    return report.status == "succeeded" or (failed_alone and alone <= _MAX_ALONE)


async def _next_group(
    memory: Memory, principal: Principal, besides: Collection[tuple[str, Trust]]
) -> tuple[str, Trust] | None:
    """The first group, in name order (CONG-03), that this run has not failed at."""
    groups = await pending_groups(memory, principal)
    return next((one for one in groups if one not in besides), None)


async def _one_group(
    memory: Memory,
    principal: Principal,
    model: LanguageModel,
    butler: str,
    trust: Trust,
    trigger_source: str,
    allowance: int,
    most: int | None = None,
) -> GroupReport | None:
    """One butler; whatever goes wrong is in the report, and ends with this group (FAIL-05).

    What the model rejects is asked again with half the episodes, down to one; and the rest where
    one of them was forgotten meanwhile.
    """
    begun, usage = None, Usage()
    try:
        begun = await claims.begin(
            memory,
            principal,
            butler,
            trust,
            model.name,
            trigger_source,
            max_tokens=allowance,
            most=most,
        )
        if begun is None:
            return None
        completion = await _ask(model, begun, allowance)
        usage = Usage(completion.tokens_in, completion.tokens_out, completion.cost_usd)
        done = await conclude(memory, principal, begun, completion.text, usage)
    except Exception as error:
        report = await _ended_badly(memory, principal, butler, begun, error, usage)
        if begun is not None and report.status == "given_back" and _is_of_several(error, begun):
            half = len(begun.episodes) // 2
            return await _one_group(
                memory, principal, model, butler, trust, trigger_source, allowance, half
            )
        if isinstance(error, EpisodeForgotten) and report.status == "given_back":
            left = allowance - usage.tokens_in - usage.tokens_out
            return await _one_group(
                memory, principal, model, butler, trust, trigger_source, left, most
            )
        return report
    return GroupReport(butler, "succeeded", len(begun.episodes), done.counts, done.errors, usage)


async def _ask(model: LanguageModel, begun: Begun, allowance: int) -> Completion:
    prompt = begun.prompt
    if prompt.tokens > allowance:
        raise _OverBudget(
            f"the token budget leaves {allowance} tokens; the prompt needs about {prompt.tokens}"
        )
    schema = output_schema(list(prompt.handles))
    return await model.complete(Request(prompt.system, prompt.text, schema, MAX_OUTPUT_TOKENS))


def _is_of_several(error: Exception, begun: Begun) -> bool:
    """Whether the model rejects what may be the fault of one episode among several."""
    return isinstance(error, ModelRejectedRequest) and len(begun.episodes) > 1


async def _ended_badly(
    memory: Memory,
    principal: Principal,
    butler: str,
    begun: Begun | None,
    error: Exception,
    usage: Usage,
) -> GroupReport:
    """Say so in the log and the report, and leave the episodes in the state that fits."""
    # The text of an unforeseen error may quote what is stored; it goes to the log alone.
    known = isinstance(error, MemoryButlerError)
    why = str(error) if known else f"unforeseen: {type(error).__name__}"
    log.error("a consolidation failed", butler=butler, why=why, exc_info=not known)
    if begun is None:
        return GroupReport(butler, "lost", 0, errors=[why])
    counts: dict[str, int] = {}
    try:
        status, counts = await _write_failure(memory, principal, begun, error, why, usage)
    except Exception as second:
        # The lease runs out by itself, and the attempt is counted already.
        log.warning("that could not be noted", butler=butler, reason=type(second).__name__)
        status = "lost"
    return GroupReport(butler, status, len(begun.episodes), counts, [why], usage)


async def _write_failure(
    memory: Memory,
    principal: Principal,
    begun: Begun,
    error: Exception,
    why: str,
    usage: Usage,
) -> tuple[Status, dict[str, int]]:
    """Give the episodes back, retry later, or give them up (C-08)."""
    is_away = isinstance(error, ModelAccessDenied | ModelUnreachable | ModelRateLimited)
    is_forgotten = isinstance(error, EpisodeForgotten)
    if is_away or is_forgotten or isinstance(error, _OverBudget) or _is_of_several(error, begun):
        # Nothing is known to be wrong with the episodes: they stay as they were, however long the
        # model is away.
        await claims.give_back(memory, principal, begun, _outcome("failed", why, usage))
        return "denied" if isinstance(error, ModelAccessDenied) else "given_back", {}
    if isinstance(error, Conflict):
        await claims.abandon(memory, principal, begun, _outcome("abandoned", why, usage))
        return "lost", {}
    retryable = not isinstance(error, IntegrityViolation)
    if isinstance(error, ModelError):
        retryable = error.retryable
    status: Literal["retrying", "failed"] = "retrying" if retryable else "failed"
    buried = await claims.fail(
        memory,
        principal,
        begun,
        _outcome(status, why, usage),
        error=why,
        retryable=retryable,
    )
    return status, {"dead_letters": buried} if buried else {}


def _outcome(
    status: Literal["retrying", "failed", "abandoned"], why: str, usage: Usage
) -> RunOutcome:
    return RunOutcome(status, {}, [why], usage.tokens_in, usage.tokens_out, usage.cost_usd)


async def _allowance(memory: Memory, principal: Principal, spent: int) -> int:
    """How many tokens may still be used: of this run, and of the tenant's day in UTC."""
    config = memory.config.consolidation
    today = memory.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    async with transaction(memory.pool, principal.tenant) as tx:
        used_today = await consolidation.tokens_since(tx, today)
    return min(config.token_budget_per_run - spent, config.token_budget_per_day - used_today)


class _OverBudget(MemoryButlerError):
    """The call would use more tokens than are left."""

    code = "conflict"
