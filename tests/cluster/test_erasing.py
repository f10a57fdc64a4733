"""Forgetting for good on a real Citus, by day: a test of one machine, run again there."""

import pytest

from cluster.test_lifetime import database  # noqa: F401
from erasure.test_erasing import (  # noqa: F401
    kept,
    test_an_episode_goes_with_what_was_drawn_from_it_alone,
)

pytestmark = pytest.mark.anyio
