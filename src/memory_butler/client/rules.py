"""The operations of `operations/rules.py`, as methods. Written by tools/make_docs.py."""

from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import rules as operations
from memory_butler.operations.rules import MarkedRule, StoredRule


class Rules(Sender):
    """What the client can do about rules."""

    async def store_rule(
        self,
        content: str,
        *,
        scope: str | Unset = UNSET,
        tags: list[str] | Unset | None = UNSET,
        trust: Literal["user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"]
        | Unset
        | None = UNSET,
        allow_secrets: bool | Unset = UNSET,
    ) -> StoredRule:
        """Store a rule.

        Record a lesson on how to behave, learned from experience. It starts as a candidate and
        earns trust as memory_mark_helpful reports come in. For what is true rather than what to
        do, use memory_store_fact.

        Args:
            content: What to do and when: "Confirm before sending messages."
            scope: "global", or the one butler that it is for.
            tags: Words to group rules by.
            trust: Where it is from. user_said: the user's own words; agent_inferred, the
                default: your own account. Nothing drawn from it is ever trusted further.
            allow_secrets: Keys and passwords in it are not masked.
        """
        return await self._send(
            operations.STORE_RULE,
            left_in(
                content=content, scope=scope, tags=tags, trust=trust, allow_secrets=allow_secrets
            ),
        )

    async def mark_helpful(
        self,
        rule_id: UUID,
    ) -> MarkedRule:
        """A rule helped.

        Report that you followed a rule and it worked. Enough such reports promote the rule.
        Call it once for each time that you applied the rule.
        """
        return await self._send(
            operations.MARK_HELPFUL,
            left_in(rule_id=rule_id),
        )

    async def mark_harmful(
        self,
        rule_id: UUID,
        *,
        reason: str | Unset | None = UNSET,
    ) -> MarkedRule:
        """A rule did harm.

        Report that you followed a rule and it caused a problem, with the reason. Harm weighs
        four times as much as success; a rule that keeps doing harm becomes a warning.

        Args:
            reason: What went wrong; kept for the warning.
        """
        return await self._send(
            operations.MARK_HARMFUL,
            left_in(rule_id=rule_id, reason=reason),
        )
