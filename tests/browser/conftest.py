"""One Chromium and one running gateway for all browser tests of a worker.

They end with this package's last test: while Playwright runs, this thread has an event loop, and no test elsewhere
could run one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.accessibility import violations_of
from tests.browser.find_chromium import find_chromium
from tests.browser.site import Site, running_site
from tests.browser.watching import Watched
from tests.browser.widget_stage import Theatre, shared_page
from tests.e2e.running import Gateway, running

# Debian's package as root in a container, and no word to anybody but this machine.
_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_PATIENCE_MS = 15_000


class OpenPage(Protocol):
    """Opens a page of a context of its own.

    `url` is gone to at once where it is given. `origins` are those that it may ask, beside its own and the gateway's.
    `context` are Playwright's: `viewport`, `color_scheme`, `locale`, `reduced_motion`, `forced_colors`, `offline`, ...
    """

    def __call__(self, url: str = "", *, origins: tuple[str, ...] = (), **context: Any) -> Watched: ...


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    program = find_chromium(os.environ, home=Path.home())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(_OPTIONS))
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """`kgw up` with its demo. Whoever changes something in it puts it back."""
    with running(tmp_path_factory.mktemp("demo")) as gateway:
        yield gateway


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    """A website to lay pages on, of another origin than the gateway's."""
    with running_site() as site:
        yield site


@pytest.fixture(scope="package")
def site_key(demo: Gateway, site: Site) -> str:
    """A widget key of the demo gateway for `site`, at a rate that no test exceeds."""
    return demo.credential(**{"class": "pub", "origins": [site.origin], "ratePerMinute": 100_000})


@pytest.fixture
def open_page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Opens pages that are watched: a test fails at its end for a violated policy, a fault, an error on the console or
    a request to anybody else, unless it has looked and said `forget()`.
    """
    opened: list[Watched] = []

    def open_page(url: str = "", *, origins: tuple[str, ...] = (), **context: Any) -> Watched:
        page = chromium.new_context(**context).new_page()
        page.set_default_timeout(_PATIENCE_MS)
        allowed = {*origins, *_own_origins(request), *([_origin_of(url)] if url else [])}
        watched = Watched.of(page, allowed)
        opened.append(watched)
        if url:
            page.goto(url)
        return watched

    yield open_page
    missteps = [misstep for watched in opened for misstep in watched.missteps()]
    for watched in opened:
        watched.page.context.close()
    assert missteps == []


@pytest.fixture(scope="package")
def widget_page(chromium: Browser, site: Site) -> Iterator[Watched]:
    """The one page on which most tests of the widget set their scene."""
    watched = shared_page(chromium, site)
    yield watched
    watched.page.context.close()


@pytest.fixture(scope="package")
def standing_widget_page(chromium: Browser, site: Site) -> Iterator[Watched]:
    """And the one for tests that turn the page's clock themselves."""
    watched = shared_page(chromium, site, standing=True)
    yield watched
    watched.page.context.close()


@pytest.fixture
def theatre(widget_page: Watched, standing_widget_page: Watched, open_page: OpenPage, site: Site) -> Iterator[Theatre]:
    """Opens pages with the widget before a gateway that a test speaks for; watched like `open_page`."""
    yield Theatre(widget_page, standing_widget_page, open_page, site)
    missteps = [*widget_page.missteps(), *standing_widget_page.missteps()]
    widget_page.forget()
    standing_widget_page.forget()
    assert missteps == []


@pytest.fixture
def axe() -> Callable[[Page], list[dict[str, Any]]]:
    """What axe-core finds against a page; `[]` is what it has to be."""
    return violations_of


@pytest.fixture(scope="session")
def screenshots() -> Callable[[Page, str], None]:
    """Keeps a picture of a page under a name, in the directory that KG_SCREENSHOTS names; without it does nothing."""
    directory = os.environ.get("KG_SCREENSHOTS", "")

    def keep(page: Page, name: str) -> None:
        if directory:
            page.screenshot(path=Path(directory) / f"{name}.png", full_page=True)

    return keep


def _own_origins(request: pytest.FixtureRequest) -> list[str]:
    """Of what the test uses beside the page."""
    origins = []
    if "demo" in request.fixturenames:
        origins.append(request.getfixturevalue("demo").url)
    if "site" in request.fixturenames:
        origins.append(request.getfixturevalue("site").origin)
    return origins


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
