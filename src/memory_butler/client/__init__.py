"""Memory for Python programs: typed methods for every operation, asynchronous and synchronous.

`generated/` is made from the operations when the package is built, or by `make client`.
"""

from memory_butler.client.endpoint import UNSET, Unset

try:
    from memory_butler.client.generated import shapes
except ImportError as error:
    raise ImportError(
        "the client is made when the package is built: run `make client`, or install it again"
    ) from error
from memory_butler.client.memory import MemoryClient, SyncMemoryClient

__all__ = ["UNSET", "MemoryClient", "SyncMemoryClient", "Unset", "shapes"]
