"""The operations of `operations/playbook.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import playbook as operations
from memory_butler.operations.playbook import EditedRule, RuleDetail, RuleList


class Playbook(Sender):
    """What the client can do about playbook."""

    async def rules_list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        since: datetime | Unset | None = UNSET,
        until: datetime | Unset | None = UNSET,
        q: str | Unset | None = UNSET,
        scope: str | Unset | None = UNSET,
        butler: str | Unset | None = UNSET,
        source_butler: str | Unset | None = UNSET,
        maturity: list[Literal["candidate", "established", "proven", "anti_pattern"]]
        | Unset
        | None = UNSET,
        state: Literal["kept", "in_use", "fading", "disabled", "forgotten", "all"] | Unset = UNSET,
        min_confidence: float | Unset | None = UNSET,
        min_trust: Literal[
            "user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"
        ]
        | Unset
        | None = UNSET,
        tag: str | Unset | None = UNSET,
        sort: Literal["created", "effectiveness", "applied", "confidence", "maturity"]
        | Unset = UNSET,
        direction: Literal["asc", "desc"] | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> RuleList:
        """List rules.

        Rules by any of these criteria, as they are now; no reference is counted.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            since: Not before this moment.
            until: Before this moment.
            q: Words of the content; the last may be unfinished.
            scope: Exactly this scope, such as "global".
            butler: What this butler sees: global, and its own.
            source_butler: Learned by this butler.
            maturity: Of one of these maturities.
            state: kept: not forgotten; in_use: neither forgotten nor disabled.
            min_confidence: Effective confidence of at least this.
            min_trust: Only what is trusted at least so far; user_said is trusted most,
                untrusted_web least.
            tag: Has this tag.
            sort: What the list is ordered by.
            direction: desc: the newest, or most, first.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.LIST,
            left_in(
                limit=limit,
                offset=offset,
                since=since,
                until=until,
                q=q,
                scope=scope,
                butler=butler,
                source_butler=source_butler,
                maturity=maturity,
                state=state,
                min_confidence=min_confidence,
                min_trust=min_trust,
                tag=tag,
                sort=sort,
                direction=direction,
                known_at=known_at,
            ),
        )

    async def rule_look(
        self,
        rule_id: UUID,
        *,
        known_at: datetime | Unset | None = UNSET,
    ) -> RuleDetail:
        """Look at a rule.

        One rule in whatever state it is, with the history of its use, what it came from, and
        how its confidence fades. No reference is counted.

        Args:
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.LOOK,
            left_in(rule_id=rule_id, known_at=known_at),
        )

    async def rule_edit(
        self,
        rule_id: UUID,
        *,
        expected_revision: str | Unset | None = UNSET,
        content: str | Unset | None = UNSET,
        scope: str | Unset | None = UNSET,
        tags: list[str] | Unset | None = UNSET,
        trust: Literal["user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"]
        | Unset
        | None = UNSET,
        allow_secrets: bool | Unset = UNSET,
    ) -> EditedRule:
        """Edit a rule.

        Give a rule another text, scope or tags. It is a candidate again, with its counters
        kept. With If-Match the edit is refused (409) when somebody else was faster, and the
        answer has the rule as it is now.

        Args:
            expected_revision: The revision that the edit was made from: refused if it is no
                longer current.
            content: What to do and when.
            scope: "global", or the one butler that it is for.
            tags: Words to group rules by.
            trust: On whose word it says something else. user_said: the user corrects it;
                left out: an agent's, or trusted as little as what it corrects.
            allow_secrets: Keys and passwords in it are not masked.
        """
        return await self._send(
            operations.EDIT,
            left_in(
                expected_revision=expected_revision,
                rule_id=rule_id,
                content=content,
                scope=scope,
                tags=tags,
                trust=trust,
                allow_secrets=allow_secrets,
            ),
        )

    async def rule_move(
        self,
        rule_id: UUID,
        act: Literal["promote", "demote", "disable", "enable"],
        *,
        expected_revision: str | Unset | None = UNSET,
    ) -> EditedRule:
        """Move a rule by hand.

        Promote or demote a rule by one step, or switch it off or on, whatever its counts say. A
        disabled rule is left out of retrieval as if it were forgotten.

        Args:
            expected_revision: The revision that the edit was made from: refused if it is no
                longer current.
            act: Promote or demote by one step, switch off or on.
        """
        return await self._send(
            operations.MOVE,
            left_in(expected_revision=expected_revision, rule_id=rule_id, act=act),
        )
