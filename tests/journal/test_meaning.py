"""The log can be searched by meaning: vectors beside the journal, made when nobody waits."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from conftest import Clock
from memory_butler.domain.errors import Unavailable
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.journal import meaning
from memory_butler.journal.converting import seal, unseal
from memory_butler.journal.erasing import erase_messages
from memory_butler.journal.file import JournalFile
from memory_butler.journal.importing import import_lines
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.meaning import MEANINGS, embed_new, keep, pending
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import Questions
from memory_butler.journal.snapshots import copy_all
from memory_butler.vault import keyring
from memory_butler.vault.master import new_master

POLICY = JournalPolicy()
SAID = (
    ("The ferry to the island was late again", "<say>Was it the fog?</say>"),
    ("My sister adopted two kittens", "<say>What are they called?</say>"),
    ("I burned the rice once more", "hm <say>Use less heat.</say><secret>a rice cooker</secret>"),
    ("The roof leaks above the stairs", "<say>Call the roofer.</say>"),
)


@pytest.fixture
def live(file: JournalFile, clock: Clock, embedding_engine: EmbeddingEngine) -> LiveJournal:
    live = LiveJournal(file, POLICY, clock, Questions(lambda: embedding_engine))
    talk(live, clock)
    return live


def talk(live: LiveJournal, clock: Clock) -> None:
    for user, reply in SAID:
        live.log(user, "user")
        live.log(reply, "assistant")
        clock.advance(days=10)


def found(live: LiveJournal, question: str) -> list[str]:
    return [hit.event.content for hit in live.search(question)]


def test_what_was_said_is_found_in_other_words(
    live: LiveJournal, file: JournalFile, embedding_engine: EmbeddingEngine
) -> None:
    question = "pets of my relatives"
    assert found(live, question) == []  # not embedded yet: words alone
    assert embed_new(file, POLICY, embedding_engine) == 8
    assert embed_new(file, POLICY, embedding_engine) == 0
    hit = live.search(question)[0]
    assert hit.event.content == "My sister adopted two kittens"
    assert hit.after is not None
    assert hit.after.content == "<say>What are they called?</say>"
    # Words still find what they found, and a message that both find comes first.
    assert found(live, "the roof")[0] == "The roof leaks above the stairs"
    # What has nothing to do with anything is not found.
    assert found(live, "quarterly tax declaration") == []


def test_a_reply_finds_it_and_not_the_question_itself(
    live: LiveJournal, file: JournalFile, embedding_engine: EmbeddingEngine
) -> None:
    live.log("Who was it that has those young cats?", "user")
    embed_new(file, POLICY, embedding_engine)
    (call,) = live.log('search("young cats")', "assistant").reading.lookups
    (answer,) = live.look_up([call]) or live.recalled()
    assert "My sister adopted two kittens" in answer.lines[0]
    assert not any("Who was it" in line for line in answer.lines if line.startswith("- "))


def test_neither_thinking_nor_secrets_have_a_vector(
    live: LiveJournal, file: JournalFile, embedding_engine: EmbeddingEngine
) -> None:
    live.log("only thinking <secret>a rice cooker</secret>", "assistant")
    texts = [one.text for one in pending(file, POLICY, embedding_engine.model_version)]
    assert texts[-3:] == ["The roof leaks above the stairs", "Call the roofer.", ""]
    assert not any("cooker" in one for one in texts)
    # It is done with, all the same.
    assert embed_new(file, POLICY, embedding_engine) == 9
    assert dict(rows(file.texts_dir / MEANINGS))[9] == b""


def test_an_erased_message_has_no_vector_and_its_number_no_old_one(
    live: LiveJournal, file: JournalFile, clock: Clock, embedding_engine: EmbeddingEngine
) -> None:
    embed_new(file, POLICY, embedding_engine)
    assert found(live, "young cats")
    vector = dict(rows(file.texts_dir / MEANINGS))[3]
    assert vector in (file.texts_dir / MEANINGS).read_bytes()
    erase_messages(file, 3, 3)
    assert vector not in (file.texts_dir / MEANINGS).read_bytes()
    erase_messages(file, 7, 8)
    assert "My sister adopted two kittens" not in found(live, "young cats")
    assert ids(file) == [1, 2, 4, 5, 6]
    # The numbers 7 and 8 are given out again.
    assert live.log("We saw a whale from the beach", "user").event_id == 7
    embed_new(file, POLICY, embedding_engine)
    assert found(live, "an animal of the sea")[0] == "We saw a whale from the beach"
    assert "We saw a whale from the beach" not in found(live, "water comes through the ceiling")


def test_what_is_erased_while_it_is_embedded_is_not_kept(
    live: LiveJournal, file: JournalFile, embedding_engine: EmbeddingEngine
) -> None:
    batch = pending(file, POLICY, embedding_engine.model_version)
    vectors = embedding_engine.embed_arrays([one.text for one in batch])
    erase_messages(file, 3, 3)
    keep(file, batch, vectors, embedding_engine.model_version)
    assert 3 not in ids(file)
    assert 4 in ids(file)


def test_vectors_of_another_log_or_model_are_made_anew(
    live: LiveJournal, file: JournalFile, clock: Clock, embedding_engine: EmbeddingEngine
) -> None:
    embed_new(file, POLICY, embedding_engine)
    assert len(pending(file, POLICY, "another")) == 8
    assert ids(file) == []
    embed_new(file, POLICY, embedding_engine)
    # An older copy of the journal, in which other things were said since.
    with closing(sqlite3.connect(file.texts_dir / MEANINGS)) as store, store:
        store.execute("UPDATE meanings SET ts = '2020' WHERE id = 8")
    assert embed_new(file, POLICY, embedding_engine) == 8
    (file.texts_dir / MEANINGS).write_bytes(b"rubbish" * 1_000)
    assert found(live, "the ferry") == ["The ferry to the island was late again"]
    assert not (file.texts_dir / MEANINGS).exists()
    (file.texts_dir / MEANINGS).write_bytes(b"rubbish" * 1_000)
    with pytest.raises(Unavailable, match="is made again"):
        pending(file, POLICY, "any")
    assert embed_new(file, POLICY, embedding_engine) == 8


def test_the_past_is_searched_by_meaning_too(
    live: LiveJournal,
    file: JournalFile,
    clock: Clock,
    embedding_engine: EmbeddingEngine,
) -> None:
    before = live.events()[2].ts
    embed_new(file, POLICY, embedding_engine)
    found(live, "cats")  # the index of words is made by a search of the present
    assert found(live.at(before), "young cats") == ["My sister adopted two kittens"]
    earlier = live.events()[1].ts
    assert "My sister adopted two kittens" not in found(live.at(earlier), "young cats")


def test_without_its_model_words_must_do(
    file: JournalFile, clock: Clock, embedding_engine: EmbeddingEngine
) -> None:
    class Away:
        dimensions = 384
        model_name = model_version = embedding_engine.model_version

        def embed_arrays(self, _: object) -> Vectors:
            raise Unavailable("no model")

    live = LiveJournal(file, POLICY, clock, Questions(Away))
    talk(live, clock)
    embed_new(file, POLICY, embedding_engine)
    assert found(live, "kittens") == ["My sister adopted two kittens"]


def test_a_sealed_journal_seals_its_vectors(
    tmp_path: Path, clock: Clock, embedding_engine: EmbeddingEngine
) -> None:
    ring = keyring.create(tmp_path / "keys", new_master())
    with JournalFile.open(tmp_path, "default", "plain", lambda: None) as file:
        talk(LiveJournal(file, POLICY, clock), clock)
        embed_new(file, POLICY, embedding_engine)
        path, kept = file.path, file.texts_dir / MEANINGS
    plain = dict(rows(kept))
    assert seal(path, lambda: ring)
    assert not kept.exists()
    with JournalFile(path, lambda: ring) as file:
        live = LiveJournal(file, POLICY, clock, Questions(lambda: embedding_engine))
        embed_new(file, POLICY, embedding_engine)
        assert found(live, "pets of my relatives")[0] == "My sister adopted two kittens"
        whole = kept.read_bytes()
        assert all(vector not in whole for vector in plain.values() if vector)
        assert "kittens" not in str(whole)
        # Moved to another message's place a vector is refused, and all are thrown away.
        with closing(sqlite3.connect(kept)) as store, store:
            store.execute("UPDATE meanings SET vector = (SELECT vector FROM meanings WHERE id = 1)")
            store.execute("UPDATE made SET generation = 'changed'")
        assert found(live, "kittens") == ["My sister adopted two kittens"]
        assert not kept.exists()
        embed_new(file, POLICY, embedding_engine)
    assert unseal(path, lambda: ring)
    assert not kept.exists()


def test_the_file_is_its_owners_and_in_no_copy(
    live: LiveJournal, file: JournalFile, tmp_path: Path, embedding_engine: EmbeddingEngine
) -> None:
    embed_new(file, POLICY, embedding_engine)
    assert (file.texts_dir / MEANINGS).stat().st_mode & 0o777 == 0o600
    assert not [name for name in copy_all(tmp_path, tmp_path / "copy") if MEANINGS in name]


def test_imported_history_is_found(
    live: LiveJournal, file: JournalFile, clock: Clock, embedding_engine: EmbeddingEngine
) -> None:
    embed_new(file, POLICY, embedding_engine)
    line = {"actor": "user", "content": "I won the chess cup", "ts": "2020-01-01T00:00:00+00:00"}
    import_lines(file, json.dumps(line).encode(), clock)
    assert embed_new(file, POLICY, embedding_engine) == 1
    assert found(live, "victory in a board game")[0] == "I won the chess cup"


def test_the_nearest_by_their_bits_are_the_nearest(
    file: JournalFile, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 3,000 messages the exact best ten are among those found: few of them are compared."""
    rng = np.random.default_rng(5)
    live = LiveJournal(file, POLICY, clock)
    start = datetime(2020, 1, 1, tzinfo=UTC)
    said = [
        {"actor": "user", "content": str(one), "ts": (start + timedelta(hours=one)).isoformat()}
        for one in range(3_000)
    ]
    import_lines(file, "\n".join(map(json.dumps, said)).encode(), clock)
    topics = rng.normal(size=(40, 384))
    vectors = topics[rng.integers(0, 40, 3_000)] + rng.normal(size=(3_000, 384))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    for first in range(0, 3_000, 500):
        batch = pending(file, POLICY, "made up", 500)
        keep(file, batch, vectors[first : first + 500], "made up")
    good = 0
    for number in range(50):
        question = vectors[number] + rng.normal(size=384).astype(np.float32) * 0.05
        exact = np.argsort(-(vectors @ question))[:10] + 1
        near = meaning.nearest(file.texts_dir, None, question, "made up", limit=10, until=3_000)
        good += len({one.id for one in near} & set(exact.tolist()))
    assert good >= 0.97 * 500
    assert len(live.events(limit=10)) == 10


def test_what_is_hardly_alike_is_left_out(file: JournalFile, clock: Clock) -> None:
    live = LiveJournal(file, POLICY, clock)
    for number in range(3):
        live.log(str(number), "user")
    question = np.zeros(64, np.float32)
    question[0] = 1.0
    vectors = np.zeros((3, 64), np.float32)
    vectors[:, 0] = cosines = np.array([0.9, 0.27, 0.2])
    vectors[:, 1] = np.sqrt(1 - cosines**2)
    keep(file, pending(file, POLICY, "made up"), vectors, "made up")
    near = meaning.nearest(file.texts_dir, None, question, "made up", limit=10, until=3)
    assert [one.id for one in near] == [1, 2]


def ids(file: JournalFile) -> list[int]:
    return [id for id, _ in rows(file.texts_dir / MEANINGS)]


def rows(path: Path) -> Iterator[tuple[int, bytes]]:
    with closing(sqlite3.connect(path)) as store:
        yield from store.execute("SELECT id, vector FROM meanings ORDER BY id").fetchall()
