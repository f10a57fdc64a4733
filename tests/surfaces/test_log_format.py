"""The form of the logs: lines for people on a terminal, JSON elsewhere, or as asked for."""

import json
import os
import pty
import subprocess
import sys

import pytest

_SCRIPT = """
import logging, sys, structlog
from memory_butler import logs
logs.configure("info", sys.argv[1])
structlog.get_logger().info("server_started", port=8150)
logging.getLogger("a.library").warning("half full")
"""


def _command(format: str) -> list[str]:
    return [sys.executable, "-c", _SCRIPT, format]


@pytest.mark.parametrize("format", ["auto", "json"])
def test_programs_are_told_in_json(format: str) -> None:
    done = subprocess.run(_command(format), capture_output=True, text=True, check=True)
    ours, library = map(json.loads, done.stderr.splitlines())
    assert (ours["event"], ours["level"], ours["port"]) == ("server_started", "info", 8150)
    assert (library["event"], library["level"]) == ("half full", "warning")


def test_people_are_told_in_lines_without_colours_in_a_file() -> None:
    done = subprocess.run(_command("console"), capture_output=True, text=True, check=True)
    ours, library = done.stderr.splitlines()
    assert "[info" in ours
    assert "port=8150" in ours
    assert "half full" in library
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(("format", "is_json"), [("auto", False), ("json", True)])
def test_a_terminal_is_for_people_unless_asked_otherwise(format: str, is_json: bool) -> None:
    terminal, end = pty.openpty()
    try:
        subprocess.run(_command(format), stderr=end, check=True)
        first = os.read(terminal, 65_536).decode().splitlines()[0]
    finally:
        os.close(end)
        os.close(terminal)
    assert first.startswith("{") == is_json
    assert "server_started" in first
