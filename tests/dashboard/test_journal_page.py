"""The journal's pages: stream, mind, fragments, next prompt, maintenance."""

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.browser import PHONE


def test_the_stream_shows_what_was_said_and_keeps_what_was_thought(page: Page) -> None:
    page.goto("/journal")
    messages = page.get_by_role("article")
    expect(messages.first).to_contain_text("what should I pack for Ana?")
    told = messages.filter(has_text="Ten minutes it is.")
    expect(told.get_by_text("writes it on the kitchen board").first).to_be_visible()
    written = told.get_by_text('<plan due="in 5 days">', exact=False)
    expect(written).not_to_be_visible()
    told.get_by_text("As it was written").click()
    expect(written).to_be_visible()
    steps = page.evaluate("history.length")
    page.get_by_label("Tag").fill("feeling")
    expect(messages).to_have_count(1)
    expect(page).to_have_url(re.compile("tag=feeling"))
    # Back leads to the page before, not through what was typed.
    assert page.evaluate("history.length") == steps
    page.reload()
    expect(messages).to_have_count(1)


@pytest.mark.nightly
def test_the_mind_shows_what_fades_and_what_is_set_aside(page: Page) -> None:
    page.goto("/journal?tab=mind")
    plans = page.get_by_role("region", name="Plans").get_by_role("listitem")
    huts = plans.filter(has_text="book the huts")
    expect(huts).to_contain_text("set aside")
    expect(huts.get_by_role("meter")).to_have_attribute("aria-valuenow", "0")
    pin = page.get_by_role("region", name="Pins").get_by_role("listitem")
    expect(pin).to_contain_text("halves in 14 days or 100 turns")
    assert 0 < float(pin.get_by_role("meter").get_attribute("aria-valuenow") or 0) < 1
    expect(page.get_by_role("region", name="No longer on its mind")).to_contain_text("faded away")


@pytest.mark.nightly
def test_fragments_are_walked_by_their_links(page: Page) -> None:
    page.goto("/journal?tab=fragments")
    graph = page.get_by_role("group", name="Fragments and their links")
    expect(graph.get_by_role("button")).to_have_count(7)
    graph.get_by_role("button", name="his knee is better").focus()
    page.keyboard.press("Enter")
    knee = page.get_by_role("region", name="knee")
    expect(knee).to_contain_text("his knee is better since he stretches")
    knee.get_by_text("1 former state").click()
    expect(knee.get_by_text("his knee hurts after runs")).to_be_visible()
    knee.get_by_role("button", name="trail").click()
    expect(page.get_by_role("region", name="trail")).to_contain_text("Four days along the cliffs")
    page.go_back()
    expect(knee).to_be_visible()


@pytest.mark.nightly
def test_the_names_of_fragments_can_be_read_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto("/journal?tab=fragments")
    names = page.get_by_role("group", name="Fragments and their links").locator("text")
    expect(names.first).to_be_visible()
    for name in names.all():
        place = name.bounding_box()
        assert place is not None
        assert place["height"] >= 11
        assert 0 <= place["x"] < place["x"] + place["width"] <= PHONE[0]


@pytest.mark.nightly
def test_the_prompt_shows_its_parts_and_their_room(page: Page) -> None:
    page.goto("/journal?tab=prompt")
    prompt = page.request.get("/api/journal/default/prompt").json()
    expect(page.get_by_role("region", name="The message", exact=True)).to_contain_text(
        "pack for Ana"
    )
    tokens = page.get_by_role("region", name="Tokens")
    expect(tokens).to_contain_text(f"{prompt['total']} in all")
    recent = tokens.get_by_role("meter", name="Tokens of Recent")
    expect(recent).to_have_attribute("aria-valuemax", "5000")
    lingering = page.get_by_role("region", name="Lingering")
    lingering.get_by_text("2 things left out").click()
    expect(lingering.get_by_role("listitem").first).to_contain_text("plan")


@pytest.mark.nightly
def test_without_a_model_maintenance_says_what_is_missing(page: Page) -> None:
    page.goto("/journal?tab=maintenance")
    compiling = page.get_by_role("region", name="Compile")
    expect(compiling).to_contain_text("This server has none")
    expect(compiling).to_contain_text("It does not run by itself: there is no language model.")
    compiling.get_by_role("button", name="Run now").click()
    expect(compiling.get_by_role("status")).to_contain_text("no language model was found")
    # A model that nobody configured is no outage.
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_run_shows_what_it_changed_and_is_taken_back(page: Page) -> None:
    page.goto("/journal?tab=maintenance")
    weekly = (
        page.get_by_role("region", name="Runs").get_by_role("listitem").filter(has_text="weekly")
    )
    weekly.get_by_text("weekly").click()
    expect(weekly.get_by_text("his knee hurts after runs")).to_be_visible()
    expect(weekly.get_by_text("his knee is better since he stretches")).to_be_visible()
    weekly.get_by_role("button", name="Take it all back").click()
    expect(page.get_by_text("Took back 1 change.", exact=True)).to_be_visible()
    page.goto("/journal?tab=fragments&fragment=knee")
    expect(page.get_by_role("region", name="knee")).to_contain_text("his knee hurts after runs")


@pytest.mark.nightly
def test_a_correction_that_was_not_kept_stays_in_its_box(page: Page) -> None:
    page.goto("/journal?tab=mind")
    pin = page.get_by_role("region", name="Pins").get_by_role("listitem")
    pin.get_by_role("button", name="Edit").click()
    box = pin.get_by_role("textbox")
    box.fill("Ana joins the last two days")
    page.route("**/mind/edit", lambda route: route.fulfill(status=500, body="{}"))
    # Before the answer "Save" is enabled as well, and a second Enter would be ignored.
    with page.expect_response("**/mind/edit"):
        box.press("Enter")
    expect(pin.get_by_role("button", name="Save")).to_be_enabled()
    expect(box).to_have_value("Ana joins the last two days")
    page.unroute("**/mind/edit")
    box.press("Enter")
    expect(pin).to_contain_text("Ana joins the last two days")
    expect(box).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(pin).to_contain_text("Ana joins the last day of the trail")


def test_a_correction_is_not_lost_to_another_tab_unasked(page: Page) -> None:
    page.goto("/journal?tab=mind")
    page.get_by_role("button", name=re.compile("^Edit: ")).first.click()
    text = page.get_by_role("textbox", name=re.compile("^New text of "))
    text.fill("Half a correction")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("tab", name="Fragments").click()
    expect(text).to_have_value("Half a correction")
