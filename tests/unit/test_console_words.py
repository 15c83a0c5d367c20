"""The console explains outcome codes in the gateway's own words."""

from __future__ import annotations

from infra.openapi.console_words import CONSOLE_WORDS_AT, console_words_text
from infra.openapi.document import ROOT


def test_the_consoles_words_for_outcomes_are_those_of_the_gateways_tables() -> None:
    written = (ROOT / CONSOLE_WORDS_AT).read_text(encoding="utf-8")
    assert written == console_words_text(), "run `make openapi`"
