"""Tags that a model writes as JSON do what tags do, and are never said aloud."""

import pytest

from memory_butler.inference.language_models.port import ModelOutputTooLong
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal.conversation import reply
from memory_butler.journal.json_tags import as_tags
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.policy import JournalPolicy

POLICY = JournalPolicy(untagged_reply_is_say=True)


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        (
            '{"say": "Good morning!", "pin": "Ana likes tea"}',
            "<say>Good morning!</say>\n<pin>Ana likes tea</pin>",
        ),
        (
            '```json\n{"plan": {"text": "call Ada", "due": "friday"}, "feeling": "calm"}\n```',
            '<plan due="friday">call Ada</plan>\n<feeling>calm</feeling>',
        ),
        (
            '[{"tag": "say", "text": "Hi."},'
            ' {"type": "desc", "content": "tall", "subject": "Ada"}]',
            '<say>Hi.</say>\n<desc subject="Ada">tall</desc>',
        ),
        (
            '{"tool_calls": [{"name": "pin", "arguments": {"text": "tea"}},'
            ' {"name": "recall", "arguments": "{\\"key\\": \\"garden\\"}"}]}',
            '<pin>tea</pin>\nrecall("garden")',
        ),
        (
            'Done.\n{"plan>done": "call Ada"}\nAnything else?',
            "Done.\nplan>done call Ada\nAnything else?",
        ),
        ('{"pin": ["tea", {"text": "cake"}]}', "<pin>tea</pin>\n<pin>cake</pin>"),
        ('{"search": "old \\"roses\\""}', 'search("old  roses ")'),
        (
            'Of course.\n<tool_call>\n{"name": "pin", "arguments": {"text": "tea"}}\n</tool_call>\n'
            '<tool_call>{"name": "say", "arguments": {"text": "Noted."}}</tool_call>',
            "Of course.\n<pin>tea</pin>\n<say>Noted.</say>",
        ),
        (
            '[TOOL_CALLS] [{"name": "say", "arguments": {"text": "Noted."}}]',
            "<say>Noted.</say>",
        ),
        (
            '<|tool_call|>[{"name": "pin", "arguments": "{\\"text\\": \\"tea\\"}"}]',
            "<pin>tea</pin>",
        ),
        # A tag in a value ends nothing.
        ('{"secret": "a lantern</secret> loud"}', "<secret>a lantern loud</secret>"),
        (
            'One.\n```json\n{"pin": "a"}\n```\nTwo.\n```json\n{"pin": "b"}\n```',
            "One.\n<pin>a</pin>\nTwo.\n<pin>b</pin>",
        ),
    ],
)
def test_json_is_read_as_tags(given: str, tags: str) -> None:
    assert as_tags(given) == tags


@pytest.mark.parametrize(
    "given",
    [
        "Good morning.",
        '{"name": "butler", "version": 3}',
        '{"pin": 3}',
        '{"pin": {"text": "tea", "colour": "green"}}',
        "[]",
        "{}",
        "[1, 2]",
        'as in {"say": "hello"} there',
        '{"say": "hello"} there',
        '<say>\n{"pin": "tea"}\n</say>',
        '{"plan>eat": "cake"}',
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Porto"}}\n</tool_call>',
        "[TOOL_CALLS] none",
        "[" * 100_000,
    ],
)
def test_anything_else_is_left_as_it_is(given: str) -> None:
    assert as_tags(given) == given


@pytest.mark.anyio
async def test_a_reply_in_json_keeps_what_it_says_to_keep(live: LiveJournal) -> None:
    live.log("Hello, I like tea", "user")
    told: list[str] = []
    model = ScriptedModel(
        [
            '{"search": "tea"}',
            'How nice.\n```json\n{"pin": "Ana likes tea", "secret": "a lantern"}\n```',
        ]
    )
    done = await reply(
        live, model, POLICY, max_tokens=100, heard=lambda shown: told.append(str(shown))
    )
    assert done.looked_up == ('search("tea")',)
    assert {(one.item.type, one.item.content) for one in live.mind()} == {
        ("pin", "Ana likes tea"),
        ("secret", "a lantern"),
    }
    assert done.text == "How nice.\n<pin>Ana likes tea</pin>\n<secret>a lantern</secret>"
    assert "lantern" not in "".join(told)
    assert "pin" not in "".join(told)


@pytest.mark.parametrize(
    ("given", "tags"),
    [
        ('{"say": "cut off', "<say>cut off"),
        ('{"say": "Hi", "secret": "the ri', "<say>Hi</say>\n<secret>the ri"),
        ('{"say": "Hi", "secret": "the\nri', "<say>Hi</say>\n<secret>the\nri"),
        ('{"secret": "the ring", "say": "I have', "<secret>the ring</secret>\n<say>I have"),
        ('{"say": "Hi", "pin": "tea"', "<say>Hi</say>\n<pin>tea</pin>"),
        ('{"say": "Hi", "sec', "<say>Hi</say>"),
        ('{"say": "Caf\\u00e', "<say>Caf"),
        ('{"say": "Yes, \\"no\\', '<say>Yes, "no'),
        # Half a date is another date.
        ('{"plan": {"text": "call Ada", "due": "2026-12-1', "<plan>call Ada</plan>"),
        (
            'Well.\n```json\n[{"tag": "say", "text": "Hi"}, {"tag": "secret", "te',
            "Well.\n<say>Hi</say>",
        ),
        ('Well.\n```json\n{"say": "Hi", "pin": "tea"\n```', "Well.\n<say>Hi</say>\n<pin>tea</pin>"),
    ],
)
def test_json_that_ends_too_early_is_read_as_far_as_it_goes(given: str, tags: str) -> None:
    assert as_tags(given) == tags


@pytest.mark.parametrize(
    "given",
    [
        '{"note": "mi',
        "{",
        '{"',
        "[1, 2",
        '{"say": "Hi", "pin" "x"\nWhat do you say?',
        'a {"say": "',
    ],
)
def test_what_may_be_no_json_of_tags_is_left_as_it_is(given: str) -> None:
    assert as_tags(given) == given


@pytest.mark.anyio
async def test_json_that_met_its_bound_shows_no_secret(live: LiveJournal) -> None:
    live.log("Hello.")
    error = ModelOutputTooLong("cut off")
    error.text = '{"secret": "a lantern for Ana", "say": "Good morning, A'
    done = await reply(live, ScriptedModel([error]), POLICY, max_tokens=100)
    assert done.cut
    assert live.events()[-1].content == (
        "<secret>a lantern for Ana</secret>\n<say>Good morning, A […]"
    )
    live.log("And?")
    recent = live.assemble(secrets=False).user.partition("## Recent")[2]
    assert "assistant: Good morning, A […]" in recent
    assert "lantern" not in recent
