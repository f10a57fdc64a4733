"""How long a stranger waits: from nothing to the first remembered fact, and to the first "why".

    .venv/bin/python bench/first_hour.py .     # from a clone of this folder
    make wheel
    .venv/bin/python bench/first_hour.py dist/memory_butler-*.whl

Each step is one command in an empty home and with an empty environment. Packages come from the
index that uv reaches, so the first step measures the line too. Prints seconds, and those of the
processor in the commands; an embedded database that serves on its own is not among them.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_CERTIFICATES = "SSL_CERT_FILE"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="a wheel, or a folder to clone")
    given = parser.parse_args()
    # Under root the database runs as another user, who has to reach the program.
    home = Path(tempfile.mkdtemp(prefix="first-hour-"))
    home.chmod(0o755)
    clean = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    if _CERTIFICATES in os.environ:
        clean[_CERTIFICATES] = os.environ[_CERTIFICATES]
    began = time.perf_counter()
    try:
        program = installed(given.source.resolve(), home, clean)
        timed(
            "first remembered fact", (program, "store-fact", "user", "tea", "Likes Oolong"), clean
        )
        print(f"{'to the first fact':<24}{time.perf_counter() - began:7.1f} s")
        found = timed("first recall", (program, "recall", "Which tea do I like?"), clean)
        assert "Oolong" in found, found
        context = timed(
            "first context", (program, "context", "Serve tea", "waiter", "--json"), clean
        )
        receipt = re.search(r'"receipt_id": "([0-9a-f-]+)"', context)
        assert receipt is not None, context
        why = timed("first why", (program, "explain", receipt[1]), clean)
        assert "Oolong" in why, why
        print(f"{'to the first why':<24}{time.perf_counter() - began:7.1f} s")
    finally:
        shutil.rmtree(home)


def installed(source: Path, home: Path, clean: Mapping[str, str]) -> str:
    """The program, as the README has it installed."""
    if source.is_dir():
        clone = home / "memory-butler"
        timed("git clone", ("git", "clone", "--quiet", f"file://{source}", str(clone)), clean)
        timed("make setup", ("make", "-C", str(clone), "setup", f"PYTHON={sys.executable}"), clean)
        return str(clone / ".venv" / "bin" / "memory-butler")
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    install = (uv, "tool", "install", "--python", sys.executable, str(source))
    timed("install", install, clean)
    return str(home / ".local" / "bin" / "memory-butler")


def timed(step: str, command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run it; print how long it took; what it said."""
    before, began = _processor(), time.perf_counter()
    said = subprocess.run(
        command,
        env=environment,
        cwd=environment["HOME"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    seconds = time.perf_counter() - began
    print(f"{step:<24}{seconds:7.1f} s {_processor() - before:7.1f} s of the processor", flush=True)
    return said.stdout


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
