"""Who talks with whom in a journal: what the first conversation in a terminal asks for."""

import asyncio

from pydantic import Field

from memory_butler.companions.opening import Companion, use
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.journal.introduction import (
    Introduction,
    introduce,
    introduction_of,
    manner_of,
    name_of,
    zone_of,
)
from memory_butler.operations.journal import OfCompanion
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Output


class IntroduceInput(OfCompanion):
    """What is known now; what is left out stays as it was, and an empty text takes it back."""

    name: str | None = Field(None, description="What the companion is called.")
    user: str | None = Field(None, description="What the user is called.")
    time_zone: str | None = Field(
        None, description='Where the user lives: a time zone or its city, such as "Lisbon".'
    )
    manner: str | None = Field(
        None, description='How the user wants to be talked with, such as "warm and brief".'
    )


class IntroduceOutput(Output):
    """What is known of the two; empty where nobody has said."""

    name: str
    user: str
    time_zone: str
    manner: str
    wake_context: bool = Field(
        description="Whether the wake context tells it; false where its author has written its "
        "beginning, which stays."
    )


@operation(
    "Say who is there",
    Route("POST", "/api/journal/{companion}/introduction"),
    needs="write",
    toolset="journal",
    idempotent=True,
)
async def journal_introduce(
    memory: Memory, principal: Principal, given: IntroduceInput
) -> IntroduceOutput:
    """Tell the journal the companion's name, the user's, where the user lives and how they want to
    be talked with. Ask for them in a first conversation. The prompt begins with it."""

    def checked() -> None:
        """Before the journal is opened: a typing error makes no companion."""
        zone_of(given.time_zone or "")
        manner_of(given.manner or "")
        name_of(given.name or "")
        name_of(given.user or "")

    def run(companion: Companion) -> IntroduceOutput:
        old, policy = introduction_of(companion.file), companion.policy
        new = Introduction(
            old.name if given.name is None else name_of(given.name, policy.user_actors),
            old.user if given.user is None else name_of(given.user, policy.assistant_actors),
            old.zone if given.time_zone is None else zone_of(given.time_zone),
            old.manner if given.manner is None else manner_of(given.manner),
        )
        written = introduce(companion.file, new, companion.live.clock())
        return IntroduceOutput.copy_of(new, time_zone=new.zone, wake_context=written is not None)

    # Off the event loop: the names of all time zones are read from the disk.
    await asyncio.to_thread(checked)
    return await use(memory, principal, given.companion, run, create=True)
