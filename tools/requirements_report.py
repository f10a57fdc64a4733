"""Print, area by area, how many requirements are declared done and how many have a test.

    .venv/bin/python tools/requirements_report.py

Tests are collected, not run.
"""

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


class Listener:
    """Keeps the ledger of tests/requirements_ledger.py once the tests are collected."""

    ledger: Any = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.ledger = session.config.pluginmanager.get_plugin("requirement-ledger")


def main() -> int:
    os.chdir(ROOT)
    listener = Listener()
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = pytest.main(["--collect-only", "-qq"], plugins=[listener])
    if code != pytest.ExitCode.OK or listener.ledger is None:
        print(output.getvalue(), file=sys.stderr)
        return 1
    print(listener.ledger.report())
    return 0


if __name__ == "__main__":
    sys.exit(main())
