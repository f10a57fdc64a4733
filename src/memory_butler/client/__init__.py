"""Memory for Python programs: `MemoryClient`, with a typed method for every operation."""

from memory_butler.client.memory import MemoryClient
from memory_butler.client.transport import UNSET, Unset

__all__ = ["UNSET", "MemoryClient", "Unset"]
