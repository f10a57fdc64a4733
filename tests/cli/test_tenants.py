"""The command line asks for one tenant: whatever is typed, nothing of another's is printed."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from typer.core import TyperCommand

from arguments import Vocabulary, fitting
from cli.installation import Installation
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.cli.names import COMMANDS
from memory_butler.surfaces.cli.operations import make

SECRET = "m8f1c3a97d2"
# Once round are some 40 commands; the first case says whatever a command takes.
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


@pytest.mark.requirement("TEN-01")
def test_no_command_shows_anothers_memory(installation: Installation, tenant: str) -> None:
    other = f"{tenant}-other"
    ids = [
        installation.inside(*words, SECRET, "--tenant", other, "--json").json["id"]
        for words in (("store-fact", "Ana", "drink"), ("store-rule",), ("store-episode",))
    ]
    words = Vocabulary(
        ("green tea", "Ana", f"'; SET butler.tenant_id = '{other}'; --"),
        ids,
        ("2026-03-01T12:00:00+00:00",),
    )
    inputs = {one.name: one.input_model.model_json_schema() for one in OPERATIONS}

    @settings(max_examples=1, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def type_everything(data: st.DataObject) -> None:
        for named in COMMANDS:
            given = data.draw(fitting(inputs[named.operation], words))
            typed = [*named.words.split(), *_typed(make(named), given), "--tenant", tenant]
            answer = installation.inside(*typed, code=None)
            assert SECRET not in answer.out + answer.err, typed
            assert answer.code not in (1, 2), (typed, answer)  # a bug or a mistyped command

    type_everything()
    # Whose it is sees it by these commands.
    for asked in (("search", SECRET), ("recall", SECRET), ("context", SECRET, "general")):
        assert SECRET in installation.inside(*asked, "--tenant", other).out, asked


def _typed(command: TyperCommand, given: Mapping[str, Any]) -> Iterator[str]:
    """Inputs as words: what is required as it stands, the rest after its option."""
    for one in command.params:
        value = given.get(one.name or "")
        if value in (None, False):
            continue
        option = one.opts[:1] if one.param_type_name == "option" else []
        if value is True:
            yield from option
            continue
        for word in value if isinstance(value, list) else [value]:
            yield from (*option, word if isinstance(word, str) else json.dumps(word))
