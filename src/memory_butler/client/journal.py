"""The operations of `operations/journal.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import journal as operations
from memory_butler.operations.journal import (
    CompanionsOutput,
    EndSessionOutput,
    LogOutput,
    MindOutput,
    PlansOutput,
    StreamOutput,
)
from memory_butler.operations.journal_views import AssembledPrompt, RecalledFragment


class Journal(Sender):
    """What the client can do about journal."""

    async def journal_companions(
        self,
    ) -> CompanionsOutput:
        """List companions.

        The companions that keep a journal here.
        """
        return await self._send(
            operations.COMPANIONS,
            {},
        )

    async def journal_log(
        self,
        content: str,
        *,
        companion: str | Unset = UNSET,
        actor: str | Unset | None = UNSET,
        image_path: str | Unset | None = UNSET,
        allow_secrets: bool | Unset = UNSET,
    ) -> LogOutput:
        """Log a message.

        Write a message of the conversation into the companion's journal, and do what its tags
        say. Log the user's message first, then journal_prompt, then your reply with actor
        "assistant". Tags: <say>, <do>, <narrate> for what is shown; <feeling>, <thought>,
        <pattern>, <desc>, <plan due="…">, <pin>, <secret> for what stays on your mind;
        plan>done …, pin>drop …, secret>reveal … on a line of their own; recall(key) and plans()
        are answered in the next prompt.

        Args:
            companion: The companion's name.
            content: The message as it was sent, with its tags.
            actor: Who sent it: assistant or user, or a name of the configuration; the user
                when left out.
            image_path: Where its picture lies.
            allow_secrets: Keys and passwords in it are not masked.
        """
        return await self._send(
            operations.LOG,
            left_in(
                companion=companion,
                content=content,
                actor=actor,
                image_path=image_path,
                allow_secrets=allow_secrets,
            ),
        )

    async def journal_events(
        self,
        *,
        companion: str | Unset = UNSET,
        before: int | Unset | None = UNSET,
        actor: str | Unset | None = UNSET,
        tag: str | Unset | None = UNSET,
        limit: int | Unset = UNSET,
        secrets: bool | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> StreamOutput:
        """Read the log.

        The messages of a journal, the newest first, by speaker or tag.

        Args:
            companion: The companion's name.
            before: Only those before this one, by id.
            actor: Of this speaker alone.
            tag: With this tag alone, such as plan or say.
            limit: How many at most.
            secrets: Whether the text of secrets is told.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.STREAM,
            left_in(
                companion=companion,
                before=before,
                actor=actor,
                tag=tag,
                limit=limit,
                secrets=secrets,
                known_at=known_at,
            ),
        )

    async def journal_mind(
        self,
        *,
        companion: str | Unset = UNSET,
        secrets: bool | Unset = UNSET,
        past: int | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> MindOutput:
        """What is on its mind.

        The companion's working memory: feelings, thoughts, plans, pins, with scores.

        Args:
            companion: The companion's name.
            secrets: Whether the text of secrets is told.
            past: How many items that are over, as well.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.MIND,
            left_in(companion=companion, secrets=secrets, past=past, known_at=known_at),
        )

    async def journal_prompt(
        self,
        *,
        companion: str | Unset = UNSET,
        event_id: int | Unset | None = UNSET,
        secrets: bool | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> AssembledPrompt:
        """Assemble the prompt.

        The prompt for the companion's answer to the latest message: who it is, what it knows,
        what lingers, what it looked up, what was said, within its caps. Changes nothing.

        Args:
            companion: The companion's name.
            event_id: The latest of a user when left out.
            secrets: Whether secrets are told: to the companion; false to look at it only.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.PROMPT,
            left_in(companion=companion, event_id=event_id, secrets=secrets, known_at=known_at),
        )

    async def journal_recall(
        self,
        key: str,
        *,
        companion: str | Unset = UNSET,
        deep: bool | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> RecalledFragment:
        """Look up a key.

        What the companion knows of a key, and of what is connected with it.

        Args:
            companion: The companion's name.
            key: A key of the ambient prose, as in its brackets.
            deep: Every detail, instead of the story.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.RECALL,
            left_in(companion=companion, key=key, deep=deep, known_at=known_at),
        )

    async def journal_plans(
        self,
        *,
        companion: str | Unset = UNSET,
        topic: str | Unset | None = UNSET,
        when: str | Unset | None = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> PlansOutput:
        """Look up plans.

        Everything active, what is due first: by topic, or by a phrase for the time.

        Args:
            companion: The companion's name.
            topic: A fragment's key, or words of the item.
            when: When it is due, such as "next tuesday".
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.PLANS,
            left_in(companion=companion, topic=topic, when=when, known_at=known_at),
        )

    async def journal_end_session(
        self,
        *,
        companion: str | Unset = UNSET,
    ) -> EndSessionOutput:
        """Close the session.

        Say that the conversation is over for now. Where the bridge to memory is on, what was
        said becomes an episode; otherwise nothing happens.

        Args:
            companion: The companion's name.
        """
        return await self._send(
            operations.END_SESSION,
            left_in(companion=companion),
        )
