"""Finding: three modes, the exact score, what is left out, and what a read leaves behind."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain import scoring
from memory_butler.domain.confidence import effective_confidence
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.rules import MATURITY_WEIGHTS
from memory_butler.domain.scoring import ScoreWeights
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.edits import edit_rule
from memory_butler.engine.indexing import NewMemory
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit, recall, search
from memory_butler.engine.reindexing import reindex
from memory_butler.engine.remember import keep, store_episode, store_fact, store_rule
from memory_butler.engine.undo import undo_change
from memory_butler.engine.writing import new_fact, new_rule
from memory_butler.retrieval_config import RetrievalConfig, SearchMode

from .store_views import count, row

pytestmark = pytest.mark.anyio

MODES: tuple[SearchMode, ...] = ("hybrid", "deep", "semantic", "keyword")


async def _facts(memory: Memory, principal: Principal, *contents: str) -> list[UUID]:
    """Facts of different keys, in order."""
    return [
        (await store_fact(memory, principal, "user", f"note{n}", content))[0]
        for n, content in enumerate(contents)
    ]


def _ids(hits: Sequence[Hit]) -> list[UUID]:
    return [hit.row["id"] for hit in hits]


async def test_who_asks_about_themselves_means_the_user(
    memory: Memory, principal: Principal
) -> None:
    texts = {
        ("user", "home_city"): "Moved to Porto, Rua do Almada",
        ("Porto flat", "rent"): "The rent is 1150 euros a month",
        ("Ana", "school"): "Goes to the Escola da Vitória in Porto",
        ("user", "hotel"): "Wants hotels close to a station",
    }
    ids = [
        (await store_fact(memory, principal, *key, content))[0] for key, content in texts.items()
    ]
    for question in ("Where do I live?", "where do i live", "Where does the family live?"):
        hits = await recall(memory, principal, question, min_relevance=0)
        assert hits[0].row["id"] == ids[0]
    # A search that is nearest to the question's own words stays so.
    (own,) = await search(memory, principal, "Where do I live?", mode="semantic", limit=1)
    assert own.row["id"] == ids[1]


@pytest.mark.requirement("SRCH-01", "RRF-01")
async def test_hybrid_is_the_default(memory: Memory, principal: Principal) -> None:
    await _facts(memory, principal, "jasmine tea", "a red car", "tea pots")
    default = await search(memory, principal, "tea")
    hybrid = await search(memory, principal, "tea", mode="hybrid")
    assert [hit.explain() for hit in default] == [hit.explain() for hit in hybrid]


@pytest.mark.requirement("SRCH-02")
async def test_semantic_search_orders_by_cosine_similarity(
    memory: Memory, principal: Principal
) -> None:
    texts = ["the cat sleeps", "stock prices fell", "a kitten is napping", "quantum physics"]
    await _facts(memory, principal, *texts)
    hits = await search(memory, principal, "sleeping kitten", mode="semantic")
    query = await memory.embedder.embed("sleeping kitten")
    for hit in hits:
        stored = f"user {hit.row['predicate']} {hit.row['content']}"
        expected = float(query @ await memory.embedder.embed(stored))
        assert hit.match.found.similarity == pytest.approx(expected, abs=1e-5)
        assert hit.match.found.text_rank is None
    similarities = [hit.match.found.similarity or 0.0 for hit in hits]
    assert similarities == sorted(similarities, reverse=True)
    assert {hit.row["content"] for hit in hits[:2]} == {"the cat sleeps", "a kitten is napping"}


@pytest.mark.requirement("SRCH-04")
async def test_keyword_search_orders_by_text_rank(memory: Memory, principal: Principal) -> None:
    once, twice, _ = await _facts(memory, principal, "tea with milk", "tea tea tea", "coffee")
    hits = await search(memory, principal, "tea", mode="keyword")
    assert _ids(hits) == [twice, once]
    assert [hit.match.found.similarity for hit in hits] == [None, None]
    ranks = [hit.match.found.text_rank or 0.0 for hit in hits]
    assert ranks[0] > ranks[1] > 0
    # Parsed as English: other forms of a word, and operators of queries as if they were not there.
    assert _ids(await search(memory, principal, "teas & !", mode="keyword")) == [twice, once]


@pytest.mark.requirement("SRCH-04")
async def test_a_question_with_one_known_word_still_finds_and_all_words_come_first(
    memory: Memory, principal: Principal
) -> None:
    some, every = await _facts(
        memory, principal, "tea tea tea tea", "tea in the morning, oranges in the evening"
    )
    hits = await search(memory, principal, "morning tea and evening oranges", mode="keyword")
    assert _ids(hits) == [every, some]
    question = "which kind of tea would she have had in Kyoto?"
    assert set(_ids(await search(memory, principal, question, mode="keyword"))) == {some, every}


async def test_parts_of_joined_words_and_dates_are_found_by_keyword(
    memory: Memory, principal: Principal
) -> None:
    await _facts(memory, principal, "tea with milk", "version 2.12 is out")
    (known,) = await _facts(
        memory,
        principal,
        "Ida/Bo mend valve.errors.TooManyValves in src/jobs/pool.py for BRG-77 by 2026-12-01",
    )
    names = ("pool.py", "jobs/pool.py", "TooManyValves", "Ida")
    for query in (*names, "no. 77", "1 December", "2026-12-01"):
        assert _ids(await search(memory, principal, query, mode="keyword")) == [known], query


async def test_a_name_of_a_program_is_found_by_its_words(
    memory: Memory, principal: Principal
) -> None:
    ids = [
        (await store_fact(memory, principal, "atlas", f"note {place}", content))[0]
        for place, content in enumerate(
            ("`OrderQueueWorker` must be idempotent", "src/billing/ledgerExport.ts writes CSV")
        )
    ]
    for query, expected in (
        ("order queue worker", ids[0]),
        ("order_queue_worker.run", ids[0]),
        ("OrderQueueWorker", ids[0]),
        ("ledger_export", ids[1]),
        ("ledgerExport.ts", ids[1]),
    ):
        hits = await search(memory, principal, query, mode="keyword")
        assert [hit.row["id"] for hit in hits] == [expected], query


@pytest.mark.requirement("SRCH-05", "TXT-04")
async def test_a_blank_query_finds_nothing(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _facts(memory, principal, "tea")
    for query in ("", "  \n", "\x00"):
        for mode in MODES:
            assert await search(memory, principal, query, mode=mode) == []
        assert await recall(memory, principal, query) == []
    assert await count(admin, "served") == 0


@pytest.mark.requirement("TXT-04", "EMB-03")
async def test_odd_queries_are_answered(memory: Memory, principal: Principal) -> None:
    await _facts(memory, principal, "tea")
    odd = ("\ud800 tea", "te\x00a", "the of and", "&|!():*", "x " * 33_000, "🫖" * 500, "a'b\\c")
    for query in odd:
        for mode in MODES:
            await search(memory, principal, query, mode=mode)
        await recall(memory, principal, query)


async def test_bad_arguments_are_refused(memory: Memory, principal: Principal) -> None:
    for limit in (0, 201, -1):
        with pytest.raises(InvalidInput, match="limit must be between 1 and 200"):
            await search(memory, principal, "x", limit=limit)
    with pytest.raises(InvalidInput, match="min_confidence must be between"):
        await recall(memory, principal, "x", min_confidence=float("nan"))
    with pytest.raises(InvalidInput, match="at most 100,000 are searched for"):
        await search(memory, principal, "x" * 100_001)
    with pytest.raises(InvalidInput, match="unknown memory type"):
        await search(memory, principal, "x", types=["dream"])
    with pytest.raises(InvalidInput, match="is not a UUID"):
        await search(memory, principal, "x", session_id="x")


@pytest.mark.requirement("SRCH-03", "LIFE-02", "GEN-09", "STO-12", "STO-13", "STO-14")
@pytest.mark.parametrize("mode", MODES)
async def test_what_is_retired_is_not_found(
    memory: Memory, principal: Principal, clock: Clock, mode: SearchMode
) -> None:
    await store_fact(memory, principal, "user", "drink", "black tea")
    new, _ = await store_fact(memory, principal, "user", "drink", "green tea")
    gone, _ = await store_fact(memory, principal, "user", "cup", "tea cup")
    rule = await store_rule(memory, principal, "offer tea")
    episode = await store_episode(memory, principal, "tea at five", "general")
    for kind, id in (("fact", gone), ("rule", rule), ("episode", episode)):
        await forget_memory(memory, principal, kind, id)
    assert _ids(await search(memory, principal, "tea", mode=mode)) == [new]
    assert _ids(await recall(memory, principal, "tea")) == [new]


@pytest.mark.requirement("SRCH-03")
async def test_states_that_others_wrote_are_left_out_and_odd_marks_break_nothing(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    expired, live = await _facts(memory, principal, "tea", "more tea")
    await admin.execute("UPDATE facts SET validity = 'expired' WHERE id = $1", expired)
    disabled = await store_rule(memory, principal, "tea")
    await admin.execute(
        "UPDATE rules SET metadata = $2 WHERE id = $1", disabled, {"disabled": True}
    )
    odd = await store_rule(memory, principal, "tea", metadata={"forgotten": "perhaps"})
    hits = await search(memory, principal, "tea", types=["fact", "rule"])
    assert set(_ids(hits)) == {live, odd}


@pytest.mark.requirement("EPI-15", "CLN-02")
async def test_an_expired_episode_is_not_found_before_it_is_deleted(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_episode(memory, principal, "tea at five", "general")
    clock.advance(days=7)
    assert await search(memory, principal, "tea") == []


@pytest.mark.requirement("SCP-01", "SCP-02", "SCP-03", "GEN-02")
@pytest.mark.parametrize("mode", MODES)
async def test_a_scope_filters_and_none_filters_nothing(
    memory: Memory, principal: Principal, mode: SearchMode
) -> None:
    ids: dict[str, UUID] = {}
    for scope in ("global", "health", "travel"):
        ids[f"fact {scope}"], _ = await store_fact(
            memory, principal, "user", "drink", f"tea {scope}", scope=scope
        )
        ids[f"rule {scope}"] = await store_rule(memory, principal, f"tea {scope}", scope=scope)
        ids[f"episode {scope}"] = await store_episode(memory, principal, f"tea {scope}", scope)
    every = await search(memory, principal, "tea", mode=mode, limit=50)
    assert set(_ids(every)) == set(ids.values())
    scoped = await search(memory, principal, "tea", mode=mode, scope="health", limit=50)
    assert set(_ids(scoped)) == {
        ids[name]
        for name in ("fact global", "fact health", "rule global", "rule health", "episode health")
    }


@pytest.mark.requirement("SRCH-07", "RCL-02", "DEC-04")
async def test_fading_memories_are_left_out_unless_asked_for(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    fading, _ = await store_fact(memory, principal, "u", "a", "tea", permanence="ephemeral")
    clock.advance(days=20)  # exp(-2) = 0.135
    sure, _ = await store_fact(memory, principal, "u", "b", "tea")
    episode = await store_episode(memory, principal, "tea", "general")
    assert set(_ids(await search(memory, principal, "tea"))) == {sure, episode}  # C-39
    assert _ids(await recall(memory, principal, "tea")) == [sure]
    for mode in MODES:
        hits = await search(memory, principal, "tea", mode=mode, min_confidence=0)
        assert set(_ids(hits)) == {sure, fading, episode}
    assert set(_ids(await recall(memory, principal, "tea", min_confidence=0))) == {sure, fading}
    strict = await search(memory, principal, "tea", types=["fact"], min_confidence=1.0)
    assert _ids(strict) == [sure]


@pytest.mark.requirement("SRCH-06")
async def test_the_limit_counts_over_all_types(memory: Memory, principal: Principal) -> None:
    await _facts(memory, principal, *(f"tea {n}" for n in range(4)))
    for n in range(4):
        await store_rule(memory, principal, f"tea rule {n}")
        await store_episode(memory, principal, f"tea time {n}", "general")
    assert len(await search(memory, principal, "tea", limit=5)) == 5
    assert len(await search(memory, principal, "tea", limit=50)) == 12
    assert len(await recall(memory, principal, "tea", limit=3)) == 3


@pytest.mark.requirement("RRF-01", "RRF-02", "RRF-03", "RRF-04")
async def test_hybrid_fuses_both_arms_by_rank(memory: Memory, principal: Principal) -> None:
    await _facts(memory, principal, "jasmine tea", "coffee", "a cup of tea", "green tea", "bread")
    hits = await search(memory, principal, "green tea", types=["fact"])
    semantic = _ids(await search(memory, principal, "green tea", types=["fact"], mode="semantic"))
    keyword = _ids(await search(memory, principal, "green tea", types=["fact"], mode="keyword"))
    missing = memory.config.retrieval.candidate_depth + 1
    for hit in hits:
        id, match = hit.row["id"], hit.match
        by_meaning = semantic.index(id) + 1
        by_word = keyword.index(id) + 1 if id in keyword else missing
        assert (match.semantic_rank, match.keyword_rank) == (by_meaning, by_word)
        assert match.rrf_score == 1 / (60 + by_meaning) + 1 / (60 + by_word)
    order = [(-hit.match.rrf_score, hit.match.semantic_rank) for hit in hits]
    assert order == sorted(order)
    assert len(keyword) < len(hits)


@pytest.mark.requirement(
    "SCORE-01", "SCORE-02", "SCORE-03", "SCORE-04", "SCORE-05", "SCORE-06", "RCL-01"
)
async def test_a_score_can_be_recomputed_from_what_is_explained(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await store_fact(memory, principal, "user", "a", "green tea", importance=9)
    await store_fact(memory, principal, "user", "b", "tea pot", permanence="ephemeral")
    clock.advance(days=3)
    await store_fact(memory, principal, "user", "c", "tea cup", importance=2)
    proven = await store_rule(memory, principal, "offer tea")
    await store_rule(memory, principal, "ask about coffee")
    await admin.execute("UPDATE rules SET maturity = 'proven' WHERE id = $1", proven)
    await store_episode(memory, principal, "tea", "general")
    now = clock.advance(hours=36)
    before = {
        row["id"]: row
        for table in ("facts", "rules")
        for row in await admin.fetch(f"SELECT * FROM {table}")
    }
    weights = ScoreWeights(relevance=0.5, importance=0.2, recency=0.25, confidence=0.05)
    config = MemoryModuleConfig(retrieval=RetrievalConfig(score_weights=weights))
    for used, of in ((ScoreWeights(), memory), (weights, replace(memory, config=config))):
        for id, stored in before.items():  # a recall bumps: put the references back
            table = "facts" if "subject" in stored else "rules"
            await admin.execute(
                f"UPDATE {table} SET last_referenced_at = $2 WHERE id = $1",
                id,
                stored["last_referenced_at"],
            )
        hits = await recall(of, principal, "green tea", min_relevance=0)
        assert {hit.memory_type for hit in hits} == {"fact", "rule"}
        for hit in hits:
            stored, parts = before[hit.row["id"]], hit.explain()
            is_fact = hit.memory_type == "fact"
            relevance = hit.match.standing
            by_ranks = min(hit.match.rrf_score / (2 / 61), 1.0)
            assert by_ranks / 10 <= relevance <= by_ranks / 10 + 0.9 + 1e-9  # C-115
            importance = (stored["importance"] if is_fact else 5.0) / 10
            recency = scoring.recency(stored["last_confirmed_at"], now)
            confidence = effective_confidence(
                stored["confidence"], stored["decay_rate"], stored["last_confirmed_at"], now
            )
            composite = (
                used.relevance * relevance
                + used.importance * importance
                + used.recency * recency
                + used.confidence * confidence
            )
            weight = 1.0 if is_fact else MATURITY_WEIGHTS[stored["maturity"]]
            assert parts["composite"] == pytest.approx(composite, abs=1e-12)
            ranked = composite * weight * relevance
            assert parts["rank_score"] == pytest.approx(ranked, abs=1e-12)
            assert parts["relevance"] == relevance
            contributions = [
                parts[f"{name}_contribution"] or 0.0 for name in asdict(ScoreWeights())
            ]
            assert sum(contributions) == pytest.approx(composite, abs=1e-12)
        scores = [hit.score.rank_score for hit in hits if hit.score]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.requirement("MAT-06")
async def test_a_candidate_weighs_less_an_established_rule_fully_and_a_proven_one_most(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await store_rule(memory, principal, "offer green tea")
    ranked = {}
    for maturity in ("candidate", "established", "proven"):
        await admin.execute("UPDATE rules SET maturity = $1", maturity)
        (hit,) = await recall(memory, principal, "green tea")
        parts = hit.explain()
        rank, composite, relevance = (
            parts[name] or 0.0 for name in ("rank_score", "composite", "relevance")
        )
        ranked[maturity] = rank / (composite * relevance)
    assert ranked["candidate"] < ranked["established"] < ranked["proven"]
    assert ranked["established"] == pytest.approx(1.0)


@pytest.mark.requirement("ORD-01", "ORD-02")
async def test_equal_scores_go_by_age_then_id(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    # Weights that make every score equal: nothing counts. (The relevance multiplies what does.)
    weights = ScoreWeights(relevance=0, importance=0, recency=0, confidence=0)
    config = MemoryModuleConfig(retrieval=RetrievalConfig(score_weights=weights))
    tied = replace(memory, config=config)
    old = await _facts(memory, principal, "tea one", "tea two", "tea three")
    clock.advance(seconds=1)
    new, _ = await store_fact(memory, principal, "guest", "drink", "tea")
    for _ in range(3):
        assert _ids(await recall(tied, principal, "tea")) == [new, *sorted(old)]


@pytest.mark.requirement("SRCH-08", "RCL-03")
async def test_a_read_counts_what_it_returned_and_nothing_else(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    first, second = await _facts(memory, principal, "green tea", "a red car")
    rule = await store_rule(memory, principal, "offer green tea")
    episode = await store_episode(memory, principal, "green tea", "general")
    now = clock.advance(hours=1)
    hits = await search(memory, principal, "green tea", mode="keyword")
    assert set(_ids(hits)) == {first, rule, episode}
    for table, id in (("facts", first), ("rules", rule), ("episodes", episode)):
        stored = await row(admin, table, id)
        assert (stored["reference_count"], stored["last_referenced_at"]) == (1, now)
    untouched = await row(admin, "facts", second)
    assert (untouched["reference_count"], untouched["last_referenced_at"]) == (0, NOW)
    hits = await recall(memory, principal, "green tea", limit=1)
    stored = await row(
        admin, "facts" if hits[0].memory_type == "fact" else "rules", hits[0].row["id"]
    )
    assert stored["reference_count"] == hits[0].row["reference_count"] == 2
    assert stored["last_confirmed_at"] == NOW  # C-29: a read confirms nothing
    assert await count(admin, "memory_versions") == 0


async def test_what_was_served_is_kept_with_its_session(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    session = uuid4()
    fact, _ = await store_fact(memory, principal, "user", "drink", "green tea from Uji")
    await recall(memory, principal, "tea", session_id=session)
    await search(memory, principal, "tea", session_id=str(session))
    await search(memory, principal, "tea")
    rows = await admin.fetch("SELECT * FROM served ORDER BY operation, session_id")
    assert [(one["operation"], one["session_id"]) for one in rows] == [
        ("recall", session),
        ("search", session),
        ("search", None),
    ]
    for one in rows:
        assert (one["item_ids"], one["tenant_id"], one["served_at"]) == ([fact], "default", NOW)
        assert len(one["shingles"]) > 0


@pytest.mark.requirement("GEN-04")
async def test_a_fact_is_true_until_its_end_passes(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(
        memory, principal, "u", "trip", "tea in Kyoto", valid_until=NOW + timedelta(days=2)
    )
    assert len(await recall(memory, principal, "tea")) == 1
    clock.advance(days=2)
    assert await recall(memory, principal, "tea") == []


async def test_what_matters_most_of_whom_a_question_names_is_told(
    memory: Memory, principal: Principal
) -> None:
    usual = (
        "Marta is a cousin and lives in Bergen",
        "Marta tunes pianos for the concert hall",
        "Marta turns forty on 3 May",
        "Marta arrives on Friday with the night train",
        "Marta likes long tables and loud dinners",
        "Marta and the user call each other on Sunday evenings",
        "Marta drives a red van full of books",
        "Marta has a brother who bakes",
        "Marta writes a novel about a table",
        "Marta has dinner late",
        "Marta sings in a choir on Friday",
        "Marta owes the user for a dinner",
    )
    for n, text in enumerate(usual):
        await store_fact(memory, principal, "Marta", f"note {n}", text)
    vital = "Marta reacts badly to sesame: no tahini, no hummus"
    allergy, *_ = await store_fact(memory, principal, "Marta", "allergy", vital, importance=10)
    other = "Jonas reacts badly to sesame, in bread and in sauces"
    of_other, *_ = await store_fact(memory, principal, "Jonas", "allergy", other, importance=10)
    question = "Book a table for Friday dinner with Marta"
    everything = _ids(await recall(memory, principal, question, limit=20))
    assert everything.index(allergy) >= 6
    told = _ids(await recall(memory, principal, question, limit=6))
    assert allergy in told
    # Its place among the others is by its score, as ever; and nobody else's allergy is kept.
    assert told == [id for id in everything if id in told]
    assert len(told) == 6
    assert of_other not in told


async def test_what_a_question_names_by_its_subject_comes_first(
    memory: Memory, principal: Principal
) -> None:
    """Of repositories, which nobody registers. What is known of one has its name in each fact, so
    that the name tells the keyword search little."""
    known = {
        "web-shop": {
            "test_command": "Run tests with `uv run pytest -n 4 -x`; a single file without -n",
            "dev_port": "The API listens on port 8000 in development (uvicorn --reload)",
            "commit_messages": "Subjects are imperative and end with the ticket in brackets",
        },
        "ledger": {
            "test_command": "Run tests with `make test` (go test ./... -race)",
            "dev_port": "HTTP is on 8080, metrics are on 9102",
            "commit_messages": "Begin with the package: `ingest: drop stale frames`",
        },
        "app_mobile": {
            "test_command": "`pnpm vitest run`, or `pnpm vitest` to watch",
            "dev_port": "5173 (vite)",
            "commit_messages": "Conventional commits, checked by commitlint: a convention for all",
        },
    }
    topics = ("logging", "reviews", "releases", "errors", "metrics", "secrets", "dates", "queues")
    for subject, facts in known.items():
        more = {topic: f"How {subject} does {topic} is in docs/{topic}.md" for topic in topics}
        for predicate, said in (facts | more).items():
            await store_fact(memory, principal, subject, predicate, said)
    for subject in known:
        for asked, predicate in (
            (f"{subject} test command", "test_command"),
            (f"Which port does {subject} listen on?", "dev_port"),
            (f"commit message convention in {subject.title()}", "commit_messages"),
        ):
            found = await recall(memory, principal, asked)
            alike = [one.row["subject"] for one in found if one.row.get("predicate") == predicate]
            assert alike[0] == subject, asked


async def test_what_is_somebodys_own_is_no_subject_of_that_name(
    memory: Memory, principal: Principal
) -> None:
    """ "My coffee" is the user's, though there are facts of coffee."""
    for subject, predicate, content in (
        ("coffee", "preference", "Coffee beans come from the roastery in Lindenau"),
        ("user", "coffee", "The user drinks coffee black, twice a day"),
        ("birthday", "party", "The birthday party is in the barn"),
        ("user", "birthday", "The user's birthday is 4 April"),
        ("house", "insurance", "House insurance with HUK"),
        ("user", "house", "The user's house has 120 square metres"),
    ):
        await store_fact(memory, principal, subject, predicate, content)
    for asked in ("How do I drink my coffee?", "When is my birthday?", "How big is my house?"):
        (first, *_) = await recall(memory, principal, asked)
        assert first.row["subject"] == "user", asked
    (first, *_) = await recall(memory, principal, "coffee preference")
    assert first.row["subject"] == "coffee"


async def test_the_user_is_named_by_no_word_of_a_question(
    memory: Memory, principal: Principal
) -> None:
    await store_fact(memory, principal, "user", "editor", "Uses Neovim to write the endpoints")
    await store_fact(memory, principal, "shop", "users", "A user endpoint needs a schema")
    hits = await recall(memory, principal, "add a user endpoint", min_relevance=0)
    assert [hit.explain()["named"] for hit in hits] == [0.0, 0.0]


@pytest.mark.parametrize("mode", ["hybrid", "deep", "keyword"])
async def test_a_memory_is_found_by_its_tags(
    memory: Memory, principal: Principal, mode: SearchMode
) -> None:
    """Whoever tags a fact "insurance" asks for the insurance, in another form of the word, too."""
    for n in range(30):
        await store_fact(memory, principal, f"shelf {n}", "holds", f"Holds box number {n}")
        await store_rule(memory, principal, f"Put box number {n} back on its shelf")
    policy, _ = await store_fact(
        memory, principal, "flat", "policy_number", "HX-2231", tags=["Insurance", "household goods"]
    )
    ring = await store_rule(memory, principal, "Ring before nine", tags=["physiotherapist"])
    (first, *_) = await search(memory, principal, "insurances", mode=mode)
    assert first.row["id"] == policy
    (first, *_) = await search(memory, principal, "physiotherapists", mode=mode)
    assert first.row["id"] == ring


async def test_tags_that_come_later_and_go_again_are_found_as_they_are(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    async def found(word: str) -> set[UUID]:
        return {hit.row["id"] for hit in await search(memory, principal, word, mode="keyword")}

    async def kept(new: NewMemory) -> UUID:
        return (await keep(memory, principal, new, restates=True)).new.id

    await kept(new_fact(memory, "flat", "policy", "HX-2231", tags=["insurance"]))
    again = await kept(new_fact(memory, "flat", "policy", "HX-2231", tags=["burglary"]))
    assert await found("insurance") == await found("burglary") == {again}
    rule = await kept(new_rule(memory, "Ring before nine", tags=["physiotherapist"]))
    await kept(new_rule(memory, "Ring before nine", tags=["dentist"]))
    assert await found("physiotherapist") == await found("dentist") == {rule}
    clock.advance(seconds=1)  # a state that never lasted is not kept
    await edit_rule(memory, principal, rule, {"tags": ["barber"]})
    assert (await found("dentist"), await found("barber")) == (set(), {rule})
    await undo_change(memory, principal)
    assert (await found("dentist"), await found("barber")) == ({rule}, set())
    # Stored before tags were indexed.
    await admin.execute("UPDATE facts SET search_vector = words_of(content)")
    assert await found("insurance") == set()
    assert await reindex(memory) == 2
    assert await found("insurance") == {again}
