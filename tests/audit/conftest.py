"""A memory whose events are sealed, and what an auditor does with its log."""

from dataclasses import replace
from pathlib import Path

import pytest

from memory_butler.engine.audit_keys import AuditKeys, open_keys
from memory_butler.engine.memory import Memory


@pytest.fixture
def keys(tmp_path: Path) -> AuditKeys:
    return open_keys(tmp_path / "audit")


@pytest.fixture
def sealed(memory: Memory, keys: AuditKeys, tmp_path: Path) -> Memory:
    """A memory whose events are sealed."""
    memory.pool.seal_key = keys.chain
    return replace(memory, audit=keys, data_dir=tmp_path)
