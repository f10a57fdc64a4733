"""One table of a TOML text: put in, replaced, taken out."""

import pytest

from memory_butler.domain.errors import InvalidInput
from memory_butler.integrations.toml_table import load, with_table, without_table

PATH = ("mcp_servers", "memory")
TEXT = '# mine\nmodel = "x"  # best\n\n[mcp_servers.other]\ncommand = "c"\n'


@pytest.mark.parametrize("text", ["", TEXT, TEXT.rstrip("\n"), "a = 1\n\n\n"])
def test_put_in_and_taken_out(text: str) -> None:
    made = with_table(text, PATH, {"url": "http://u", "args": ["a", 'b"c']})
    assert load(made)["mcp_servers"]["memory"] == {"url": "http://u", "args": ["a", 'b"c']}
    assert made.startswith(text)
    assert without_table(made, PATH).rstrip("\n") == text.rstrip("\n")


def test_one_that_is_there_is_replaced_and_what_follows_stays() -> None:
    text = '[mcp_servers.memory]\nurl = "old"\n# of the next\n[next]\na = 1\n'
    made = with_table(text, PATH, {"url": "new"})
    assert made == '[mcp_servers.memory]\nurl = "new"\n# of the next\n[next]\na = 1\n'
    assert without_table(made, PATH) == "# of the next\n[next]\na = 1\n"


@pytest.mark.parametrize(
    "text", ['mcp_servers = { memory = { url = "x" } }\n', 'mcp_servers.memory.url = "x"\n']
)
def test_another_notation_is_left_to_a_person(text: str) -> None:
    with pytest.raises(InvalidInput, match="another notation"):
        with_table(text, PATH, {"url": "new"})
    with pytest.raises(InvalidInput, match="no TOML"):
        load("a = ")
