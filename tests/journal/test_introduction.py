"""Who talks with whom: asked once, kept in the journal, told to the companion."""

from pathlib import Path

import pytest

from conftest import NOW, Clock
from memory_butler.companions.opening import opened
from memory_butler.domain.errors import InvalidInput
from memory_butler.journal.file import JournalFile
from memory_butler.journal.introduction import (
    MAX_MANNER_CHARS,
    MAX_NAME_CHARS,
    Introduction,
    introduce,
    introduction_of,
    manner_of,
    name_of,
    zone_of,
)
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.texts import WAKE, first_wake
from memory_butler.journal_config import JournalConfig
from memory_butler.vault.keyring import no_keys

ANA = Introduction("Luna", "Ana", "Asia/Tokyo", "warm")


def test_what_is_said_begins_the_wake_context_and_replaces_only_that(file: JournalFile) -> None:
    path = file.texts_dir / WAKE
    assert introduction_of(file) == Introduction(name="Companion")
    assert introduce(file, ANA, NOW) == path
    rest = first_wake("default")
    told = "Your name is Luna. You talk with Ana. How Ana wants you to talk: warm.\n\n"
    assert path.read_text() == told + rest
    assert introduction_of(file) == ANA
    # What its author has added stays, whatever is said again.
    path.write_text(path.read_text() + "You love the sea.\n")
    introduce(file, Introduction("Sol", "Ana"), NOW)
    assert path.read_text() == f"Your name is Sol. You talk with Ana.\n\n{rest}You love the sea.\n"
    # And one who has written that beginning keeps it.
    path.write_text("You are Sol, the sun.")
    assert introduce(file, ANA, NOW) is None
    assert path.read_text() == "You are Sol, the sun."
    assert introduction_of(file) == ANA


def test_a_wake_context_that_nobody_has_changed_is_replaced(file: JournalFile) -> None:
    path = file.texts_dir / WAKE
    file.texts_dir.mkdir(exist_ok=True)
    path.write_text(first_wake("companion") + "You love the sea.\n")
    introduce(file, Introduction("Luna"), NOW)
    assert path.read_text().startswith("Your name is Luna.\n\nYou are a companion")
    assert path.read_text().endswith("You love the sea.\n")


def test_an_editor_may_begin_the_wake_context_with_a_mark(file: JournalFile) -> None:
    path = file.texts_dir / WAKE
    file.texts_dir.mkdir(exist_ok=True)
    path.write_text(first_wake("companion") + "You love the sea.\n", encoding="utf-8-sig")
    LiveJournal(file).log("Hello.", "user")
    assert LiveJournal(file).assemble().system.startswith("Your name is Companion.")
    assert introduce(file, Introduction("Luna"), NOW) == path
    assert path.read_text().startswith("Your name is Luna.\n\nYou are a companion")


def test_two_of_one_name_are_refused_and_nothing_is_kept(file: JournalFile) -> None:
    with pytest.raises(InvalidInput, match="different names"):
        introduce(file, Introduction("Ana", "ana"), NOW)
    assert introduction_of(file).user == ""
    assert not (file.texts_dir / WAKE).exists()


def test_names_and_zone_count_wherever_the_journal_is_opened(tmp_path: Path, clock: Clock) -> None:
    config = JournalConfig(time_zone="Europe/Lisbon")
    with opened(tmp_path, "default", "luna", config, no_keys, create=True, now=clock) as one:
        assert one.policy.called("assistant") == "Luna"
        introduce(one.file, ANA, clock())
    with opened(tmp_path, "default", "luna", config, no_keys, now=clock) as one:
        one.live.log("Hello <pin>tea</pin>")
        one.live.log("<say>Hello.</say>", "assistant")
        one.live.log("Well?")
        prompt = one.live.assemble().user
        assert "Ana: Hello\nLuna: Hello." in prompt
        assert "- [pin, Ana] tea" in prompt
        assert "(JST)" in prompt
        # The log has the actors: names may change.
        assert [event.actor for event in one.live.events()] == ["user", "assistant", "user"]
        assert [hit.event.id for hit in one.live.search("hello")] == [2, 1]
        # Who said it is no word of what was said.
        assert one.live.search("Luna") == ()


def test_a_companion_of_the_configuration_keeps_its_name(tmp_path: Path) -> None:
    config = JournalConfig(assistant_actors=("jeeves",), user_actors=("bertie",))
    with opened(tmp_path, "default", "default", config, no_keys, create=True) as one:
        assert one.policy.called("jeeves") == "jeeves"
        assert one.policy.called(None) == "bertie"


@pytest.mark.parametrize(
    ("said", "zone"),
    [
        ("Europe/Lisbon", "Europe/Lisbon"),
        ("lisbon", "Europe/Lisbon"),
        (" new york ", "America/New_York"),
        ("america/new york", "America/New_York"),
        ("utc", "UTC"),
        ("", ""),
    ],
)
def test_a_city_is_a_time_zone(said: str, zone: str) -> None:
    assert zone_of(said) == zone


@pytest.mark.parametrize(
    ("said", "told"),
    [("Atlantis", "example: Europe/Lisbon"), ("istanbul", "Asia/Istanbul, Europe/Istanbul")],
)
def test_what_is_no_time_zone_or_several_is_refused(said: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        zone_of(said)


def test_a_name_cannot_forge_a_prompt() -> None:
    assert name_of("  Ana \n Maria ") == "Ana Maria"
    for bad in ("Ana: hi", "<say>", "[well]", "a" * (MAX_NAME_CHARS + 1), "a\x1b[1m", "User"):
        with pytest.raises(InvalidInput):
            name_of(bad, ("user",))
    with pytest.raises(InvalidInput, match="wake-context"):
        manner_of("a" * (MAX_MANNER_CHARS + 1))
    assert manner_of("brief\n## Recent") == "brief ## Recent"


def test_a_library_that_gives_its_own_policy_is_left_alone(file: JournalFile, clock: Clock) -> None:
    introduce(file, ANA, clock())
    live = LiveJournal(file, now=clock)
    live.log("Hello")
    live.log("Well?")
    assert "user: Hello" in live.assemble().user
    assert live.assemble().system.startswith("Your name is Luna. You talk with Ana.")
