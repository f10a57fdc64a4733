"""Rules: storing how to behave, telling whether it helped, and correcting it by hand."""

from uuid import UUID

from pydantic import Field

from memory_butler.domain.permanence import RULE_OF_USER, Permanence
from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.engine.browse.criteria import faded, rule_row
from memory_butler.engine.edits import ByHand, edit_rule, move_rule
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep
from memory_butler.engine.screening import told
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import new_rule
from memory_butler.operations.lean import line
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import (
    AllowSecrets,
    EditedTrust,
    FoundSecrets,
    GivenTrust,
    GivenUnmaskKey,
    Input,
    OfRevision,
    Output,
    Revised,
    Rule,
    StatedRule,
)
from memory_butler.store.rows import Row


class StoreRuleInput(Input):
    """The rule to store."""

    content: str = Field(description='What to do and when: "Confirm before sending messages."')
    scope: str = Field("global", description='"global", or the butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to find rules by.")
    permanence: Permanence | None = Field(
        None, description="For how long, as of facts; none: what the user said is stable."
    )
    trust: GivenTrust = None
    allow_secrets: AllowSecrets = False


class StoredRule(Output):
    """The new rule, or the one that says just this already."""

    id: UUID
    confirmed: bool | None = Field(
        None, description="True: there is such a rule already; it was confirmed."
    )
    secrets: FoundSecrets = None
    unmask_key: GivenUnmaskKey = None


@operation(
    "Store a rule", Route("POST", "/api/memory/rules", status=201), needs="write", toolset="memory"
)
async def memory_store_rule(
    memory: Memory, principal: Principal, given: StoreRuleInput
) -> StoredRule:
    """Record a lesson on how to behave. It starts as a candidate and earns trust by
    memory_mark_helpful. For what is true rather than what to do, use memory_store_fact."""
    rule = new_rule(
        memory,
        given.content,
        permanence=given.permanence or (RULE_OF_USER if given.trust == "user_said" else None),
        scope=given.scope,
        tags=given.tags,
        trust=given.trust,
    )
    key = UnmaskKey()
    kept = await keep(
        memory, principal, rule, allow_secrets=given.allow_secrets, restates=True, key=key
    )
    confirms = kept.written.confirms
    return StoredRule(
        id=confirms or rule.id,
        confirmed=None if confirms is None else True,
        secrets=told(kept.new.metadata, unmask=key.command(principal.tenant)),
        unmask_key=key.told,
    )


class MarkHelpfulInput(Input):
    """The rule that helped."""

    rule_id: UUID


class MarkHarmfulInput(Input):
    """The rule that did harm, and how."""

    rule_id: UUID
    reason: str | None = Field(None, description="What went wrong; kept for the warning.")


class MarkedRule(Output):
    """The rule after the mark."""

    rule: Rule


def _marked(output: MarkedRule) -> str:
    rule = output.rule
    return f"{line(rule)}\nHelped {rule.success_count} times, harmed {rule.harmful_count} times."


@operation(
    "A rule helped",
    Route("POST", "/api/memory/rules/{rule_id}/helpful"),
    needs="write",
    toolset="memory",
    render=_marked,
)
async def memory_mark_helpful(
    memory: Memory, principal: Principal, given: MarkHelpfulInput
) -> MarkedRule:
    """Report that you followed a rule and it worked, once for each time. Enough such reports
    promote the rule."""
    row = await rule_helped(memory, principal, given.rule_id)
    return MarkedRule(rule=Rule.model_validate(faded(row, memory.clock())))


@operation(
    "A rule did harm",
    Route("POST", "/api/memory/rules/{rule_id}/harmful"),
    needs="write",
    toolset="memory",
    render=_marked,
)
async def memory_mark_harmful(
    memory: Memory, principal: Principal, given: MarkHarmfulInput
) -> MarkedRule:
    """Report that you followed a rule and it did harm, with the reason. Harm weighs four times as
    much as success; a rule that keeps doing harm becomes a warning."""
    row = await rule_harmed(memory, principal, given.rule_id, given.reason)
    return MarkedRule(rule=Rule.model_validate(faded(row, memory.clock())))


class EditRuleInput(OfRevision):
    """The changes to a rule; what is left out stays."""

    rule_id: UUID
    content: str | None = Field(None, description="What to do and when.")
    scope: str | None = Field(None, description='"global", or the butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to find rules by.")
    trust: EditedTrust = None
    allow_secrets: AllowSecrets = False


class EditedRule(Revised):
    """The rule as it is now."""

    rule: StatedRule
    secrets: FoundSecrets = None
    unmask_key: GivenUnmaskKey = None


def _edited(memory: Memory, row: Row, **masked: str | None) -> EditedRule:
    stated = StatedRule.model_validate(rule_row(row, memory.clock()))
    return EditedRule(revision=revision_of(row), rule=stated, **masked)


@operation("Edit a rule", Route("PUT", "/api/memory/rules/{rule_id}"), needs="write")
async def rule_edit(memory: Memory, principal: Principal, given: EditRuleInput) -> EditedRule:
    """Change a rule's text, scope or tags. It becomes a candidate again and keeps its counters.
    With If-Match the edit is refused (409) if somebody else changed it first; the answer has the
    rule as it is now."""
    about = {"rule_id", "expected_revision", "allow_secrets"}
    key = UnmaskKey()
    row = await edit_rule(
        memory,
        principal,
        given.rule_id,
        given.model_dump(exclude_none=True, exclude=about),
        given.expected_revision,
        allow_secrets=given.allow_secrets,
        key=key,
    )
    secrets = told(row["metadata"], unmask=key.command(principal.tenant))
    return _edited(memory, row, secrets=secrets, unmask_key=key.told)


class MoveRuleInput(OfRevision):
    """A step that a person decides, whatever the counts."""

    rule_id: UUID
    act: ByHand = Field(description="Promote or demote by one step, switch off or on.")


def _by_hand(act: ByHand, title: str) -> Route:
    path = f"/api/memory/rules/{{rule_id}}/{act}"
    return Route("POST", path, fixed={"act": act}, name=f"rule_{act}", title=title)


@operation(
    "Move a rule by hand",
    _by_hand("promote", "Promote a rule by one step"),
    _by_hand("demote", "Demote a rule by one step"),
    _by_hand("disable", "Switch a rule off"),
    _by_hand("enable", "Switch a rule on again"),
    needs="write",
)
async def rule_move(memory: Memory, principal: Principal, given: MoveRuleInput) -> EditedRule:
    """Promote or demote a rule by one step, or switch it off or on, whatever its counts say. A
    disabled rule is left out of retrieval as if it were forgotten."""
    act, expected = given.act, given.expected_revision
    return _edited(memory, await move_rule(memory, principal, given.rule_id, act, expected))
