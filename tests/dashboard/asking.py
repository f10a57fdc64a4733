"""The REST API, asked from within a test's window: what a walk begins with, and what came of it."""

from typing import Any

from playwright.sync_api import Page


def stored(page: Page, kind: str, **body: object) -> str:
    """Store a memory or an entity; its id."""
    made = sent(page, "POST", f"/api/memory/{kind}", **body)
    identifier: str = (made.get("entity") or made)["id"]
    return identifier


def sent(page: Page, method: str, path: str, **body: object) -> dict[str, Any]:
    """What the API answers to a change."""
    answer = page.request.fetch(path, method=method, data=body or None)
    assert answer.ok, answer.text()
    told: dict[str, Any] = answer.json()
    return told


def read(page: Page, path: str) -> dict[str, Any]:
    """What the API tells."""
    answer = page.request.get(path)
    assert answer.ok, answer.text()
    told: dict[str, Any] = answer.json()
    return told
