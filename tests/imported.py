"""What the process that others are forked from does first, so that none of these has to.

It imports everything, builds what the first application and the first answers build, and reads the
model that tells languages apart (0.8 seconds of processor time).
"""

# ruff: noqa: F401 -- forked processes find these imported
import gc
from unittest.mock import MagicMock

import memory_butler.__main__
import memory_butler.app
from memory_butler.config import Settings
from memory_butler.inference import languages
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.http import served

for _one in OPERATIONS:
    _one.output_model.model_rebuild()
served(MagicMock(audit=None), Settings())
languages.language("Bom dia")
# What is there now stays: the garbage collections of a forked process need not go through it.
gc.collect()
gc.freeze()
