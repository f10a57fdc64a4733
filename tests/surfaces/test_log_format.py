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


_BELOW = """
import sys
from memory_butler import logs
if len(sys.argv) > 1:
    logs.configure(sys.argv[1])
logs.get_logger().info("below", of=1)
assert not {"structlog", "rich"} & set(sys.modules)
logs.get_logger().warning("above")
assert "structlog" in sys.modules
logs.get_logger().info("below", of=2)
"""


@pytest.mark.parametrize("configured", [[], ["warning"]])
def test_a_line_below_the_level_imports_nothing(configured: list[str]) -> None:
    """A process that dropped its rights may not be able to read the packages."""
    done = subprocess.run(
        [sys.executable, "-c", _BELOW, *configured], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "above" in done.stdout + done.stderr
    if configured:
        assert done.stdout == ""
        assert "below" not in done.stderr


_AT_ONCE = """
import threading, time
from memory_butler import logs
logs.configure("info", "json")
import structlog
told = structlog.configure
def slowly(**settings):
    time.sleep(0.3)
    told(**settings)
structlog.configure = slowly
log = logs.get_logger()
both = [threading.Thread(target=lambda: log.info("said")) for _ in range(2)]
for one in both: one.start()
for one in both: one.join()
"""


def test_the_first_lines_of_two_threads_keep_off_standard_output() -> None:
    """There MCP speaks."""
    done = subprocess.run(
        [sys.executable, "-c", _AT_ONCE], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == ["said", "said"]


_IN_A_HOST = """
import sys
from memory_butler import logs
if sys.argv[1] == "configured":
    import structlog
    def shown(logger, name, event):
        return "the host's: " + event["event"]
    structlog.configure(processors=[shown])
def fails(told):
    raise ValueError("no")
try:
    fails("Ana is " + "ill")
except ValueError:
    logs.get_logger().exception("bug")
"""


def _in_a_host(way: str) -> "subprocess.CompletedProcess[str]":
    arguments = [sys.executable, "-c", _IN_A_HOST, way]
    return subprocess.run(arguments, capture_output=True, text=True, check=True)


def test_a_host_that_configured_nothing_sees_no_memory_and_keeps_its_standard_output() -> None:
    """structlog by itself prints a traceback there, with the values of local variables."""
    done = _in_a_host("bare")
    assert done.stdout == ""
    line = json.loads(done.stderr)
    assert line["event"] == "bug"
    assert "ValueError: no" in line["exception"]
    assert "Ana is ill" not in done.stderr


def test_a_host_that_configured_its_logs_gets_ours_among_them() -> None:
    assert _in_a_host("configured").stdout == "the host's: bug\n"
