"""Feedback on rules: whether following one helped or harmed (MAT-02..11, RAP-01, RAP-02)."""

from datetime import datetime
from functools import partial
from typing import Any, Literal
from uuid import UUID

from memory_butler.domain.principals import Principal
from memory_butler.domain.rules import Marked, RuleStanding, mark_harmful, mark_helpful
from memory_butler.engine import inputs
from memory_butler.engine.curate import require
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import apart, screened_text
from memory_butler.store import events, rules, versions
from memory_butler.store.rows import Row
from memory_butler.store.transaction import transaction

# A list in the metadata of one row must not grow without end; the oldest reasons go first, and
# every one of them stays in rule_applications.
MAX_REASONS = 100


async def rule_helped(memory: Memory, principal: Principal, rule_id: UUID | str) -> Row:
    """A rule was followed and helped; it may rise by one step.

    Raises:
        NotFound: there is no such rule.
    """
    return await _mark(memory, principal, rule_id, "helpful", None)


async def rule_harmed(
    memory: Memory, principal: Principal, rule_id: UUID | str, reason: str | None = None
) -> Row:
    """A rule was followed and did harm; it may fall by one step, or be flagged for inversion.

    Raises:
        NotFound: there is no such rule.
    """
    said = None if reason is None else inputs.text("reason", reason, inputs.MAX_SUBJECT_BYTES * 4)
    return await _mark(memory, principal, rule_id, "harmful", said)


async def _mark(
    memory: Memory,
    principal: Principal,
    rule_id: UUID | str,
    outcome: Literal["helpful", "harmful"],
    reason: str | None,
) -> Row:
    id = inputs.uuid("rule_id", rule_id)
    if reason is not None:
        screen = partial(screened_text, memory.config.trust, principal, reason)
        reason, _ = await apart(screen, reason)
    async with transaction(memory.pool, principal.tenant) as tx:
        row = require("rule", id, await rules.for_update(tx, id))
        now = memory.clock()
        marked = _marked(memory, row, outcome, now)
        await versions.keep(tx, "rule", [id], now)
        metadata = _metadata(row["metadata"], marked, reason)
        updated = await rules.apply_mark(
            tx, id, marked.standing, now, metadata, confirms=outcome == "helpful"
        )
        context = {} if reason is None else {"reason": reason}
        await rules.record_application(tx, id, outcome, context, now)
        about = {
            "maturity": marked.standing.maturity,
            "effectiveness": marked.standing.effectiveness_score,
        }
        happened = [events.of_memory(event, "rule", id, **about) for event in marked.events]
        await events.record(tx, principal.actor, happened, now)
        return updated


def _marked(
    memory: Memory, row: Row, outcome: Literal["helpful", "harmful"], now: datetime
) -> Marked:
    mark = mark_helpful if outcome == "helpful" else mark_harmful
    return mark(standing(row), now, memory.config.rules)


def standing(row: Row) -> RuleStanding:
    """What marks look at, and change, of a rule's row."""
    return RuleStanding(
        created_at=row["created_at"],
        maturity=row["maturity"],
        effectiveness_score=row["effectiveness_score"],
        applied_count=row["applied_count"],
        success_count=row["success_count"],
        harmful_count=row["harmful_count"],
        needs_inversion=row["metadata"].get("needs_inversion") is True,
    )


def _metadata(before: dict[str, Any], marked: Marked, reason: str | None) -> dict[str, Any]:
    after = dict(before)
    if marked.standing.needs_inversion:
        after["needs_inversion"] = True
    if reason is not None:  # MAT-10
        known = after.get("harmful_reasons")
        reasons = [*known, reason] if isinstance(known, list) else [reason]
        after["harmful_reasons"] = reasons[-MAX_REASONS:]
    return after
