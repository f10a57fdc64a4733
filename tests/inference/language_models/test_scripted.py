"""The model with hand-written replies."""

import pytest

from memory_butler.inference.language_models.port import (
    LanguageModel,
    ModelRejectedRequest,
    ModelTimedOut,
    Request,
)
from memory_butler.inference.language_models.scripted import ScriptedModel

REQUEST = Request("Be brief.", "Ada's secret", None, 100)


@pytest.mark.anyio
async def test_it_gives_its_replies_in_order() -> None:
    scripted = ScriptedModel(["one", ModelTimedOut("too slow"), "three"])
    model: LanguageModel = scripted
    assert (await model.complete(REQUEST)).text == "one"
    with pytest.raises(ModelTimedOut):
        await model.complete(REQUEST)
    done = await model.complete(REQUEST)
    assert (done.text, done.cost_usd) == ("three", None)
    assert done.tokens_in > 0
    with pytest.raises(ModelRejectedRequest, match="3 replies"):
        await model.complete(REQUEST)
    assert scripted.calls == [REQUEST] * 4


def test_a_request_does_not_show_its_text() -> None:
    assert "secret" not in repr(REQUEST)
