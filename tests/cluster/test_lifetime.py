"""What a memory does in its life, on a real Citus: tests of one machine, run again there."""

from collections.abc import AsyncIterator

import pytest

from conftest import Connection, Database
from engine.consolidation.test_execute import (  # noqa: F401
    test_an_update_takes_scope_and_entity_from_its_target,
)
from engine.lifecycle.test_cleanup import (  # noqa: F401
    test_expired_episodes_go_whatever_their_state_and_their_facts_stay,
)
from engine.lifecycle.test_sweep import test_two_sweeps_at_once_share_the_work  # noqa: F401
from engine.test_export import (  # noqa: F401
    other,
    other_admin,
    test_into_another_tenant_of_the_same_store,
    test_out_and_in_again_is_the_same_in_every_table,
)
from engine.test_reembed import (  # noqa: F401
    moved,
    test_an_interrupted_run_is_taken_up_where_it_stopped,
    test_every_memory_of_every_tenant_moves_to_the_new_model,
)
from engine.test_undo import (  # noqa: F401
    test_a_merge_gives_every_fact_back_to_its_owner,
    test_a_run_is_taken_back_as_a_whole_and_its_episodes_wait_again,
)
from erasure.test_erasing import (  # noqa: F401
    kept,
    test_a_certificate_holds_while_nobody_changes_it,
    test_a_tenant_goes_whole_and_no_other,
    test_an_entity_goes_with_those_merged_into_it_and_every_fact,
)
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.store import dump, nearest_index
from memory_butler.store.transaction import connected
from store.tenant_tables import TENANT_TABLES

pytestmark = [pytest.mark.anyio, pytest.mark.nightly]


@pytest.fixture
async def database(distributed: Database) -> AsyncIterator[Database]:
    """Instead of a clone on one machine; emptied after each test."""
    yield distributed
    async with connected(distributed.admin_dsn) as admin:
        for table in (*TENANT_TABLES, "tokens", "tenants"):
            await admin.execute(f"DELETE FROM {table}")


async def test_a_backup_is_refused_with_what_to_do_instead(database: Database) -> None:
    with pytest.raises(ConfigurationError, match=r"Back up each of its machines .* export"):
        async with dump.one_moment(database.admin_dsn):
            pass


async def test_an_index_of_vectors_is_built_on_every_shard(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    stored, _ = await store_fact(memory, principal, "user", "likes", "green tea")
    await nearest_index.build(admin, "facts", 1)
    try:
        on_shards = await admin.fetch(
            "SELECT result FROM run_command_on_shards('facts', $$"
            "SELECT count(*) FROM pg_indexes WHERE tablename = '%s' AND indexdef LIKE '%%hnsw%%'$$)"
        )
        assert {row["result"] for row in on_shards} == {"1"}
        assert [one.built for one in await nearest_index.states(admin) if one.table == "facts"] == [
            True
        ]
        (hit,) = await recall(memory, principal, "which tea?")
        assert hit.row["id"] == stored
    finally:
        await nearest_index.drop(admin, "facts")
