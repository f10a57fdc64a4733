"""Drawers, forms and dialogs: shutting nobody out, and fit for a phone."""

import pytest
from playwright.sync_api import Page, expect

from dashboard.accessibility import violations_but_of_contrast, violations_in_both_themes
from dashboard.browser import DESKTOP, PHONE
from dashboard.overlays import OVERLAYS, Overlay
from dashboard.pages import BETWEEN, visit
from dashboard.tab import Tab


def test_every_overlay_one_after_the_other(tab: Tab) -> None:
    """In one visit: accessible but for contrast, and never wider than a phone."""
    page, wrong = tab.page, []
    for shown in OVERLAYS:
        shown.open(page)
        wrong += [(shown.name, one) for one in violations_but_of_contrast(page, "[role=dialog]")]
        wrong += [(shown.name, f"{room} wide") for room in _too_wide(page)]
        for _ in range(3):  # of a form, of its drawer, of what opened over that
            page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        visit(page, BETWEEN.path)
        expect(page.get_by_role("heading", level=1, name=BETWEEN.heading)).to_be_visible()
        # A page of few words is soon laid out anew.
        page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    assert wrong == []


@pytest.mark.nightly
@pytest.mark.parametrize("shown", OVERLAYS, ids=[one.name for one in OVERLAYS])
def test_every_overlay(tab: Tab, shown: Overlay) -> None:
    """Accessible in both themes, and never wider than a phone."""
    page = tab.page
    shown.open(page)
    assert violations_in_both_themes(page, "[role=dialog]") == []
    assert _too_wide(page) == []


def _too_wide(page: Page) -> list[tuple[float, float]]:
    """On a phone: where each dialog begins and ends that is not within the page's width."""
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    places = [(0.0, float(page.evaluate("document.documentElement.scrollWidth")))]
    for dialog in page.get_by_role("dialog").all():
        box = dialog.bounding_box()
        assert box is not None
        places.append((box["x"], box["x"] + box["width"]))
    return [one for one in places if one[0] < 0 or one[1] > PHONE[0]]
