"""Every operation on a real Citus, asked as on one machine: over REST and MCP, by two tenants."""

import pytest

from conftest import Database
from surfaces.conftest import serve  # noqa: F401
from surfaces.isolation.test_two_tenants import (  # noqa: F401
    street,
    test_every_operation_over_every_surface,
)

pytestmark = [pytest.mark.anyio, pytest.mark.nightly]


@pytest.fixture
def database(distributed: Database) -> Database:
    """Instead of a clone on one machine."""
    return distributed
