"""Unpack py3langid's model of our languages into the package, unless it is there.

    python tools/language_model.py

`hatch_build.py` runs this for a wheel, `make client` for a checkout; what it writes is not in git.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
    from memory_butler.inference.languages import CONFIGURATIONS
    from memory_butler.inference.letters import is_current, unpack

    if not is_current(CONFIGURATIONS):
        unpack(CONFIGURATIONS)
