"""Rows that hold names, so that each is there once in a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.adapters.attributes import text
from shared.adapters.conditions import no_row_yet
from shared.adapters.keys import key_of
from shared.adapters.transactions import Part, busy, delete, put, refused_as
from shared.domain.names import name_key
from shared.errors import Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """`attribute` says whose name it is; `is_its_own` is the clause that holds for that one alone."""

    partition: str
    attribute: str
    is_its_own: str

    def taken(self, table: str, name: str, *, by: str) -> Part:
        item = {**key_of(self.partition, name_key(name)), self.attribute: text(by)}
        return put(table, item, condition=no_row_yet, refusal=refused_as(_name_taken))

    def given_up(self, table: str, name: str, *, by: str) -> Part:
        """The name was read beforehand. Should it have changed since, the generation of its owner has, and nothing is
        written.
        """
        place, values = key_of(self.partition, name_key(name)), {":id": text(by)}
        return delete(table, place, condition=self.is_its_own, values=values, refusal=refused_as(busy))

    def changed(self, table: str, before: str | None, after: str, *, by: str) -> list[Part]:
        """`before` is None where nothing is stored, which the write of the thing itself will tell."""
        if before is None or name_key(before) == name_key(after):
            return []
        return [self.given_up(table, before, by=by), self.taken(table, after, by=by)]


PROVIDER_NAMES: Final = Names(partition="NAME", attribute="provider_id", is_its_own="#provider_id = :id")
INSTANCE_NAMES: Final = Names(partition="INSTANCE_NAME", attribute="instance_id", is_its_own="#instance_id = :id")


def _name_taken() -> Conflict:
    return Conflict("Another one of this exposure profile has this name.", code="name_taken")
