"""`kgw restore`: a table becomes what its restored copy is, but for what must not go back in time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest

from infra.cli.main import main

pytestmark = pytest.mark.emulator


def row(partition: str, sort: str, value: str = "") -> dict[str, Any]:
    return {"pk": {"S": partition}, "sk": {"S": sort}, "value": {"S": value}}


class Tables:
    """A stack's table of cards, and a copy that was restored from a backup of it."""

    def __init__(self) -> None:
        self.client = boto3.client("dynamodb")
        self.live, self.copy, self.stack = (f"{name}-{uuid4().hex[:8]}" for name in ("live", "copy", "stack"))
        for table in (self.live, self.copy):
            self.client.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
                KeySchema=[
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
            )
        template = {
            "Resources": {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
            "Outputs": {"TableCardsName": {"Value": self.live}},
        }
        boto3.client("cloudformation").create_stack(StackName=self.stack, TemplateBody=json.dumps(template))

    def put(self, table: str, *rows: dict[str, Any]) -> None:
        for each in rows:
            self.client.put_item(TableName=table, Item=each)

    def rows(self, table: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.scan(TableName=table)["Items"]
        return sorted(found, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))

    def restore(self, *more: str) -> int:
        return main(["restore", "--stack", self.stack, "--table", "cards", "--from", self.copy, *more])


@pytest.fixture
def tables(aws_environment: dict[str, str]) -> Iterator[Tables]:
    made = Tables()
    yield made
    for table in (made.live, made.copy):
        made.client.delete_table(TableName=table)


def test_what_changed_goes_back_and_what_came_since_goes(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    old = [row("CARD#1", f"{number:03}", "before") for number in range(60)]
    tables.put(tables.copy, *old)
    tables.put(tables.live, *old[:20], row("CARD#1", "030", "after"), row("CARD#2", "new"))
    assert tables.restore("--apply") == 0
    assert tables.rows(tables.live) == old
    assert "40 rows to write, 1 to delete, 20 as they are" in capsys.readouterr().out


def test_without_being_told_to_it_changes_nothing(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    tables.put(tables.copy, row("CARD#1", "a"))
    assert tables.restore() == 0
    assert tables.rows(tables.live) == []
    assert "1 rows to write" in capsys.readouterr().out


def test_the_audit_and_the_front_do_not_go_back_in_time(tables: Tables) -> None:
    tables.put(tables.copy, row("AUDIT", "1", "forged"), row("FRONT", "-", "old"), row("NAME", "a"))
    tables.put(tables.live, row("AUDIT", "1", "true"), row("AUDIT", "2"), row("FRONT", "-", "now"))
    assert tables.restore("--apply") == 0
    assert tables.rows(tables.live) == [
        row("AUDIT", "1", "true"),
        row("AUDIT", "2"),
        row("FRONT", "-", "now"),
        row("NAME", "a"),
    ]


def test_a_second_time_there_is_nothing_left_to_do(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    tables.put(tables.copy, row("CARD#1", "a"))
    tables.restore("--apply")
    capsys.readouterr()
    assert tables.restore("--apply") == 0
    assert "0 rows to write, 0 to delete, 1 as they are" in capsys.readouterr().out


def test_a_copy_that_is_not_there_empties_nothing(tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    tables.put(tables.live, row("CARD#1", "a"))
    tables.copy, copy = "nowhere", tables.copy
    assert tables.restore("--apply") == 1
    tables.copy = tables.live
    assert tables.restore("--apply") == 1
    tables.copy = copy
    said = capsys.readouterr().err
    assert "AWS refused: ResourceNotFoundException" in said
    assert "not a restored copy" in said
    assert tables.rows(tables.live) == [row("CARD#1", "a")]
