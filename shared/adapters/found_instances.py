"""The instances that the bindings of one table are joined with."""

from __future__ import annotations

from shared.adapters.instance_items import INSTANCES, instance_of
from shared.adapters.rows import row, rows
from shared.adapters.services import DynamoDBClient
from shared.adapters.unreadable import readable
from shared.domain.instances import Instance

_instance = readable(instance_of)


def one_instance(client: DynamoDBClient, table: str, instance_id: str) -> Instance | None:
    """Blocking. Raises `Unavailable`."""
    item = row(client, table, INSTANCES, instance_id)
    return _instance(item) if item else None


class FoundInstances:
    """Reads them all when the first is asked for, and not before. For one reading of the table: it goes no further
    back than that. Blocking.
    """

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table
        self._by_id: dict[str, Instance] | None = None

    def __call__(self, instance_id: str) -> Instance | None:
        """Raises `Unavailable`."""
        if self._by_id is None:
            found = map(_instance, rows(self._client, self._table, INSTANCES))
            self._by_id = {instance.id: instance for instance in found if instance is not None}
        return self._by_id.get(instance_id)
