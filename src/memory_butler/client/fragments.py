"""The operations of `operations/fragments.py`, as methods. Written by tools/make_docs.py."""

from datetime import datetime
from typing import Literal

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import fragments as operations
from memory_butler.operations.fragments import (
    FragmentOutput,
    GraphOutput,
    MaintainOutput,
    RunOutput,
    RunsOutput,
    UndoOutput,
)


class Fragments(Sender):
    """What the client can do about fragments."""

    async def journal_fragments(
        self,
        *,
        companion: str | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> GraphOutput:
        """Fragments of a journal.

        What the companion has come to know, as a graph; now, or as it was known then.

        Args:
            companion: The companion's name.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.GRAPH,
            left_in(companion=companion, known_at=known_at),
        )

    async def journal_fragment(
        self,
        key: str,
        *,
        companion: str | Unset = UNSET,
        known_at: datetime | Unset | None = UNSET,
    ) -> FragmentOutput:
        """One fragment.

        A fragment with its tiers, edges, former states, and the messages it rests on.

        Args:
            companion: The companion's name.
            key: Its key, exactly.
            known_at: Memory as it was known at this moment.
        """
        return await self._send(
            operations.FRAGMENT,
            left_in(companion=companion, key=key, known_at=known_at),
        )

    async def journal_runs(
        self,
        *,
        companion: str | Unset = UNSET,
        limit: int | Unset = UNSET,
    ) -> RunsOutput:
        """Maintenance runs.

        When the journal was compiled, by which model, and how that went.

        Args:
            companion: The companion's name.
            limit: How many, the newest first.
        """
        return await self._send(
            operations.RUNS,
            left_in(companion=companion, limit=limit),
        )

    async def journal_run(
        self,
        run_id: int,
        *,
        companion: str | Unset = UNSET,
    ) -> RunOutput:
        """One maintenance run.

        A run with everything that it changed, before and after.

        Args:
            companion: The companion's name.
        """
        return await self._send(
            operations.RUN,
            left_in(companion=companion, run_id=run_id),
        )

    async def journal_maintain(
        self,
        *,
        companion: str | Unset = UNSET,
        run_type: Literal["weekly", "monthly", "manual", "bootstrap"] | Unset = UNSET,
        dry_run: bool | Unset = UNSET,
    ) -> MaintainOutput:
        """Compile the journal.

        Maintenance: let the server's language model read what was said since the last run and
        bring the fragments up to date. Runs on a schedule where configured; call it when asked.

        Args:
            companion: The companion's name.
            run_type: monthly reviews and prunes as well.
            dry_run: Only tell what it would do; the model is asked.
        """
        return await self._send(
            operations.MAINTAIN,
            left_in(companion=companion, run_type=run_type, dry_run=dry_run),
        )

    async def journal_undo(
        self,
        run_id: int,
        *,
        companion: str | Unset = UNSET,
    ) -> UndoOutput:
        """Take a run back.

        Undo what a maintenance run changed, if no later run has built on it.

        Args:
            companion: The companion's name.
        """
        return await self._send(
            operations.UNDO,
            left_in(companion=companion, run_id=run_id),
        )
