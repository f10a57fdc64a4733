"""The memory block for a prompt, from a real recall."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.quotas import Quotas
from memory_butler.engine.context import (
    MAX_ABOUT,
    MAX_TOKEN_BUDGET,
    BuiltContext,
    build_context,
)
from memory_butler.engine.edits import edit_rule
from memory_butler.engine.feedback import rule_harmed
from memory_butler.engine.memory import Memory
from memory_butler.engine.receipts import replay
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.retrieval_config import RetrievalConfig

from .store_views import row

pytestmark = pytest.mark.anyio

HEADER = "# Memory Context\n"


def _with(memory: Memory, **retrieval: object) -> Memory:
    config = MemoryModuleConfig(retrieval=RetrievalConfig.model_validate(retrieval))
    return replace(memory, config=config)


@pytest.mark.requirement("CTX-02")
async def test_the_confidence_shown_is_the_effective_one(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(memory, principal, "user", "mood", "tea", permanence="ephemeral")
    clock.advance(days=10)
    context = await build_context(memory, principal, "tea", "general")
    assert "(confidence: 0.37)" in context.text


@pytest.mark.requirement("CTX-04")
async def test_the_annotated_layout(memory: Memory, principal: Principal, clock: Clock) -> None:
    annotated = _with(
        memory,
        context_format="annotated",
        context_quotas=Quotas(facts=0.5, rules=0.3, episodes=0.2),
    )
    await store_fact(
        memory, principal, "user", "name", "User's name is John", permanence="permanent"
    )
    await store_rule(memory, principal, "call John by his name")
    clock.advance(days=2)
    await store_episode(memory, principal, "John said hello", "general")
    clock.advance(hours=2)
    context = await build_context(annotated, principal, "John", "general")
    assert context.text == (
        "## Your Memory\n"
        "\n### What You Know (Facts)\n"
        "- User's name is John [permanent, confirmed 2d ago]\n"
        "\n### How To Behave (Rules)\n"
        "- call John by his name [candidate, global]\n"
        "\n### Recent Context (Episodes)\n"
        "- [2h ago] John said hello\n"
    )


@pytest.mark.requirement("CTX-01")
@pytest.mark.parametrize("prompt", ["", "anything"])
async def test_an_empty_memory_gives_the_bare_header(
    memory: Memory, principal: Principal, prompt: str
) -> None:
    assert (await build_context(memory, principal, prompt, "general")).text == HEADER


@pytest.mark.requirement("CTX-08")
async def test_the_butler_is_the_scope_and_twenty_are_recalled(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    session = uuid4()
    for n in range(25):
        await store_fact(memory, principal, "user", f"tea {n}", f"tea {n}", scope="health")
    await store_fact(memory, principal, "user", "secret", "tea", scope="finance")
    context = await build_context(
        memory, principal, "tea", "health", session_id=session, token_budget=700
    )
    assert len(context.included) == 20
    assert "secret" not in context.text
    served = await admin.fetchrow("SELECT * FROM served")
    assert (served["operation"], served["butler"], served["session_id"]) == (
        "context",
        "health",
        session,
    )


@pytest.mark.requirement("ORD-01", "ORD-03")
async def test_equal_inputs_give_equal_bytes(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    for n in range(12):
        await store_fact(
            memory, principal, "user", f"p{n}", f"tea number {n}", importance=5 + n / 10
        )
        await store_rule(memory, principal, f"tea rule {n}")
    # Referenced at different times: a call that counted a reference would change the order.
    await admin.execute(
        "UPDATE facts SET last_referenced_at = created_at - importance * interval '3 days'"
    )
    texts = set()
    for _ in range(4):
        block = await build_context(memory, principal, "tea", "general", token_budget=150)
        texts.add(block.text)
        clock.advance(milliseconds=5)
    assert len(texts) == 1
    assert await admin.fetchval("SELECT max(reference_count) FROM facts") == 0


async def test_only_what_is_in_the_block_is_noted_as_served(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    session = uuid4()
    for n in range(3):
        await store_fact(memory, principal, "user", f"p{n}", f"tea number {n} " + "x" * 60)
    ask = partial(build_context, memory, principal, "tea", "general", session_id=session)
    assert (await ask(token_budget=0)).included == ()
    assert await admin.fetchval("SELECT count(*) FROM served") == 0
    block = await ask(token_budget=50)
    assert len(block.included) == 1
    noted = await admin.fetchrow("SELECT * FROM served")
    assert tuple(noted["item_ids"]) == block.included
    assert (noted["operation"], noted["butler"]) == ("context", "general")


@pytest.fixture
async def stocked(memory: Memory, principal: Principal) -> Memory:
    for n in range(6):
        await store_fact(memory, principal, f"subject {n}", "p", "tea " * (n * n + 1) + "🫖")
        await store_rule(memory, principal, "always offer tea " * (n + 1))
    return memory


async def test_what_was_weighed_is_told_in_the_order_of_the_block(
    stocked: Memory, principal: Principal
) -> None:
    context = await build_context(stocked, principal, "tea", "general", token_budget=60)
    assert context.included
    assert context.left_out
    ids = [hit.row["id"] for hit in context.considered]
    assert ids == [*context.included, *context.left_out]


@pytest.mark.requirement("CTX-07")
async def test_the_configured_budget_is_the_default(stocked: Memory, principal: Principal) -> None:
    memory = _with(stocked, context_token_budget=40)
    context = await build_context(memory, principal, "tea", "general")
    given = await build_context(stocked, principal, "tea", "general", token_budget=40)
    assert context.text == given.text
    assert 0 < len(context.text) <= 160
    assert stocked.config.retrieval.context_token_budget == 3000


@pytest.mark.requirement("FAIL-02")
async def test_bad_arguments_are_refused(memory: Memory, principal: Principal) -> None:
    for budget in (-1, MAX_TOKEN_BUDGET + 1):
        with pytest.raises(InvalidInput, match="token_budget must be between"):
            await build_context(memory, principal, "tea", "general", token_budget=budget)
    with pytest.raises(InvalidInput, match="butler is empty"):
        await build_context(memory, principal, "tea", " ")
    with pytest.raises(InvalidInput, match="is not a UUID"):
        await build_context(memory, principal, "tea", "general", session_id="1")


@pytest.mark.requirement("RCL-02")
async def test_fading_memories_stay_out_and_nothing_is_bumped(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    fading, _ = await store_fact(memory, principal, "u", "a", "tea", permanence="ephemeral")
    clock.advance(timedelta(days=20))
    sure, _ = await store_fact(memory, principal, "u", "b", "tea")
    context = await build_context(memory, principal, "tea", "general")
    assert context.included == (sure,)
    assert (await row(admin, "facts", sure))["reference_count"] == 0
    assert (await row(admin, "facts", fading))["last_referenced_at"] == NOW


async def test_a_rule_that_did_much_harm_is_told_with_it_until_the_sweep_or_an_edit(
    memory: Memory, principal: Principal
) -> None:
    """The sweep, which makes it a warning, may be a day away."""
    rule = await store_rule(memory, principal, "Mock the database in each test")
    for _ in range(3):
        assert "did harm" not in (await _tests_of_the_database(memory, principal)).text
        await rule_harmed(memory, principal, rule, "the mock hid a broken query")
    told = await _tests_of_the_database(memory, principal)
    assert "(maturity: candidate, effectiveness: 0.00, did harm 3 times)" in told.text
    assert told.receipt_id is not None
    again = await replay(memory, principal, told.receipt_id)
    assert again.text == told.text
    await edit_rule(memory, principal, rule, {"content": "Mock no database in any test"})
    assert "did harm" not in (await _tests_of_the_database(memory, principal)).text


async def _tests_of_the_database(memory: Memory, principal: Principal) -> BuiltContext:
    return await build_context(memory, principal, "a test of the database", "general")


async def test_what_a_session_works_on_comes_first_and_sooner(
    memory: Memory, principal: Principal
) -> None:
    """An agent keeps a test command of each repository; which one is meant, the folder says."""
    for subject, test, review in (
        ("ledger", "`make test` (go test ./... -race)", "Ole"),
        ("acme/web-shop", "`uv run pytest -n 4 -x`; a single file without -n", "Solveig"),
        ("App Mobile", "`pnpm vitest run`, or `pnpm vitest` to watch", "Ingvild"),
    ):
        for predicate, said in (
            ("test_command", f"Run tests with {test}"),
            ("reviewer", f"Reviews go to {review}"),
            ("endpoints", "A new endpoint needs a router, a schema and an entry in openapi.yaml"),
        ):
            await store_fact(memory, principal, subject, predicate, said)

    async def first(prompt: str, *about: str) -> str:
        text = (await build_context(memory, principal, prompt, "general", about=about)).text
        return next((line for line in text.splitlines() if line.startswith("- ")), "")

    for name in ("ledger", "web-shop", "app-mobile", "app_mobile"):
        subject = {"web-shop": "acme/web-shop", "ledger": "ledger"}.get(name, "App Mobile")
        for prompt, predicate in (
            ("run the tests", "test_command"),
            ("who should review this?", "reviewer"),
        ):
            assert (await first(prompt, name)).startswith(f"- [{subject}] [{predicate}]")
    prompt = "add an endpoint for cancellations"
    assert await first(prompt) == await first(prompt, "nothing-known") == ""
    assert (await first(prompt, "web-shop")).startswith("- [acme/web-shop] [endpoints]")
    # What is idle stays so, whatever is worked on.
    for idle in ("yes go on", "ok", "make this function shorter", "asdf qwer"):
        assert await first(idle, "web-shop") == "", idle


async def test_a_folder_called_user_is_not_who_asks(memory: Memory, principal: Principal) -> None:
    """Of "user" and "family" is nearly everything; in a container the home folder is /home/user."""
    await store_fact(memory, principal, "user", "endpoints", "Sails on Sundays, with a router")
    await store_fact(memory, principal, "web-shop", "deadline", "The web shop is due on 3 May")
    await store_fact(memory, principal, "user", "deadline", "The user's tax return is due on 9 May")
    for prompt in ("add an endpoint for cancellations", "When is the deadline?", "my deadline?"):
        plain = await build_context(memory, principal, prompt, "general")
        for about in ("user", "family", "User"):
            told = await build_context(memory, principal, prompt, "general", about=[about])
            assert told.text == plain.text, prompt


async def test_what_is_the_askers_own_is_not_what_the_session_works_on(
    memory: Memory, principal: Principal
) -> None:
    await store_fact(memory, principal, "web-shop", "deadline", "The web shop is due on 3 May")
    await store_fact(memory, principal, "user", "deadline", "The user's tax return is due on 9 May")
    for prompt, whose in (
        ("When is the deadline?", "[web-shop]"),
        ("When is my tax deadline?", "[user]"),
    ):
        told = await build_context(memory, principal, prompt, "general", about=["web-shop"])
        first = next(line for line in told.text.splitlines() if line.startswith("- "))
        assert first.startswith(f"- {whose}")


async def test_a_session_has_few_names(memory: Memory, principal: Principal) -> None:
    with pytest.raises(InvalidInput, match="at most"):
        await build_context(memory, principal, "tea", "general", about=["shop"] * (MAX_ABOUT + 1))
