"""A pytest plugin: what Python compiles is kept for all runs, also by processes that tests start.

Loaded by `-p compiled` in pyproject.toml, before all that takes long to compile. Without it the
collection of the suite, and each process of a test, takes two to three times as long where the
environment says PYTHONDONTWRITEBYTECODE.
"""

import os
import sys
from pathlib import Path

FOLDER = Path(sys.prefix, "compiled")  # apart from the sources, which stay as they are

sys.pycache_prefix = str(FOLDER)
sys.dont_write_bytecode = False
os.environ["PYTHONPYCACHEPREFIX"] = str(FOLDER)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
