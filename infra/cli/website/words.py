"""What the demo's website says, in each of its languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """`articles` is the language of the articles that it shows, `locale` the one that the widget asks for."""

    language: str
    name: str
    direction: str
    articles: str
    locale: str
    title: str
    lead: str
    hint: str
    invented: str
    sailings: str
    columns: tuple[str, ...]
    on_time: str
    boarding: str
    late: str
    topics: str
    more: str
    home: str
    choose_language: str
    choose_theme: str
    themes: Mapping[str, str]
    not_found: str
    about: str
    console: str


def _read() -> Mapping[str, Words]:
    written = json.loads((Path(__file__).resolve().parent / "words.json").read_text(encoding="utf-8"))
    return {key: Words(**{**words, "columns": tuple(words["columns"])}) for key, words in written.items()}


LANGUAGES: Mapping[str, Words] = _read()
