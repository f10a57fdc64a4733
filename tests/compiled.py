"""A pytest plugin: what Python compiles is kept for all runs, also by processes that tests start.

Loaded by `-p compiled` in pyproject.toml, before all that takes long to compile. Without it the
collection of the suite, and each process of a test, takes two to three times as long where the
environment says PYTHONDONTWRITEBYTECODE.
"""

import os
import sys
from pathlib import Path

# Apart from the sources, which stay as they are; elsewhere for whoever named a folder before.
sys.pycache_prefix = sys.pycache_prefix or str(Path(sys.prefix, "compiled"))
sys.dont_write_bytecode = False
os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
