"""Registering the demo's live services: one that misbehaves is told of, and the others work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from infra.cli.demo_live import LIVE_DEMOS, inactive_lines, seed_live
from infra.cli.http import Answer, Declined, Unreachable
from infra.cli.seed import PROVIDERS, Seeded

KINDS = [demo.kind for demo in LIVE_DEMOS]


@dataclass
class Admin:
    """A gateway whose provider of `kind` ends its test in `ends[kind]`: a code, or what the gateway raises."""

    ends: dict[str, str | Exception] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)
    tested: list[str] = field(default_factory=list)

    def create(self, _path: str, body: Mapping[str, Any]) -> Answer:
        self.created.append(str(body["kind"]))
        return Answer(201, {"id": f"id-{body['kind']}"}, None)

    def patiently(self, path: str, body: Mapping[str, Any]) -> Answer:
        kind = path.removeprefix(f"{PROVIDERS}/id-").removesuffix("/test")
        assert body["activate"] is True
        self.tested.append(kind)
        end = self.ends.get(kind)
        if isinstance(end, Exception):
            raise end
        return Answer(200, {"status": "failed" if end else "success", "errorCode": end}, None)


def seeded_by(admin: Admin, seeded: Seeded | None = None) -> Seeded:
    seeded = seeded or Seeded()
    seed_live(admin, seeded)  # type: ignore[arg-type]
    return seeded


def test_every_service_is_registered_and_turned_on_once() -> None:
    admin = Admin()
    seeded = seeded_by(admin)
    seeded_by(admin, seeded)

    assert seeded.ids == {kind: f"id-{kind}" for kind in KINDS}
    assert (admin.created, admin.tested) == (KINDS, KINDS)
    assert (seeded.inactive, list(inactive_lines(seeded))) == ({}, [])


@pytest.mark.parametrize(
    ("end", "reason"),
    [("upstream_error", "upstream_error"), (Declined(500, "internal_error", "A fault."), "internal_error")],
    ids=["failed", "gateway failed"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_service_that_misbehaves_keeps_nothing_else_from_starting(
    kind: str, end: str | Exception, reason: str
) -> None:
    seeded = seeded_by(Admin({kind: end}))
    (line,) = inactive_lines(seeded)

    assert (set(seeded.ids), seeded.inactive) == (set(KINDS), {kind: reason})
    assert all(word in line for word in (f"id-{kind}", "not active", reason))


def test_the_next_start_tries_what_is_not_active_yet(tmp_path: Path) -> None:
    seeded_by(Admin({"exa": "timeout"})).write(tmp_path / "demo.json")
    admin = Admin()
    seeded = seeded_by(admin, Seeded.read(tmp_path / "demo.json"))

    assert (admin.created, admin.tested, seeded.inactive) == ([], ["exa"], {})


def test_a_provider_that_an_operator_removed_stays_removed() -> None:
    seeded = seeded_by(Admin({"exa": "timeout"}))
    admin = Admin({"exa": Declined(404, "not_found", "")})

    assert seeded_by(admin, seeded).inactive == {}
    assert seeded_by(admin, seeded).ids["exa"] == "id-exa"
    assert admin.tested == ["exa"]


def test_a_gateway_that_cannot_be_reached_is_another_matter() -> None:
    seeded = Seeded()
    with pytest.raises(Unreachable):
        seeded_by(Admin({"exa": Unreachable("Nothing answers.")}), seeded)
    again = Admin()
    seeded_by(again, seeded)

    assert "exa" in again.tested
    assert seeded.inactive == {}
