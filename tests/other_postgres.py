"""A PostgreSQL server that is not the embedded one: started from any folder of programs."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def running(programs: Path, database: str) -> Iterator[str]:
    """A new server on a socket of its own; the DSN of its administrator, to a database."""
    folder = Path(tempfile.mkdtemp(prefix="mb-other-"))
    who: dict[str, Any] = {}
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
        who = {"user": "nobody", "group": "nogroup", "extra_groups": []}

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [programs / program, "-D", folder / "data", *arguments],
            check=True,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            env={"HOME": str(folder), "PATH": os.environ["PATH"]},
            **who,
        )

    try:
        run("initdb", "-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C")
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", f"-h '' -k {folder}", "start")
        try:
            yield f"postgresql://postgres@/{database}?host={folder}"
        finally:
            run("pg_ctl", "-w", "-m", "fast", "stop")
    finally:
        shutil.rmtree(folder)
