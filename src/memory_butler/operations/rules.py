"""Rules: storing how to behave, and telling whether it helped."""

from uuid import UUID

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.criteria import faded
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep
from memory_butler.engine.screening import told
from memory_butler.engine.writing import new_rule
from memory_butler.operations.lean import line
from memory_butler.operations.operation import Operation, Route
from memory_butler.operations.views import (
    AllowSecrets,
    FoundSecrets,
    GivenTrust,
    Input,
    Output,
    Rule,
)


class StoreRuleInput(Input):
    """The rule to store."""

    content: str = Field(description='What to do and when: "Confirm before sending messages."')
    scope: str = Field("global", description='"global", or the one butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to group rules by.")
    trust: GivenTrust = None
    allow_secrets: AllowSecrets = False


class StoredRule(Output):
    """The new rule."""

    id: UUID
    secrets: FoundSecrets = None


async def _store(memory: Memory, principal: Principal, given: StoreRuleInput) -> StoredRule:
    rule = new_rule(memory, given.content, scope=given.scope, tags=given.tags, trust=given.trust)
    kept = await keep(memory, principal, rule, allow_secrets=given.allow_secrets)
    return StoredRule(id=rule.id, secrets=told(kept.new.metadata))


STORE_RULE = Operation(
    name="memory_store_rule",
    title="Store a rule",
    description=(
        "Record a lesson on how to behave, learned from experience. It starts as a candidate and "
        "earns trust as memory_mark_helpful reports come in. For what is true rather than what to "
        "do, use memory_store_fact."
    ),
    input_model=StoreRuleInput,
    output_model=StoredRule,
    handler=_store,
    needs="write",
    routes=(Route("POST", "/api/memory/rules", status=201),),
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


async def _helped(memory: Memory, principal: Principal, given: MarkHelpfulInput) -> MarkedRule:
    row = await rule_helped(memory, principal, given.rule_id)
    return MarkedRule(rule=Rule.model_validate(faded(row, memory.clock())))


async def _harmed(memory: Memory, principal: Principal, given: MarkHarmfulInput) -> MarkedRule:
    row = await rule_harmed(memory, principal, given.rule_id, given.reason)
    return MarkedRule(rule=Rule.model_validate(faded(row, memory.clock())))


MARK_HELPFUL = Operation(
    name="memory_mark_helpful",
    title="A rule helped",
    description=(
        "Report that you followed a rule and it worked. Enough such reports promote the rule. "
        "Call it once for each time that you applied the rule."
    ),
    input_model=MarkHelpfulInput,
    output_model=MarkedRule,
    handler=_helped,
    needs="write",
    render=_marked,
    routes=(Route("POST", "/api/memory/rules/{rule_id}/helpful"),),
)

MARK_HARMFUL = Operation(
    name="memory_mark_harmful",
    title="A rule did harm",
    description=(
        "Report that you followed a rule and it caused a problem, with the reason. Harm weighs "
        "four times as much as success; a rule that keeps doing harm becomes a warning."
    ),
    input_model=MarkHarmfulInput,
    output_model=MarkedRule,
    handler=_harmed,
    needs="write",
    render=_marked,
    routes=(Route("POST", "/api/memory/rules/{rule_id}/harmful"),),
)
