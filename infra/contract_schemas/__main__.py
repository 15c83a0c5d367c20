"""Writes the schemas of the provider contract to every place where they are published."""

from __future__ import annotations

from infra.contract_schemas.published import PLACES, ROOT, schema_texts


def main() -> None:
    for place in PLACES:
        place.mkdir(parents=True, exist_ok=True)
        for name, text in schema_texts().items():
            (place / name).write_text(text, encoding="utf-8")
            print(f"wrote {(place / name).relative_to(ROOT)}")


if __name__ == "__main__":
    main()
