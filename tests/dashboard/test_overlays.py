"""Drawers, forms and dialogs: shutting nobody out, and fit for a phone."""

import pytest

from dashboard.accessibility import violations_in_both_themes
from dashboard.browser import PHONE
from dashboard.overlays import OVERLAYS, Overlay
from dashboard.tab import Tab


@pytest.mark.parametrize("shown", OVERLAYS, ids=[one.name for one in OVERLAYS])
def test_every_overlay(tab: Tab, shown: Overlay) -> None:
    """Accessible in both themes, and never wider than a phone."""
    page = tab.page
    shown.open(page)
    assert violations_in_both_themes(page, "[role=dialog]") == []
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    for dialog in page.get_by_role("dialog").all():
        box = dialog.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE[0]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
