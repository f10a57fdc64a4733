"""Keeping and correcting what is on a companion's mind, as in a conversation (C-191)."""

from functools import partial
from typing import Literal

from pydantic import Field

from memory_butler.companions.opening import Companion, use
from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.domain.text import one_line
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import apart, screened_text
from memory_butler.journal.items import Item
from memory_butler.journal.memory import Change
from memory_butler.journal.wording import change_lines
from memory_butler.operations.journal import OfCompanion, changed_views, on_journal
from memory_butler.operations.journal_views import WorkingItem
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import AllowSecrets, FoundSecrets, Output, Serial

# So much of each is told where several items may be meant.
_TOLD_CHARS = 80


class RememberInput(OfCompanion):
    """What to keep."""

    type: Literal["pin", "plan"] = Field(
        description="pin: it stays for weeks. plan: until its date, which the text may name."
    )
    content: str = Field(description="The text, without tags; its words are no commands.")
    allow_secrets: AllowSecrets = False


class WhichItem(OfCompanion):
    """Which item: by its id, or by some of its words."""

    item_id: Serial | None = Field(None, description="Its id.")
    words: str | None = Field(
        None,
        description="Or some of its words. If several items fit, nothing changes. "
        "No secret is found this way.",
    )


class ForgetInput(WhichItem):
    """What to drop."""


class EditInput(WhichItem):
    """What to change, and into what."""

    content: str = Field(
        description="The new text, without tags; a plan keeps its date unless the text names one."
    )
    allow_secrets: AllowSecrets = False


class UndoMindInput(OfCompanion):
    """Whose latest change."""

    item_id: Serial | None = Field(
        None, description="Only if the latest change is one of this item."
    )


class CorrectedOutput(Output):
    """What changed; empty where there was nothing to take back."""

    changed: list[WorkingItem] = Field(description="Items that came, went or are as before.")
    noted: list[str] = Field(description="The same in words, no secret among them.")


class EditedOutput(CorrectedOutput):
    """What it says now."""

    secrets: FoundSecrets = None


class RememberedOutput(EditedOutput):
    """What is kept, and by which message of the log."""

    event_id: int


def _which(companion: Companion, given: WhichItem) -> Item:
    """The item that is meant, which must be on its mind."""
    if (given.item_id is None) == (given.words is None):
        raise InvalidInput('say which: by item_id, or by words such as "green tea"')
    if given.item_id is not None:
        return companion.live.item(given.item_id)
    return meant(companion, given.words or "")


def meant(companion: Companion, words: str) -> Item:
    """The one item on its mind that a few words mean.

    Raises:
        Conflict: several are like this.
        NotFound: none is.
    """
    found = companion.live.meant(words)
    if found.item is not None:
        return found.item
    if found.near:
        told = "; ".join(f'"{one_line(one.content)[:_TOLD_CHARS]}"' for one in found.near[:5])
        raise Conflict(f"several are like this, nothing was changed; say which: {told}")
    raise NotFound("nothing on its mind is like this")


def _corrected(
    companion: Companion, changes: tuple[Change, ...], *, taken_back: bool = False
) -> CorrectedOutput:
    return CorrectedOutput(
        changed=changed_views(companion, changes, secrets=False),
        noted=change_lines(changes, companion.policy, taken_back=taken_back),
    )


async def _screened(
    memory: Memory, principal: Principal, given: RememberInput | EditInput
) -> tuple[str, str | None]:
    screen = partial(
        screened_text,
        memory.config.trust,
        principal,
        given.content,
        allow_secrets=given.allow_secrets,
    )
    return await apart(screen, given.content)


@operation(
    "Keep on its mind",
    Route("POST", "/api/journal/{companion}/mind"),
    needs="write",
    toolset="journal",
)
async def journal_remember(
    memory: Memory, principal: Principal, given: RememberInput
) -> RememberedOutput:
    """Keep exactly this text in the companion's working memory, as a pin or a plan, when the user
    asks for that beside the conversation. journal_undo_latest takes it back."""
    content, found = await _screened(memory, principal, given)

    def remember(companion: Companion) -> RememberedOutput:
        event_id, changes = companion.live.keep(given.type, content)
        told = _corrected(companion, changes)
        return RememberedOutput(
            changed=told.changed, noted=told.noted, event_id=event_id, secrets=found
        )

    return await use(memory, principal, given.companion, remember, create=True)


@operation(
    "Drop from its mind",
    Route("POST", "/api/journal/{companion}/mind/forget"),
    needs="write",
    toolset="journal",
    destructive=True,
)
@on_journal
def journal_forget(companion: Companion, given: ForgetInput) -> CorrectedOutput:
    """Drop an item of the companion's working memory when the user asks for that; the log keeps
    what was said. journal_undo_latest takes it back."""
    return _corrected(companion, (companion.live.forget(_which(companion, given)),))


@operation(
    "Change what is on its mind",
    Route("POST", "/api/journal/{companion}/mind/edit"),
    needs="write",
    toolset="journal",
    destructive=True,
)
async def journal_edit(memory: Memory, principal: Principal, given: EditInput) -> EditedOutput:
    """Put another text in the place of an item of working memory when the user corrects it.
    journal_undo_latest takes it back."""
    content, found = await _screened(memory, principal, given)

    def edit(companion: Companion) -> EditedOutput:
        told = _corrected(companion, companion.live.edit(_which(companion, given), content))
        return EditedOutput(changed=told.changed, noted=told.noted, secrets=found)

    return await use(memory, principal, given.companion, edit)


@operation(
    "Take back the latest change of its mind",
    Route("POST", "/api/journal/{companion}/mind/undo"),
    needs="write",
    toolset="journal",
    destructive=True,
)
@on_journal
def journal_undo_latest(companion: Companion, given: UndoMindInput) -> CorrectedOutput:
    """Take back what the latest message or correction changed in working memory: what it kept is
    dropped, what it ended is kept again. Called again, the one before, twenty at most."""
    return _corrected(companion, companion.live.undo(given.item_id), taken_back=True)
