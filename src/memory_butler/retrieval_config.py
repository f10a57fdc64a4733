"""Configuration of finding: `[modules.memory.retrieval]` and the tables in it."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from memory_butler.config_table import Share, Table
from memory_butler.domain import rules
from memory_butler.domain.quotas import Quotas
from memory_butler.domain.rules import Maturity
from memory_butler.domain.scoring import ScoreWeights
from memory_butler.domain.trust import TrustName

SearchMode = Literal["hybrid", "deep", "semantic", "keyword"]
ContextFormat = Literal["standard", "annotated"]


class RerankerConfig(Table):
    """`[modules.memory.retrieval.reranker]`: your own cross-encoder, for deep searches."""

    path: Path | None = Field(
        None, description="A folder with model.onnx and tokenizer.json; without it, none is used."
    )
    candidates: int = Field(
        20, ge=1, le=50, description="So many of the best are read by it, each with the question."
    )
    max_tokens: int = Field(
        256, ge=16, le=512, description="Of question and memory together; what is longer is cut."
    )


class RetrievalConfig(Table):
    """`[modules.memory.retrieval]` (CFG-02, CFG-09)."""

    default_limit: int = Field(20, ge=1, le=200, description="Results where no limit is given.")
    default_mode: SearchMode = Field("hybrid", description="Search mode where none is given.")
    context_token_budget: int = Field(3000, ge=0, le=1_000_000, description="Of memory_context.")
    score_weights: ScoreWeights = Field(
        ScoreWeights(),
        description="What each part of the composite score counts for.",
    )
    maturity_weights: dict[Maturity, Annotated[float, Field(ge=0)]] = Field(
        default_factory=lambda: dict(rules.MATURITY_WEIGHTS),
        description="Factor on a rule's composite score for ordering.",
    )
    min_relevance: Share = Field(
        0.3,
        description="Recall and context leave out what bears on the question with less of a "
        "probability than this; 0 leaves nothing out.",
    )
    context_format: ContextFormat = Field("standard", description="Layout of memory_context.")
    context_quotas: Quotas = Field(
        Quotas(),
        description="Shares of the token budget, together at most 1; 0 turns a section off, and "
        "what one leaves unused goes to the others.",
    )
    rules_share: Share = Field(
        0.35, description="Share of recalled results kept for rules that fit; 0: none."
    )
    hide_repetitions: bool = Field(
        True, description="Leave out of a context what adds nothing to a better line."
    )
    context_min_trust: TrustName = Field(
        "imported",
        description="What is trusted less is not put into a context unless it is asked for.",
    )
    candidate_depth: int = Field(
        20,
        ge=1,
        le=1000,
        description="How many candidates each retriever gives; at least the limit of the call.",
    )
    deep_candidate_depth: int = Field(100, ge=1, le=1000, description="The same in a deep search.")
    reranker: RerankerConfig = Field(
        RerankerConfig.model_construct(),
        description="Your own cross-encoder, which reorders deep searches.",
    )
    index_from: int = Field(5000, ge=0, description="Memories that get an index; 0: by hand.")
    query_cache_size: int = Field(1024, ge=0, description="Query embeddings kept in memory.")
    served_retention_days: float = Field(30, ge=0, description="Days that served text is known.")
    receipt_retention_days: float = Field(30, ge=0, description="Days that receipts are kept.")
    receipt_prompt_characters: int = Field(
        120, ge=0, le=500, description="Beginning of the prompt kept in a receipt; 0: none."
    )

    @field_validator("maturity_weights")
    @classmethod
    def _whole(cls, given: dict[Maturity, float]) -> dict[Maturity, float]:
        """Every maturity has a weight: those left out keep their default."""
        return dict(rules.MATURITY_WEIGHTS) | given

    def weights(self) -> ScoreWeights:
        """What each part of the composite score counts for."""
        return self.score_weights
