"""A page of a strict website with the widget on it, and a gateway whose answers a test decides."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Protocol

from playwright.sync_api import Browser, Locator, Page, Route

from functions.assets.faces import present_script
from tests.browser.site import Site
from tests.browser.watching import Watched

API = "https://kb.example.com"
SEARCH = f"{API}/api/v1/knowledge/widget/search"
KEY = f"kg_pub_{'a2' * 8}_{'0f' * 32}"
SCRIPT = present_script().decode()
STRICT = (
    f"default-src 'none'; script-src {{origin}}/widget.js; connect-src {API}; style-src {{styles}}; "
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
PAGE = (
    '<!doctype html><html lang="{lang}"{dir}><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><title>Help</title>'
    '<script src="/widget.js"></script>{styles}</head>'
    "<body><header><a href='/start'>Start</a></header><main><h1>Help</h1>{inside}</main></body></html>"
)
DARK = "html { background: #0f1216; color: #ddd } a { color: #9cf }"
DARK_SHEET = '<link rel="stylesheet" href="/page.css">'
PATIENCE_MS = 15_000
_READABLE = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After, X-Request-Id"}


def result(title: str = "Ferry passes", **over: Any) -> dict[str, Any]:
    told = {
        "title": title,
        "snippet": "A ferry pass is valid on every night ferry.",
        "url": "https://help.example.com/ferries/passes",
        "locale": "en",
        "localeFallback": False,
    }
    return told | over


RESULTS = (
    result(),
    result("Fähren: Gruppenpass", url="https://hilfe.example.com/gruppen", locale="de", snippet="Für Gruppen."),
    result("Refunds", url=None, locale=None, snippet="A ferry that does not sail. " * 30),
)


def element(**attributes: str | bool) -> str:
    """The element as HTML; `api` and `key` are in order unless told otherwise. Names are written with underscores."""
    given = {"api": API, "key": KEY, **attributes}
    texts = (
        name.replace("_", "-") + ("" if value is True else f'="{escape(str(value))}"')
        for name, value in given.items()
        if value is not False
    )
    return f"<knowledge-search {' '.join(texts)}></knowledge-search>"


# One turn of the page's event loop, which no stopped clock holds up.
_TURN = """() => new Promise((resolve) => {
  const channel = new MessageChannel();
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(0);
})"""
_NOTE_EVENTS = """() => {
  window.told = [];
  for (const name of ["results", "error"])
    document.addEventListener(`knowledge-search:${name}`, ({detail}) => window.told.push(detail));
}"""


# What answers are drawn with is new for each of them; what says that one is waited for is no answer.
_DRAWN = "[part=option], [part=message] p"
_NOTE_WHAT_IS_DRAWN = """(drawn) => {
  for (const one of drawn.flatMap((part) => [part, ...part.childNodes])) one.isOfBefore = true;
}"""
_IS_ANSWERED = """(drawn) => drawn.some((one) => one.checkVisibility()
  && !(one.localName === "p" ? (one.firstChild ?? one) : one).isOfBefore
  && !one.getRootNode().querySelector("[data-busy]"))"""


class OpenPage(Protocol):
    def __call__(self, url: str = "", *, origins: tuple[str, ...] = (), **context: Any) -> Watched: ...


@dataclass
class Stage:
    """`asked` are the bodies that arrived. While `holding`, questions wait in `held` for `release`."""

    page: Page
    forget: Callable[[], None]
    asked: list[dict[str, Any]] = field(default_factory=list)
    sent: list[Mapping[str, str]] = field(default_factory=list)
    held: list[Route] = field(default_factory=list)
    holding: bool = False
    _next: Callable[[Route], None] = lambda route: route.abort()

    def answer(self, *results: Mapping[str, Any]) -> None:
        self.reply({"results": results})

    def reply(self, body: Any, *, status: int = 200, headers: Mapping[str, str] = _READABLE) -> None:
        """From now on; `body` is text, or becomes JSON. Without headers no page may read it."""
        text = body if isinstance(body, str) else json.dumps(body)
        self._next = lambda route: route.fulfill(
            status=status, headers=dict(headers), content_type="application/json", body=text
        )

    def refuse(self, status: int, code: str, **headers: str) -> None:
        sent = {**_READABLE, **{name.replace("_", "-"): value for name, value in headers.items()}}
        self.reply({"status": status, "code": code, "title": "A title that nobody sees"}, status=status, headers=sent)

    def fail(self) -> None:
        self._next = lambda route: route.abort("connectionrefused")

    def release(self, index: int, *results: Mapping[str, Any]) -> None:
        self.held[index].fulfill(headers=_READABLE, json={"results": results})

    def arrive(self, route: Route) -> None:
        headers = route.request.all_headers()  # while it is waited for, a test may go on: nothing is noted before
        self.asked.append(json.loads(route.request.post_data or "null"))
        self.sent.append(headers)
        if self.holding:
            self.held.append(route)
        else:
            self._next(route)

    def part(self, name: str) -> Locator:
        """What is seen of a part, within open shadow trees."""
        return self.page.locator(f"[part={name}]:visible")

    @property
    def input(self) -> Locator:
        return self.page.locator("[part=input]").first

    @property
    def options(self) -> Locator:
        return self.page.locator("[part=option]")

    @property
    def message(self) -> Locator:
        """The words that stand where results would."""
        return self.page.locator("[part=message] p:visible")

    @property
    def active(self) -> str:
        """The title of the option that assistive technology takes for the focused one; "" for none."""
        return str(
            self.input.evaluate(
                "(input) => input.getRootNode().getElementById(input.getAttribute('aria-activedescendant'))"
                "?.querySelector('[part=title]').textContent ?? ''"
            )
        )

    @property
    def said(self) -> str:
        """What the live region holds now."""
        return self.page.get_by_role("status").first.inner_text()

    def write(self, text: str) -> None:
        """As on a keyboard; the question that follows is asked after a moment."""
        self.input.click()
        self.page.keyboard.type(text)

    @property
    def queries(self) -> list[str]:
        return [asked["query"] for asked in self.asked]

    def go_on(self, ms: int) -> None:
        """Lets the time of a page run whose clock stands, and lets what was sent arrive."""
        self.page.clock.run_for(ms)
        self.page.evaluate(_TURN)

    def note_events(self) -> None:
        """From now on the page's `told` holds what the element tells it."""
        self.page.evaluate(_NOTE_EVENTS)

    def wait_for_questions(self, count: int) -> None:
        waited_ms = 0
        while len(self.asked) < count and waited_ms < PATIENCE_MS:
            self.page.wait_for_timeout(10)
            waited_ms += 10

    def search(self, text: str = "ferry pass") -> None:
        """Asks at once what is not answered yet, and waits for the end of this question to be seen."""
        drawn = self.page.locator(_DRAWN)
        drawn.evaluate_all(_NOTE_WHAT_IS_DRAWN)
        self.input.fill(text)
        self.input.press("Enter")
        until = time.monotonic() + PATIENCE_MS / 1_000
        while not drawn.evaluate_all(_IS_ANSWERED):
            assert time.monotonic() < until, f"nothing is told of {text}"
            self.page.wait_for_timeout(5)

    def focused(self) -> str:
        """The focused element by its part, id or name, looked up through open shadow trees."""
        return str(
            self.page.evaluate(
                """() => { let e = document.activeElement;
                while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
                return e.getAttribute('part') || e.id || e.localName }"""
            )
        )


@dataclass
class Theatre:
    """Opens stages, on `shared` where a page like any other will do: a context of its own takes longer."""

    shared: Watched
    standing: Watched
    open_page: OpenPage
    site: Site

    def __call__(
        self,
        inside: str = "",
        *,
        lang: str = "en",
        dir: str = "",  # noqa: A002  # the attribute's name
        clock: bool = False,
        csp: str = STRICT,
        dark: bool = False,
        early: str = "",
        **context: Any,
    ) -> Stage:
        """`clock`: the page's time stands still until it is turned. `early` runs before the page's own scripts."""
        common = self.standing if clock else self.shared
        watched = self.open_page(origins=(API,), **context) if early or context else common
        stage = Stage(watched.page, watched.forget)
        stage.page.unroute_all()
        stage.answer(*RESULTS)
        stage.page.route(f"{API}/**", stage.arrive)
        if early:
            stage.page.add_init_script(early)
        self.site.lay("/widget.js", SCRIPT, media_type="text/javascript; charset=utf-8")
        self.site.lay("/page.css", DARK, media_type="text/css")
        page = PAGE.format(
            lang=lang, dir=f' dir="{dir}"' if dir else "", inside=inside or element(), styles=DARK_SHEET * dark
        )
        styles = f"{self.site.origin}/page.css" if dark else "'none'"
        url = self.site.lay("/page", page, csp=csp.format(origin=self.site.origin, styles=styles))
        stage.page.goto(url)
        return stage


def shared_page(browser: Browser, site: Site, *, standing: bool = False) -> Watched:
    """`standing`: its time stands still."""
    page = browser.new_context().new_page()
    page.set_default_timeout(PATIENCE_MS)
    if standing:
        page.clock.install(time="2100-01-01T00:00:00Z")
        page.clock.pause_at("2100-01-01T01:00:00Z")
    return Watched.of(page, {API, site.origin})
