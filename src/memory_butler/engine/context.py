"""The memory block for a prompt."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memory_butler.domain.context import (
    AssembledContext,
    BlockChange,
    ContextEpisode,
    ContextFact,
    ContextRule,
    InBlock,
    Lines,
    block_change,
    lines_of,
    repeated,
)
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.restatement import without_fillers
from memory_butler.domain.scoring import Share, first_with_shares
from memory_butler.domain.trust import Trust
from memory_butler.engine import inputs, receipts
from memory_butler.engine.conflicts import alike_to, statement_of
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import (
    Hit,
    matters_most,
    memories,
    recall,
    search,
)
from memory_butler.engine.receipts import Drawn
from memory_butler.engine.served import Audience, note
from memory_butler.store import receipts as store
from memory_butler.store.transaction import transaction

# Beyond this no prompt has room; it also bounds the work that one call may ask for.
MAX_TOKEN_BUDGET = 1_000_000
MAX_WITHOUT = 50  # more than anybody picks by hand
MAX_ABOUT = 5  # names of what a session works on: a repository, and a folder in it
NEAR_MISSES = 5  # recalled beyond the limit, for the receipt
# All that bears on the prompt is shown while it takes no more than this of the budget (C-120).
ROOM_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class BuiltContext(AssembledContext):
    """The block, and what was weighed for it: what is in it, then what was left out.

    `receipt_id`: of what a session gets; None of a preview.
    """

    considered: tuple[Hit, ...]
    receipt_id: UUID | None


async def build_context(
    memory: Memory,
    principal: Principal,
    trigger_prompt: str,
    butler: str,
    *,
    token_budget: int | None = None,
    session_id: UUID | str | None = None,
    min_trust: str | None = None,
    min_relevance: float | None = None,
    preview: bool = False,
    about: Collection[str] = (),
) -> BuiltContext:
    """The best facts and rules for a prompt as one block of text (CTX-01..08).

    Recalls up to `retrieval.default_limit` memories in the butler's scope, more while they take no
    more than a third of the budget, and formats them within it. A fact that adds nothing to a
    better one that it was found to repeat is named in the receipt instead. What is trusted less
    than `min_trust` (`retrieval.context_min_trust`) is not weighed. `about` names what the session
    works on: facts whose subject it is come first, and bear on the prompt sooner. Equal memories,
    question and moment give equal bytes: a context counts no reference, or each call would change
    the next. What it included is noted as served, and a receipt is kept of everything that was
    weighed; not of a `preview`.
    """
    scope = inputs.name("butler", butler)
    session = inputs.optional_uuid("session_id", session_id)
    if len(about) > MAX_ABOUT:
        raise InvalidInput(f"a session is about at most {MAX_ABOUT} things, not {len(about)}")
    drawn = await _draw(
        memory,
        principal,
        trigger_prompt,
        scope,
        token_budget,
        min_trust=min_trust,
        min_relevance=min_relevance,
        about=about,
    )
    # With its memories in the order of its lines.
    by_id = {hit.row["id"]: hit for hit, _ in drawn.weighed}
    block = drawn.block
    considered = tuple(by_id[id] for id in (*block.included, *block.left_out))
    built = BuiltContext(block.text, block.included, block.left_out, considered, None)
    if preview:
        return built
    receipt = receipts.take(memory, principal, trigger_prompt, scope, session, drawn)
    included = set(block.included)
    served = [hit for hit, _ in drawn.weighed if hit.row["id"] in included]
    async with transaction(memory.pool, principal.tenant, durable=False) as tx:
        audience = Audience("context", scope, session)
        await note(tx, audience, memories(served), memory.present.clock(), block.text)
        await store.insert(tx, receipt)
    return replace(built, receipt_id=receipt.id)


@dataclass(frozen=True, slots=True)
class BlockWithout:
    """A block, and what it would be if some memories were not there."""

    present: AssembledContext
    without: AssembledContext
    change: BlockChange


async def context_without(
    memory: Memory,
    principal: Principal,
    trigger_prompt: str,
    butler: str,
    without: Collection[UUID],
    *,
    token_budget: int | None = None,
) -> BlockWithout:
    """What changes in a context if these memories were gone.

    They are left out of the search itself, so that whatever ranks behind them moves up, in scores
    and in the block. What they superseded does not come back. Nothing is served or kept.
    """
    if not 0 < len(without) <= MAX_WITHOUT:
        raise InvalidInput(f"give 1 to {MAX_WITHOUT} memories to do without, not {len(without)}")
    scope = inputs.name("butler", butler)
    present = (await _draw(memory, principal, trigger_prompt, scope, token_budget)).block
    drawn = await _draw(memory, principal, trigger_prompt, scope, token_budget, without)
    return BlockWithout(present, drawn.block, block_change(present, drawn.block))


def _budget(memory: Memory, given: int | None) -> int:
    budget = memory.config.retrieval.context_token_budget if given is None else given
    if not 0 <= budget <= MAX_TOKEN_BUDGET:
        raise InvalidInput(f"token_budget must be between 0 and {MAX_TOKEN_BUDGET}, not {budget}")
    return budget


async def _draw(
    memory: Memory,
    principal: Principal,
    prompt: str,
    scope: str,
    token_budget: int | None,
    without: Collection[UUID] = (),
    *,
    min_trust: str | None = None,
    min_relevance: float | None = None,
    about: Collection[str] = (),
) -> Drawn:
    """Recall for a prompt, and assemble; leaves no trace."""
    budget = _budget(memory, token_budget)
    retrieval = memory.config.retrieval
    if min_trust is None:
        min_trust = retrieval.context_min_trust
    if min_relevance is None:
        min_relevance = retrieval.min_relevance
    limit = retrieval.default_limit
    # All that fits is asked for: never so much that the search would look deeper for it.
    asked = max(limit, min(retrieval.deep_candidate_depth, inputs.MAX_LIMIT))
    recalled = await recall(
        memory,
        principal,
        prompt,
        scope=scope,
        limit=asked,
        min_trust=min_trust,
        min_relevance=0.0,
        quiet=True,
        weighty=True,
        shown_from=min_relevance,
        without=without,
        about=about,
    )
    better = _repetitions(recalled) if retrieval.hide_repetitions else {}
    repeats = [(hit, better[hit.row["id"]]) for hit in recalled if hit.row["id"] in better]
    distinct = [hit for hit in recalled if hit.row["id"] not in better]
    episodes: list[Hit] = []
    if retrieval.context_quotas.episodes > 0:
        episodes = await search(
            memory,
            principal,
            prompt,
            types=["episode"],
            mode="deep",
            scope=scope,
            limit=limit,
            min_trust=min_trust,
            min_relevance=min_relevance,
            quiet=True,
            without=without,
        )
    now = memory.clock()  # after the searches: the snapshot has all that they found
    in_block = {hit.row["id"]: _as_shown(hit) for hit in (*distinct, *episodes)}
    lines = _lines(memory, in_block.values(), now)
    # What a fact led to takes no room from what was found: it is added to it.
    led_to = {hit.row["id"] for hit in distinct if hit.match.followed}
    direct = {hit.row["id"] for hit in distinct} - led_to
    taken = led_to.union(lines.of(direct).within(int(ROOM_SHARE * budget)).included)
    rules: Share[Hit] = Share(
        memory.config.retrieval.rules_share, lambda one: one.memory_type == "rule"
    )
    best = first_with_shares(distinct, limit, rules)
    taken.update(hit.row["id"] for hit in best)
    taken.update(hit.row["id"] for hit in distinct if _matters(hit))
    missed = [hit for hit in distinct if hit.row["id"] not in taken][:NEAR_MISSES]
    hits = [*(hit for hit in distinct if hit.row["id"] in taken), *episodes]
    weighed = [(hit, in_block[hit.row["id"]]) for hit in hits]
    block = lines.of({hit.row["id"] for hit in hits}).within(budget)
    return Drawn(budget, block, weighed, repeats, missed, now)


def _repetitions(hits: Sequence[Hit]) -> dict[UUID, UUID]:
    """Which of these, best first, add nothing to a better one, each with that one.

    Facts were found alike when they were stored. Rules are by their words: installations that
    exchange them may each have stored one, and each proves itself (C-419).
    """
    same_words: dict[tuple[str, ...], set[UUID]] = defaultdict(set)
    alike: list[Collection[UUID]] = []
    for hit in hits:
        if hit.memory_type == "rule":
            rules = same_words[without_fillers(hit.row["content"])]
            rules.add(hit.row["id"])
            alike.append(rules)
        else:
            alike.append(alike_to(hit.row))
    return repeated(
        (hit.row["id"], others, statement_of(hit.row), Trust(hit.row["trust"]))
        for hit, others in zip(hits, alike, strict=True)
    )


def _lines(memory: Memory, shown: Collection[InBlock], now: datetime) -> Lines:
    retrieval = memory.config.retrieval
    return lines_of(
        [one for one in shown if isinstance(one, ContextFact)],
        [one for one in shown if isinstance(one, ContextRule)],
        [one for one in shown if isinstance(one, ContextEpisode)],
        quotas=retrieval.context_quotas,
        layout=retrieval.context_format,
        now=now,
    )


def _matters(hit: Hit) -> bool:
    return matters_most(hit.match.found.importance)


def _as_shown(hit: Hit) -> InBlock:
    row, trust = hit.row, Trust(hit.row["trust"])
    if hit.memory_type == "episode":
        return ContextEpisode(row["id"], row["content"], row["created_at"], hit.place, trust)
    assert hit.score is not None  # noqa: S101 -- recall scores every hit
    shared = (row["id"], row["content"], row["created_at"], hit.score.rank_score, trust)
    if hit.memory_type == "rule":
        return ContextRule(
            *shared,
            maturity=row["maturity"],
            scope=row["scope"],
            effectiveness=row["effectiveness_score"],
            # Not of one that was edited since: its counters stay, and the harm was the old text's.
            harmful=row["harmful_count"] if row["metadata"].get("needs_inversion") is True else 0,
        )
    return ContextFact(
        *shared,
        subject=row["subject"],
        predicate=row["predicate"],
        confidence=hit.score.confidence,
        permanence=row["permanence"],
        last_confirmed_at=row["last_confirmed_at"],
        outdated=hit.outdated,
    )
