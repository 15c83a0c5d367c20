"""The demo's glossary: two collections, made and filled through the public admin API as an operator would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra.cli.http import Client, Declined
from infra.cli.row_slices import slices
from infra.cli.seed import Seeded, SeedFailed

COLLECTIONS = "/api/v1/collections"
_FILES = Path(__file__).resolve().parents[2] / "fixtures" / "cards"
# By exposure profile; the cards of each lie in the file of that name.
NAMES: Mapping[str, str] = {"customer_safe": "Words of the ferry", "agent_only": "Words of the service desk"}


def seed_cards(admin: Client, seeded: Seeded) -> None:
    """Makes and fills what is not there yet. Raises `SeedFailed`, `Declined`, `Unreachable`."""
    for profile, name in NAMES.items():
        if profile not in seeded.collections:
            collection_id = _made(admin, {"name": name, "exposureProfile": profile})
            _fill(admin, collection_id, _FILES / f"{profile}.jsonl")
            seeded.collections[profile] = collection_id


def _made(admin: Client, wanted: Mapping[str, str]) -> str:
    """The collection; also one that an earlier start made and was killed before it could note it."""
    try:
        return str(admin.create(COLLECTIONS, wanted).body["id"])
    except Declined as declined:
        if declined.code != "name_taken":
            raise
    listed: list[dict[str, Any]] = admin.call("GET", COLLECTIONS + "?limit=100").body["collections"]
    for each in listed:
        if all(each[field] == wanted[field] for field in wanted):
            return str(each["id"])
    raise SeedFailed(f"Another collection is called {wanted['name']}.")


def _fill(admin: Client, collection_id: str, file: Path) -> None:
    for piece in slices(file):
        received = admin.send(
            "POST", f"{COLLECTIONS}/{collection_id}/cards/import", piece.body, Content_Type=piece.media_type
        )
        report = json.loads(received.data)
        if report["refused"] or report["skipped"]:
            raise SeedFailed(f"Cards of {file.name} were refused.")
