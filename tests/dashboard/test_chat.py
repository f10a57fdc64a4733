"""Talking with a companion in the browser: replies as they are written, pictures, corrections."""

import base64
import io
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Dialog, Locator, Page, Route, expect

from dashboard.accessibility import violations_in_both_themes
from dashboard.browser import DESKTOP, PHONE, window
from dashboard.serving import server
from dashboard.talker import Talker, talker
from memory_butler.companions.opening import opened
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal.live import LiveJournal
from memory_butler.journal_config import JournalConfig
from memory_butler.vault.keyring import no_keys


@pytest.fixture(scope="module")
def model() -> Iterator[Talker]:
    with talker() as model:
        yield model


@pytest.fixture(scope="module")
def url(demo_dsn: str, demo_folder: Path, model: Talker) -> Iterator[str]:
    """A server whose model is the script."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_BUTLER_MEMORY__CONSOLIDATION__MODEL", "openai:talker")
        patch.setenv("MEMORY_BUTLER_MEMORY__CONSOLIDATION__BASE_URL", model.url)
        with server("--dsn", demo_dsn, "--data-dir", str(demo_folder)) as url:
            yield url


def said(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation").get_by_role("article")


def open_chat(page: Page, companion: str) -> Locator:
    page.goto(f"/chat?companion={companion}")
    expect(page.get_by_role("heading", level=1, name="Chat")).to_be_visible()
    return page.get_by_label("Message", exact=True)


@pytest.mark.nightly
def test_what_was_said_is_searched(page: Page) -> None:
    box = open_chat(page, "default")
    box.fill("Half a sentence")
    steps = page.evaluate("history.length")
    page.get_by_label("Search the conversation").fill("packing for Ana")
    found = page.get_by_role("region", name="What was found")
    expect(found.get_by_text("what should I pack for Ana?").first).to_be_visible()
    expect(page).to_have_url(re.compile("q=packing"))
    # The conversation makes room for what was found, and comes back.
    expect(page.get_by_role("region", name="Conversation")).to_have_count(0)
    page.get_by_label("Search the conversation").fill("submarine")
    expect(found.get_by_text("Nothing was found")).to_be_visible()
    page.get_by_label("Clear the search").click()
    expect(page.get_by_role("region", name="Conversation")).to_be_visible()
    expect(page).not_to_have_url(re.compile("q="))
    # Back leads to the page before, not through what was typed.
    assert page.evaluate("history.length") == steps
    expect(box).to_have_value("Half a sentence")


def test_what_was_typed_is_not_lost_to_another_page_unasked(new_page: Page) -> None:
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    new_page.on("dialog", refuse)
    box = open_chat(new_page, "default")
    box.fill("Half a sentence")
    rules = new_page.get_by_role("link", name="Rules", exact=True)
    rules.click()
    expect(box).to_have_value("Half a sentence")
    box.fill("")
    new_page.get_by_role("button", name="Introduce yourself").click()
    name = new_page.get_by_label("Your name")
    name.fill("Half a na")
    rules.click()
    expect(name).to_have_value("Half a na")
    assert asked == ["Discard what you have typed?"] * 2


def test_a_conversation_by_keyboard_alone(page: Page, model: Talker) -> None:
    box = open_chat(page, "luna")
    expect(page.get_by_text("The first message creates")).to_be_visible()
    model.replies = [
        "They are friendly. <say>Good morning, Ana!</say> <do>waves</do>"
        " <pin>Ana likes green tea</pin> <secret>a lantern</secret>"
    ]
    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.type("Hello,")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("I am Ana.")
    page.keyboard.press("Enter")
    # The first message makes the journal, and loads what a reply takes.
    expect(said(page)).to_have_count(2, timeout=20_000)
    expect(said(page).last).to_contain_text("Good morning, Ana!waves")
    expect(box).to_have_value("")
    expect(page.get_by_text("kept pin: Ana likes green tea; kept secret: (secret)")).to_be_visible()
    for private in ("They are friendly", "a lantern"):
        expect(page.get_by_text(private)).to_have_count(0)
    page.keyboard.press("ArrowUp")
    expect(box).to_have_value("Hello,\nI am Ana.")
    page.request.post("/api/journal/luna/introduction", data={"user": "Ana", "name": "Luna Silva"})
    page.reload()
    expect(said(page)).to_have_count(2)
    expect(said(page).first).to_contain_text("Ana")
    expect(said(page).last).to_contain_text("Luna Silva")
    assert "I am Ana." in str(model.asked[-1]["messages"])


def test_the_first_conversation_asks_who_is_there(page: Page, model: Talker) -> None:
    box = open_chat(page, "stella")
    asked = page.get_by_role("form", name="Introduce yourself")
    expect(asked.get_by_label("Your time zone")).to_have_value(re.compile(r"\w"))
    asked.get_by_label("Your time zone").fill("Atlantis")
    asked.get_by_label("Your name").fill("Jon")
    asked.get_by_label("The companion's name").fill("Stella Maris")
    asked.get_by_label("How it should talk").fill("warm and brief")
    asked.get_by_role("button", name="Keep").click()
    # What cannot be read is told, and what was typed stays.
    expect(page.get_by_text("unknown time zone 'Atlantis'").first).to_be_visible()
    expect(asked.get_by_label("Your name")).to_have_value("Jon")
    asked.get_by_label("Your time zone").fill("Lisbon")
    asked.get_by_label("Your time zone").press("Enter")
    expect(page.get_by_text("Stella Maris knows that you are Jon.").first).to_be_visible()
    expect(asked).to_have_count(0)
    model.replies = ["<say>Hello Jon!</say>"]
    box.fill("Hello")
    box.press("Enter")
    expect(said(page)).to_have_count(2, timeout=60_000)
    expect(said(page).first).to_contain_text("Jon")
    expect(said(page).last).to_contain_text("Stella Maris")
    prompt = str(model.asked[-1]["messages"])
    for told in ("Your name is Stella Maris.", "You talk with Jon", "warm and brief", "(WE"):
        assert told in prompt
    # It asks once.
    page.reload()
    expect(said(page)).to_have_count(2)
    expect(asked).to_have_count(0)


@pytest.mark.nightly
def test_who_has_begun_to_talk_can_still_introduce_themselves(page: Page, model: Talker) -> None:
    box = open_chat(page, "carina")
    asked = page.get_by_role("form", name="Introduce yourself")
    expect(asked).to_be_visible()
    model.replies = ["<say>Hello!</say>"]
    box.fill("Hello")
    box.press("Enter")
    expect(said(page)).to_have_count(2, timeout=60_000)
    expect(asked).to_have_count(0)
    page.get_by_role("button", name="Introduce yourself").click()
    expect(asked.get_by_label("Your time zone")).to_have_value(re.compile(r"\w"))
    asked.get_by_label("Your name").fill("Jon")
    assert violations_in_both_themes(page) == []
    asked.get_by_role("button", name="Keep").click()
    expect(asked).to_have_count(0)
    expect(said(page).first).to_contain_text("Jon")


def test_a_reply_is_shown_while_it_is_written_and_esc_keeps_what_was_shown(
    page: Page, browser: Browser, url: str, model: Talker
) -> None:
    box = open_chat(page, "nova")
    model.replies, model.seconds_a_word = [f"<say>Once {'upon a time ' * 300}</say>"], 0.05
    try:
        box.fill("Tell me a story.")
        box.press("Enter")
        expect(page.get_by_text(re.compile("^Once upon a time"))).to_be_visible()
        with window(browser, url) as context:
            # Another window sees the same, and cannot speak in between.
            other = context.new_page()
            second = open_chat(other, "nova")
            expect(other.get_by_text(re.compile("^Once upon a time"))).to_be_visible()
            expect(other.get_by_role("button", name="Stop")).to_be_visible()
            second.fill("And me?")
            second.press("Enter")
            expect(second).to_have_value("And me?")
        box.press("Escape")
        expect(said(page).last).to_contain_text("[…]")
        expect(page.get_by_text("cut off; what there was is kept")).to_be_visible()
        expect(said(page)).to_have_count(2)
    finally:
        model.seconds_a_word = 0.01


def test_a_closed_window_loses_nothing(page: Page, model: Talker) -> None:
    box = open_chat(page, "vega")
    model.replies, model.seconds_a_word = ["<say>It is all still here.</say>"], 0.3
    try:
        box.fill("Are you there?")
        box.press("Enter")
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        page.goto("about:blank")
        open_chat(page, "vega")
        expect(said(page)).to_have_count(2)
        expect(said(page).last).to_contain_text("It is all still here.")
    finally:
        model.seconds_a_word = 0.01


@pytest.mark.requirement("JASM-02")
def test_a_picture_is_sent_shown_and_seen(page: Page, model: Talker) -> None:
    box = open_chat(page, "iris")
    model.replies = ["<say>A green square.</say>"]
    picture = io.BytesIO()
    Image.new("RGB", (2400, 1200), "green").save(picture, "PNG")
    page.get_by_label("Picture to attach").set_input_files(
        {"name": "square.png", "mimeType": "image/png", "buffer": picture.getvalue()}
    )
    expect(page.get_by_alt_text("To be sent")).to_be_visible()
    box.fill("What is this?")
    box.press("Enter")
    expect(said(page).last).to_contain_text("A green square.")
    sent = model.asked[-1]["messages"][-1]["content"][0]["image_url"]["url"]
    seen = Image.open(io.BytesIO(base64.b64decode(sent.partition(",")[2])))
    assert (seen.format, seen.size) == ("PNG", (1568, 784))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    shown = said(page).first.get_by_role("img")
    expect(shown).to_be_visible()
    expect(shown).to_have_js_property("naturalWidth", 1568)
    # Another tab may sign in to another tenant: what has no header says in its address whose it is.
    bare = [url for url in asked if "/picture" in url or "/stream" in url]
    assert len(bare) == 2
    assert all(url.endswith("?memory-butler-tenant=default") for url in bare)


def _late(route: Route) -> None:
    """The answer, when the reply is there already."""
    time.sleep(1.5)
    route.continue_()


@pytest.mark.nightly
def test_a_picture_does_not_push_what_is_said_out_of_view(page: Page, model: Talker) -> None:
    """It arrives after its message, and makes the conversation longer then."""
    box = open_chat(page, "iris-tall")
    model.replies = ["<say>" + "A few words more. " * 60 + "</say>", "<say>A tall one.</say>"]
    box.fill("Tell me something long.")
    box.press("Enter")
    expect(said(page).last).to_contain_text("A few words more.")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    picture = io.BytesIO()
    Image.new("RGB", (300, 600), "green").save(picture, "PNG")
    page.get_by_label("Picture to attach").set_input_files(
        {"name": "tall.png", "mimeType": "image/png", "buffer": picture.getvalue()}
    )
    expect(page.get_by_alt_text("To be sent")).to_be_visible()
    page.route("**/picture?*", _late)
    box.fill("What is this?")
    box.press("Enter")
    expect(said(page).last).to_contain_text("A tall one.")
    shown = page.get_by_alt_text(re.compile("^Picture of message"))
    expect(shown).to_have_js_property("naturalHeight", 600)
    expect(page.get_by_role("button", name="Introduce yourself")).to_be_in_viewport()


def test_what_was_masked_is_sent_as_typed_by_one_button(page: Page, model: Talker) -> None:
    box = open_chat(page, "garnet")
    model.replies = ["<say>I saw no key.</say>", "<say>I see it.</say>"]
    box.fill("My key is AKIAIOSFODNN7EXAMPLE.")
    box.press("Enter")
    expect(said(page).last).to_contain_text("I saw no key.")
    expect(page.get_by_text(re.compile("^Masked before it was stored"))).to_be_visible()
    # A person has no calls to repeat.
    expect(page.get_by_text("allow_secrets")).to_have_count(0)
    page.get_by_role("button", name="Send it as typed").click()
    expect(said(page).last).to_contain_text("I see it.")
    assert "AKIAIOSFODNN7EXAMPLE" in str(model.asked[-1]["messages"][-1])

    box.fill("The other key is AKIAIOSFODNN7EXAMPLE.")
    page.get_by_role("button", name="Pin").click()
    page.get_by_role("button", name="Keep it as typed").click()
    on_mind = page.get_by_role("complementary", name="On its mind")
    expect(on_mind.get_by_text("The other key is AKIAIOSFODNN7EXAMPLE.")).to_be_visible()
    expect(on_mind.get_by_role("listitem")).to_have_count(1)


def test_what_is_on_its_mind_is_changed_dropped_and_taken_back(page: Page) -> None:
    box = open_chat(page, "mira")
    box.fill("Ana likes green tea")
    page.get_by_role("button", name="Pin").click()
    mind = page.get_by_role("complementary", name="On its mind")
    card = mind.get_by_role("listitem")
    expect(card).to_contain_text("Ana likes green tea")
    mind.get_by_role("button", name="Edit: Ana likes green tea").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Ana likes coffee")
    page.keyboard.press("Enter")
    expect(card).to_contain_text("Ana likes coffee")
    mind.get_by_role("button", name="Drop: Ana likes coffee").click()
    expect(card).to_have_count(0)
    page.get_by_role("button", name="Undo").last.click()
    expect(card).to_contain_text("Ana likes coffee")


def test_what_is_overdue_comes_first(page: Page, demo_folder: Path) -> None:
    then = datetime.now(UTC) - timedelta(days=9)
    with opened(demo_folder, "default", "nora", JournalConfig(), no_keys, create=True) as one:
        LiveJournal(one.file, one.policy, lambda: then).log("<plan>pay the rent tomorrow</plan>")
        one.live.log("<pin>Ana likes green tea</pin>")
    open_chat(page, "nora")
    card = page.get_by_role("complementary", name="On its mind").get_by_role("listitem")
    expect(card).to_have_count(2)
    expect(card.first).to_contain_text("overdue")
    expect(card.first).to_contain_text("pay the rent")
    expect(card.last).not_to_contain_text("overdue")
    assert violations_in_both_themes(page) == []


def test_a_failed_reply_is_asked_for_again(page: Page, model: Talker) -> None:
    box = open_chat(page, "aida")
    model.replies = ["   "]
    box.fill("Hello?")
    box.press("Enter")
    expect(page.get_by_text("No reply; your message is kept.")).to_be_visible()
    model.replies = ["<say>Here I am.</say>"]
    page.get_by_role("button", name="Ask again").click()
    expect(said(page).last).to_contain_text("Here I am.")
    expect(said(page)).to_have_count(2)
    expect(page.get_by_role("button", name="Ask again")).to_have_count(0)


@pytest.mark.nightly
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_chat_is_accessible_and_as_wide_as_the_window(
    page: Page, demo_folder: Path, size: tuple[int, int]
) -> None:
    with opened(demo_folder, "default", "vega-of-the-lyre", JournalConfig(), no_keys, create=True):
        pass  # a second one, to choose from
    page.set_viewport_size({"width": size[0], "height": size[1]})
    open_chat(page, "default")
    expect(said(page).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == size[0] or (
        page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    )
    box = page.get_by_label("Companion", exact=True).bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= size[0]
    if size == PHONE:  # as wide as a desk, test_pages.py looks at it
        assert violations_in_both_themes(page) == []


def test_what_it_learned_is_kept_or_taken_back(page: Page, demo_folder: Path) -> None:
    with opened(demo_folder, "default", "lyra", JournalConfig(), no_keys, create=True) as one:
        one.live.log("I bought a boat, and a dog.")
        one.desk.apply("weekly", [PutFragment("boat", "A boat."), PutFragment("dog", "A dog.")])
    page.goto("/journal?companion=lyra&tab=learned")
    listed = page.get_by_role("list", name="What it learned").get_by_role("listitem")
    expect(listed).to_have_count(2)
    page.get_by_role("button", name="Keep boat").click()
    expect(listed.filter(has_text="boat")).to_contain_text("kept")
    page.get_by_role("button", name="Take back dog").click()
    expect(listed.filter(has_text="dog")).to_contain_text("taken back")
    with opened(demo_folder, "default", "lyra", JournalConfig(), no_keys) as one:
        assert set(one.desk.fragments()) == {"boat"}
    page.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_text("Took back 1 change.").last).to_be_visible()
    page.goto("/journal?companion=lyra&tab=fragments&fragment=dog")
    expect(page.get_by_role("region", name="dog")).to_contain_text("A dog.")
    assert violations_in_both_themes(page) == []


@pytest.mark.nightly
def test_undo_takes_back_what_its_line_says_and_once(page: Page, model: Talker) -> None:
    box = open_chat(page, "yara")
    model.replies = [
        "<say>Sure.</say><pin>Ana likes coffee</pin>",
        "<say>Nothing to keep.</say> plan>done swimming",
    ]
    mind = page.get_by_role("complementary", name="On its mind")
    conversation = page.get_by_role("region", name="Conversation")
    for number, text in enumerate(("Hello. <plan>water the roses</plan>", "And?"), 1):
        box.fill(text)
        box.press("Enter")
        # The first reply of a server loads what it takes.
        expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=20_000)
        expect(said(page)).to_have_count(2 * number)
    expect(mind.get_by_role("listitem")).to_have_count(2)
    # The last line tells of a command that missed: there is nothing to take back.
    expect(page.get_by_text("plan>done swimming: no active plan")).to_be_visible()
    undo = conversation.get_by_role("button", name="Undo")
    expect(undo).to_have_count(2)
    # An older one than the latest change is refused, not taken for another.
    undo.first.click()
    expect(page.get_by_text("something else has changed since").first).to_be_visible()
    undo.last.click()
    expect(conversation.get_by_text("taken back")).to_have_count(1)
    expect(undo).to_have_count(1)
    expect(mind.get_by_role("listitem")).to_have_count(1)
    expect(mind).to_contain_text("water the roses")
    undo.click()
    expect(undo).to_have_count(0)
    expect(mind.get_by_role("listitem")).to_have_count(0)


@pytest.mark.nightly
def test_remind_keeps_what_was_written(page: Page) -> None:
    box = open_chat(page, "zora")
    mind = page.get_by_role("complementary", name="On its mind")
    for text in ("wash the car at the garage", "drop the car at the garage on Friday"):
        box.fill(text)
        page.get_by_role("button", name="Remind").click()
        expect(mind).to_contain_text(text)
        expect(box).to_have_value("")
    expect(mind.get_by_role("listitem")).to_have_count(2)
    # Nobody was asked for an answer.
    expect(page.get_by_text("keeps something in mind")).to_have_count(2)
    expect(page.get_by_role("button", name="Ask again")).to_have_count(0)
    box.fill("a <pin>b")
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_text("without tags").first).to_be_visible()
    expect(box).to_have_value("a <pin>b")


@pytest.mark.nightly
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_toast_leaves_the_box_and_its_buttons_free(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    box = open_chat(page, "mira")
    for text in ("a <pin>b", "b <pin>c", "c <pin>d"):
        box.fill(text)
        page.get_by_role("button", name="Pin").click()
    toasts = page.get_by_role("region", name=re.compile("^Notifications")).get_by_role("listitem")
    expect(toasts).to_have_count(3)
    shown = [one.bounding_box() for one in toasts.all()]
    names = ("Send", "Picture", "Pin", "Remind")
    for place in (box, *(page.get_by_role("button", name=one) for one in names)):
        place.scroll_into_view_if_needed()
        kept = place.bounding_box()
        assert kept is not None
        for one in shown:
            assert one is not None
            assert one["y"] + one["height"] <= kept["y"]


_FORMATTED = r"""<say>## Packing
Take the **blue** bag, *not* the red one, `a*b*c` and snake_case_names; 2 * 3 * 4 = 24.

- socks
- a **warm** hat
  1. for Ana

```python
print("**as it is**")
```
It is in C:\_x\_list.txt, **D:\a** and \\home\share, not in my\_list.
See [the list](https://example.org/list) ![seen](https://example.org/x.png) <b>no tag</b></say>"""


def test_a_reply_is_formatted_and_what_was_typed_is_not(page: Page, model: Talker) -> None:
    box = open_chat(page, "vera")
    model.replies = [_FORMATTED]
    box.fill("What do I **need**?\n- socks")
    box.press("Enter")
    expect(said(page)).to_have_count(2, timeout=20_000)
    mine, reply = said(page).first, said(page).last
    expect(mine).to_contain_text("What do I **need**?\n- socks", use_inner_text=True)
    expect(mine.locator("strong, li")).to_have_count(0)
    expect(reply.locator("strong")).to_have_text(["Packing", "blue", "warm", "D:\\a"])
    expect(reply.locator("em")).to_have_text(["not"])
    expect(reply.locator("code").first).to_have_text("a*b*c")
    expect(reply.locator("pre")).to_have_text('print("**as it is**")')
    expect(reply.get_by_role("listitem")).to_have_text(["socks", "a warm hat", "for Ana"])
    for as_it_is in (
        r"It is in C:\_x\_list.txt, D:\a and \\home\share, not in my_list.",
        "snake_case_names; 2 * 3 * 4 = 24.",
        "the list (https://example.org/list)",
        "<b>no tag</b>",
    ):
        expect(reply).to_contain_text(as_it_is)
    # Nothing that a model writes is opened or loaded.
    expect(reply.locator("a, img")).to_have_count(0)
    assert violations_in_both_themes(page) == []


@pytest.mark.nightly
def test_a_reply_that_grows_shows_no_marks(new_page: Page, model: Talker) -> None:
    new_page.add_init_script("""
        window.seen = [];
        new MutationObserver(() => {
            const all = document.querySelectorAll("[aria-busy=true] .memory-text");
            for (const one of all) window.seen.push(one.textContent);
        }).observe(document, { childList: true, subtree: true, characterData: true });
    """)
    box = open_chat(new_page, "tara")
    model.replies, model.seconds_a_word = (
        ["<say>Take **the large blue bag** and `a b c` along, *not the red* one.</say>"],
        0.1,
    )
    try:
        box.fill("What do I need?")
        box.press("Enter")
        expect(said(new_page)).to_have_count(2, timeout=20_000)
    finally:
        model.seconds_a_word = 0.01
    seen = new_page.evaluate("window.seen")
    assert any(one.endswith("large") for one in seen)
    assert [one for one in seen if "*" in one or "`" in one] == []


@pytest.mark.nightly
def test_a_reload_while_it_thinks_shows_that(page: Page, model: Talker) -> None:
    box = open_chat(page, "rhea")
    model.replies, model.seconds_a_word = [f"{'hm ' * 12}<say>There.</say>"], 0.3
    try:
        box.fill("Are you there?")
        box.press("Enter")
        expect(page.get_by_text("thinking …")).to_be_visible()
        page.reload()
        expect(page.get_by_text("thinking …")).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        expect(page.get_by_role("button", name="Ask again")).to_have_count(0)
        expect(said(page).last).to_contain_text("There.", timeout=15_000)
    finally:
        model.seconds_a_word = 0.01


# The first stream of a turn breaks off after its second part; each message takes a second.
_BREAKING = """
    const real = window.fetch;
    let broken = false;
    window.fetch = async (...given) => {
        const request = given[0] instanceof Request ? given[0] : new Request(...given);
        if (request.method === "POST" && request.url.endsWith("/turns"))
            await new Promise((done) => setTimeout(done, 1000));
        const answer = await real(request);
        if (!request.url.endsWith("/turns/current") || !answer.body || broken) return answer;
        const reader = answer.body.getReader();
        let parts = 0;
        const body = new ReadableStream({
            async pull(out) {
                const { done, value } = await reader.read();
                if (done) return out.close();
                if (++parts < 5) return out.enqueue(value);
                broken = true;
                await reader.cancel();
                out.error(new TypeError("network error"));
            },
        });
        return new Response(body, { status: answer.status, headers: answer.headers });
    };
"""


@pytest.mark.nightly
def test_a_stream_that_breaks_is_taken_up_again(new_page: Page, model: Talker) -> None:
    new_page.add_init_script(_BREAKING)
    box = open_chat(new_page, "thea")
    model.replies, model.seconds_a_word = [f"<say>Once {'upon a time ' * 20}END</say>"], 0.1
    try:
        box.fill("Tell me a story.")
        box.press("Enter")
        # What is typed while it is sent stays.
        new_page.keyboard.type("And then?")
        expect(new_page.get_by_text(re.compile("^Once upon a time"))).to_be_visible()
        expect(said(new_page)).to_have_count(2, timeout=20_000)
        expect(said(new_page).last).to_contain_text("END")
        expect(box).to_have_value("And then?")
        expect(new_page.get_by_text("network error")).to_have_count(0)
        # Said once to a screen reader, when all of it is there.
        told = new_page.locator("p[aria-live=polite]")
        expect(told).to_contain_text("Once upon a time")
    finally:
        model.seconds_a_word = 0.01


@pytest.mark.nightly
def test_another_window_sees_what_is_asked_again(
    page: Page, browser: Browser, url: str, model: Talker
) -> None:
    box = open_chat(page, "nela")
    model.replies = ["   "]
    box.fill("Hello?")
    box.press("Enter")
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    with window(browser, url) as context:
        other = context.new_page()
        open_chat(other, "nela")
        expect(other.get_by_text("No reply; your message is kept.")).to_be_visible()
        model.replies, model.seconds_a_word = [f"<say>Here I am {'again ' * 40}</say>"], 0.3
        try:
            page.get_by_role("button", name="Ask again").click()
            expect(other.get_by_role("button", name="Stop")).to_be_visible(timeout=10_000)
            expect(other.get_by_text(re.compile("^Here I am"))).to_be_visible()
            other.get_by_role("button", name="Stop").click()
            expect(said(other).last).to_contain_text("[…]")
        finally:
            model.seconds_a_word = 0.01


@pytest.mark.nightly
def test_a_reader_is_not_pulled_to_the_end(page: Page, model: Talker) -> None:
    box = open_chat(page, "cleo")
    long = "\n\n".join(["a long line of what was said"] * 40)
    model.replies, model.seconds_a_word = [f"<say>{long}</say>"], 0.0
    try:
        box.fill("Go on.")
        box.press("Enter")
        expect(said(page)).to_have_count(2)
        expect(said(page).last).to_be_in_viewport()
        model.replies, model.seconds_a_word = [f"<say>Once {'upon a time ' * 30}</say>"], 0.05
        box.fill("And on.")
        box.press("Enter")
        expect(page.get_by_text(re.compile("^Once upon"))).to_be_in_viewport()
        at = "() => document.querySelector('article').getBoundingClientRect().top"
        # A word that comes in the same frame may pull it back once; a person scrolls on.
        for _ in range(5):
            said(page).first.scroll_into_view_if_needed()
            page.wait_for_timeout(300)
            if (before := page.evaluate(at)) > 0:
                break
        assert before > 0
        expect(said(page)).to_have_count(4, timeout=15_000)
        assert page.evaluate(at) == before
    finally:
        model.seconds_a_word = 0.01


@pytest.mark.nightly
def test_what_is_seen_through_is_white_and_what_is_masked_is_told(
    page: Page, model: Talker
) -> None:
    box = open_chat(page, "opal")
    model.replies = ["<say>I see.</say>"]
    picture = io.BytesIO()
    Image.new("RGBA", (40, 40), (255, 0, 0, 0)).save(picture, "WEBP", lossless=True)
    page.get_by_label("Picture to attach").set_input_files(
        {"name": "clear.webp", "mimeType": "image/webp", "buffer": picture.getvalue()}
    )
    expect(page.get_by_alt_text("To be sent")).to_be_visible()
    box.fill("<thought>hm</thought>My key is AKIAIOSFODNN7EXAMPLE.")
    box.press("Enter")
    expect(said(page).last).to_contain_text("I see.", timeout=20_000)
    expect(page.get_by_text(re.compile("^Masked"))).to_be_visible()
    sent = model.asked[-1]["messages"][-1]["content"][0]["image_url"]["url"]
    seen = Image.open(io.BytesIO(base64.b64decode(sent.partition(",")[2]))).convert("RGB")
    red, green, blue = seen.getpixel((20, 20))  # type: ignore[misc]
    assert min(red, green, blue) > 250
    # The arrow brings back what was shown, no markup.
    box.press("ArrowUp")
    expect(box).not_to_have_value("")
    assert "<" not in box.input_value()
    page.goto("/chat?companion=brand%20new!")
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
    assert "brand" not in page.url
