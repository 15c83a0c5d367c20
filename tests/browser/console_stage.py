"""The console on a website of its own, below a path, and a gateway behind it whose answers a test decides."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Page, Request, Route, ViewportSize, expect

from functions.assets.faces import faces
from tests.browser.conftest import OpenPage
from tests.browser.site import Site
from tests.browser.watching import Watched

BASE = "/internal/tools"
TOKEN = f"kg_adm_{'c3' * 8}_{'0f' * 32}"
PROVIDERS = "knowledge/providers"
HEALTH = "knowledge/health"
NARROW: ViewportSize = {"width": 320, "height": 640}
WIDE: ViewportSize = {"width": 1280, "height": 800}
LOOKS: tuple[tuple[Literal["light", "dark"], ViewportSize], ...] = (("light", WIDE), ("dark", NARROW))

Axe = Callable[[Page], list[dict[str, Any]]]
Keep = Callable[[Page, str], None]

# Counts what the page has asked for and not been told yet; and knows a frame that no stopped clock holds up.
_COUNTS_WHAT_IS_OUT = """const ask = window.fetch; window.out = 0;
window.fetch = (...all) => { window.out += 1; return ask(...all).finally(() => { window.out -= 1; }); };
const [frame, later] = [requestAnimationFrame.bind(window), setTimeout.bind(window)];
window.aFrame = () => new Promise((drawn) => { frame(() => later(drawn)); });"""
# What a view says of itself while it waits, besides: it is drawn before the first request of a view has begun.
_STILL = """async (most) => {
  const busy = () => window.out + document.querySelectorAll(":is(.skeleton, [aria-busy=true])").length;
  for (let looks = 0, still = 0; looks < most && still < 4; looks += 1) {
    await window.aFrame();
    still = busy() ? 0 : still + 1;
  }
  return busy();
}"""
_MOST_LOOKS = 1_000
_A_FRAME = "window.aFrame()"
_PATIENCE_S = 15.0
_GO_TO = """(route) => location.hash !== route && new Promise((gone) => {
  addEventListener("hashchange", gone, {once: true});
  location.hash = route;
})"""

TOO_WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 120))"""


@dataclass(frozen=True, slots=True)
class Laid:
    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass
class ConsoleStage:
    """`page` is at the console. What the gateway answers is laid by method and path below `api/v1/`."""

    watched: Watched
    url: str
    asked: list[Request] = field(default_factory=list)
    _laid: dict[str, Laid | None] = field(default_factory=dict)

    @property
    def page(self) -> Page:
        return self.watched.page

    def lay(self, method: str, path: str, body: Any = None, *, status: int = 200, **headers: str) -> None:
        """Header names are written with underscores."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        self._laid[f"{method} {path}"] = Laid(status, body, sent)

    def refuse(self, method: str, path: str, status: int, code: str, **more: Any) -> None:
        """With a problem; `Retry_After` among `more` becomes a header."""
        headers = {"Retry_After": more.pop("Retry_After")} if "Retry_After" in more else {}
        self.lay(method, path, problem(status, code, **more), status=status, **headers)

    def break_line(self, method: str, path: str) -> None:
        """Nobody answers there from now on."""
        self._laid[f"{method} {path}"] = None

    def calls(self, method: str, path: str) -> list[Request]:
        return [one for one in self.asked if one.method == method and _path_of(one.url) == path]

    def sign_in(self, at: str = "", token: str = TOKEN) -> Page:
        """Opens the console at a route such as `#/providers` and signs in there, until its view is drawn."""
        self.page.goto(self.url + at)
        self.page.get_by_label("Admin token").fill(token)
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_role("main")).to_be_visible()
        expect(self.page.get_by_role("heading", level=1)).not_to_have_text("Sign in to the console")
        self.settle()
        return self.page

    def go_to(self, route: str) -> None:
        """By the address, until that view is drawn."""
        self.page.evaluate(_GO_TO, route)
        self.settle()

    def settle(self) -> None:
        """Until all that was asked for is answered and shown: only then is another answer laid for it."""
        assert self.page.evaluate(_STILL, _MOST_LOOKS) == 0, "the console waits for an answer still"

    def wait_for(self, waiting: Sized, count: int = 1) -> None:
        """Until a route's handler has put as many into `waiting`."""
        until = time.monotonic() + _PATIENCE_S
        while len(waiting) < count:
            assert time.monotonic() < until, f"{len(waiting)} of {count} were asked for"
            self.page.evaluate(_A_FRAME)

    def answer(self, route: Route) -> None:
        request = route.request
        self.asked.append(request)
        laid = self._laid.get(f"{request.method} {_path_of(request.url)}", NOT_FOUND)
        if laid is None:
            route.abort("connectionrefused")
            return
        media_type = "application/json" if laid.status < 400 else "application/problem+json"
        body = "" if laid.body is None else json.dumps(laid.body)
        route.fulfill(status=laid.status, body=body, headers={"Content-Type": media_type, **laid.headers})


def problem(status: int, code: str, **more: Any) -> dict[str, Any]:
    told = {
        "type": f"urn:knowledge-gateway:problem:{code}",
        "title": "It was not carried out",
        "status": status,
        "code": code,
        "requestId": "JKJaXmPLvHcESHA=",
        "detail": "What the gateway says of it.",
    }
    return told | more


NOT_FOUND = Laid(404, problem(404, "not_found"), {})


def console_stage(open_page: OpenPage, site: Site, **context: Any) -> ConsoleStage:
    """With no provider, and an admin token that is taken."""
    for path, document in faces().items():
        if path.startswith("/console"):
            site.lay(
                BASE + path,
                document.data.decode(),
                media_type=document.media_type,
                **{name.replace("-", "_"): value for name, value in document.headers.items()},
            )
    stage = ConsoleStage(open_page(origins=(site.origin,), **context), f"{site.origin}{BASE}/console")
    stage.page.add_init_script(_COUNTS_WHAT_IS_OUT)
    stage.page.route(f"**{BASE}/api/v1/**", stage.answer)
    stage.lay("GET", PROVIDERS, {"providers": [], "nextCursor": None})
    return stage


def flawless(page: Page, axe: Axe, keep: Keep, name: str) -> None:
    """No rule of accessibility is broken, in light on a desk and in dark on a small phone, where nothing has to be
    scrolled sideways.
    """
    for scheme, size in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # no colour is half way to the next
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= size["width"], (name, page.evaluate(TOO_WIDE))
        keep(page, f"console-{name}-{scheme}")
        found = axe(page)
        assert found == [], (name, scheme, found)
    page.set_viewport_size(WIDE)


def _path_of(url: str) -> str:
    return urlsplit(url).path.removeprefix(f"{BASE}/api/v1/")
