"""`kgw restore`: makes a table of a deployed gateway what a restored copy of it is.

AWS restores into a table of another name, and the stack goes on with its own: so rows are put back where they differ,
and deleted where the copy has none. Two partitions stay as they are: the audit, and what a distribution in front shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infra.cli.ending import Told
from infra.cli.terminal import say
from infra.tables import PARTITION_KEY, SORT_KEY, TABLES

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

UNTOUCHED = frozenset({"AUDIT", "FRONT"})
_BATCH = 25
Item = Mapping[str, Any]
Key = tuple[str, str]


class CannotRestore(Told):
    """The message says what is missing or refused."""


@dataclass(frozen=True, slots=True)
class Differences:
    put: tuple[Item, ...]
    delete: tuple[Key, ...]
    same: int

    def __str__(self) -> str:
        return f"{len(self.put)} rows to write, {len(self.delete)} to delete, {self.same} as they are"


def restore(*, stack: str, table: str, source: str, apply: bool) -> int:
    """Only tells what it would do, unless told to `apply` it. May be repeated. Raises `CannotRestore`."""
    try:
        target = _physical_name(stack, table)
        if target == source:
            raise CannotRestore("That is the table itself, not a restored copy of it.")
        client = boto3.client("dynamodb")
        found = differences(client, source=source, target=target)
        say(f"{table}: {found}.")
        if apply:
            _write(client, target, found)
            say("Done. Give the functions new processes now: docs/operations.md says how.")
        else:
            say("Nothing was changed. With --apply it is done.")
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "unknown")
        raise CannotRestore(f"AWS refused: {code}. Run this again: it goes on where it stopped.") from None
    except BotoCoreError as error:
        raise CannotRestore(f"AWS cannot be used: {type(error).__name__}.") from None
    return 0


def differences(client: DynamoDBClient, *, source: str, target: str) -> Differences:
    wanted, present = _rows(client, source), _rows(client, target)
    put = tuple(item for key, item in wanted.items() if present.get(key) != item)
    delete = tuple(key for key in present if key not in wanted)
    return Differences(put=put, delete=delete, same=len(wanted) - len(put))


def _rows(client: DynamoDBClient, table: str) -> dict[Key, Item]:
    pages = client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    items: Iterator[Item] = (item for page in pages for item in page["Items"])
    return {key: item for item in items if (key := _key_of(item))[0] not in UNTOUCHED}


def _key_of(item: Item) -> Key:
    return item[PARTITION_KEY]["S"], item[SORT_KEY]["S"]


def _write(client: DynamoDBClient, table: str, found: Differences) -> None:
    requests: list[Any] = [{"PutRequest": {"Item": item}} for item in found.put]
    requests += [
        {"DeleteRequest": {"Key": {PARTITION_KEY: {"S": partition}, SORT_KEY: {"S": sort}}}}
        for partition, sort in found.delete
    ]
    for at in range(0, len(requests), _BATCH):
        _write_all(client, table, requests[at : at + _BATCH])


def _write_all(client: DynamoDBClient, table: str, requests: Sequence[Any]) -> None:
    left = list(requests)
    while left:
        left = client.batch_write_item(RequestItems={table: left}).get("UnprocessedItems", {}).get(table, [])


def _physical_name(stack: str, table: str) -> str:
    described = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())}
    camel = "".join(part.capitalize() for part in table.split("-"))
    name: str | None = outputs.get(f"Table{camel}Name")
    if name is None:
        raise CannotRestore(f"The stack {stack} has no output Table{camel}Name.")
    return name


TABLE_NAMES = tuple(each.name for each in TABLES)
