"""Every page of the dashboard: what tests walk, and `make screenshots` shows."""

from dataclasses import dataclass

from playwright.sync_api import Page


@dataclass(frozen=True, slots=True)
class PageShown:
    """A page and its heading; `phone`: its picture is also made at the width of a phone."""

    name: str
    path: str
    heading: str
    phone: bool = False


PAGES = (
    PageShown("overview", "/memory", "Overview", phone=True),
    PageShown("search", "/memory?q=Flight+to+Berlin", "Overview"),
    PageShown("ask", "/memory/ask?q=When+does+the+family+have+dinner", "Ask", phone=True),
    PageShown("ask-nothing", "/memory/ask?q=How+do+database+indexes+work", "Ask"),
    PageShown("facts", "/memory/facts", "Facts", phone=True),
    PageShown("facts-fading", "/memory/facts?show=fading", "Facts"),
    PageShown("facts-archive", "/memory/facts?show=archive", "Facts"),
    PageShown("rules", "/memory/rules", "Rules", phone=True),
    PageShown("entities", "/memory/entities", "Entities", phone=True),
    PageShown(
        "entities-resolve",
        "/memory/entities?show=resolve&name=tavares&topic=load+cases+in+a+table&fuzzy=yes",
        "Entities",
    ),
    PageShown("map", "/memory/map", "Map", phone=True),
    PageShown("inbox", "/memory/inbox", "Inbox", phone=True),
    PageShown(
        "playground",
        "/memory/recall?prompt=Plan+a+dinner+for+the+family&budget=250",
        "Recall playground",
        phone=True,
    ),
    PageShown("changes", "/memory/changes", "Changes", phone=True),
    PageShown("contexts", "/memory/contexts", "Contexts"),
    PageShown("chat", "/chat", "Chat", phone=True),
    PageShown("journal", "/journal", "Journal", phone=True),
    PageShown("journal-mind", "/journal?tab=mind", "Journal"),
    PageShown("journal-fragments", "/journal?tab=fragments&fragment=knee", "Journal"),
    PageShown("journal-learned", "/journal?tab=learned", "Journal"),
    PageShown("journal-prompt", "/journal?tab=prompt", "Journal"),
    PageShown("journal-maintenance", "/journal?tab=maintenance", "Journal"),
    PageShown("episodes", "/memory/episodes", "Episodes", phone=True),
    PageShown("episodes-dead", "/memory/episodes?show=dead_letter", "Episodes"),
    PageShown("sessions", "/memory/sessions", "Sessions", phone=True),
    PageShown("timeline", "/memory/timeline", "Timeline", phone=True),
    PageShown("butlers", "/butlers", "Butlers", phone=True),
    PageShown("butler", "/butlers/home", "home", phone=True),
    PageShown("butler-memory", "/butlers/work/memory", "work", phone=True),
    PageShown("jobs", "/jobs", "Jobs", phone=True),
    PageShown("tokens", "/tokens", "Tokens"),
    PageShown("not-found", "/memory/nowhere", "Not found"),
    PageShown("sign-in", "/sign-in", "Sign in"),
)

# What a walk shows between two pages of one heading, to see when the second is there.
BETWEEN = next(one for one in PAGES if one.name == "tokens")


def visit(page: Page, path: str) -> None:
    """Go there as the dashboard's own links do, if the tab shows it: nothing is loaded anew."""
    if page.url == "about:blank":
        page.goto(path)
    else:
        page.evaluate("path => history.pushState({}, '', path)", path)
