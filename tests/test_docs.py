"""The documentation says what the code does: generated pages, links, credits, dependencies."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import make_docs
from client_code import fields_of
from memory_butler.config import Settings

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_ELSEWHERE = ("http://", "https://", "mailto:")
_DECISION = re.compile(r"\bC-\d+\b")
_CITING = (".md", ".py", ".sql", ".toml")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9._-]+")


@pytest.mark.parametrize("name", list(make_docs.PAGES))
def test_a_generated_page_is_up_to_date(name: str) -> None:
    assert make_docs.difference(name) == "", "run `make docs`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_to_files(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [match["target"].partition("#")[0] for match in _LINK.finditer(text)]
    local = [target for target in targets if target and not target.startswith(_ELSEWHERE)]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_page_is_in_the_readme_and_in_the_navigation_of_the_site() -> None:
    pages = {page.name for page in PAGES[1:]}
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    assert pages - set(re.findall(r"- (\S+\.md)$", navigation, re.MULTILINE)) == set()
    contents = PAGES[0].read_text(encoding="utf-8").partition("\n## Documentation")[2]
    assert pages - set(re.findall(r"\]\(docs/([^)#]+\.md)", contents)) == set()


def test_every_decision_that_is_cited_has_its_line() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    recorded = set(re.findall(r"^- \*\*(C-\d+)\*\* ", page, re.MULTILINE))
    cited = {
        (decision, path.relative_to(ROOT).as_posix())
        for folder in ("src", "docs", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in _CITING
        for decision in _DECISION.findall(path.read_text(encoding="utf-8"))
    }
    assert cited
    assert sorted(citation for citation in cited if citation[0] not in recorded) == []


def test_a_decision_stands_once() -> None:
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    recorded = Counter(re.findall(r"^- \*\*(C-\d+)\*\* ", page, re.MULTILINE))
    assert recorded
    assert [decision for decision, lines in recorded.items() if lines > 1] == []


def test_every_setting_says_what_it_means() -> None:
    assert list(_undescribed(Settings)) == []


def _undescribed(table: Any) -> Iterator[str]:
    for name, field in fields_of(table).items():
        if not field.description:
            yield f"{table.__name__}.{name}"
        yield from _undescribed(field.annotation)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(
            (
                "Generative Agents",
                "Park et al.",
                "MemoryBank",
                "Zhong et al.",
                "A-Mem",
                "Xu et al.",
            ),
            marks=pytest.mark.requirement("REF-01"),
            id="papers",
        ),
        pytest.param(
            ("CASS Memory System", "CASS Session Search"),
            marks=pytest.mark.requirement("REF-02"),
            id="cass",
        ),
        pytest.param(
            ("LangMem", "Mem0", "MemGPT", "Letta", "Zep", "Graphiti"),
            marks=pytest.mark.requirement("REF-03"),
            id="systems",
        ),
        pytest.param(
            (
                "Reciprocal Rank Fusion",
                "Cormack, Clarke and Büttcher",
                "Broder",
                "Sentence-BERT",
                "MiniLM",
                "PostgreSQL",
                "pgvector",
            ),
            id="search",
        ),
    ],
)
def test_what_the_design_rests_on_is_credited(names: tuple[str, ...]) -> None:
    page = (ROOT / "docs" / "acknowledgements.md").read_text(encoding="utf-8")
    assert [name for name in names if name not in page] == []


def test_every_dependency_is_accounted_for() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    accounted = set(re.findall(r"^\| ([a-z0-9@][a-z0-9@/-]*) \|", page, re.MULTILINE))
    frontend = json.loads((ROOT / "frontend" / "package.json").read_text(encoding="utf-8"))
    of_the_dashboard = {*frontend["dependencies"], *frontend["devDependencies"]}
    assert {*_direct_dependencies(), *of_the_dashboard} == accounted


def test_the_dashboards_lock_names_every_package_and_no_registry() -> None:
    frontend = ROOT / "frontend"
    wanted = json.loads((frontend / "package.json").read_text(encoding="utf-8"))
    text = (frontend / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    assert "resolved" not in text
    for name, version in (wanted["dependencies"] | wanted["devDependencies"]).items():
        assert packages[f"node_modules/{name}"]["version"] == version, name
    assert all(one["integrity"] for path, one in packages.items() if path)


def _direct_dependencies() -> Iterator[str]:
    """The names in pyproject.toml: at run time, of every extra and group, and to build."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = document["project"].get("optional-dependencies", {})
    for requirements in (
        document["build-system"]["requires"],
        document["project"]["dependencies"],
        *extras.values(),
        *document["dependency-groups"].values(),
    ):
        for requirement in requirements:
            if isinstance(requirement, str):
                match = _DISTRIBUTION.match(requirement)
                assert match is not None, requirement
                yield match.group()
