"""The requirements of contract version 1, as they are frozen: ids, levels, and the section that asks for each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

VERSION = 1
PROFILES = ("minimum", "full")
_CONTRACT = "docs/provider-contract.md"


@dataclass(frozen=True, slots=True)
class Requirement:
    """`profile` is the smallest one that asks for it."""

    id: str
    scenario: str
    level: str
    profile: str
    section: str

    @property
    def link(self) -> str:
        return f"{_CONTRACT}#{self.section}"

    def is_in(self, profile: str) -> bool:
        return PROFILES.index(self.profile) <= PROFILES.index(profile)


def frozen_json(name: str) -> Any:
    """A file that belongs to this version of the contract."""
    return json.loads((files("knowledge_conformance") / f"v{VERSION}" / name).read_text(encoding="utf-8"))


@cache
def requirements() -> dict[str, Requirement]:
    """By id, in the order in which they are reported."""
    return {entry["id"]: Requirement(**entry) for entry in frozen_json("requirements-v1.json")["requirements"]}
