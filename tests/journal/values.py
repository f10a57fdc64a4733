"""Made-up values for the tests of the pure rules, and texts that look like tags."""

from datetime import datetime, timedelta

from hypothesis import strategies as st

from conftest import NOW
from memory_butler.journal.items import DISPLAY_TAGS, MEMORY_TYPES, Event, Item, MemoryType

# What a tag reader stumbles over, mixed with anything at all.
fragments = st.sampled_from(
    [
        *(f"<{name}>" for name in (*DISPLAY_TAGS, *MEMORY_TYPES)),
        *(f"</{name}>" for name in (*DISPLAY_TAGS, *MEMORY_TYPES)),
        "<assistant>",
        "</assistant>",
        "<",
        ">",
        "</",
        "<plan due=",
        '<plan due="friday">',
        "<desc subject='ada'>",
        "<b>",
        # Patterns that ignore case take these letters for "i" and "s".
        "<PİN>",
        "</pın>",
        "<ſecret>",
        "pın>drop it",
        "plan>",
        "plan>done",
        "Fine. ",
        "! plan>done it",
        "pin>drop it",
        "secret>reveal",
        "done: exercise",
        "recall(",
        'recall("x", deep=True)',
        "plans(when=",
        ")",
        '"',
        "'",
        "\n",
        " ",
        "hello",
        "\x00",
        "\u2028",
    ]
)
tag_soup = st.lists(fragments | st.text(max_size=4), max_size=14).map("".join)
messages = tag_soup | st.text(max_size=200)
types = st.sampled_from(MEMORY_TYPES)


def item(
    id: int = 1,
    type: MemoryType = "thought",
    content: str = "tea is better than coffee",
    *,
    age: timedelta = timedelta(0),
    refreshed: timedelta | None = None,
    due: datetime | None = None,
    subject: str | None = None,
    actor: str = "user",
) -> Item:
    """An active item, made `age` before NOW."""
    return Item(
        id=id,
        event_id=1,
        type=type,
        content=content,
        subject=subject,
        actor=actor,
        status="active",
        due=due,
        created_at=NOW - age,
        refreshed_at=NOW - (age if refreshed is None else refreshed),
        resolved_at=None,
    )


def event(
    id: int, content: str, actor: str | None = "user", image_path: str | None = None, *tags: str
) -> Event:
    """A message; the higher its id, the later."""
    return Event(
        id, NOW - timedelta(hours=1) + timedelta(seconds=id), content, actor, image_path, tags
    )
