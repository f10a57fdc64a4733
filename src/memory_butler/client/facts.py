"""The operations of `operations/facts.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import facts as operations
from memory_butler.operations.facts import EditedFact, FactDetail, FactList, StoredFact


class Facts(Sender):
    """What the client can do about facts."""

    async def store_fact(
        self,
        subject: str,
        predicate: str,
        content: str,
        *,
        importance: float | Unset = UNSET,
        permanence: Literal["permanent", "stable", "standard", "volatile", "ephemeral"]
        | Unset = UNSET,
        scope: str | Unset = UNSET,
        tags: list[str] | Unset | None = UNSET,
        entity_id: UUID | Unset | None = UNSET,
        valid_from: datetime | Unset | None = UNSET,
        valid_until: datetime | Unset | None = UNSET,
        source_butler: str | Unset | None = UNSET,
        source_episode_id: UUID | Unset | None = UNSET,
        trust: Literal["user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"]
        | Unset
        | None = UNSET,
        allow_secrets: bool | Unset = UNSET,
    ) -> StoredFact:
        """Store a fact.

        Record something true about the user or the world. One fact is active per subject,
        predicate and scope, and storing another supersedes it: reuse subject and predicate when
        a fact has changed, choose a new predicate for something additional. For a known fact
        that still holds, call memory_confirm instead.

        Args:
            subject: Whom or what it is about, for example "user".
            predicate: Which property, in snake_case: "favorite_color".
            content: The value, readable by itself: "Prefers dark green".
            importance: 1 (trivial) to 10 (vital).
            permanence: How long it holds unconfirmed. permanent: identity, medical; stable:
                long-term preferences, work; standard: interests, projects; volatile: plans,
                weeks; ephemeral: today.
            scope: "global", or the one butler that it is for.
            tags: Words to group facts by.
            entity_id: The entity that the subject is, from entity_resolve or entity_create.
            valid_from: Since when it is true; now if left out.
            valid_until: Until when, if that is known.
            source_butler: The butler that learned it.
            source_episode_id: The episode that it was drawn from.
            trust: Where it is from. user_said: the user's own words; agent_inferred, the
                default: your own account. Nothing drawn from it is ever trusted further.
            allow_secrets: Keys and passwords in it are not masked.
        """
        return await self._send(
            operations.STORE_FACT,
            left_in(
                subject=subject,
                predicate=predicate,
                content=content,
                importance=importance,
                permanence=permanence,
                scope=scope,
                tags=tags,
                entity_id=entity_id,
                valid_from=valid_from,
                valid_until=valid_until,
                source_butler=source_butler,
                source_episode_id=source_episode_id,
                trust=trust,
                allow_secrets=allow_secrets,
            ),
        )

    async def facts_list(
        self,
        *,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        since: datetime | Unset | None = UNSET,
        until: datetime | Unset | None = UNSET,
        q: str | Unset | None = UNSET,
        subject: str | Unset | None = UNSET,
        scope: str | Unset | None = UNSET,
        butler: str | Unset | None = UNSET,
        source_butler: str | Unset | None = UNSET,
        entity_id: UUID | Unset | None = UNSET,
        permanence: list[Literal["permanent", "stable", "standard", "volatile", "ephemeral"]]
        | Unset
        | None = UNSET,
        validity: Literal[
            "active",
            "fading",
            "waiting",
            "superseded",
            "expired",
            "retracted",
            "forgotten",
            "archive",
            "all",
        ]
        | Unset = UNSET,
        min_confidence: float | Unset | None = UNSET,
        min_trust: Literal[
            "user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"
        ]
        | Unset
        | None = UNSET,
        tag: str | Unset | None = UNSET,
        sort: Literal["created", "confirmed", "confidence", "importance", "references", "subject"]
        | Unset = UNSET,
        direction: Literal["asc", "desc"] | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> FactList:
        """List facts.

        Facts by any of these criteria, as they are now; no reference is counted.

        Args:
            limit: How many, at most 200.
            offset: How many to pass over.
            since: Not before this moment.
            until: Before this moment.
            q: Words of subject, predicate or content; the last may be unfinished.
            subject: Exactly this subject.
            scope: Exactly this scope, such as "global".
            butler: What this butler sees: global, and its own.
            source_butler: Learned by this butler.
            entity_id: About this entity.
            permanence: Of one of these levels.
            validity: active includes fading; waiting is in doubt until somebody accepts it;
                archive is superseded, expired and retracted.
            min_confidence: Effective confidence of at least this.
            min_trust: Only what is trusted at least so far; user_said is trusted most,
                untrusted_web least.
            tag: Has this tag.
            sort: What the list is ordered by.
            direction: desc: the newest, or most, first.
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.LIST,
            left_in(
                limit=limit,
                offset=offset,
                since=since,
                until=until,
                q=q,
                subject=subject,
                scope=scope,
                butler=butler,
                source_butler=source_butler,
                entity_id=entity_id,
                permanence=permanence,
                validity=validity,
                min_confidence=min_confidence,
                min_trust=min_trust,
                tag=tag,
                sort=sort,
                direction=direction,
                known_at=known_at,
                as_of=as_of,
            ),
        )

    async def fact_look(
        self,
        fact_id: UUID,
        *,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> FactDetail:
        """Look at a fact.

        One fact in whatever state it is: its confidence over time, what it came from, what it
        replaced and what replaced it, the rules that it supports. No reference is counted.

        Args:
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.LOOK,
            left_in(fact_id=fact_id, known_at=known_at, as_of=as_of),
        )

    async def fact_edit(
        self,
        fact_id: UUID,
        *,
        expected_revision: str | Unset | None = UNSET,
        subject: str | Unset | None = UNSET,
        predicate: str | Unset | None = UNSET,
        content: str | Unset | None = UNSET,
        importance: float | Unset | None = UNSET,
        permanence: Literal["permanent", "stable", "standard", "volatile", "ephemeral"]
        | Unset
        | None = UNSET,
        scope: str | Unset | None = UNSET,
        tags: list[str] | Unset | None = UNSET,
        entity_id: UUID | Unset | None = UNSET,
        valid_from: datetime | Unset | None = UNSET,
        valid_until: datetime | Unset | None = UNSET,
        trust: Literal["user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"]
        | Unset
        | None = UNSET,
        allow_secrets: bool | Unset = UNSET,
    ) -> EditedFact:
        """Edit a fact.

        Correct an active fact. The corrected one is a new fact, with an id of its own, that
        supersedes it and inherits whatever is left out. With If-Match the edit is refused (409)
        when somebody else was faster, and the answer has the fact that holds now.

        Args:
            expected_revision: The revision that the edit was made from: refused if it is no
                longer current.
            subject: Whom or what it is about.
            predicate: Which property, in snake_case.
            content: The value, readable by itself.
            importance: 1 (trivial) to 10 (vital).
            permanence: How long it holds unconfirmed.
            scope: "global", or the one butler that it is for.
            tags: Words to group facts by.
            entity_id: The entity that the subject is; null where it is none.
            valid_from: Since when it is true; left out, the edit corrects what was said.
            valid_until: Until when; null where no end is known.
            trust: On whose word it says something else. user_said: the user corrects it;
                left out: an agent's, or trusted as little as what it corrects.
            allow_secrets: Keys and passwords in it are not masked.
        """
        return await self._send(
            operations.EDIT,
            left_in(
                expected_revision=expected_revision,
                fact_id=fact_id,
                subject=subject,
                predicate=predicate,
                content=content,
                importance=importance,
                permanence=permanence,
                scope=scope,
                tags=tags,
                entity_id=entity_id,
                valid_from=valid_from,
                valid_until=valid_until,
                trust=trust,
                allow_secrets=allow_secrets,
            ),
        )

    async def fact_accept(
        self,
        fact_id: UUID,
        *,
        known_at: datetime | Unset | None = UNSET,
        as_of: datetime | Unset | None = UNSET,
    ) -> EditedFact:
        """Accept a fact that waits.

        Believe a statement that memory holds back because its evidence is in doubt. It becomes
        active and supersedes what it would have replaced. Forget it to dismiss it.

        Args:
            known_at: Memory as it was known at this moment.
            as_of: What was true at this moment, as far as is known.
        """
        return await self._send(
            operations.ACCEPT,
            left_in(fact_id=fact_id, known_at=known_at, as_of=as_of),
        )
