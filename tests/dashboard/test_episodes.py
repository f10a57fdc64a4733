"""Episodes, sessions and the timeline: what happened, and what came of it."""

import re
from datetime import datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from dashboard.asking import stored

_SOON = 15_000


@pytest.mark.requirement("DASH-09")
def test_episodes_are_a_stream_to_unfold_and_filter(page: Page) -> None:
    page.goto("/memory/episodes")
    stream = page.get_by_role("tabpanel").get_by_role("listitem")
    told = page.request.get("/api/memory/episodes").json()["items"]
    expect(stream).to_have_count(len(told))
    moments = [one.get_attribute("datetime") for one in stream.locator("time").all()]
    assert moments == sorted(moments, key=lambda one: datetime.fromisoformat(str(one)))[::-1]
    expect(stream.first).to_contain_text("importance")

    page.get_by_label("Butler").select_option("work")
    page.get_by_role("tab", name="Consolidated").click()
    expect(stream).to_have_count(1)
    expect(stream).to_contain_text("Rui wants the minutes")
    day = datetime.fromisoformat(str(stream.locator("time").get_attribute("datetime"))).astimezone()
    page.get_by_label("from").fill(f"{day:%Y-%m-%d}")
    page.get_by_label("to", exact=True).fill(f"{day:%Y-%m-%d}")
    expect(stream).to_have_count(1)
    page.reload()
    expect(stream).to_have_count(1)
    expect(page.get_by_label("Butler")).to_have_value("work")
    stream.get_by_role("button").focus()
    page.keyboard.press("Enter")
    stream.get_by_role("link", name="What was drawn from it").click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("region", name="What was drawn from it")).to_contain_text(
        "Wants minutes on the same day"
    )
    page.go_back()
    expect(drawer).to_have_count(0)
    page.get_by_label("to", exact=True).fill(f"{day - timedelta(days=1):%Y-%m-%d}")
    page.get_by_label("from").fill("")
    expect(page.get_by_text("No episode fits these filters")).to_be_visible()


@pytest.mark.nightly
def test_a_forgotten_episode_comes_back_from_among_the_expired(page: Page) -> None:
    said = "Somebody sang in the stairwell"
    stored(page, "episodes", content=said, butler="home")
    page.goto("/memory/episodes?q=stairwell")
    episode = page.get_by_role("tabpanel").get_by_role("listitem")
    episode.get_by_role("button").click()
    episode.get_by_role("link", name="What was drawn from it").click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Forget").click()
    expect(drawer).to_contain_text("agents no longer find it")
    drawer.get_by_role("button", name="Close").click()
    expect(page.get_by_text("No episode fits these filters")).to_be_visible()
    page.get_by_role("tab", name="Expired").click()
    episode.get_by_role("button").click()
    episode.get_by_role("link", name="What was drawn from it").click()
    drawer.get_by_role("button", name="Restore").click()
    expect(drawer.get_by_role("button", name="Forget")).to_be_visible()
    expect(episode).to_have_count(0)


@pytest.mark.requirement("DASH-16")
def test_a_session_tells_what_memories_came_from_it(page: Page) -> None:
    page.goto("/memory/sessions?butler=work")
    sessions = page.get_by_role("main").get_by_role("listitem")
    expect(sessions.first).to_be_visible()
    sessions.filter(has_text="1 fact").first.get_by_role("link").click()
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("region", name="Memories from this session")).to_contain_text(
        "Wants minutes on the same day"
    )
    expect(drawer.get_by_role("region", name="What it stored")).to_contain_text("Site visit")
    page.reload()
    drawer.get_by_role("link", name="Wants minutes on the same day").click()
    expect(page).to_have_url(re.compile("open=fact:"))
    page.go_back()
    expect(drawer).to_contain_text("Memories from this session")


@pytest.mark.requirement("DASH-18")
def test_the_timeline_tells_every_kind_of_event_as_it_happens(page: Page) -> None:
    page.goto("/memory/timeline?about=turning_points")
    kinds = page.get_by_label("Kind of event")
    lines = page.get_by_role("main").get_by_role("listitem")
    for kind, said in (
        ("fact_created", "fact created"),
        ("rule_promoted", "rule promoted"),
        ("fact_fading", "confidence alert: fact fading"),
        ("rule_inverted", "anti-pattern inverted"),
    ):
        kinds.select_option(kind)
        total = page.request.get(f"/api/memory/events?kind={kind}").json()["total"]
        noun = "event" if total == 1 else "events"
        expect(page.get_by_text(f"{total} {noun}", exact=True)).to_be_visible()
        assert total > 0
        expect(lines.first).to_contain_text(said)
    expect(page).to_have_url(re.compile("about=turning_points&kind=rule_inverted"))
    page.reload()
    expect(lines.first).to_contain_text("anti-pattern inverted")

    page.get_by_label("About").select_option("episodes")
    page.get_by_label("Butler").select_option("home")
    expect(lines.first).to_contain_text("episode")
    told = {"content": "A parcel came while somebody watched the timeline", "butler": "home"}
    assert page.request.post("/api/memory/episodes", data=told).ok
    expect(lines.first).to_contain_text(told["content"], timeout=_SOON)


@pytest.mark.requirement("DASH-09")
def test_a_dead_letter_shows_its_error_and_can_be_retried(page: Page) -> None:
    page.goto("/memory/episodes")
    page.get_by_role("tab", name="Dead letters").click()
    letter = page.get_by_role("tabpanel").get_by_role("listitem")
    expect(letter).to_have_count(1)
    expect(letter).to_contain_text("the answer is not JSON")
    letter.get_by_role("button", name="Retry").click()
    expect(
        page.get_by_text("The next consolidation will read 1 episode again.", exact=True)
    ).to_be_visible()
    expect(page.get_by_text("No dead letters")).to_be_visible()
    page.get_by_role("tab", name="Waiting").click()
    expect(page.get_by_text("Statement of the bank")).to_be_visible()
