"""What mkdocs.yml does with the pages of docs/ before it builds the site of them.

The README becomes the first page. A link to a file outside docs/ becomes its text, as the site does
not have that file.
"""

import re
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).resolve().parents[1]
_INTO_DOCS: Final = re.compile(r"\]\(docs/")
_OUT_OF_DOCS: Final = re.compile(
    r"(?<!!)\[([^\]]+)\]\((?:\.\./|(?:CONTRIBUTING|CHANGELOG)\.md)[^)]*\)"
)


def on_files(files: Files, config: Any) -> Files:
    """Add the README to what is built."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=_INTO_DOCS.sub("](", readme)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Take the links out of docs/ away."""
    return _OUT_OF_DOCS.sub(r"\1", markdown)
