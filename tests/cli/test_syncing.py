"""`sync` as a person types it, over the real database."""

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from cli.installation import Installation
from memory_butler.domain import mirror as mirror_rules
from memory_butler.integrations import markdown_folder

FOLDER = "integrations.markdown_folder"


class Mirror:
    """A folder, and the commands for one tenant."""

    def __init__(self, installation: Installation, tenant: str, folder: Path) -> None:
        self._installation, self._tenant, self.folder = installation, tenant, folder

    def run(self, *words: str, code: int | None = 0) -> str:
        answer = self._installation.inside(*words, "--tenant", self._tenant, code=code)
        return answer.out + answer.err

    def sync(self, *options: str, code: int | None = 0) -> str:
        return self.run("sync", str(self.folder), *options, code=code)

    def facts(self) -> dict[str, str]:
        given = self.run("facts", "list", "--json")
        return {one["predicate"]: one["content"] for one in json.loads(given)["items"]}

    def files(self) -> dict[str, tuple[bytes, int]]:
        return {
            one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in self.folder.iterdir()
        }


@pytest.fixture
def mirror(installation: Installation, tenant: str, tmp_path: Path) -> Mirror:
    made = Mirror(installation, tenant, tmp_path / "notes")
    made.run("store-fact", "Ana", "home", "Lives in Porto")
    made.run("store-fact", "Ana", "pet", "Has a dog\ncalled Rex")
    made.sync()
    return made


def test_both_sides_reach_each_other(mirror: Mirror) -> None:
    note = mirror.folder / "Ana.md"
    assert stat.S_IMODE(mirror.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    before = mirror.files()
    assert mirror.sync() == "Up to date.\n"
    assert mirror.sync("--check") == "Up to date.\n"
    assert mirror.files() == before

    text = note.read_text()
    assert "- pet: Has a dog<br>called Rex ^f-" in text
    lines = [one for one in text.split("\n") if not one.startswith("- pet")]
    edited = "\n".join(lines).replace("Lives in Porto", "Lives in [[Lisbon]]")
    note.write_bytes(f"{edited}- drink: Prefers tea\n\nMy own words.  \n".encode())
    planned = mirror.sync("--check", code=1)
    assert "edit Ana · home: Lives in Lisbon" in planned
    assert "forget Ana · pet" in planned
    assert "store Ana · drink: Prefers tea" in planned
    assert len(mirror.facts()) == 2
    mirror.run("store-fact", "Ben", "home", "Lives in Faro")
    mirror.sync()
    found = json.loads(mirror.run("facts", "list", "--subject", "Ana", "--json"))["items"]
    assert {one["content"]: one["trust"] for one in found} == {
        "Lives in Lisbon": "user_said",
        "Prefers tea": "user_said",
    }
    after = note.read_text()
    assert "Lives in [[Lisbon]] ^f-" in after
    assert after.endswith("\nMy own words.  \n")
    assert (mirror.folder / "Ben.md").exists()
    assert mirror.sync("--check") == "Up to date.\n"


def test_a_line_that_a_page_wrote_says_so_and_a_note_from_elsewhere_is_imported(
    mirror: Mirror,
) -> None:
    def known() -> dict[str, tuple[str, str]]:
        given = json.loads(mirror.run("facts", "list", "--json"))["items"]
        return {one["predicate"]: (one["content"], one["trust"]) for one in given}

    label = " (source: web page, unverified)"
    mirror.run("store-fact", "Ana", "account", "Pay to EVIL-1", "--trust", "untrusted_web")
    mirror.sync()
    note = mirror.folder / "Ana.md"
    assert f"- account: Pay to EVIL-1{label} ^f-" in note.read_text()
    note.write_text(note.read_text().replace("Pay to EVIL-1", "Please pay to EVIL-1"))
    mirror.sync()
    assert known()["account"] == ("Please pay to EVIL-1", "untrusted_web")

    downloaded = '---\nmemory-butler: note\nsubject: "Ana"\n---\n\n## Facts\n\n'
    other = mirror.folder / "Ana (1).md"
    other.write_text(f"{downloaded}- home: Lives with EVIL-2\n- bank: EVIL-3\n")
    assert "1 conflict waits in the notes" in mirror.sync()
    assert "> - home: Lives with EVIL-2\n" in other.read_text()
    assert known()["home"] == ("Lives in Porto", "agent_inferred")
    assert known()["bank"] == ("EVIL-3", "imported")
    assert "- bank: EVIL-3 (source: import) ^f-" in other.read_text()
    mirror.sync()  # a pass that finds nothing new makes the note no more ours
    mirror.sync()
    other.write_text(f"{downloaded}- bank: EVIL-4\n")
    mirror.sync()
    assert known()["bank"] == ("EVIL-4", "imported")

    # Without the label it is the person's word.
    for path, old in ((note, label), (other, " (source: import)")):
        path.write_text(path.read_text().replace(old, ""))
    mirror.sync()
    assert known()["account"] == ("Please pay to EVIL-1", "user_said")
    assert known()["bank"] == ("EVIL-4", "user_said")
    assert mirror.sync("--check") == "Up to date.\n"


def test_what_changed_on_either_side_is_no_pass_without_changes(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass that finds both sides as it left them does not read memory; all others do."""
    views: list[int] = []
    real = markdown_folder._view

    async def seen(*given: Any) -> Any:
        views.append(1)
        return await real(*given)

    monkeypatch.setattr(markdown_folder, "_view", seen)
    monkeypatch.setattr(markdown_folder, "_PAGE", 2)
    note = mirror.folder / "Ana.md"
    mirror.sync()
    assert not views
    note.write_text(note.read_text() + "My own words.\n")
    mirror.sync()
    assert len(views) == 1
    mirror.sync()
    assert len(views) == 1
    for number in range(4):
        mirror.run("store-fact", "Ben", f"note {number}", "Rows a boat")
    assert "Ben.md: note added" in mirror.sync()
    mirror.run("store-fact", "Ben", "note 0", "Rows two boats")
    assert mirror.sync() == "Ben.md: note changed\n"
    gone = (mirror.folder / "Ben.md").read_text()
    assert gone.count("Rows a boat") == 3
    for id in re.findall(r"\^f-([0-9a-f-]+)", gone):
        mirror.run("forget", "fact", id)
    assert mirror.sync() == "Ben.md: note removed\n"
    # What was left alone is told again by every pass.
    note.write_text(note.read_text().replace("## Facts", "## Facts\n\n- no predicate"))
    first = mirror.sync()
    assert "left alone" in first
    assert mirror.sync() == first


def test_an_entity_of_two_names_has_one_note_whose_front_matter_others_may_rewrite(
    mirror: Mirror,
) -> None:
    mirror.run("entities", "create", "Maria: the Elder", "person", "--alias", "Mia")
    mirror.run("store-fact", "Maria: the Elder", "home", "Lives in Braga")
    mirror.run("store-fact", "Mia", "drink", "Likes tea")
    mirror.run("store-fact", "Mia", "sport", "Rows a boat")
    mirror.sync()
    (note,) = [one for one in mirror.folder.glob("*.md") if one.name != "Ana.md"]
    text = note.read_text()
    assert text.count(" ^f-") == 3
    entity = text.split('entity: "')[1].split('"')[0]
    rewritten = [
        f"---\naliases:\n  - Mia\nentity: {entity}\nsubject: 'Maria: the Elder'\ntags: [a]\n"
        'memory-butler: "note"\n---',
        f"---\r\ncssclasses: wide\r\nmemory-butler:  'note'\r\nentity: '{entity}'\r\n"
        'subject: "Maria: the Elder"\r\n---',
    ]
    for drink, head in zip(("coffee", "mate"), rewritten, strict=True):
        body = note.read_text().split("---", 2)[2]
        old = mirror.facts()["drink"]
        note.write_bytes(f"{head}{body.replace(old, f'Likes {drink}')}- a_{drink}: Hot\n".encode())
        mirror.sync()
        assert note.read_bytes().startswith(f"{head}\n".encode())
        assert mirror.facts()["drink"] == f"Likes {drink}"
        assert mirror.sync("--check") == "Up to date.\n"
    # What is told by the other name meanwhile comes into the same note, and replaces there.
    mirror.run("store-fact", "Mia", "home", "Lives in Faro")
    mirror.sync()
    text = note.read_text()
    assert "- home: Lives in Faro ^f-" in text
    assert "Braga" not in text
    assert text.count(" ^f-") == 5
    assert len(list(mirror.folder.glob("*.md"))) == 2
    known = json.loads(mirror.run("facts", "list", "--json"))["items"]
    assert {one["entity_id"] for one in known if one["subject"] != "Ana"} == {entity}


def test_a_conflict_is_shown_until_the_person_settles_it(mirror: Mirror) -> None:
    note = mirror.folder / "Ana.md"
    mirror.run("store-fact", "Ana", "home", "Lives in Braga")
    note.write_text(note.read_text().replace("Lives in Porto", "Lives in Lisbon"))
    assert "1 conflict waits" in mirror.sync()
    text = note.read_text()
    assert "- home: Lives in Braga ^f-" in text
    assert "\n> - home: Lives in Lisbon\n" in text
    assert "1 conflict waits" in mirror.sync("--check", code=1)
    assert note.read_text() == text
    quoted = [one for one in text.split("\n") if not one.startswith("> [!conflict]")]
    note.write_text("\n".join(quoted).replace("> - home", "- home"))
    mirror.sync()
    assert mirror.facts()["home"] == "Lives in Lisbon"
    assert note.read_text().count("- home:") == 1
    assert mirror.sync("--check") == "Up to date.\n"


def test_the_plan_of_a_first_pass_makes_nothing(mirror: Mirror, tmp_path: Path) -> None:
    planned = mirror.run("sync", str(tmp_path / "new"), "--dry-run")
    assert planned == "Ana.md: note added\nDry run: nothing was written.\n"
    assert not (tmp_path / "new").exists()


def test_a_note_saved_during_a_pass_is_left_to_the_next(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = mirror.folder / "Ana.md"
    note.write_text(note.read_text().replace("Porto", "Lisbon"))
    real = mirror_rules.render

    def saved_meanwhile(*given: Any, **named: Any) -> mirror_rules.Outcome:
        note.write_text(note.read_text().replace("Lisbon", "Faro"))
        return real(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(markdown_folder, "render", saved_meanwhile)
        assert "changed meanwhile" in mirror.sync()
    assert "Lives in Faro" in note.read_text()
    mirror.sync()
    assert mirror.facts()["home"] == "Lives in Lisbon"
    assert "> - home: Lives in Faro" in note.read_text()
    assert "- home: Lives in Lisbon ^f-" in note.read_text()


def test_what_is_not_safe_is_refused(
    mirror: Mirror, installation: Installation, tmp_path: Path
) -> None:
    note, other = mirror.folder / "Ana.md", tmp_path / "other"
    state = mirror.folder / markdown_folder.STATE
    for option in ("--dry-run", "--check"):
        unknown = installation.inside("sync", f"{mirror.folder}2", option, "--tenant", "stranger")
        assert "There is no tenant stranger yet. Tenants with memories:" in unknown.err
    foreign = installation.inside("sync", str(mirror.folder), "--tenant", "another", code=None)
    assert foreign.code
    assert "another tenant" in foreign.err
    other.symlink_to(mirror.folder)
    assert "is a link" in mirror.run("sync", str(other), code=None)
    # A note that became a link, or cannot be read, is no word to forget what it said.
    (tmp_path / "away.md").write_text(note.read_text())
    note.unlink()
    note.symlink_to(tmp_path / "away.md")
    assert "it is a link" in mirror.sync()
    assert len(mirror.facts()) == 2
    note.unlink()
    note.write_bytes(b"\xff")
    assert "not UTF-8" in mirror.sync()
    assert note.read_bytes() == b"\xff"
    assert len(mirror.facts()) == 2
    note.write_text((tmp_path / "away.md").read_text())
    assert mirror.sync() == "Up to date.\n"
    state.unlink()
    assert "bring that file back" in mirror.sync(code=None)


def test_most_facts_are_not_forgotten_by_accident(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    mirror = Mirror(installation, tenant, tmp_path)
    for number in range(12):
        mirror.run("store-fact", "Ana", f"number_{number}", f"Is {number}")
    mirror.sync()
    (tmp_path / "Ana.md").unlink()
    assert "--forget-many" in mirror.sync(code=None)
    assert len(mirror.facts()) == 12
    mirror.sync("--forget-many")
    assert not mirror.facts()


# What is called when the process kills itself, and at which call.
@pytest.mark.parametrize(
    ("owner", "called", "count"),
    [("client:MemoryClient", "store_fact", 1), (FOLDER, "replaced", 2)],
)
def test_a_killed_pass_is_finished_by_the_next(
    mirror: Mirror, tenant: str, installation: Installation, owner: str, called: str, count: int
) -> None:
    note = mirror.folder / "Ana.md"
    note.write_text(note.read_text().replace("Porto", "Lisbon") + "- drink: Prefers tea\n")
    mirror.run("store-fact", "Ben", "home", "Lives in Faro")
    words = f"sync {mirror.folder} --tenant {tenant}".split()
    installation.killed(owner, called, count, *words)
    mirror.sync()
    assert mirror.sync("--check") == "Up to date.\n"
    known = json.loads(mirror.run("facts", "list", "--validity", "all", "--json"))["items"]
    assert sorted(one["content"] for one in known if one["validity"] == "active") == [
        "Has a dog\ncalled Rex",
        "Lives in Faro",
        "Lives in Lisbon",
        "Prefers tea",
    ]
    assert len(known) == 5
    assert sorted(mirror.files()) == [".memory-butler.json", "Ana.md", "Ben.md"]
