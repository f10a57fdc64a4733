"""Whom a taken port belongs to is told without the passwords on its command line."""

import pytest

from memory_butler.domain.errors import ConfigurationError
from memory_butler.surfaces.listening import listen, program_of


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["/usr/bin/python3", "/opt/bin/memory-butler", "serve", "--dsn", "postgresql://a:b@c"],
         "python3 memory-butler serve"),
        (["psql", "postgresql://ana:hunter2@db/x"], "psql"),
        (["env", "PGPASSWORD=hunter2", "x"], "env"),
        (["nginx: master process"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_a_program_is_named_up_to_its_first_option(command: list[str], told: str) -> None:
    assert program_of(command) == told


@pytest.mark.parametrize("host", ["no-name.invalid", "192.0.2.1"])
def test_a_host_of_no_machine_here_is_not_taken_by_anybody(host: str) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError) as refused:
            listen(host, port)
        assert str(refused.value).endswith(". Name an address of this machine with --host.")
        assert "by process" not in str(refused.value)
        with pytest.raises(ConfigurationError, match=r", by process .* Choose another port"):
            listen("127.0.0.1", port)
