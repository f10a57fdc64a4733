"""The operations of `operations/retrieval.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import retrieval as operations
from memory_butler.operations.retrieval import ContextOutput, RecallOutput, SearchOutput


class Retrieval(Sender):
    """What the client can do about retrieval."""

    async def search(
        self,
        query: str,
        *,
        types: list[Literal["episode", "fact", "rule"]] | Unset | None = UNSET,
        scope: str | Unset | None = UNSET,
        mode: Literal["hybrid", "deep", "semantic", "keyword"] | Unset | None = UNSET,
        limit: int | Unset | None = UNSET,
        min_confidence: float | Unset = UNSET,
        min_trust: Literal[
            "user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"
        ]
        | Unset
        | None = UNSET,
        min_relevance: float | Unset | None = UNSET,
        session_id: UUID | Unset | None = UNSET,
        explain: bool | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> SearchOutput:
        """Search memories.

        Find particular episodes, facts or rules by meaning and by words. For the knowledge that
        matters most for what you are about to do, use memory_recall; search when you look for
        something specific, for episodes, or for what recall did not bring.

        Args:
            query: What to look for, in plain words.
            types: Which types; all when left out.
            scope: Your butler name, to see global memories and your own; else all.
            mode: hybrid: meaning and words; deep: also the conversation around, people and
                times, best for episodes.
            limit: How many in all.
            min_confidence: Leave out what has faded below this.
            min_trust: Only what is trusted at least so far; user_said is trusted most,
                untrusted_web least.
            min_relevance: Leave out what bears on it less; 0 shows all.
            session_id: Your session.
            explain: Return every part of every score.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.SEARCH,
            left_in(
                query=query,
                types=types,
                scope=scope,
                mode=mode,
                limit=limit,
                min_confidence=min_confidence,
                min_trust=min_trust,
                min_relevance=min_relevance,
                session_id=session_id,
                explain=explain,
                known_at=known_at,
                as_of=as_of,
            ),
        )

    async def recall(
        self,
        topic: str,
        *,
        scope: str | Unset | None = UNSET,
        limit: int | Unset | None = UNSET,
        min_confidence: float | Unset = UNSET,
        min_trust: Literal[
            "user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"
        ]
        | Unset
        | None = UNSET,
        min_relevance: float | Unset | None = UNSET,
        session_id: UUID | Unset | None = UNSET,
        explain: bool | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> RecallOutput:
        """Recall what matters.

        The facts and rules that matter most for a topic, ranked by relevance, importance,
        recency and confidence. Call it before you answer or act. When you used a fact and
        nothing contradicted it, call memory_confirm; when you followed a rule, report with
        memory_mark_helpful or memory_mark_harmful.

        Args:
            topic: What you are about to do or talk about, in plain words.
            scope: Your butler name, to see global memories and your own; else all.
            limit: How many in all.
            min_confidence: Leave out what has faded below this.
            min_trust: Only what is trusted at least so far; user_said is trusted most,
                untrusted_web least.
            min_relevance: Leave out what bears on it less; 0 shows all.
            session_id: Your session.
            explain: Return every part of every score.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.RECALL,
            left_in(
                topic=topic,
                scope=scope,
                limit=limit,
                min_confidence=min_confidence,
                min_trust=min_trust,
                min_relevance=min_relevance,
                session_id=session_id,
                explain=explain,
                known_at=known_at,
                as_of=as_of,
            ),
        )

    async def context(
        self,
        trigger_prompt: str,
        butler: str,
        *,
        token_budget: int | Unset | None = UNSET,
        min_trust: Literal[
            "user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"
        ]
        | Unset
        | None = UNSET,
        min_relevance: float | Unset | None = UNSET,
        session_id: UUID | Unset | None = UNSET,
        explain: bool | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> ContextOutput:
        """Build a memory block.

        A ready block of text with the best facts and rules for a prompt, within a token budget,
        to be put into a system prompt at the start of a session. Inside a session,
        memory_recall is the better tool.

        Args:
            trigger_prompt: The prompt that the session is about to work on.
            butler: The butler whose session it is; also the scope.
            token_budget: The block has at most four characters a token.
            min_trust: Only what is trusted at least so far; user_said is trusted most,
                untrusted_web least.
            min_relevance: Leave out what bears on it less; 0 shows all.
            session_id: Your session.
            explain: Return what was weighed for the block, with every part of its score.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.CONTEXT,
            left_in(
                trigger_prompt=trigger_prompt,
                butler=butler,
                token_budget=token_budget,
                min_trust=min_trust,
                min_relevance=min_relevance,
                session_id=session_id,
                explain=explain,
                known_at=known_at,
                as_of=as_of,
            ),
        )
