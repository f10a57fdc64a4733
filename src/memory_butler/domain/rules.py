"""Rules earn their maturity by being useful, and lose it by doing harm (MAT-01..12)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Final, Literal, assert_never, get_args

from pydantic import Field

from memory_butler.domain.elapsed import elapsed
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.events import EventType
from memory_butler.domain.transitions import START, Transition

Maturity = Literal["candidate", "established", "proven", "anti_pattern"]
MATURITIES: Final[tuple[Maturity, ...]] = get_args(Maturity)

# "helpful" and "harmful" are marks, and move a rule only where the guard holds, by one step each
# (C-33). "promote", "demote" and "edit" are a person's acts (C-37).
MATURITY_TRANSITIONS: Final = (
    Transition(START, "store", "candidate", "MAT-01"),
    Transition(
        "candidate",
        "helpful",
        "established",
        "MAT-02",
        "success_count >= 5 and effectiveness >= 0.6",
    ),
    Transition(
        "established",
        "helpful",
        "proven",
        "MAT-03",
        "success_count >= 15 and effectiveness >= 0.8 and age >= 30 days",
    ),
    Transition("established", "harmful", "candidate", "MAT-04", "effectiveness < 0.6"),
    Transition("proven", "harmful", "established", "MAT-05", "effectiveness < 0.8"),
    Transition(
        "candidate",
        "invert",
        "anti_pattern",
        "MAT-12",
        "harmful_count >= 3 and effectiveness < 0.3",
    ),
    Transition(
        "established",
        "invert",
        "anti_pattern",
        "MAT-12",
        "harmful_count >= 3 and effectiveness < 0.3",
    ),
    Transition(
        "proven",
        "invert",
        "anti_pattern",
        "MAT-12",
        "harmful_count >= 3 and effectiveness < 0.3",
    ),
    Transition("candidate", "promote", "established", "C-37"),
    Transition("established", "promote", "proven", "C-37"),
    Transition("proven", "demote", "established", "C-37"),
    Transition("established", "demote", "candidate", "C-37"),
    Transition("candidate", "edit", "candidate", "C-37"),
    Transition("established", "edit", "candidate", "C-37"),
    Transition("proven", "edit", "candidate", "C-37"),
    Transition("anti_pattern", "edit", "candidate", "C-37"),
)

# Multiplies the composite score into the rank score (MAT-06, C-36).
MATURITY_WEIGHTS: Final[Mapping[Maturity, float]] = MappingProxyType(
    {"candidate": 0.9, "established": 1.0, "proven": 1.1, "anti_pattern": 1.0}
)

# MAT-08: one harm weighs as much as four successes; the hundredth keeps 0/0 at 0.
HARM_WEIGHT: Final = 4
_NOT_ZERO: Final = 0.01

NEW_CONFIDENCE: Final = 0.5  # RULE-19

NO_REASON_GIVEN: Final = "it was marked harmful repeatedly"


_Share = Annotated[float, Field(ge=0, le=1)]
_FALLS_BACK: Final = "needs; below it the rule falls back."


@dataclass(frozen=True, slots=True)
class PromoteToEstablished:
    """`promote_to_established` (MAT-02)."""

    min_successes: Annotated[
        int, Field(ge=0, description="Helpful marks that a candidate needs.")
    ] = 5
    min_effectiveness: Annotated[
        _Share, Field(description=f"Effectiveness that a candidate {_FALLS_BACK}")
    ] = 0.6


@dataclass(frozen=True, slots=True)
class PromoteToProven:
    """`promote_to_proven` (MAT-03)."""

    min_successes: Annotated[int, Field(ge=0, description="Helpful marks that a rule needs.")] = 15
    min_effectiveness: Annotated[
        _Share, Field(description=f"Effectiveness that a rule {_FALLS_BACK}")
    ] = 0.8
    min_age_days: Annotated[float, Field(ge=0, description="Days since the rule was stored.")] = 30


@dataclass(frozen=True, slots=True)
class HarmfulToAntipattern:
    """`harmful_to_antipattern` (MAT-11): so much harm AND less effectiveness."""

    min_harmful: Annotated[
        int, Field(ge=1, description="Harmful marks from which a rule is inverted.")
    ] = 3
    max_effectiveness: Annotated[
        _Share, Field(description="Only a rule less effective than this is inverted.")
    ] = 0.3


@dataclass(frozen=True, slots=True)
class RulePolicy:
    """`[modules.memory.rules]`: the thresholds of rule maturity (CFG-08, C-32)."""

    promote_to_established: Annotated[
        PromoteToEstablished, Field(description="What makes a candidate established.")
    ] = PromoteToEstablished()
    promote_to_proven: Annotated[
        PromoteToProven, Field(description="What makes an established rule proven.")
    ] = PromoteToProven()
    harmful_to_antipattern: Annotated[
        HarmfulToAntipattern, Field(description="What makes a rule a warning against itself.")
    ] = HarmfulToAntipattern()
    promotion_uses_penalised: Annotated[
        bool, Field(description="Promote by the effectiveness that counts a harm fourfold.")
    ] = False


@dataclass(frozen=True, slots=True)
class RuleStanding:
    """What marks change of a rule, and what they look at. A new rule has the defaults (RULE-19)."""

    created_at: datetime
    maturity: Maturity = "candidate"
    effectiveness_score: float = 0.0
    applied_count: int = 0
    success_count: int = 0
    harmful_count: int = 0
    needs_inversion: bool = False

    @property
    def confidence(self) -> float:
        """By the rule of succession, and never less than that of a new rule (C-462).

        So what helped four times of four fades 51 days later than what was said once.
        """
        return max(NEW_CONFIDENCE, (self.success_count + 1) / (self.applied_count + 2))


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark's outcome: the standing after it, and the events that record it, in order.

    The moment of the mark is the rule's `last_applied_at` and `last_evaluated_at`, which the
    caller writes.
    """

    standing: RuleStanding
    events: tuple[EventType, ...]


def helpful_effectiveness(success: int, applied: int) -> float:
    """The share of applications that helped, 0.0 before the first (MAT-07)."""
    return success / applied if applied > 0 else 0.0


def penalised_effectiveness(success: int, harmful: int) -> float:
    """`success / (success + 4 * harmful + 0.01)`: bad advice is punished fourfold (MAT-08).

    10 helps and 2 harms give 0.555, not enough to be established (MAT-09).
    """
    return success / (success + HARM_WEIGHT * harmful + _NOT_ZERO)


def mark_helpful(standing: RuleStanding, now: datetime, policy: RulePolicy) -> Marked:
    """One more application that helped; at most one step up (MAT-02, MAT-03, MAT-07, C-33)."""
    applied = standing.applied_count + 1
    success = standing.success_count + 1
    marked = replace(
        standing,
        applied_count=applied,
        success_count=success,
        effectiveness_score=helpful_effectiveness(success, applied),
    )
    maturity = _promoted(marked, now, policy)
    if maturity == standing.maturity:
        return Marked(marked, ("rule_helpful",))
    return Marked(replace(marked, maturity=maturity), ("rule_helpful", "rule_promoted"))


def mark_harmful(standing: RuleStanding, now: datetime, policy: RulePolicy) -> Marked:
    """One more application that did harm; at most one step down (MAT-04, MAT-05, MAT-08, C-33).

    Enough harm only flags the rule (MAT-11): the sweep inverts it later (C-34). A rule that is an
    anti-pattern already is not flagged again.
    """
    harmful = standing.harmful_count + 1
    marked = replace(
        standing,
        applied_count=standing.applied_count + 1,
        harmful_count=harmful,
        effectiveness_score=penalised_effectiveness(standing.success_count, harmful),
    )
    events: tuple[EventType, ...] = ("rule_harmful",)
    maturity = _demoted(marked, policy)
    if maturity != standing.maturity:
        marked = replace(marked, maturity=maturity)
        events += ("rule_demoted",)
    if may_invert(marked, policy) and not marked.needs_inversion:
        marked = replace(marked, needs_inversion=True)
        events += ("rule_needs_inversion",)
    return Marked(marked, events)


def may_invert(standing: RuleStanding, policy: RulePolicy) -> bool:
    """Whether a rule did enough harm to be turned around: both limits, and not yet one (C-34)."""
    limits = policy.harmful_to_antipattern
    return (
        standing.maturity != "anti_pattern"
        and standing.harmful_count >= limits.min_harmful
        and standing.effectiveness_score < limits.max_effectiveness
    )


def inverted_content(content: str, reasons: Sequence[str]) -> str:
    """The warning that a harmful rule becomes, with its text verbatim and each reason once."""
    because = "; ".join(dict.fromkeys(reasons)) or NO_REASON_GIVEN
    return f"ANTI-PATTERN: Do NOT {content}. This caused problems because: {because}"


def step_by_hand(maturity: Maturity, event: Literal["promote", "demote"]) -> Maturity:
    """One step by a person's will, whatever the counts; an error where there is none (C-37)."""
    steps = {one.source: one.target for one in MATURITY_TRANSITIONS if one.event == event}
    after = next((one for one in MATURITIES if one == steps.get(maturity)), None)
    if after is None:
        some = " and ".join(one for one in MATURITIES if one in steps)
        raise InvalidInput(
            f"a rule of maturity {maturity} cannot be {event}d; only {some} rules can"
        )
    return after


def is_forgotten(metadata: Mapping[str, object]) -> bool:
    """Whether a rule is marked as forgotten (STO-14, DEC-08)."""
    return metadata.get("forgotten") is True


def is_disabled(metadata: Mapping[str, object]) -> bool:
    """Whether a person switched a rule off; left out of retrieval as if forgotten (C-37)."""
    return metadata.get("disabled") is True


RuleState = Literal["active", "fading", "disabled", "forgotten"]


def rule_state(metadata: Mapping[str, object]) -> RuleState:
    """The state to show: what keeps a rule from retrieval comes before what may soon do so."""
    if is_forgotten(metadata):
        return "forgotten"
    if is_disabled(metadata):
        return "disabled"
    return "fading" if metadata.get("status") == "fading" else "active"


def _promoted(standing: RuleStanding, now: datetime, policy: RulePolicy) -> Maturity:
    effectiveness = (
        penalised_effectiveness(standing.success_count, standing.harmful_count)
        if policy.promotion_uses_penalised
        else standing.effectiveness_score
    )
    match standing.maturity:
        case "candidate":
            established = policy.promote_to_established
            enough = (
                standing.success_count >= established.min_successes
                and effectiveness >= established.min_effectiveness
            )
            return "established" if enough else "candidate"
        case "established":
            proven = policy.promote_to_proven
            enough = (
                standing.success_count >= proven.min_successes
                and effectiveness >= proven.min_effectiveness
                and elapsed(standing.created_at, now) >= timedelta(days=proven.min_age_days)
            )
            return "proven" if enough else "established"
        case "proven" | "anti_pattern":
            return standing.maturity
        case _:
            assert_never(standing.maturity)


def _demoted(standing: RuleStanding, policy: RulePolicy) -> Maturity:
    effectiveness = standing.effectiveness_score
    match standing.maturity:
        case "proven":
            kept = effectiveness >= policy.promote_to_proven.min_effectiveness
            return "proven" if kept else "established"
        case "established":
            kept = effectiveness >= policy.promote_to_established.min_effectiveness
            return "established" if kept else "candidate"
        case "candidate" | "anti_pattern":
            return standing.maturity
        case _:
            assert_never(standing.maturity)
