"""What is told of a wrong input: our words, and none of the library's."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from memory_butler.domain.mistakes import reason


class _Inner(BaseModel):
    number: int


class _Outer(BaseModel):
    table: dict[str, Any] = {}
    inner: _Inner | None = None


@pytest.mark.parametrize("wrong", [{"table": "text"}, {"table": [1]}, {"inner": "text"}])
def test_an_object_is_called_so(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as found:
        _Outer.model_validate(wrong)
    assert [reason(one) for one in found.value.errors()] == ["must be a JSON object"]
