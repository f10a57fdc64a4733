"""The ledger of requirements, and the plugin that holds the tests to it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from requirements_ledger import RequirementLedger, read_ledger

_LEDGER = "- [x] **AAA-01** It works.\n- [ ] **AAA-02** It will.\n"
_CONFIG = """
[pytest]
addopts = -p long_profile -p requirements_ledger --strict-markers
testpaths = tests
markers =
    nightly: of the long profile
    requirement(*ids): the ids that a test shows
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_every_requirement_declared_done_has_a_test(requirement_ledger: RequirementLedger) -> None:
    if not requirement_ledger.whole_suite:
        pytest.skip("only a part of the tests was collected")
    missing = requirement_ledger.without_test()
    assert not missing, f"{len(missing)} declared done, without a test: {', '.join(missing)}"


def test_the_ledger_names_every_requirement_in_order(requirement_ledger: RequirementLedger) -> None:
    numbers: dict[str, list[int]] = {}
    for id in requirement_ledger.declared:
        area, _, number = id.partition("-")
        numbers.setdefault(area, []).append(int(number))
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    assert (len(numbers), len(requirement_ledger.declared)) == (59, 459)


def test_a_ledger_line_has_one_form() -> None:
    assert read_ledger(_LEDGER) == {"AAA-01": True, "AAA-02": False}
    for line in ("- [X] **AAA-01** It works.", "- **AAA-01** It works.", "- [x] **AAA-02** Twice."):
        with pytest.raises(ValueError, match="not the one line of a requirement"):
            read_ledger(_LEDGER + line)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Write a project with one test file and run pytest in it."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "requirements.md").write_text(_LEDGER)
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text(f"{_CONFIG}pythonpath = {Path(__file__).parent}\n")

    def run_pytest(tests: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "tests" / "test_it.py").write_text(f"import pytest\n\n{tests}")
        return subprocess.run(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=tmp_path,
            # To look for them takes ten times as long as the tests.
            env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run_pytest


@pytest.mark.parametrize(
    ("body", "code"),
    [("pass", 0), ("pytest.skip('not here')", 1), ("pytest.xfail('not yet')", 1)],
)
def test_only_a_test_that_passes_shows_a_requirement(run: Run, body: str, code: int) -> None:
    done = run(f"@pytest.mark.requirement('AAA-01')\ndef test_it():\n    {body}\n")
    assert done.returncode == code, done.stdout
    assert ("no test of theirs passed: AAA-01" in done.stdout) == bool(code)


def test_what_needs_another_machine_is_told_and_no_failure(run: Run) -> None:
    body = "pytest.skip('not on this machine: a browser')"
    done = run(f"@pytest.mark.requirement('AAA-01')\ndef test_it():\n    {body}\n")
    assert done.returncode == 0, done.stdout
    assert "requirements that need what is not on this machine: AAA-01" in done.stdout


def test_a_part_of_the_suite_need_not_show_everything(run: Run) -> None:
    skipped = "@pytest.mark.requirement('AAA-01')\ndef test_it():\n    pytest.skip('not here')\n"
    for arguments in (["tests"], ["--collect-only"], ["--ignore=tests/other"]):
        assert run(skipped, *arguments).returncode == 0
    assert run(skipped + "\n\ndef test_other():\n    pass\n", "-k", "other").returncode == 0


def test_an_unknown_requirement_stops_the_run(run: Run) -> None:
    done = run("@pytest.mark.requirement('AAA-01', 'AAA-03')\ndef test_it():\n    pass\n")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "docs/requirements.md does not know: tests/test_it.py::test_it names AAA-03" in (
        done.stdout + done.stderr
    )


def test_a_test_of_the_long_profile_runs_there_or_by_its_name(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HYPOTHESIS_PROFILE", raising=False)
    short = "def test_short():\n    pass\n\n\n"
    long = "@pytest.mark.nightly\n@pytest.mark.requirement('AAA-01')\ndef test_long():\n    pass\n"
    shown = (
        "def test_shown(requirement_ledger):\n    assert not requirement_ledger.without_test()\n"
    )
    by_day = run(f"{short}{long}")
    assert "1 passed" in by_day.stdout
    assert "left out: 1 of the long profile" in by_day.stdout
    by_workers = run(f"{short}{long}", "-p", "xdist", "--numprocesses", "2")
    assert "1 passed" in by_workers.stdout
    assert "left out: 1 of the long profile" in by_workers.stdout
    assert "2 passed" in run(f"{short}{long}", "tests", "tests/test_it.py::test_long").stdout
    # A requirement needs a test by day.
    assert "1 failed" in run(f"{short}{long}\n\n{shown}").stdout

    monkeypatch.setenv("HYPOTHESIS_PROFILE", "nightly")
    by_night = run(f"{short}{long}\n\n{shown}")
    assert "3 passed" in by_night.stdout
    assert "left out" not in by_night.stdout
