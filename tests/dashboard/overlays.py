"""What opens over a page: drawers, their forms, dialogs, the palette."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from dashboard.asking import read
from dashboard.pages import visit


@dataclass(frozen=True, slots=True)
class Overlay:
    """`pictured`: `make screenshots` shows it."""

    name: str
    open: Callable[[Page], None]
    pictured: bool = False


def _drawer(page: Page, path: str, kind: str, id: str) -> None:
    visit(page, f"{path}?open={kind}:{id}")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def _fact(page: Page) -> None:
    found = read(page, "/api/memory/facts?q=Moved+to+Porto")["items"][0]["id"]
    _drawer(page, "/memory/facts", "fact", found)


def _rule(page: Page) -> None:
    found = read(page, "/api/memory/rules?q=restaurant")["items"][0]["id"]
    _drawer(page, "/memory/rules", "rule", found)


def _warning(page: Page) -> None:
    found = read(page, "/api/memory/rules?maturity=anti_pattern")["items"][0]["id"]
    _drawer(page, "/memory/rules", "rule", found)


def _dead_letter(page: Page) -> None:
    found = read(page, "/api/memory/episodes?status=dead_letter&status=pending")["items"][-1]["id"]
    _drawer(page, "/memory/episodes", "episode", found)


def _expired_episode(page: Page) -> None:
    found = read(page, "/api/memory/episodes?expired=true")["items"][0]["id"]
    _drawer(page, "/memory/episodes", "episode", found)


def _session(page: Page) -> None:
    found = read(page, "/api/memory/sessions?butler=work")["items"][0]["session_id"]
    _drawer(page, "/memory/sessions", "session", found)


def _entity(page: Page) -> None:
    found = read(page, "/api/memory/entities?q=R.+Tavares")["items"][0]["id"]
    _drawer(page, "/memory/entities", "entity", found)


def receipt(page: Page) -> None:
    """A page, but one that only the id of a receipt leads to."""
    found = read(page, "/api/memory/contexts?butler=home")["receipts"][0]["id"]
    visit(page, f"/memory/contexts?receipt={found}")
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_text("The same, byte for byte")).to_be_visible()


def without(page: Page) -> None:
    """A block with and without its first line."""
    visit(page, "/memory/recall?prompt=Plan+a+dinner+for+the+family&butler=home&budget=100")
    page.get_by_role("button", name="Preview without this").first.click()
    expect(page.get_by_role("region", name="If this memory were gone")).to_contain_text("search")
    expect(page.get_by_role("deletion").first).to_be_visible()


def _past(page: Page) -> None:
    """Facts as they stood a while ago."""
    visit(page, "/memory/facts")
    page.get_by_role("button", name="Look back").click()
    banner = page.get_by_role("region", name="The past")
    for _ in range(40):
        banner.get_by_role("slider").press("ArrowLeft")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def _edit(page: Page) -> None:
    page.get_by_role("dialog").get_by_role("button", name="Edit").click()
    expect(page.get_by_role("button", name="Save")).to_be_visible()


def _edited_fact(page: Page) -> None:
    _fact(page)
    _edit(page)


def _edited_rule(page: Page) -> None:
    _rule(page)
    _edit(page)


def _merge(page: Page) -> None:
    _entity(page)
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog", name="Merge R. Tavares")
    dialog.get_by_role("button", name="Rui Tavares").click()
    expect(dialog.get_by_text("Other names afterwards")).to_be_visible()


def _erase(page: Page) -> None:
    _entity(page)
    page.get_by_role("dialog").get_by_role("button", name="Erase…").click()
    dialog = page.get_by_role("dialog", name="Erase this entity for good")
    expect(dialog.get_by_label("What goes")).to_be_visible()


def _palette(page: Page) -> None:
    visit(page, "/memory")
    expect(page.get_by_text("Facts over time")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search facts, rules, episodes").fill("Rui")
    expect(page.get_by_role("option").filter(has_text="Rui Tavares")).to_be_visible()


def _shortcuts(page: Page) -> None:
    visit(page, "/memory/facts")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def unmask(page: Page) -> None:
    """The dialog for a key, from wherever one is."""
    visit(page, "/memory")
    expect(page.get_by_text("Facts over time")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search facts, rules, episodes").fill("restore what")
    page.get_by_role("option", name="Restore what was masked").click()
    expect(page.get_by_role("dialog", name="Restore what was masked")).to_be_visible()


def _new_fact(page: Page) -> None:
    visit(page, "/memory/ask?q=asdf+qwer")
    page.get_by_role("button", name="Add the fact").click()
    expect(page.get_by_role("dialog", name="Add a fact")).to_be_visible()


def _new_token(page: Page) -> None:
    visit(page, "/tokens")
    page.get_by_role("button", name="New token").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def _undo(page: Page) -> None:
    visit(page, "/memory/timeline?kind=fact_created")
    page.get_by_role("button", name="Undo: fact created").first.click()
    dialog = page.get_by_role("dialog", name="Undo this change?")
    expect(dialog.get_by_role("listitem").first).to_be_visible()


def selected(page: Page) -> None:
    """Two facts of the list, and what can be done with them."""
    visit(page, "/memory/facts?permanence=stable")
    boxes = page.get_by_role("table", name="Facts").get_by_role("checkbox")
    for number in range(2):
        boxes.nth(number).check()
    expect(page.get_by_role("group", name="With those selected")).to_be_visible()


def _missing(page: Page) -> None:
    _drawer(page, "/memory/facts", "fact", "00000000-0000-0000-0000-000000000000")
    expect(page.get_by_text("There is no such fact")).to_be_visible()


OVERLAYS = (
    Overlay("fact", _fact, pictured=True),
    Overlay("fact-edit", _edited_fact),
    Overlay("rule", _rule, pictured=True),
    Overlay("rule-warning", _warning),
    Overlay("rule-edit", _edited_rule),
    Overlay("episode", _dead_letter),
    Overlay("episode-expired", _expired_episode),
    Overlay("session", _session),
    Overlay("entity-merge", _merge, pictured=True),
    Overlay("erase", _erase, pictured=True),
    Overlay("palette", _palette, pictured=True),
    Overlay("shortcuts", _shortcuts),
    Overlay("token-new", _new_token),
    Overlay("fact-new", _new_fact),
    Overlay("unmask", unmask),
    Overlay("undo", _undo, pictured=True),
    Overlay("missing", _missing),
)

# No overlays: what a page shows once something on it was chosen, by an id that no address knows.
VIEWS = (
    Overlay("facts-past", _past, pictured=True),
    Overlay("facts-selected", selected, pictured=True),
    Overlay("context", receipt, pictured=True),
    Overlay("playground-without", without, pictured=True),
)
