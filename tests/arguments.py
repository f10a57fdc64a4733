"""Arguments for operations, generated from the JSON schemas of their inputs.

Whatever is declared once is called here by itself: a new operation needs nothing, unless its schema
has something that nobody could make a value for, which is an error and not left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

Schema: TypeAlias = Mapping[str, Any]

# What no input is: as likely in a mutated call as anything that fits.
_ODD: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    2**63,
    10**400,
    1e308,
    "",
    " ",
    "\x00",
    "null",
    "\u202e\ufeff\ud7ff",
    "9999-12-31T23:59:59+00:00",
    "0001-01-01T00:00:00+14:00",
    "x" * 20_000,
    [],
    {},
    [[[[[[[[]]]]]]]],
    {"": {"": {"": None}}},
)

_KINDS: Final[Mapping[str | None, type]] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "string": str,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What arguments are made of.

    Attributes:
        named: values for fields of this name.
        strict: whether such a field takes nothing else.
        ids: for every UUID without a name of its own.
    """

    texts: Sequence[str]
    ids: Sequence[str]
    moments: Sequence[str]
    named: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    strict: bool = False


def requesting(examples: int, steps: int = 50) -> settings:
    """The settings of tests whose cases are requests to a server; `steps` are those of a sequence.

    Without shrinking, each step of which would be a request, and minutes in all; what is printed
    can be sent as it is. Nothing is kept for the next run: it would meet a server that is new.
    """
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )


@st.composite
def fitting(draw: st.DrawFn, schema: Schema, words: Vocabulary) -> dict[str, Any]:
    """Arguments that fit the schema of an input."""
    made = _Maker(draw, words, schema.get("$defs", {})).object(schema)
    assert isinstance(made, dict)
    return made


@st.composite
def mutated(draw: st.DrawFn, schema: Schema, words: Vocabulary) -> dict[str, Any]:
    """Arguments that fitted before something about them was changed."""
    made = draw(fitting(schema, words))
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([*schema.get("properties", {}), "no_such_input"]))
        if draw(st.integers(0, 3)) == 0:
            made.pop(name, None)
        else:
            odd = draw(st.sampled_from(_ODD))
            made[name] = [odd] if draw(st.integers(0, 4)) == 0 else odd
    return made


@dataclass(frozen=True, slots=True)
class _Maker:
    draw: st.DrawFn
    words: Vocabulary
    definitions: Mapping[str, Schema]

    def object(self, schema: Schema) -> dict[str, Any]:
        required = schema.get("required", ())
        return {
            name: self.value(name, described)
            for name, described in schema.get("properties", {}).items()
            if name in required or self._now_and_then(3)
        }

    def value(self, name: str, schema: Schema) -> Any:
        known = [one for one in self.words.named.get(name, ()) if self._is_like(one, schema)]
        if known and (self.words.strict or not self._now_and_then(8)):
            return self._any_of(known)
        if "$ref" in schema:
            return self.value(name, self.definitions[schema["$ref"].rpartition("/")[2]])
        for either in ("anyOf", "oneOf"):
            if either in schema:
                return self.value(name, self.draw(st.sampled_from(schema[either])))
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.draw(st.sampled_from(schema["enum"]))
        return self._plain(name, schema)

    def _plain(self, name: str, schema: Schema) -> Any:
        match schema.get("type"):
            case "null":
                return None
            case "boolean":
                return self.draw(st.booleans())
            case "integer":
                return self.draw(
                    st.integers(schema.get("minimum", 0), min(schema.get("maximum", 20), 20))
                )
            case "number":
                most = min(schema.get("maximum", 10), 10)
                return self.draw(st.floats(schema.get("minimum", 0.1), most, allow_nan=False))
            case "string":
                return self._any_of(self._strings(schema))
            case "array":
                length = self.draw(st.integers(schema.get("minItems", 0), 2))
                return [self.value("", schema.get("items", {})) for _ in range(length)]
            case "object" if "properties" in schema:
                return self.object(schema)
            case "object":
                count = self.draw(st.integers(0, 2))
                return {
                    self._any_of(self.words.texts): self._any_of(self.words.texts)
                    for _ in range(count)
                }
            case None if not schema.keys() - {"title", "description", "default"}:
                return self._any_of(self.words.texts)  # anything will do
        raise NotImplementedError(f"nothing makes a value for {name!r}: {schema}")

    def _strings(self, schema: Schema) -> Sequence[str]:
        match schema.get("format"):
            case None:
                return self.words.texts
            case "uuid":
                return self.words.ids
            case "date-time":
                return self.words.moments
            case other:
                raise NotImplementedError(f"nothing makes a string of the format {other!r}")

    def _is_like(self, value: Any, schema: Schema) -> bool:
        """Whether a value is of the described kind: some names mean a number here, an id there."""
        if "$ref" in schema:
            return self._is_like(value, self.definitions[schema["$ref"].rpartition("/")[2]])
        if "anyOf" in schema:
            return any(self._is_like(value, one) for one in schema["anyOf"])
        return isinstance(value, _KINDS.get(schema.get("type"), object))

    def _any_of(self, values: Sequence[Any]) -> Any:
        """One of values that may be others when the case is run again, as new ids are."""
        return values[self.draw(st.integers(0, 9_999)) % len(values)]

    def _now_and_then(self, times: int) -> bool:
        """One time in so many."""
        return self.draw(st.integers(1, times)) == 1
