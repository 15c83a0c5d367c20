"""The workbench before a gateway that a test speaks for: two credentials, and an answer for each."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

from tests.browser.conftest import OpenPage
from tests.browser.console_asked_told import (
    CREDENTIALS,
    HOSTILE,
    INSIDE,
    SEARCH,
    Lender,
    agent_answer,
    agent_result,
    card,
    collection,
    customer_answer,
    customer_result,
    outcome,
)
from tests.browser.console_stage import PROVIDERS, ConsoleStage, console_stage
from tests.browser.console_told import SINCE, contract
from tests.browser.site import Site

BOTH = ["Console workbench, as a customer (short-lived)", "Console workbench, as an agent (short-lived)"]
SHARED = agent_result()
HIDDEN = agent_result(
    provider={"id": INSIDE, "name": HOSTILE[0], "kind": "exa"},
    title=HOSTILE[1],
    snippet="\n".join([*HOSTILE, "[run](javascript:alert(1))", "long " * 200]),
    url="https://desk.example.com/x",
    audience="internal",
    evidence="derived_context",
    locale=None,
    localeFallback=None,
)
ANSWER = agent_answer(
    status="partial",
    results=[HIDDEN, SHARED],
    discoveries=[
        {
            "provider": HIDDEN["provider"],
            "url": "javascript:alert(1)",
            "title": HOSTILE[2],
            "library": "/acme/widgets",
            "libraryVersion": "2",
        }
    ],
    cards=[card(title=HOSTILE[0], body=HOSTILE[1], keys=list(HOSTILE))],
    cardsStatus="partial",
    providers=[
        outcome(truncated=True, warnings=["internal_dropped"]),
        outcome(id=INSIDE, name=HOSTILE[0], status="failed", errorCode="timeout", durationMs=12_000, resultCount=0),
        outcome(id="ao_l3j5mq2x7a4bwz6t", name=None, status="skipped", errorCode="circuit_open", retryAt=SINCE),
    ],
)


def workbench_stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    stage = console_stage(open_page, site)
    inside = contract(id=INSIDE, name=HOSTILE[0], exposureProfile="agent_only")
    stage.lay("GET", PROVIDERS, {"providers": [contract(), inside], "nextCursor": None})
    stage.lay("GET", "collections", {"collections": [collection(name=HOSTILE[1])], "nextCursor": None})
    stage.lay("GET", CREDENTIALS, {"credentials": [], "nextCursor": None})
    return stage


def workbench_lender(stage: ConsoleStage) -> Lender:
    """Lends credentials on the stage, and answers questions."""
    lender = Lender(ANSWER, customer_answer(customer_result(SHARED), cards=[]))
    stage.page.route(f"**/api/v1/{CREDENTIALS}", lender.lend)
    stage.page.route(f"**/api/v1/{SEARCH}", lender.answer)
    for number in range(1, 5):
        stage.lay("DELETE", f"{CREDENTIALS}/lent{number}", None, status=204)
    return lender


def ask(page: Page, query: str = "ferry pass") -> None:
    page.get_by_role("textbox", name="Question").fill(query)
    page.keyboard.press("Enter")


def glance(page: Page) -> Locator:
    return page.get_by_role("region", name="At a glance")
