"""The pages about the server itself: jobs, tokens and who is signed in."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from dashboard.asking import sent
from dashboard.serving import token_of


@pytest.mark.nightly
def test_without_tokens_another_tenant_is_shown_and_left(page: Page, demo_dsn: str) -> None:
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    sent(page, "POST", "/api/session", token=token_of(demo_dsn, "visitors"))
    page.reload()
    expect(page.get_by_text("tenant visitors")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/sign-in"))
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("tenant visitors")).to_have_count(0)


def test_who_needs_a_token_connects_an_agent_with_one(page: Page, demo_dsn: str) -> None:
    page.goto("/memory")
    sent(page, "POST", "/api/session", token=token_of(demo_dsn, "newcomers"))
    page.reload()
    steps = page.get_by_role("region", name="First steps")
    command = f"connect claude-code --url {page.evaluate('location.origin')}"
    expect(steps).to_contain_text(f"{command} --token-env MEMORY_TOKEN")
    expect(steps).to_contain_text("MEMORY_TOKEN holds the agent's token")


def test_a_token_that_only_reads_is_told_so_before_it_is_refused(page: Page, demo_dsn: str) -> None:
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    said = page.get_by_text("This token may not change anything")
    expect(said).to_have_count(0)
    sent(page, "POST", "/api/session", token=token_of(demo_dsn, "default", "read"))
    page.reload()
    expect(said).to_be_visible()
    page.goto("/tokens")
    expect(page.get_by_text("Your token does not allow this page")).to_be_visible()
    expect(page.get_by_text("needs the scope 'admin'")).to_be_visible()
    expect(page.get_by_text("Something went wrong")).to_have_count(0)
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/sign-in"))
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(said).to_have_count(0)


def test_a_job_is_tried_and_then_run(page: Page) -> None:
    page.goto("/jobs")
    plan = page.get_by_role("region", name="Schedule")
    expect(plan.get_by_role("listitem")).to_have_count(3)
    sweep = plan.get_by_role("listitem").filter(has_text="Decay sweep")
    sweep.get_by_role("button", name="Dry run: decay sweep").click()
    expect(sweep.get_by_role("status")).to_contain_text("nothing was changed")
    sweep.get_by_role("button", name="Run now: decay sweep").click()
    expect(sweep.get_by_role("status")).to_contain_text("Done.")
    consolidation = plan.get_by_role("listitem").filter(has_text="waiting episodes teach")
    consolidation.get_by_role("button", name="Run now: consolidation").click()
    told = consolidation.get_by_role("status")
    expect(told).to_contain_text("Nothing was learned: no language model is configured.")
    expect(told).not_to_contain_text("dry_run")
    runs = page.get_by_role("region", name="Consolidations").get_by_role("listitem")
    expect(runs.filter(has_text="succeeded").first).to_contain_text(
        "by an agent, with its own model"
    )
    retrying = runs.filter(has_text="the answer is not JSON").first
    expect(retrying).to_contain_text("retrying")
    # Why it failed is seen without a click.
    expect(retrying.get_by_text("the answer is not JSON")).to_be_visible()
    expect(retrying).not_to_contain_text("Nothing was to be done")


def test_a_token_is_made_shown_once_and_revoked(page: Page) -> None:
    page.goto("/memory")
    page.get_by_role("link", name="Tokens").click()
    expect(page.get_by_role("listitem").filter(has_text="old laptop")).to_contain_text("expired")
    page.get_by_role("button", name="New token").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("Name").fill("visitor")
    expect(dialog.get_by_label("Expires").locator("option")).to_have_text(
        ["Never", "In a day", "In 30 days", "In a year"]
    )
    dialog.get_by_label("write").uncheck()
    dialog.get_by_role("button", name="Create").dblclick()
    secret = dialog.locator("code").inner_text()
    # Nobody can read it again, so only a button closes it.
    page.keyboard.press("Escape")
    page.mouse.click(5, 400)
    expect(dialog.locator("code")).to_have_text(secret)
    assert secret.startswith("mbt_")
    page.once("dialog", lambda asked: asked.dismiss())
    page.go_back()
    expect(dialog.locator("code")).to_have_text(secret)
    heard = page.request.get("/api/memory/stats", headers={"Authorization": f"Bearer {secret}"})
    assert heard.ok
    dialog.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_role("button", name="New token")).to_be_focused()
    made = page.get_by_role("listitem").filter(has_text="visitor")
    expect(made).to_have_count(1)
    expect(made).to_contain_text("read")
    expect(page.get_by_text(secret)).to_have_count(0)
    made.get_by_role("button", name="Revoke visitor").click()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/tokens/*", hold)
    dialog.get_by_role("button", name="Revoke").click()
    # It is being done: nothing says that it is not.
    expect(dialog.get_by_role("button", name="Keep it")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    held[0].continue_()
    expect(made.get_by_text("revoked", exact=True).first).to_be_visible()
    refused = page.request.get("/api/memory/stats", headers={"Authorization": f"Bearer {secret}"})
    assert refused.status == 401
    expect(page).to_have_url(re.compile("/tokens$"))
