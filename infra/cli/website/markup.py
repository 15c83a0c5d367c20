"""The pages of the demo's website as HTML. Whatever is put in is escaped; no script and no style is written inline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from urllib.parse import urlencode

from infra.cli.website.articles import TOPICS, Article, article
from infra.cli.website.words import LANGUAGES, Words

_SAILINGS = (
    ("06:40", "Ostrand", "Mellvik", "Mellvik Star", "on_time"),
    ("11:15", "Mellvik", "Ostrand", "Ostrand Gull", "boarding"),
    ("17:30", "Ostrand", "Mellvik", "Mellvik Star", "late"),
)
_LOGO = (
    '<svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">'
    '<path d="M5 17h22l-3.5 7h-15z M9 15v-4h9v4z M20 15V7h3v8z"/>'
    '<path d="M3 28q3.2-3 6.5 0t6.5 0 6.5 0 6.5 0" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """What a website has to know: addresses, the widget's key, and the script that it wants, with its hash."""

    url: str
    key: str
    script: str
    integrity: str
    console: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How a visitor wants to see the page at `path`."""

    path: str
    words: Words
    theme: str
    gateway: Gateway

    def link(self, path: str, *, lang: str = "", theme: str = "") -> str:
        own = next(key for key, words in LANGUAGES.items() if words is self.words)
        return escape(f"{path}?{urlencode({'lang': lang or own, 'theme': theme or self.theme})}")


def front_page(view: View) -> str:
    words = view.words
    return _page(
        view,
        title=f"Lumsund Line: {words.home}",
        main=f"""
<section class="hero">
<img class="harbour" src="/harbour.svg" alt="" width="1200" height="300">
<div class="ask">
<h1>{escape(words.title)}</h1>
<p class="lead">{escape(words.lead)}</p>
{_widget(view)}
<p class="hint">{escape(words.hint)}</p>
<p class="hint">{escape(words.invented)}</p>
</div>
</section>
<section class="band" aria-labelledby="sailings">
<h2 id="sailings">{escape(words.sailings)}</h2>
{_timetable(words)}
</section>
<section class="band" aria-labelledby="topics">
<h2 id="topics">{escape(words.topics)}</h2>
<ul class="cards">{"".join(_card(view, article(words.articles, slug)) for slug in TOPICS)}</ul>
</section>""",
    )


def article_page(view: View, slug: str) -> str:
    shown = article(view.words.articles, slug)
    sections = "".join(f"<h2>{escape(heading)}</h2>\n<p>{escape(text)}</p>\n" for heading, text in shown.sections)
    return _page(
        view,
        title=f"{shown.title} · Lumsund Line",
        main=f"""
<div class="band narrow">
<p><a href="{view.link("/")}">{escape(view.words.home)}</a></p>
{_widget(view)}
<article lang="{escape(shown.locale)}" dir="ltr">
<h1>{escape(shown.title)}</h1>
{sections}</article>
</div>""",
    )


def not_found_page(view: View) -> str:
    link = f'<p><a href="{view.link("/")}">{escape(view.words.home)}</a></p>'
    main = f'<div class="band narrow"><h1>{escape(view.words.not_found)}</h1>{link}</div>'
    return _page(view, title=view.words.not_found, main=main)


def _page(view: View, *, title: str, main: str) -> str:
    words, gateway = view.words, view.gateway
    return f"""<!doctype html>
<html lang="{escape(words.language)}" dir="{words.direction}" data-theme="{view.theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="/harbour.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<script async src="{escape(gateway.script)}" integrity="{escape(gateway.integrity)}" crossorigin="anonymous"></script>
</head>
<body>
<header class="top">
<a class="brand" href="{view.link("/")}">{_LOGO}<span dir="ltr" lang="en">Lumsund Line</span></a>
{_choice(words.choose_language, _languages(view))}
{_choice(words.choose_theme, _themes(view))}
</header>
<main>{main}
</main>
<footer class="band foot">
<p>{escape(words.about)}</p>
<p><a href="{escape(gateway.console)}">{escape(words.console)}</a></p>
</footer>
</body>
</html>
"""


def _widget(view: View) -> str:
    gateway = view.gateway
    return (
        f'<knowledge-search api="{escape(gateway.url)}" key="{escape(gateway.key)}" theme="{view.theme}" '
        f'locale="{escape(view.words.locale)}"></knowledge-search>'
    )


def _choice(name: str, links: Iterable[str]) -> str:
    items = "".join(f"<li>{link}</li>" for link in links)
    return f'<nav class="choice" aria-label="{escape(name)}"><ul>{items}</ul></nav>'


def _languages(view: View) -> Iterable[str]:
    for key, words in LANGUAGES.items():
        here = ' aria-current="true"' if words is view.words else ""
        speaks = f'lang="{words.language}" hreflang="{words.language}"'
        yield f'<a href="{view.link(view.path, lang=key)}" {speaks}{here}>{escape(words.name)}</a>'


def _themes(view: View) -> Iterable[str]:
    for theme, name in view.words.themes.items():
        here = ' aria-current="true"' if theme == view.theme else ""
        yield f'<a href="{view.link(view.path, theme=theme)}"{here}>{escape(name)}</a>'


def _timetable(words: Words) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in words.columns)
    rows = "".join(
        f'<tr><th scope="row"><time>{at}</time></th><td>{start}</td><td>{end}</td><td>{ship}</td>'
        f'<td><span class="state {state}">{escape(getattr(words, state))}</span></td></tr>'
        for at, start, end, ship, state in _SAILINGS
    )
    return f'<table class="times"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _card(view: View, shown: Article) -> str:
    return (
        f'<li class="card"><div lang="{escape(shown.locale)}" dir="ltr">'
        f'<h3><a href="{view.link(f"/articles/{shown.slug}")}">{escape(shown.title)}</a></h3>'
        f"<p>{escape(shown.lead)}</p></div></li>"
    )
