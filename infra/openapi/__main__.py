"""Writes what is published of the code: `docs/openapi.json` and `docs/errors.md`."""

from __future__ import annotations

from infra.openapi.document import ROOT, document_text
from infra.openapi.errors_page import errors_text


def main() -> None:
    for name, text in (("openapi.json", document_text()), ("errors.md", errors_text())):
        path = ROOT / "docs" / name
        path.write_text(text, encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
