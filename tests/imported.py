"""What the process that others are forked from does first, so that none of these has to.

It imports everything, builds what the first application and the first answers build, and reads the
model that tells languages apart (0.8 seconds of processor time) and the embedding model (0.25). The
modules of forked functions import `conftest`, which with pytest and hypothesis takes 0.4 seconds.
"""

# ruff: noqa: F401 -- forked processes find these imported
import gc
from unittest.mock import MagicMock

# What servers, clients and settings import only when they are there.
import anyio._backends._asyncio
import httpcore2
import pydantic_settings
import uvicorn.lifespan.on
import uvicorn.protocols.http.h11_impl

import memory_butler.__main__
import memory_butler.app
import memory_butler.host.daemon
import memory_butler.store.migrations.run
import memory_butler.surfaces.cli.by_hand
from conftest import PRECISION
from memory_butler.config import Settings
from memory_butler.domain import roles
from memory_butler.inference import languages, minilm
from memory_butler.inference.language_models import api, choose, command_line
from memory_butler.inference.model_files import find_model_files
from memory_butler.operations.registry import OPERATIONS
from memory_butler.surfaces.http import served
from memory_butler.surfaces.rest.routes import of_operations, whole

for _one in OPERATIONS:
    _one.input_model.model_rebuild()
    _one.output_model.model_rebuild()
whole(of_operations())
served(MagicMock(audit=None), Settings())
languages.language("Bom dia")
tuple(roles.called("Who is my boss?"))
# A process that asks for another precision or folder reads its own.
_read, _asked = minilm._load, (find_model_files(None), 1, PRECISION)
_model = _read(*_asked)
minilm._load = lambda *asked: _model if asked == _asked else _read(*asked)
# What is there now stays: the garbage collections of a forked process need not go through it.
gc.collect()
gc.freeze()
