"""What the demo's website answers: one page in four languages, its articles, a style sheet and a picture.

Pages run no script but the widget's, exactly the build that the gateway has, and ask nobody but the gateway. Language
and look are links, so that even these need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from infra.cli.website.articles import TOPICS
from infra.cli.website.markup import Gateway, View, article_page, front_page, not_found_page
from infra.cli.website.words import LANGUAGES

_HERE = Path(__file__).resolve().parent
_FILES = {"/style.css": "text/css; charset=utf-8", "/harbour.svg": "image/svg+xml"}
_HTML = "text/html; charset=utf-8"
_ARTICLE = "/articles/"
THEMES = ("auto", "light", "dark")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    media_type: str
    body: bytes
    policy: str

    @property
    def headers(self) -> Mapping[str, str]:
        return {
            "Content-Type": self.media_type,
            "Content-Security-Policy": self.policy,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "strict-origin-when-cross-origin",
        }


def policy_for(gateway: Gateway) -> str:
    """As strict as it can be: the gateway's script alone, and requests to the gateway alone."""
    return (
        f"default-src 'none'; script-src {gateway.script}; connect-src {gateway.url}; style-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def answer_at(target: str, gateway: Gateway) -> Answer:
    """`target` is a path with what follows it: `/?lang=de&theme=dark`."""
    parts = urlsplit(target)
    policy = policy_for(gateway)
    if parts.path in _FILES:
        return Answer(200, _FILES[parts.path], (_HERE / parts.path[1:]).read_bytes(), policy)
    view = _view(parts.path, parts.query, gateway)
    slug = parts.path.removeprefix(_ARTICLE)
    if parts.path == "/":
        return Answer(200, _HTML, front_page(view).encode(), policy)
    if parts.path.startswith(_ARTICLE) and slug in TOPICS:
        return Answer(200, _HTML, article_page(view, slug).encode(), policy)
    return Answer(404, _HTML, not_found_page(view).encode(), policy)


def _view(path: str, query: str, gateway: Gateway) -> View:
    """Whatever is not among the choices is the first of them."""
    wishes = parse_qs(query)
    language, theme = wishes.get("lang", [""])[0], wishes.get("theme", [""])[0]
    return View(
        path=path if path.startswith("/") and not path.startswith("//") else "/",
        words=LANGUAGES.get(language, LANGUAGES["en"]),
        theme=theme if theme in THEMES else THEMES[0],
        gateway=gateway,
    )
