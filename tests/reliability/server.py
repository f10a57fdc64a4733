"""The server that the harness kills: the real one, with a language model that states plain facts.

python server.py DATA_DIR
"""

import asyncio
import sys
from pathlib import Path
from unittest.mock import patch

from engine.consolidation.worker import OneFactEach
from memory_butler import app
from memory_butler.config import Settings
from memory_butler.inference.language_models import choose
from memory_butler.logs import configure


def _told(url: str) -> None:
    print(url, flush=True)


if __name__ == "__main__":
    # Standard output tells the URL and nothing else: nobody reads that pipe afterwards.
    configure("warning")
    settings = Settings(
        port=0, data_dir=Path(sys.argv[1]), toolsets=("memory", "journal"), log_level="warning"
    )
    with patch.object(choose, "find_model", lambda *_: OneFactEach()):
        asyncio.run(app.serve(settings, _told))
