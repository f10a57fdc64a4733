"""Pictures: kept in the journal's file, shown to models that see, gone with their message."""

import base64
import json
from pathlib import Path

import pytest

from conftest import NOW, Clock
from memory_butler.domain.errors import InvalidInput
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal import state
from memory_butler.journal.conversation import reply
from memory_butler.journal.erasing import erase_messages, scrub
from memory_butler.journal.file import JournalFile
from memory_butler.journal.importing import export_lines, import_lines
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.pictures import MAX_BYTES, picture_from, picture_of
from memory_butler.journal.policy import JournalPolicy
from memory_butler.vault import keyring
from memory_butler.vault.master import LocalMaster

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + b"the garden at noon" * 20


@pytest.mark.requirement("JASM-02")
async def test_a_picture_goes_to_the_model_with_its_message_and_with_no_other(
    live: LiveJournal, file: JournalFile
) -> None:
    (file.texts_dir / "image-context.md").write_text("Say what you see first.")
    logged = live.log("What is this?", picture=picture_of(PNG))
    event = live.event(logged.event_id)
    assert event is not None
    assert live.picture(event.image_path) == picture_of(PNG)
    model = ScriptedModel(["<say>A garden.</say>", "<say>Yes.</say>", "<say>No.</say>"])
    policy = JournalPolicy()
    await reply(live, model, policy, max_tokens=100)
    await reply(live, model, policy, max_tokens=100, blind=True)
    live.log("Really?")
    await reply(live, model, policy, max_tokens=100)
    assert [one.pictures for one in model.calls] == [(picture_of(PNG),), (), ()]
    assert "Say what you see first." in model.calls[0].system
    assert "[image] What is this?" in model.calls[2].prompt


async def test_a_path_that_a_program_wrote_is_not_read(
    live: LiveJournal, file: JournalFile, tmp_path: Path
) -> None:
    (tmp_path / "one.png").write_bytes(PNG)
    live.log("Look!", image_path=str(tmp_path / "one.png"))
    live.log("Look!", image_path="picture:none")
    # Nor is another row of the journal's own, whatever it holds.
    with file.writing() as db:
        state.put(db, "report:1", base64.b64encode(PNG).decode(), NOW)
    live.log("Look!", image_path="report:1")
    model = ScriptedModel(["<say>Where?</say>"])
    await reply(live, model, JournalPolicy(), max_tokens=100)
    assert model.calls[0].pictures == ()
    assert [live.picture_of(id) for id in (1, 2, 3, 99)] == [None] * 4


def test_pictures_leave_and_come_with_their_messages(
    live: LiveJournal, file: JournalFile, clock: Clock, tmp_path: Path
) -> None:
    live.log("What is this?", picture=picture_of(PNG))
    live.log("Look!", image_path="/somewhere/else.png")
    clock.advance(minutes=1)
    lines = "\n".join(export_lines(file)).encode()
    assert import_lines(file, lines, clock).added == 0  # it is all there
    with JournalFile.open(tmp_path, "default", "another") as other:
        there = LiveJournal(other, now=clock)
        assert import_lines(other, lines, clock).added == 2
        assert there.picture_of(1) == picture_of(PNG)
        assert there.picture_of(2) is None
        assert "\n".join(export_lines(other)).encode() == lines
        # By hand: without a name, and with one that another picture has.
        encoded = base64.b64encode(PNG).decode()
        by_hand = {"actor": "user", "content": "This.", "picture": encoded, "image_path": "a.png"}
        assert import_lines(other, _lines(by_hand, by_hand), clock).added == 2
        assert there.picture_of(3) == there.picture_of(4) == picture_of(PNG)
        erase_messages(other, 3, 3)
        assert there.picture_of(4) == picture_of(PNG)
        taken = json.loads(lines.splitlines()[0]) | {"content": "Not this"}
        taken["picture"] = base64.b64encode(PNG + b"!").decode()
        with pytest.raises(InvalidInput, match="line 1: another picture of this journal is named"):
            import_lines(other, _lines(taken), clock)
        with pytest.raises(InvalidInput, match="line 1: models cannot read this picture"):
            import_lines(other, _lines(by_hand | {"picture": "aGVsbG8="}), clock)
        assert len(there.events()) == 3


def _lines(*given: dict[str, str]) -> bytes:
    return "\n".join(map(json.dumps, given)).encode()


@pytest.mark.parametrize("sealed", [False, True])
def test_an_erased_message_takes_its_picture_along(
    tmp_path: Path, clock: Clock, sealed: bool
) -> None:
    ring = keyring.create(tmp_path / "keys", LocalMaster(b"m" * 32)) if sealed else None
    with JournalFile.open(tmp_path, "ana", "luna", lambda: ring) as file:
        live = LiveJournal(file, now=clock)
        for text in ("One", "Two"):
            live.log(text, picture=picture_of(PNG + text.encode()))
        stored = base64.b64encode(PNG)
        sides = [file.path, file.path.with_name(f"{file.path.name}-wal")]
        there = any(stored[:40] in one.read_bytes() for one in sides)
        assert there is not sealed
        erase_messages(file, 1, 1)
        assert live.picture_of(1) is None
        assert live.picture_of(2) == picture_of(PNG + b"Two")
        with file.reading() as db:
            (left,) = db.execute("SELECT count(*) FROM state WHERE key LIKE 'picture:%'").fetchone()
        assert left == 1
    scrub(file.path)
    assert base64.b64encode(PNG + b"One") not in file.path.read_bytes()


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0 a jpeg", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
    ],
)
def test_what_a_picture_is_its_bytes_tell(data: bytes, media_type: str) -> None:
    encoded = base64.b64encode(data).decode()
    for text in (encoded, f"data:text/html;base64,{encoded}"):
        found = picture_from(text)
        assert (found.media_type, found.data) == (media_type, data)
        assert encoded not in repr(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (base64.b64encode(b"<svg onload='alert(1)'>").decode(), "PNG, JPEG, WebP or GIF"),
        ("not base64!", "no base64"),
        (base64.b64encode(PNG + bytes(MAX_BYTES)).decode(), "make it smaller"),
    ],
)
def test_what_is_no_picture_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        picture_from(text)


def test_a_message_whose_picture_cannot_be_kept_is_not_kept_either(live: LiveJournal) -> None:
    with pytest.raises(InvalidInput):
        live.log("x" * 2_000_000, picture=picture_of(PNG))
    assert live.extent() == (0, None)
