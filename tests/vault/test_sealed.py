"""Sealed files: what was written comes back, and nothing else does."""

import io
import secrets
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import NOW
from memory_butler.domain.errors import ConfigurationError, InvalidInput
from memory_butler.vault.keyring import DataKey
from memory_butler.vault.sealed import PIECE_BYTES, Reader, SealedFile, Writer, is_sealed

TENANTS = ("ana", "bob", "")
MARKER = b"Zephyrine Quokkaschmidt plays the theremin"
Sections = Sequence[tuple[str, bytes]]


@dataclass
class Keys:
    """Keys in memory: always the same, so that a failure is found again."""

    gone: set[str] = field(default_factory=set)

    def key_of(self, tenant: str, now: datetime) -> DataKey:
        id = f"{TENANTS.index(tenant):016x}"
        return DataKey(id, id.encode() * 2)

    def key(self, id: str) -> DataKey | None:
        if int(id, 16) >= len(TENANTS):
            raise ConfigurationError(f"the key {id} is not in the keyring")
        tenant = TENANTS[int(id, 16)]
        return None if tenant in self.gone else self.key_of(tenant, NOW)


def sealed(sections: Sections, *, kind: str = "backup", owner: str = "") -> bytes:
    file = io.BytesIO()
    writer = Writer(file, kind, Keys(), NOW, owner=owner)
    for number, (tenant, data) in enumerate(sections):
        writer.begin(tenant, {"number": number})
        writer.write(data)
    writer.close()
    return file.getvalue()


def opened(data: bytes, keys: Keys | None = None) -> list[tuple[Any, bytes]]:
    reader = Reader(io.BytesIO(data), "backup", keys or Keys())
    return [(one.head["number"], one.whole()) for one in reader.sections()]


def records(data: bytes) -> tuple[bytes, list[bytes]]:
    """The first line, and the records after it."""
    place = data.index(b"\n") + 1
    first, found = data[:place], []
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place + 8)
        found.append(data[place : place + 12 + length])
        place += 12 + length
    return first, found


SECTIONS = st.lists(st.tuples(st.sampled_from(TENANTS), st.binary(max_size=200)), max_size=6)


@given(SECTIONS)
def test_what_was_written_comes_back(sections: Sections) -> None:
    assert opened(sealed(sections)) == list(enumerate(data for _, data in sections))


@given(SECTIONS, st.data())
def test_a_file_that_is_cut_off_anywhere_is_refused(
    sections: Sections, data: st.DataObject
) -> None:
    whole = sealed(sections)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(InvalidInput):
        opened(whole[:cut])


@given(SECTIONS, st.data())
def test_a_flipped_bit_is_refused(sections: Sections, data: st.DataObject) -> None:
    changed = bytearray(sealed(sections))
    place = data.draw(st.integers(0, len(changed) * 8 - 1))
    changed[place // 8] ^= 1 << place % 8
    with pytest.raises((InvalidInput, ConfigurationError)):
        opened(bytes(changed))


@given(SECTIONS.filter(bool), st.data())
def test_records_that_were_moved_left_out_or_repeated_are_refused(
    sections: Sections, data: st.DataObject
) -> None:
    first, found = records(sealed(sections))
    other = data.draw(
        st.permutations(found).filter(lambda some: some != found)
        | st.integers(0, len(found) - 1).map(lambda n: found[:n] + found[n + 1 :])
        | st.integers(0, len(found) - 1).map(lambda n: found[: n + 1] + found[n:])
    )
    with pytest.raises(InvalidInput):
        opened(first + b"".join(other))


@given(SECTIONS.filter(bool), st.data())
def test_a_record_of_another_file_is_refused(sections: Sections, data: st.DataObject) -> None:
    first, found = records(sealed(sections))
    _, others = records(sealed(sections))
    place = data.draw(st.integers(0, len(found) - 1))
    with pytest.raises(InvalidInput, match="damaged"):
        opened(first + b"".join([*found[:place], others[place], *found[place + 1 :]]))


@given(SECTIONS.filter(bool), st.data())
def test_a_record_under_the_name_of_another_tenant_is_refused(
    sections: Sections, data: st.DataObject
) -> None:
    """Not even under the name of one whose key is gone, so that its records are passed over."""
    first, found = records(sealed(sections))
    place = data.draw(st.integers(0, len(found) - 1))
    named = int.from_bytes(found[place][:8], "big")
    other = data.draw(st.sampled_from([n for n in range(len(TENANTS)) if n != named]))
    found[place] = other.to_bytes(8, "big") + found[place][8:]
    gone = {TENANTS[other]} - {""} if data.draw(st.booleans()) else set()
    with pytest.raises(InvalidInput):
        opened(first + b"".join(found), Keys(gone))


@given(SECTIONS)
def test_a_destroyed_key_takes_its_sections_and_no_others(sections: Sections) -> None:
    kept = [(n, data) for n, (tenant, data) in enumerate(sections) if tenant != "ana"]
    assert opened(sealed(sections), Keys({"ana"})) == kept


def test_a_changed_record_whose_key_is_gone_is_noticed() -> None:
    first, found = records(sealed([("ana", b"tea"), ("bob", b"coffee")]))
    found[1] = found[1][:-1] + bytes([found[1][-1] ^ 1])
    with pytest.raises(InvalidInput, match="damaged"):
        opened(first + b"".join(found), Keys({"ana"}))


def test_a_file_whose_last_record_is_no_end_is_refused() -> None:
    """A record of a kind that this version does not know is not taken for the end."""
    file = io.BytesIO()
    writer = Writer(file, "backup", Keys(), NOW)
    writer.begin("ana", {"number": 0})
    writer._record(b"?")
    with pytest.raises(InvalidInput, match="damaged"):
        opened(file.getvalue())


def test_a_file_whose_only_key_is_gone_says_so() -> None:
    with pytest.raises(InvalidInput, match="0000000000000000 of this file was destroyed"):
        opened(sealed([("ana", b"tea")], owner="ana"), Keys({"ana"}))


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1])
def test_pieces_of_every_size(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    assert opened(sealed([("ana", data[:size])])) == [(0, data[:size])]


def test_a_long_section_is_written_and_read_piece_by_piece() -> None:
    whole = sealed([("ana", bytes(10 * PIECE_BYTES))])
    _, found = records(whole)
    assert len(found) == 12
    file = io.BytesIO(whole)
    section = next(Reader(file, "backup", Keys()).sections())
    assert len(next(section.pieces)) == PIECE_BYTES
    assert file.tell() < len(whole) / 2


def test_nothing_of_what_was_written_can_be_read() -> None:
    whole = sealed([("ana", MARKER * 3), ("", MARKER)])
    assert MARKER not in whole
    assert b"ana" not in whole.split(b"\n", 1)[0]
    assert is_sealed(whole)
    assert not is_sealed(MARKER)
    # Packing alone would hide a text that repeats: noise stands in what is packed as it is.
    noise = secrets.token_bytes(1_000)
    assert noise in zlib.compress(noise)
    assert noise[:500] not in sealed([("ana", noise)])


def test_another_kind_and_a_later_format_are_told() -> None:
    whole = sealed([], kind="export")
    with pytest.raises(InvalidInput, match="a sealed export: `memory-butler import` reads it"):
        opened(whole)
    with pytest.raises(InvalidInput, match="format 9, this version reads 1"):
        opened(whole.replace(b"sealed 1", b"sealed 9", 1))
    with pytest.raises(InvalidInput, match="not a sealed file"):
        opened(b"PK\x03\x04")


def test_a_sealed_file_reads_as_a_file_and_again() -> None:
    lines = b"".join(b"line %d\n" % number for number in range(200_000))
    whole = sealed([("ana", lines)])
    file = io.BufferedReader(SealedFile(io.BytesIO(whole), "backup", Keys()))
    assert file.readline() == b"line 0\n"
    assert sum(1 for _ in file) == 199_999
    file.seek(0)
    assert file.read() == lines
    with pytest.raises(InvalidInput, match="cut off"):
        io.BufferedReader(SealedFile(io.BytesIO(whole[:-9]), "backup", Keys())).read()
