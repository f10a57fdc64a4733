"""A deep search whose best are read once more by a cross-encoder."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from conftest import NOW, Clock, Database
from engine.noted import receipt_of
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.domain.quotas import Quotas
from memory_butler.engine.context import build_context
from memory_butler.engine.diagnosis import diagnose
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import find_reranker, memory_on
from memory_butler.engine.recall import Hit, recall, search
from memory_butler.engine.receipts import replay
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.inference import embedder
from memory_butler.inference.cross_encoder import OnnxCrossEncoder
from memory_butler.inference.reranker import BackgroundReranker
from memory_butler.retrieval_config import RerankerConfig, RetrievalConfig
from tiny_cross_encoder import write_cross_encoder

pytestmark = [pytest.mark.anyio, pytest.mark.requirement("SRCH-01")]

QUESTION = "who plays the cello well"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that cares for nothing but how well somebody plays."""
    return write_cross_encoder(tmp_path / "tiny", {"well": 1.0, "plays": 0.25})


@pytest.fixture
async def reading(memory: Memory, folder: Path) -> AsyncIterator[Memory]:
    """The memory, with a reranker that reads three."""
    reranker = BackgroundReranker(OnnxCrossEncoder(folder, 64), 3)
    yield replace(memory, reranker=reranker)
    await reranker.aclose()


async def _fill(memory: Memory, principal: Principal) -> list[UUID]:
    """From the nearest to the question to the farthest."""
    best, _ = await store_fact(memory, principal, "Ann", "music", "plays the cello, who else")
    episode = await store_episode(
        memory, principal, "plays well, the cello", "general", speaker="Bob", occurred_at=NOW
    )
    rule = await store_rule(memory, principal, "praise the cello well, well")
    far, _ = await store_fact(memory, principal, "Zoe", "work", "she mends roofs well well well")
    return [best, episode, rule, far]


def _ids(hits: list[Hit]) -> list[UUID]:
    return [hit.row["id"] for hit in hits]


async def test_what_the_model_read_comes_first_by_its_score(
    memory: Memory, reading: Memory, principal: Principal
) -> None:
    best, episode, rule, far = await _fill(memory, principal)
    plain = await search(memory, principal, QUESTION, mode="deep")
    assert _ids(plain)[-1] == far
    assert all(hit.match.rerank_score is None for hit in plain)
    hits = await search(reading, principal, QUESTION, mode="deep")
    assert _ids(hits) == [rule, episode, best, far]
    assert [hit.match.rerank_score for hit in hits] == [2.0, 1.25, 0.25, None]
    for hit in hits[:3]:
        explained = hit.explain()
        assert hit.place == explained["rerank_score"]
        assert explained["deep_score"] is not None
    assert "rerank_score" not in hits[3].explain()
    assert hits[3].place == hits[3].explain()["deep_score"]
    assert _ids(await search(reading, principal, QUESTION, mode="deep", limit=1)) == [rule]
    # Each of the three searches counted what it served, once.
    counts = {hit.row["id"]: hit.row["reference_count"] for hit in hits}
    (again,) = await search(reading, principal, QUESTION, mode="deep", limit=1)
    assert again.row["reference_count"] == counts[rule] + 2


async def test_the_past_is_read_as_well(
    memory: Memory, reading: Memory, principal: Principal, clock: Clock
) -> None:
    best, episode, rule, far = await _fill(memory, principal)
    then = clock()
    clock.advance(days=1)
    await store_rule(memory, principal, "plays the cello well well well well")
    past = await search(reading.at(then), principal, QUESTION, mode="deep", quiet=True)
    assert _ids(past) == [rule, episode, best, far]
    assert {hit.row["reference_count"] for hit in past} == {0}


async def test_nothing_but_a_deep_search_asks_the_model(
    memory: Memory, reading: Memory, principal: Principal
) -> None:
    await _fill(memory, principal)
    assert reading.reranker is not None
    await reading.reranker.aclose()  # whoever asks it now is told so
    for mode in ("hybrid", "semantic", "keyword"):
        hits = await search(reading, principal, QUESTION, mode=mode)
        assert _ids(hits) == _ids(await search(memory, principal, QUESTION, mode=mode))
    assert await recall(reading, principal, QUESTION)
    block = await build_context(reading, principal, QUESTION, "general")
    played = await replay(reading, principal, receipt_of(block))
    assert (played.text, played.identical) == (block.text, True)
    with pytest.raises(Unavailable):
        await search(reading, principal, QUESTION, mode="deep")


async def test_a_context_with_episodes_of_a_deep_search_is_replayed_without_the_model(
    reading: Memory, principal: Principal
) -> None:
    await _fill(reading, principal)
    await store_episode(reading, principal, "who plays the cello", "general")
    quotas = Quotas(facts=0.4, rules=0.3, episodes=0.3)
    retrieval = RetrievalConfig(default_mode="deep", context_quotas=quotas)
    reading = replace(reading, config=MemoryModuleConfig(retrieval=retrieval))
    block = await build_context(reading, principal, QUESTION, "general")
    said = [hit.match.rerank_score for hit in block.considered if hit.memory_type == "episode"]
    assert said == [1.25, 0.25]
    assert (await build_context(reading, principal, QUESTION, "general")).text == block.text
    assert reading.reranker is not None
    await reading.reranker.aclose()
    assert (await replay(reading, principal, receipt_of(block))).identical


async def test_it_is_configured_by_its_folder(
    memory: Memory,
    principal: Principal,
    database: Database,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The process has one embedding engine, and other tests may have made it with other settings.
    for name in ("engine", "settings"):
        monkeypatch.setattr(embedder._Singleton, name, None)
    await _fill(memory, principal)
    config = MemoryModuleConfig(retrieval=RetrievalConfig(reranker=RerankerConfig(path=folder)))
    async with memory_on(database.runtime_dsn, config, folder) as opened:
        hits = await search(replace(opened, clock=memory.clock), principal, QUESTION, mode="deep")
    assert [hit.match.rerank_score for hit in hits] == [3.0, 2.0, 1.25, 0.25]


async def test_it_is_off_by_default_and_an_empty_folder_is_refused(
    database: Database, tmp_path: Path
) -> None:
    assert find_reranker(MemoryModuleConfig().retrieval.reranker) is None
    config = MemoryModuleConfig(retrieval=RetrievalConfig(reranker=RerankerConfig(path=tmp_path)))
    with pytest.raises(ConfigurationError, match=r"has no model\.onnx and no tokenizer\.json"):
        async with memory_on(database.runtime_dsn, config, tmp_path):
            pass
    (finding,) = [
        one
        for one in await diagnose(Settings(data_dir=tmp_path, memory=config), None)
        if one.name == "reranker"
    ]
    assert finding.state == "failed"
