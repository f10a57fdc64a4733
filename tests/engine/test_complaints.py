"""What is said of an input that is wrong."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from memory_butler.engine.complaints import complaints


class Cat(BaseModel):
    kind: Literal["cat"]
    id: UUID
    age: int = 0


class Dog(BaseModel):
    kind: Literal["dog"]


PETS = TypeAdapter[Cat | Dog](Annotated[Cat | Dog, Field(discriminator="kind")])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{}", "the line: kind is missing"),
        ('{"kind": "cow"}', "the line: kind must be one of 'cat', 'dog'"),
        (
            '{"kind": "cat", "id": "7"}',
            "id: must be a UUID, such as 3f0c9d6e-5a41-4b6b-9d0e-2f1c7a8b9e10",
        ),
        ('{"kind": "cat"}', "id: is required"),
        ("no json", "the line: invalid JSON: expected ident at line 1 column 2"),
    ],
)
def test_it_speaks_of_the_input_and_not_of_the_program(given: str, told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PETS.validate_json(given)
    assert complaints(caught.value, "the line", below=1) == told


@pytest.mark.parametrize("given", ["yesterday", "2026-13-01", "2026-11-25T25:00:00Z", [1]])
def test_what_is_no_date_is_told_what_one_looks_like(given: object) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(datetime).validate_python(given)
    told = complaints(caught.value, "since")
    assert told == "since: must be a date and time, such as 2026-11-25T18:00:00Z, or a date"


def test_of_many_complaints_the_first_are_told() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[int]).validate_python(["secret"] * 7)
    told = complaints(caught.value, "input")
    assert told.startswith("0: must be a whole number;")
    assert told.endswith("; and 2 more")
    assert "secret" not in told


class Kennel(BaseModel, extra="forbid"):
    name: str = Field("Rex", max_length=3)
    size: float = Field(1, gt=0, le=2)
    state: Literal["open", "shut"] = "open"
    dogs: list[str] = Field(default=["Rex"], min_length=1)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"nmae": "Rex"}, "nmae: unknown name; is it misspelled?"),
        ({"a\n\x1bb" * 99: 1}, f"{'a b' * 19}a …: unknown name; is it misspelled?"),
        (
            {f"sk-ant-api03-{'Q7zXb2' * 16}": 1},
            "[masked: Anthropic key, …zXb2]: unknown name; is it misspelled?",
        ),
        ({"name": 7}, "name: must be a text"),
        ({"name": "Hasso"}, "name: must have 3 characters at most"),
        ({"size": 0}, "size: must be more than 0"),
        ({"size": 3}, "size: must be at most 2"),
        ({"size": "big"}, "size: must be a number"),
        ({"state": "ajar"}, "state: must be 'open' or 'shut'"),
        ({"dogs": []}, "dogs: must have 1 or more items"),
    ],
)
def test_what_a_value_must_be_is_told_in_plain_words(given: dict[str, object], told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Kennel.model_validate(given)
    assert complaints(caught.value, "input") == told
