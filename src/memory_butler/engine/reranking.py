"""The best of a deep search, read once more by a cross-encoder."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from memory_butler.engine.indexing import text_of_row
from memory_butler.engine.matching import Match
from memory_butler.inference.reranker import BackgroundReranker
from memory_butler.store.rows import Row


async def reranked(
    reranker: BackgroundReranker, question: str, best: Sequence[Match], rows: Mapping[UUID, Row]
) -> list[Match]:
    """Give each match that still has a row the score of its text; the order stays."""
    there = [match for match in best if match.found.id in rows]
    # What the retrievers know of a memory, so that the model reads no less.
    texts = [text_of_row(match.memory_type, rows[match.found.id]) for match in there]
    scores = await reranker.scores(question, texts)
    return [match._replace(rerank_score=score) for match, score in zip(there, scores, strict=True)]
