"""A page in Chromium whose every misstep is noted: what a site's security policy refuses, faults, foreign requests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import CDPSession, ConsoleMessage, Error, Page, Request

# Chromium's own line for an answer of 400 and above. Whether that answer was due is for the test to say.
_FAILED_LOAD = "Failed to load resource"


@dataclass
class Watched:
    """`page` is Playwright's. The lists fill by themselves; `violations` name directive and address."""

    page: Page
    allowed: set[str]
    session: CDPSession
    violations: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    console_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, page: Page, allowed: Iterable[str]) -> Watched:
        """`allowed` are the origins that the page may ask for anything."""
        watched = cls(page=page, allowed=set(allowed), session=page.context.new_cdp_session(page))
        page.on("pageerror", watched._page_error)
        page.on("console", watched._console)
        page.on("request", watched._request)
        watched.session.on("Audits.issueAdded", watched._issue)
        watched.session.send("Audits.enable")
        return watched

    def missteps(self) -> list[str]:
        """All that was noted so far, one a line."""
        self._catch_up()
        told = {
            "policy": self.violations,
            "page": self.page_errors,
            "console": self.console_errors,
            "foreign": self.foreign_requests,
        }
        return [f"{kind}: {text}" for kind, texts in told.items() for text in texts]

    def forget(self) -> None:
        """For what a test has provoked and has looked at."""
        self._catch_up()
        for noted in (self.violations, self.page_errors, self.console_errors, self.foreign_requests):
            noted.clear()

    def _catch_up(self) -> None:
        """What the browser noted before this call has arrived after it."""
        if self.page.is_closed():
            return
        try:
            self.session.send("Runtime.evaluate", {"expression": "0"})
            self.page.evaluate("0")
        except Error:  # it is on its way to another page, or has gone
            return

    def _page_error(self, error: Error) -> None:
        self.page_errors.append(error.message)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(_FAILED_LOAD):
            self.console_errors.append(message.text)

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob", "about"):
            return
        if f"{parts.scheme}://{parts.netloc}" not in self.allowed:
            self.foreign_requests.append(request.url)

    def _issue(self, event: dict[str, Any]) -> None:
        details = event["issue"].get("details", {}).get("contentSecurityPolicyIssueDetails")
        if details:
            place = details.get("blockedURL") or details["contentSecurityPolicyViolationType"]
            self.violations.append(f"{details['violatedDirective']}: {place}")
