"""Whom a taken port belongs to is told without the passwords on its command line."""

import pytest

from memory_butler.surfaces.listening import program_of


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
