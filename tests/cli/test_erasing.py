"""An erasure that is killed after its transaction: the same command finishes and certifies it."""

import signal
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.installation import Installation, own_engine
from memory_butler.erasure.certificate import verify
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal.live import LiveJournal, utc_now

MARKER = "Her number is 555 0100"


def _cut_off(
    installation: Installation, wanted: Sequence[str], how: signal.Signals
) -> tuple[int, str]:
    """End an erasure once its transaction is done, while the bytes are still there.

    Its return code, and what else it says.
    """
    erasing = installation.start(*wanted)
    assert erasing.stderr is not None
    for line in erasing.stderr:
        if line.startswith("rewriting"):
            erasing.send_signal(how)
            break
    _, said = erasing.communicate()
    return erasing.returncode, said


def test_a_killed_erasure_is_finished_by_the_same_command(
    installation: Installation, tenant: str
) -> None:
    of = ("--tenant", tenant)
    installation.inside("store-fact", "Ann", "phone", MARKER, *of)
    wanted = ("erase", "--everything", "--yes", *of)
    code, _ = _cut_off(installation, wanted, signal.SIGKILL)
    assert code == -9
    unfinished = f"under way or cut off, for {tenant}: files may still hold what was erased"
    assert unfinished in installation.inside("doctor", code=None).out
    certificates = installation.data_dir / "erasures"
    before = set(certificates.glob("*.json"))
    assert "1 facts" in installation.inside(*wanted).out
    (made,) = set(certificates.glob("*.json")) - before
    said = verify(made, str(certificates / "signing-key.pub")).certificate
    assert (said["tenant"], said["rows"]["facts"]) == (tenant, 1)
    assert said["bytes"]["log_renewed"]
    assert "Nothing found" in installation.inside("search", MARKER, *of).out
    assert unfinished not in installation.inside("doctor", code=None).out


@pytest.mark.nightly
def test_who_interrupts_an_erasure_is_told_that_it_goes_on(
    installation: Installation, tenant: str
) -> None:
    of = ("--tenant", tenant)
    installation.inside("store-fact", "Ann", "phone", MARKER, *of)
    wanted = ("erase", "--everything", "--yes", *of)
    code, said = _cut_off(installation, wanted, signal.SIGINT)
    assert code == 130
    assert "the same command ends it and certifies it" in said
    assert "1 facts" in installation.inside(*wanted).out


def test_who_only_talks_with_a_companion_can_erase_a_message(empty_folder: Path) -> None:
    (folder := empty_folder / "journals").mkdir()
    folder.chmod(0o755)
    home = Installation(folder)
    with JournalFile.open(home.data_dir, "default", "luna") as file:
        live = LiveJournal(file)
        for said in (MARKER, "I like tea.", "Tea it is."):
            live.log(said, "user")
        desk = MaintenanceDesk(file, utc_now)
        desk.apply("manual", [PutFragment("tea", "Ana and tea.", sources=(2, 3))])
    # To look makes nothing, nor does a question that nobody can answer.
    wanted = ("erase", "--message", "luna", "2")
    before = sorted(home.data_dir.iterdir())
    looked = home.inside(*wanted, "--preview").out
    assert looked.startswith("goes   message: 2 of luna\nWould erase 0 episodes")
    assert "no message 9" in home.inside("erase", "--message", "luna", "9", code=4).err
    assert home.inside("erase", "--everything", "--preview").out.startswith("goes   journal: luna")
    assert "not a terminal" in home.inside(*wanted, code=3).err
    assert sorted(home.data_dir.iterdir()) == before
    with own_engine():
        done = home.inside(*wanted, "--yes")
        assert (
            "Erased by message luna 2, of tenant default.\nJournal luna: 1 message.\n" in done.out
        )
        assert "stays  fragment: tea, which rests on other messages too" in done.out
        assert "no message 9" in home.inside("erase", "--message", "luna", "9", "--yes", code=4).err
    assert "I like tea." not in home.inside("journal", "export", "--companion", "luna").out
    (made,) = (home.data_dir / "erasures").glob("*.json")
    assert verify(made, None).certificate["journals"][0]["messages"] == 1


def test_a_mistyped_tenant_gets_no_certificate(installation: Installation, tenant: str) -> None:
    installation.inside("store-fact", "Ann", "phone", MARKER, "--tenant", tenant)
    certificates = installation.data_dir / "erasures"
    before = list(certificates.glob("*.json"))
    wanted = ("erase", "--everything", "--yes", "--tenant")
    refused = installation.inside(*wanted, f"{tenant}x", code=4)
    assert f"there is nothing of tenant {tenant}x" in refused.err
    assert list(certificates.glob("*.json")) == before
    journal = JournalFile.open(installation.data_dir, f"{tenant}x", "luna")
    journal.close()
    assert "Journal luna: all messages" in installation.inside(*wanted, f"{tenant}x").out


@pytest.mark.nightly
def test_a_restored_backup_of_before_names_what_was_erased_since(empty_folder: Path) -> None:
    (folder := empty_folder / "restored").mkdir()
    folder.chmod(0o755)
    alone, backup = Installation(folder), str(folder / "one.tar")
    with own_engine():
        ids = [
            alone.inside("store-fact", "Ann", about, MARKER, "--json").json["id"]
            for about in ("phone", "fax")
        ]
        erase = ("erase", "--yes", "--memory", "fact")
        alone.inside(*erase, ids[0])
        alone.inside("backup", backup)
        alone.inside(*erase, ids[1], "--sources")
        alone.inside("store-fact", "Bo", "phone", MARKER, "--tenant", "other")
        alone.inside("erase", "--yes", "--everything", "--tenant", "other")
        said = alone.inside("restore-backup", backup, "--replace").out
        drop = ("db", "drop-former")
        assert "memory-butler db drop-former" in alone.inside("doctor").out
        kept = alone.inside(*drop, code=3)
        assert "rerun with --yes" in kept.err
        assert kept.out.startswith("goes   butler_memory_before_")
        assert alone.inside(*drop, "--yes").out == f"{kept.out}Deleted.\n"
        assert alone.inside(*drop).out == "No restore has kept anything.\n"
        assert "kept by a restore" not in alone.inside("doctor").out
    again = [line.strip() for line in said.splitlines() if "erase --" in line]
    assert again == [
        f"memory-butler erase --memory fact {ids[1]} --sources --tenant default",
        "memory-butler erase --everything --tenant other",
    ]
    assert "Erased since this backup" in said
