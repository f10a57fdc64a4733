"""A pytest plugin: which requirement is shown by which test (docs/requirements.md).

Loaded by `-p requirements_ledger` in pyproject.toml. An id in `@pytest.mark.requirement` that the
ledger does not know stops the run. After a run of the whole suite every id declared done must have
a test that passed: `test_requirements.py` asks for a test, the end of the session that it passed.

With several processes (pytest-xdist) each worker collects everything and runs a part; the process
that started them collects nothing and hears of every test. So a test's ids travel with its reports.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

LEDGER = Path("docs", "requirements.md")
# In the reason of a skip: the test needs a program that is not there. In CI it fails instead.
ABSENT = "not on this machine"
PLUGIN_NAME = "requirement-ledger"
_PROPERTY = "requirement"

_LINE = re.compile(r"- \[(?P<mark>[x ])\] \*\*(?P<id>(?P<area>[A-Z]+)-\d\d)\*\* \S.*")


def read_ledger(text: str) -> dict[str, bool]:
    """Every id in order, and whether it is declared done.

    Raises:
        ValueError: a list item of another form, or an id that stands there twice.
    """
    declared: dict[str, bool] = {}
    for line in text.splitlines():
        if not line.startswith("- "):
            continue
        match = _LINE.fullmatch(line)
        if match is None or match["id"] in declared:
            raise ValueError(f"{LEDGER}: not the one line of a requirement: {line!r}")
        declared[match["id"]] = match["mark"] == "x"
    return declared


class RequirementLedger:
    """What is declared, which test carries which id, and which ids a passing test has shown."""

    def __init__(self, declared: dict[str, bool], *, whole_suite: bool = True) -> None:
        self.declared = declared
        self.tests: dict[str, set[str]] = defaultdict(set)
        self.shown: set[str] = set()
        self.whole_suite = whole_suite
        self._reported: set[str] = set()
        self._excused: set[str] = set()
        self._failed = False

    def without_test(self) -> list[str]:
        """The ids declared done that no collected test carries."""
        return [id for id, done in self.declared.items() if done and not self.tests[id]]

    def only_skipped(self) -> list[str]:
        """The ids declared done that tests carried which ran, none of which has passed.

        Left out are those whose tests need what this machine lacks, and say so (`ABSENT`).
        """
        unshown = self._reported - self.shown - self._excused
        return [id for id, done in self.declared.items() if done and id in unshown]

    def report(self) -> str:
        """Per area how many ids there are, are declared done and have a test; then the lists."""
        areas: dict[str, list[str]] = defaultdict(list)
        for id in self.declared:
            areas[id.partition("-")[0]].append(id)
        lines = [f"{'area':<8}{'ids':>5}{'done':>6}{'tested':>8}"]
        for area, ids in [*areas.items(), ("total", list(self.declared))]:
            done = sum(self.declared[id] for id in ids)
            tested = sum(bool(self.tests[id]) for id in ids)
            lines.append(f"{area:<8}{len(ids):>5}{done:>6}{tested:>8}")
        undeclared = [id for id, done in self.declared.items() if self.tests[id] and not done]
        lines.append(f"\ndeclared done, without a test: {_listed(self.without_test())}")
        lines.append(f"\nwith a test, not declared done: {_listed(undeclared)}")
        return "\n".join(lines)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Read the marks, before -k or -m leave tests out."""
        unknown = []
        for item in items:
            ids = {id for mark in item.iter_markers("requirement") for id in mark.args}
            item.user_properties += [(_PROPERTY, id) for id in sorted(ids)]
            for id in sorted(ids):
                if id not in self.declared:
                    unknown.append(f"{item.nodeid} names {id}")
                self.tests[id].add(item.nodeid)
        if unknown:
            raise pytest.UsageError(f"{LEDGER} does not know: " + "; ".join(unknown))

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        if items:
            self.whole_suite = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Only a call that passed shows anything: neither a skipped test nor an xfail does."""
        ids = {str(value) for name, value in report.user_properties if name == _PROPERTY}
        self._reported |= ids
        if report.when == "call" and report.passed:
            self.shown |= ids
        if report.skipped and ABSENT in str(report.longrepr):
            self._excused |= ids

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Fail a run that would have passed, had its skipped tests not been the only ones."""
        worker = hasattr(session.config, "workerinput")  # it has run a part of the tests
        if worker or exitstatus != pytest.ExitCode.OK or session.config.option.collectonly:
            return
        if self.whole_suite and self.only_skipped():
            self._failed = True
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if excused := sorted(self._excused - self.shown):
            terminalreporter.line(f"requirements that need what is {ABSENT}: {_listed(excused)}")
        if self._failed:
            terminalreporter.section("requirements", red=True)
            terminalreporter.line(
                "declared done, but no test of theirs passed: " + _listed(self.only_skipped())
            )


def pytest_configure(config: pytest.Config) -> None:
    ledger = read_ledger((config.rootpath / LEDGER).read_text(encoding="utf-8"))
    narrowing = ("ignore", "ignore_glob", "lf", "keyword", "markexpr")
    narrowed = any(config.getoption(name, None) for name in narrowing)
    whole = not narrowed and config.args_source is not pytest.Config.ArgsSource.ARGS
    config.pluginmanager.register(RequirementLedger(ledger, whole_suite=whole), PLUGIN_NAME)


@pytest.fixture(scope="session")
def requirement_ledger(request: pytest.FixtureRequest) -> RequirementLedger:
    """What the collected tests say of the requirements."""
    ledger = request.config.pluginmanager.get_plugin(PLUGIN_NAME)
    assert isinstance(ledger, RequirementLedger)
    return ledger


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(ids) or "none"
