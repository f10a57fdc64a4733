"""The best of a deep search, read once more by a cross-encoder."""

from collections.abc import Mapping, Sequence
from typing import assert_never
from uuid import UUID

from memory_butler.domain import episodes, facts
from memory_butler.domain.links import MemoryType
from memory_butler.engine.matching import Match
from memory_butler.inference.reranker import BackgroundReranker
from memory_butler.store.rows import Row


async def reranked(
    reranker: BackgroundReranker, question: str, best: Sequence[Match], rows: Mapping[UUID, Row]
) -> list[Match]:
    """Give each match that still has a row the score of its text; the order stays."""
    there = [match for match in best if match.found.id in rows]
    texts = [_indexed(match.memory_type, rows[match.found.id]) for match in there]
    scores = await reranker.scores(question, texts)
    return [match._replace(rerank_score=score) for match, score in zip(there, scores, strict=True)]


def _indexed(memory_type: MemoryType, row: Row) -> str:
    """What the retrievers know of a memory, so that the model reads no less."""
    match memory_type:
        case "episode":
            return episodes.search_text(row["content"], row["speaker"], row["occurred_at"])
        case "fact":
            return facts.search_text(row["subject"], row["predicate"], row["content"])
        case "rule":
            content: str = row["content"]
            return content
        case _:
            assert_never(memory_type)
