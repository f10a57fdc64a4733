"""The processes that serve the dashboard's tests."""

from contextlib import closing

import memory_butler
from forking import forked


def _say_where() -> None:
    print(memory_butler.__file__, flush=True)


def test_they_run_the_program_that_the_tests_import() -> None:
    """Also where PYTHONPATH names another checkout than the one that is installed."""
    with closing(forked(_say_where)) as process:
        assert process.stdout.readline().strip() == memory_butler.__file__
