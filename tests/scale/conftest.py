"""Three servers on one PostgreSQL, shared by a module's tests."""

from collections.abc import AsyncIterator, Iterator

import pytest

from cli.installation import Installation
from conftest import Database, Template, cloned
from scale.fleet import Fleet, started

SERVERS = 3
TENANTS = ("ours", "theirs")
EVERY_SECOND = "* * * * * *"


@pytest.fixture(scope="module")
async def shared(template: Template) -> AsyncIterator[Database]:
    """The one database of the servers."""
    async with cloned(template) as database:
        yield database


@pytest.fixture(scope="module")
def fleet(shared: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Three servers that demand tokens and look for decay every second."""
    folder = tmp_path_factory.mktemp("fleet")
    common = {
        "MEMORY_BUTLER_DSN": shared.runtime_dsn,
        "MEMORY_BUTLER_MEMORY__SCHEDULE__DECAY_SWEEP": EVERY_SECOND,
        "MEMORY_BUTLER_POOL_SIZE": "4",
    }
    tokens = {}
    operator = Installation(folder, extra=common)
    for tenant in TENANTS:
        words = ("token", "create", "--tenant", tenant, "--name", "agent", "--scope", "admin")
        tokens[tenant] = operator.run(*words).out.strip()
    figures = ("token", "create", "--name", "prometheus", "--scope", "metrics")
    tokens["figures"] = operator.run(*figures).out.strip()
    with started(folder, [common] * SERVERS, "--require-token") as (processes, urls):
        yield Fleet(processes, urls, tokens)
