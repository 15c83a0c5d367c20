"""Writes what is published of the code: `docs/openapi.json`, `docs/errors.md`, and the console's words for outcomes."""

from __future__ import annotations

from infra.openapi.console_words import CONSOLE_WORDS_AT, console_words_text
from infra.openapi.document import ROOT, document_text
from infra.openapi.errors_page import errors_text


def main() -> None:
    written = {
        "docs/openapi.json": document_text,
        "docs/errors.md": errors_text,
        CONSOLE_WORDS_AT: console_words_text,
    }
    for name, text in written.items():
        (ROOT / name).write_text(text(), encoding="utf-8")
        print(f"wrote {name}")


if __name__ == "__main__":
    main()
