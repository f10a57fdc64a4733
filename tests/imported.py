"""What the process that others are forked from does first, so that none of these has to.

It imports everything, and builds what the first application and the first answers build.
"""

# ruff: noqa: F401 -- forked processes find these imported
from unittest.mock import MagicMock

import memory_butler.__main__
import memory_butler.app
from memory_butler.config import Settings
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.http import build_app

for _one in OPERATIONS:
    _one.output_model.model_rebuild()
build_app(MagicMock(audit=None), Settings())
