"""How the server speaks HTTP."""

from starlette.applications import Starlette

from memory_butler.surfaces.running import configured


def test_a_connection_stays_open_while_an_agent_thinks() -> None:
    # Clients close an idle connection after a minute at most; the server must not be the first.
    assert configured(Starlette()).timeout_keep_alive >= 75
