"""The articles of the help centre, as its website shows them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ARTICLES = Path(__file__).resolve().parents[3] / "fixtures" / "articles"
TOPICS = ("check-in", "ferry-pass", "refunds", "electric-cars", "pets", "delays")


@dataclass(frozen=True, slots=True)
class Article:
    """`sections` are pairs of heading and paragraph. `lead` is the beginning of the first."""

    slug: str
    title: str
    locale: str
    sections: tuple[tuple[str, str], ...]

    @property
    def lead(self) -> str:
        text = self.sections[0][1]
        end = min((at + 1 for mark in (". ", "。", "；") if (at := text.find(mark)) > 0), default=len(text))
        return text[:end]


@cache
def article(language: str, slug: str) -> Article:
    """One of `TOPICS`."""
    _, head, text = (_ARTICLES / language / f"{slug}.md").read_text(encoding="utf-8").split("---\n", 2)
    facts = dict(line.split(": ", 1) for line in head.strip().splitlines())
    parts = [part.strip().partition("\n\n") for part in text.split("## ")[1:]]
    sections = tuple((heading.strip(), paragraph.strip()) for heading, _, paragraph in parts)
    return Article(slug=slug, title=facts["title"], locale=facts["locale"], sections=sections)
