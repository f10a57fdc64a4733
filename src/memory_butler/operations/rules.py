"""Rules: storing how to behave, telling whether it helped, and correcting it by hand."""

from typing import Final, Literal
from uuid import UUID

from pydantic import Field

from memory_butler.domain.principals import Principal
from memory_butler.domain.revisions import revision_of
from memory_butler.domain.rules import Maturity, rule_state
from memory_butler.domain.trust import parse_trust
from memory_butler.engine.browse.criteria import faded
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.browse.rules import look_at_rule
from memory_butler.engine.edits import ByHand, edit_rule, move_rule
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep
from memory_butler.engine.screening import told
from memory_butler.engine.writing import new_rule
from memory_butler.operations import explanations
from memory_butler.operations.lean import line
from memory_butler.operations.operation import Operation, Route
from memory_butler.operations.views import (
    CONTENT_LENGTH,
    AllowSecrets,
    Direction,
    EditedTrust,
    FoundSecrets,
    GivenTrust,
    Input,
    KnownAt,
    Listing,
    MinTrust,
    OfRevision,
    Output,
    Period,
    Revised,
    Rule,
    StatedRule,
)
from memory_butler.store.listing import Part, RuleOrder
from memory_butler.store.rows import Row
from memory_butler.store.rules import RuleFilter


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


# kept: all that are not forgotten. in_use: neither forgotten nor disabled.
Shown = Literal["kept", "in_use", "fading", "disabled", "forgotten", "all"]

# Whether forgotten, disabled, fading; None is either.
_MARKS: Final[dict[Shown, tuple[bool | None, bool | None, bool | None]]] = {
    "kept": (False, None, None),
    "in_use": (False, False, None),
    "fading": (False, False, True),
    "disabled": (False, True, None),
    "forgotten": (True, None, None),
    "all": (None, None, None),
}


class ListRulesInput(Period):
    """Which rules to list, in which order."""

    q: str | None = Field(None, description="Words of the content; the last may be unfinished.")
    scope: str | None = Field(None, description='Exactly this scope, such as "global".')
    butler: str | None = Field(None, description="What this butler sees: global, and its own.")
    source_butler: str | None = Field(None, description="Learned by this butler.")
    maturity: list[Maturity] | None = Field(None, description="Of one of these maturities.")
    state: Shown = Field(
        "kept", description="kept: not forgotten; in_use: neither forgotten nor disabled."
    )
    min_confidence: float | None = Field(
        None, ge=0, le=1, description="Effective confidence of at least this."
    )
    min_trust: MinTrust = None
    tag: str | None = Field(None, description="Has this tag.")
    sort: RuleOrder = Field("created", description="What the list is ordered by.")
    direction: Direction = Field("desc", description="desc: the newest, or most, first.")
    known_at: KnownAt = None


class ListedRule(StatedRule):
    """A rule in a list."""

    content_length: int = Field(description=CONTENT_LENGTH)


class RuleList(Listing):
    """A part of the rules that were asked for."""

    items: list[ListedRule]


async def _list(memory: Memory, principal: Principal, given: ListRulesInput) -> RuleList:
    forgotten, disabled, fading = _MARKS[given.state]
    wanted = RuleFilter(
        scope=given.scope,
        butler=given.butler,
        maturities=None if given.maturity is None else tuple(given.maturity),
        text=given.q,
        source_butler=given.source_butler,
        forgotten=forgotten,
        disabled=disabled,
        fading=fading,
        min_confidence=given.min_confidence,
        tag=given.tag,
        since=given.since,
        until=given.until,
        min_trust=None if given.min_trust is None else parse_trust(given.min_trust),
    )
    part = Part(given.limit, given.offset, given.sort, given.direction == "desc")
    found = await list_memories(memory, principal, wanted, part)
    return RuleList.of(found, given)


LIST = Operation(
    name="rules_list",
    title="List rules",
    description="List rules by any of these criteria. Counts no reference.",
    input_model=ListRulesInput,
    output_model=RuleList,
    handler=_list,
    needs="read",
    toolset=None,
    read_only=True,
    idempotent=True,
    routes=(
        Route("GET", "/api/memory/rules"),
        Route(
            "GET",
            "/api/butlers/{butler:path}/memory/rules",
            name="butler_rules_list",
            title="List the rules that a butler sees",
        ),
    ),
)


class RuleReference(Input):
    """Which rule, now or in the past."""

    rule_id: UUID
    known_at: KnownAt = None


class RuleDetail(Revised):
    """A rule, the history of its use, and everything that explains it."""

    rule: StatedRule
    decay: explanations.Decay
    applications: list[explanations.Application] = Field(
        description="The newest 200, newest first."
    )
    applications_total: int
    provenance: explanations.Provenance
    links: list[explanations.Link]


async def _look(memory: Memory, principal: Principal, given: RuleReference) -> RuleDetail:
    found = await look_at_rule(memory, principal, given.rule_id)
    return RuleDetail(
        revision=found.revision,
        rule=StatedRule.model_validate(found.row),
        decay=explanations.decay(found.decay),
        applications=[explanations.Application.model_validate(one) for one in found.applications],
        applications_total=found.applications_total,
        provenance=explanations.provenance(found.provenance),
        links=[explanations.Link.model_validate(one) for one in found.links],
    )


LOOK = Operation(
    name="rule_look",
    title="Look at a rule",
    description=(
        "One rule in any state, with the history of its use, what it came from, and how "
        "its confidence fades. Counts no reference."
    ),
    input_model=RuleReference,
    output_model=RuleDetail,
    handler=_look,
    needs="read",
    toolset=None,
    read_only=True,
    idempotent=True,
    routes=(Route("GET", "/api/memory/rules/{rule_id}"),),
)


class EditRuleInput(OfRevision):
    """The changes to a rule; what is left out stays."""

    rule_id: UUID
    content: str | None = Field(None, description="What to do and when.")
    scope: str | None = Field(None, description='"global", or the one butler that it is for.')
    tags: list[str] | None = Field(None, description="Words to group rules by.")
    trust: EditedTrust = None
    allow_secrets: AllowSecrets = False


class EditedRule(Revised):
    """The rule as it is now."""

    rule: StatedRule
    secrets: FoundSecrets = None


def _edited(memory: Memory, row: Row) -> EditedRule:
    stated = faded(row, memory.clock()) | {"state": rule_state(row["metadata"])}
    return EditedRule(revision=revision_of(row), rule=StatedRule.model_validate(stated))


async def _edit(memory: Memory, principal: Principal, given: EditRuleInput) -> EditedRule:
    about = {"rule_id", "expected_revision", "allow_secrets"}
    row = await edit_rule(
        memory,
        principal,
        given.rule_id,
        given.model_dump(exclude_none=True, exclude=about),
        given.expected_revision,
        allow_secrets=given.allow_secrets,
    )
    return _edited(memory, row).model_copy(update={"secrets": told(row["metadata"])})


EDIT = Operation(
    name="rule_edit",
    title="Edit a rule",
    description=(
        "Change a rule's text, scope or tags. It becomes a candidate again and keeps its counters. "
        "With If-Match the edit is refused (409) if somebody else changed it first; the answer has "
        "the rule as it is now."
    ),
    input_model=EditRuleInput,
    output_model=EditedRule,
    handler=_edit,
    needs="write",
    toolset=None,
    routes=(Route("PUT", "/api/memory/rules/{rule_id}"),),
)


class MoveRuleInput(OfRevision):
    """A step that a person decides, whatever the counts."""

    rule_id: UUID
    act: ByHand = Field(description="Promote or demote by one step, switch off or on.")


async def _move(memory: Memory, principal: Principal, given: MoveRuleInput) -> EditedRule:
    return _edited(
        memory,
        await move_rule(memory, principal, given.rule_id, given.act, given.expected_revision),
    )


def _by_hand(act: ByHand, title: str) -> Route:
    path = f"/api/memory/rules/{{rule_id}}/{act}"
    return Route("POST", path, fixed={"act": act}, name=f"rule_{act}", title=title)


MOVE = Operation(
    name="rule_move",
    title="Move a rule by hand",
    description=(
        "Promote or demote a rule by one step, or switch it off or on, whatever its counts say. A "
        "disabled rule is left out of retrieval as if it were forgotten."
    ),
    input_model=MoveRuleInput,
    output_model=EditedRule,
    handler=_move,
    needs="write",
    toolset=None,
    routes=(
        _by_hand("promote", "Promote a rule by one step"),
        _by_hand("demote", "Demote a rule by one step"),
        _by_hand("disable", "Switch a rule off"),
        _by_hand("enable", "Switch a rule on again"),
    ),
)
