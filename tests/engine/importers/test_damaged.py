"""Exports that are damaged anywhere: what cannot be read is told, and nothing else is raised."""

import contextlib
import json
import os
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.importers.test_formats import MAKERS
from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import BadLine, EpisodeLine, FactLine, read_lines
from memory_butler.engine.importers.formats import detect, format_named, open_export

_ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        10**400,
        1e308,
        "",
        "\x00\u2028",
        "0001-01-01",
        "1" * 5_000,
        [],
        {},
        [[]],
        "\ud83d",
    ]
)
_OWN = [
    {"type": "episode", "content": "tea", "butler": "b", "occurred_at": "2026-01-01T00:00:00Z"},
    {"type": "fact", "subject": "s", "predicate": "p", "content": "c", "tags": ["t"]},
    {"type": "rule", "content": "c"},
]


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp("export") for name in MAKERS}
    return {
        name: make(folders[name] / "it" if name == "claude" else folders[name])
        for name, make in MAKERS.items()
    }


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every part of a JSON value stands."""
    yield at
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths(one, (*at, key))


def _with(value: Any, at: tuple[Any, ...], other: Any) -> Any:
    """A JSON value with one of its parts replaced."""
    if not at:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = _with(copy[at[0]], at[1:], other)
    return copy


@st.composite
def _odd_json(draw: st.DrawFn, text: str) -> str:
    value = json.loads(text)
    for _ in range(draw(st.integers(1, 3))):
        value = _with(value, draw(st.sampled_from(list(_paths(value)))), draw(_ODD))
    return json.dumps(value)


@st.composite
def _damaged(draw: st.DrawFn, text: str) -> bytes:
    """A text in which a value is odd, or some bytes are."""
    if draw(st.booleans()):
        try:
            lines = [text] if text.lstrip()[:1] == "[" else text.splitlines()
            chosen = draw(st.integers(0, len(lines) - 1))
            lines[chosen] = draw(_odd_json(lines[chosen]))
            return "\n".join(lines).encode()
        except ValueError:  # notes are no JSON
            pass
    data = text.encode()
    at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 40))
    return data[:at] + draw(st.binary(max_size=20)) + data[at + length :]


def _read_all(path: Path, name: str) -> None:
    """As an import does it: found out or named, read to its end."""
    with contextlib.suppress(InvalidInput):
        detect(path)
    with contextlib.suppress(InvalidInput):
        for one in open_export(path, format_named(name)).candidates("default"):
            assert not isinstance(one.line, BadLine) or one.line.reason


@given(data=st.data())
def test_a_damaged_export_is_read_or_told(
    data: st.DataObject, exports: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    name = data.draw(st.sampled_from(sorted(MAKERS)))
    suffix = format_named(name).suffix
    whole = exports[name]
    files = [whole] if whole.is_file() else sorted(whole.rglob(f"*{suffix}"))
    original = data.draw(st.sampled_from(files))
    if zipfile.is_zipfile(original):
        with zipfile.ZipFile(original) as archive:
            text = archive.read(next(one for one in archive.namelist() if one.endswith(suffix)))
    else:
        text = original.read_bytes()
    damaged = tmp_path_factory.getbasetemp() / f"conversations{suffix}"
    damaged.write_bytes(data.draw(_damaged(text.decode())))
    _read_all(damaged, name)


_NAMELESS: dict[str, Any] = {
    "mem0": [{"id": "", "memory": "Likes tea"}],
    "claude-code": {"type": "user", "uuid": "", "message": {"role": "user", "content": "tea"}},
    "claude": [{"uuid": "c", "chat_messages": [{"uuid": "", "sender": "human", "text": "tea"}]}],
    "chatgpt": [
        {
            "id": "c",
            "mapping": {
                "a": {
                    "message": {
                        "id": "",
                        "author": {"role": "user"},
                        "content": {"content_type": "text", "parts": ["tea"]},
                    }
                }
            },
        }
    ],
}


@pytest.mark.parametrize("name", _NAMELESS)
@pytest.mark.parametrize("empty", ['""', "null"])
def test_what_has_no_id_is_told(name: str, empty: str, tmp_path: Path) -> None:
    """It would not be known again: an import that is repeated would store it twice."""
    path = tmp_path / f"conversations{format_named(name).suffix}"
    path.write_text(json.dumps(_NAMELESS[name]).replace('""', empty))
    (one,) = open_export(path, format_named(name)).candidates("default")
    assert isinstance(one.line, BadLine)
    assert re.search(r"\bno (uu)?id\b", one.line.reason)


@pytest.mark.parametrize("name", _NAMELESS)
def test_half_an_emoji_is_an_id_as_any_other(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"conversations{format_named(name).suffix}"
    path.write_text(json.dumps(_NAMELESS[name]).replace('""', '"\\ud83d"'))
    (one,) = open_export(path, format_named(name)).candidates("default")
    assert isinstance(one.line, EpisodeLine | FactLine)
    assert one.line.id == "\\ud83d"


def test_a_file_whose_name_is_no_utf8_is_read(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))
    path.write_text("# A note\n\n- [drink] tea\n")
    found = list(open_export(path, format_named("basic-memory")).candidates("default"))
    assert len({one.id for one in found}) == len(found) > 0


@given(data=st.data())
def test_a_damaged_archive_is_read_or_told(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([{"mapping": {}, "title": "t" * 400}]))
    whole = bytearray(made.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.zip"
    path.write_bytes(whole)
    _read_all(path, "chatgpt")


@given(data=st.data())
def test_a_damaged_line_of_our_own_is_read_or_told(data: st.DataObject) -> None:
    text = "\n".join(json.dumps(one) for one in _OWN)
    damaged = data.draw(_damaged(text))
    for one in read_lines(BytesIO(damaged), "default"):
        assert not isinstance(one.line, BadLine) or one.line.reason


def test_a_link_out_of_the_export_is_not_followed(tmp_path: Path) -> None:
    folder = MAKERS["basic-memory"](tmp_path / "notes")
    secret = tmp_path / "elsewhere.md"
    secret.write_text("- [secret] The vault opens with 4711\n")
    (folder / "linked.md").symlink_to(secret)
    found = list(open_export(folder, format_named("basic-memory")).candidates("t"))
    assert found
    assert "4711" not in str(found)


def test_a_line_nested_without_end_is_told_and_the_next_are_read(tmp_path: Path) -> None:
    folder = MAKERS["claude-code"](tmp_path)
    (file,) = folder.rglob("*.jsonl")
    file.write_text("[" * 200_000 + "\n" + file.read_text())
    found = list(open_export(folder, format_named("claude-code")).candidates("t"))
    told = [one.line for one in found if isinstance(one.line, BadLine)]
    assert any(one.number == 1 and "not JSON" in one.reason for one in told)
    assert any(isinstance(one.line, EpisodeLine) for one in found)


@pytest.mark.parametrize("written", ['{"a": 1}', '{"results": null}', "3"])
def test_what_is_no_export_of_mem0_is_told(written: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(written)
    [only] = open_export(path, format_named("mem0")).candidates("t")
    assert only.line == BadLine(1, "x.json has no list of memories", "x.json")


def test_an_empty_export_of_mem0_is_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"results": []}')
    assert not list(open_export(path, format_named("mem0")).candidates("t"))


@pytest.mark.parametrize("name", ["claude-code", "chatgpt", "mem0", "basic-memory"])
def test_a_file_without_end_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a regular file: a device or pipe may never end"):
        list(open_export(Path("/dev/zero"), format_named(name)).candidates("t"))


@pytest.mark.parametrize("name", ["export.zip", "export"])
def test_the_beginning_of_a_zip_is_told_as_that(tmp_path: Path, name: str) -> None:
    whole = BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", os.urandom(5_000))
    path = tmp_path / name
    path.write_bytes(whole.getvalue()[:2_000])
    with pytest.raises(InvalidInput, match=rf"{name} is a damaged zip, or only the beginning"):
        detect(path)
