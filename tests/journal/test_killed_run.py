"""A maintenance run as a real process, killed at every step: visible, and harmless (JST-02)."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.texts import read_texts

# Runs the maintenance with a scripted model; at STEP it says so and stands still until killed.
_WORKER = """
import asyncio, sys, time
from pathlib import Path
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal import desk as desk_module
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.maintenance.run import alone, maintain
from memory_butler.journal.policy import JournalPolicy

data_dir, step = Path(sys.argv[1]), sys.argv[2]

def stopping(original, afterwards):
    def call(*args, **more):
        result = original(*args, **more) if afterwards else None
        print("at", step, flush=True)
        time.sleep(600)
    return call

if step == "during the model call":
    ScriptedModel.complete = stopping(ScriptedModel.complete, False)
elif step == "inside the transaction":
    desk_module._write = stopping(desk_module._write, True)
elif step == "before ambient.md":
    desk_module.write_ambient = stopping(desk_module.write_ambient, False)

REPLY = '{"put": [{"key": "garden", "ambient": "A garden.", "sources": ["M1"]}]}'
file = JournalFile.open(data_dir, "default", "companion")
with alone(file):
    asyncio.run(maintain(MaintenanceDesk(file), ScriptedModel([REPLY]), "weekly", JournalPolicy()))
print("done", flush=True)
"""
STEPS = ("during the model call", "inside the transaction", "before ambient.md")


def worker(data_dir: Path, step: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _WORKER, str(data_dir), step], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.requirement("JST-02", "JSCH-16")
@pytest.mark.parametrize("step", STEPS)
def test_a_killed_run_is_visible_and_harmless(tmp_path: Path, step: str) -> None:
    with JournalFile.open(tmp_path, "default", "companion") as file:
        MaintenanceDesk(file).apply("manual", [PutFragment("old", "Old.")])
        LiveJournal(file).log("Ada dug the garden.", "user")
        before = read_texts(file.texts_dir).ambient
    process = worker(tmp_path, step)
    assert process.stdout is not None
    assert process.stdout.readline() == f"at {step}\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with JournalFile.open(tmp_path, "default", "companion") as file:
        # Killed before it was written, ambient.md is as it was, never half.
        assert read_texts(file.texts_dir).ambient == before
        desk = MaintenanceDesk(file)
        if step == "before ambient.md":
            # It was committed: whoever opens the desk next finishes it.
            assert set(desk.fragments()) == {"garden", "old"}
            assert desk.runs()[0].completed_at is not None
            assert read_texts(file.texts_dir).ambient == "[garden] A garden.\n[old] Old.\n"
            return
        assert set(desk.fragments()) == {"old"}
        assert (desk.runs()[0].completed_at, desk.runs()[0].report) == (None, None)
        assert len(desk.unread_events()) == 1
    # The lock went with the process, and the next run does the work.
    successor = worker(tmp_path, "to the end")
    assert successor.communicate(timeout=60)[0] == "done\n"
    with JournalFile.open(tmp_path, "default", "companion") as file:
        desk = MaintenanceDesk(file)
        assert set(desk.fragments()) == {"garden", "old"}
        assert [run.completed_at is None for run in desk.runs()] == [False, True, False]
