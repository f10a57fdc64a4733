"""The loop and the maintenance with a real language model, a very small one.

It shows transport, schema, checks and effects. What the model says makes little sense, so nothing
here asks about it.
"""

from dataclasses import dataclass, replace

import pytest
from bench.consolidation import Narrowed

from conftest import Clock
from inference.language_models.local_model import LocalModel
from inference.language_models.local_model import local_model as local_model
from memory_butler.inference.language_models.port import Completion, LanguageModel, Request
from memory_butler.journal.conversation import reply
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.maintenance.run import Limits, maintain
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import read

pytestmark = pytest.mark.anyio


@dataclass(frozen=True, slots=True)
class Brief:
    """The model held to a short answer: left to itself it may never end."""

    model: LanguageModel
    name: str = "brief"

    async def complete(self, request: Request) -> Completion:
        said = {"type": "string", "maxLength": 40}
        schema = {"type": "object", "properties": {"say": said}, "required": ["say"]}
        return await self.model.complete(replace(request, schema=schema))


async def test_it_answers_and_its_answer_is_remembered(
    file: JournalFile, clock: Clock, local_model: LocalModel
) -> None:
    policy = JournalPolicy(untagged_reply_is_say=True)
    live = LiveJournal(file, policy, clock)
    live.log("Hello! What is a garden?", "user")
    done = await reply(live, Brief(local_model.adapter()), policy, max_tokens=200)
    said = live.event(done.logged.event_id)
    assert said is not None
    assert (said.actor, said.content) == ("assistant", done.completion.text)
    assert done.completion.tokens_out > 0
    # Held to JSON, it wrote its tag so; the next prompt knows what it said.
    (piece,) = read(said.content).pieces
    assert piece.kind == "say"
    live.log("And?", "user")
    assert piece.text.splitlines()[0] in live.assemble().user


@pytest.mark.nightly
@pytest.mark.requirement("JFRAG-02", "JST-02")
async def test_it_compiles_within_the_schema(
    desk: MaintenanceDesk, live: LiveJournal, local_model: LocalModel
) -> None:
    live.log("Ada dug the garden behind the house in March.", "user")
    live.log("<say>Ada likes the garden.</say>", "assistant")
    model = Narrowed(local_model.adapter(), items=1)
    _, proposal = await maintain(
        desk, model, "bootstrap", JournalPolicy(), Limits(portion=3_000, output=600)
    )
    assert proposal is not None
    (run,) = desk.runs()
    assert run.completed_at is not None
    assert run.report is not None
    assert run.report.tokens_in > 500
    assert run.report.events == 2
    # Whatever it proposed was either done, and rests on the messages, or refused with a reason.
    assert proposal.operations or run.report.refused
    for fragment in desk.fragments().values():
        assert set(fragment.sources) <= {1, 2}
