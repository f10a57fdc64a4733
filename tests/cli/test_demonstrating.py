"""The demonstration: told, served, asked, ended, and gone with its folder."""

import re
import signal
import socket
from pathlib import Path

import httpx

from cli.installation import SECONDS, Installation
from memory_butler.demo.folder import is_demo, mark, refuse_other


def test_a_demonstration_is_told_and_goes_with_its_folder(empty_folder: Path) -> None:
    temporary = empty_folder / "temporary"
    temporary.mkdir()
    temporary.chmod(0o755)
    # A database and a port of the user's own are not meant for it.
    own = {
        "TMPDIR": str(temporary),
        "MEMORY_BUTLER_DSN": "postgresql://nobody@127.0.0.1:1/none",
        "MEMORY_BUTLER_REQUIRE_TOKEN": "true",
    }
    installation = Installation(empty_folder / "demo", extra=own)
    installation.folder.mkdir(exist_ok=True)
    process = installation.start("demo", "--port", "0")
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while "Ctrl-C" not in lines[-1]:
        assert lines[-1], process.communicate()
        lines.append(process.stdout.readline())
    told = "".join(lines)
    url = re.search(r"http://127\.0\.0\.1:\d+", told)
    assert url is not None
    (folder,) = temporary.iterdir()
    assert str(folder) in told

    with httpx.Client(base_url=url[0], timeout=SECONDS) as rest:
        assert rest.get("/api/session").json()["demo"] is True
        moved = rest.get("/api/memory/facts", params={"q": "Moved to Porto"}).json()["items"]
        assert [one["content"] for one in moved] == ["Moved to Porto, Rua do Almada"]
        stats = rest.get("/api/memory/stats").json()
        facts, rules, episodes = stats["facts"], stats["rules"], stats["episodes"]
        assert all(facts[one] > 0 for one in ("active", "fading", "superseded", "expired"))
        maturities = ("candidate", "established", "proven", "anti_pattern")
        assert all(rules[one] > 0 for one in maturities)
        assert (episodes["unconsolidated"] > 0, episodes["dead_letter"]) == (True, 0)
        assert rest.get("/api/memory/conflicts").json()["total"] == 1
        assert len(rest.get("/api/memory/contexts").json()["receipts"]) > 1
        (merge,) = rest.get("/api/memory/events?kind=entity_merge").json()["items"]
        undone = rest.post("/api/memory/undo", json={"event_id": merge["id"]})
        assert undone.json()["restored"] > 0

    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    assert out == f"Stopped. Deleted the demonstration and its folder {folder}.\n"
    assert list(temporary.iterdir()) == []
    assert not installation.data_dir.exists()
    assert "Traceback" not in err


def test_a_demonstration_keeps_out_of_other_folders(
    installation: Installation, tmp_path: Path
) -> None:
    (tmp_path / "letter.txt").write_text("Dear all", encoding="utf-8")
    told = installation.inside("demo", "--keep", str(tmp_path), code=3).err
    assert "is not empty and holds no complete demonstration" in told
    file = str(tmp_path / "letter.txt")
    assert "is not a folder" in installation.inside("demo", "--keep", file, code=3).err
    assert [one.name for one in tmp_path.iterdir()] == ["letter.txt"]


def test_a_demonstration_on_a_port_that_is_taken_makes_nothing(
    installation: Installation, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        words = ("demo", "--keep", str(tmp_path / "demo"), "--port", str(other.getsockname()[1]))
        told = installation.inside(*words, code=8)
    assert "cannot listen on 127.0.0.1 port" in told.err
    assert "Making a database" not in told.out
    assert not (tmp_path / "demo").exists()


def test_a_demonstration_that_was_kept_is_told_as_one(tmp_path: Path) -> None:
    assert not is_demo(None)
    assert not is_demo(tmp_path)
    mark(tmp_path)
    assert is_demo(tmp_path)
    refuse_other(tmp_path)
