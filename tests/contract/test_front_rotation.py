"""`kgw front rotate` on the embedded backend: whatever the distribution sends is taken at any moment, also when a run
breaks off; a value is never printed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3
import pytest

from infra.cli.front import Rotation
from infra.cli.front_places import Distribution, Known, NoFront, Places, Secret
from infra.cli.main import main
from shared.adapters.front_door import digests_of
from shared.domain.front import FrontDigests, digest_of
from tests.support import emulator as backend

pytestmark = pytest.mark.emulator

FIRST = "0" * 64
KEY = {"pk": {"S": "FRONT"}, "sk": {"S": "-"}}


class BrokenOff(Exception):
    """As Ctrl-C, or a lost connection, would."""


@dataclass
class Deployed:
    """A distribution, its secret and the tables, as a deployment leaves them. `sent` is what some place at the edge may
    still be sending; `until_break` calls of AWS that write pass before a run breaks off.
    """

    tables: tuple[str, str]
    secrets: Any
    cloudfront: Any
    dynamodb: Any
    said: list[str] = field(default_factory=list)
    slept_s: list[float] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=lambda: [FIRST])
    until_break: int | None = None

    def __post_init__(self) -> None:
        self.secret_id = self.secrets.create_secret(Name=f"front-{uuid4().hex}", SecretString=FIRST)["ARN"]
        made = self.cloudfront.create_distribution(DistributionConfig=_config(FIRST))
        self.distribution_id = made["Distribution"]["Id"]
        for table in self.tables:
            self.dynamodb.delete_item(TableName=table, Key=KEY)

    def rotate(self) -> None:
        places = Places(
            secret=Secret(self._watched(self.secrets), secret_id=self.secret_id),
            distribution=Distribution(self._watched(self.cloudfront), distribution_id=self.distribution_id),
            known=Known(self._watched(self.dynamodb), tables=self.tables),
        )
        Rotation(places, sleep=self.slept_s.append, say=self.said.append).run()

    def known(self) -> list[FrontDigests | None]:
        rows = [self.dynamodb.get_item(TableName=table, Key=KEY).get("Item") for table in self.tables]
        return [digests_of(row) for row in rows]

    def sends(self) -> str:
        config = self.cloudfront.get_distribution_config(Id=self.distribution_id)["DistributionConfig"]
        return str(config["Origins"]["Items"][0]["CustomHeaders"]["Items"][0]["HeaderValue"])

    def kept(self) -> str:
        return str(self.secrets.get_secret_value(SecretId=self.secret_id)["SecretString"])

    def _watched(self, client: Any) -> Any:
        return _Watched(client, self._before, self._after)

    def _before(self, name: str) -> None:
        if self.until_break == 0:
            raise BrokenOff(name)
        if self.until_break is not None:
            self.until_break -= 1

    def _after(self, name: str) -> None:
        """Once functions know anything, they know what is sent, and what a deployment of the stack would send."""
        self.written.append(name)
        if name == "update_distribution":
            self.sent.append(self.sends())
        known = self.known()
        if any(known):
            for value in (self.sends(), self.kept()):
                assert all(each is not None and each.match(value) for each in known), name


_READS = ("get_", "describe_")


class _Watched:
    def __init__(self, client: Any, before: Callable[[str], None], after: Callable[[str], None]) -> None:
        self._client, self._before, self._after = client, before, after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**parameters: Any) -> Any:
            is_write = not name.startswith(_READS)
            if is_write:
                self._before(name)
            answer = getattr(self._client, name)(**parameters)
            if is_write:
                self._after(name)
            return answer

        return call


def _config(value: str) -> dict[str, Any]:
    header = {"HeaderName": "x-kg-front", "HeaderValue": value}
    origin = {
        "Id": "api",
        "DomainName": "api.example.com",
        "CustomHeaders": {"Quantity": 1, "Items": [header]},
        "CustomOriginConfig": {"HTTPPort": 80, "HTTPSPort": 443, "OriginProtocolPolicy": "https-only"},
    }
    return {
        "CallerReference": uuid4().hex,
        "Comment": "",
        "Enabled": True,
        "Origins": {"Quantity": 1, "Items": [origin]},
        "DefaultCacheBehavior": {"TargetOriginId": "api", "ViewerProtocolPolicy": "https-only"},
    }


@pytest.fixture(scope="module")
def world(emulator: str) -> tuple[tuple[str, str], tuple[Any, ...]]:
    """Two tables, which every test begins without the row, and clients: making them costs more than a test."""
    with pytest.MonkeyPatch.context() as patch:
        made = backend.provisioned(emulator, prefix=f"t{uuid4().hex[:8]}")
        for name, value in made.items():
            patch.setenv(name, value)
        clients = tuple(boto3.client(name) for name in ("secretsmanager", "cloudfront", "dynamodb"))
    return (made["KG_TABLE_REGISTRATIONS_PUBLIC"], made["KG_TABLE_REGISTRATIONS_INTERNAL"]), clients


@pytest.fixture
def deployed(world: tuple[tuple[str, str], tuple[Any, ...]]) -> Deployed:
    tables, clients = world
    return Deployed(tables, *clients)


def assert_settled(deployed: Deployed) -> None:
    value = deployed.sends()
    assert deployed.kept() == value
    assert deployed.known() == [FrontDigests(digest_of(value))] * 2
    stages = deployed.secrets.describe_secret(SecretId=deployed.secret_id)["VersionIdsToStages"]
    assert sum("AWSCURRENT" in labels for labels in stages.values()) == 1
    assert not any("AWSPENDING" in labels and "AWSCURRENT" not in labels for labels in stages.values())


def test_the_first_run_makes_a_value_known_and_changes_the_one_of_the_deployment(deployed: Deployed) -> None:
    assert deployed.known() == [None, None]
    deployed.rotate()
    assert_settled(deployed)
    assert deployed.sends() != FIRST
    assert len(deployed.sends()) == 64
    assert deployed.slept_s[0] > 60, "functions may know the old row for a minute"


def test_each_run_makes_a_new_value(deployed: Deployed) -> None:
    deployed.rotate()
    first = deployed.sends()
    deployed.rotate()
    assert_settled(deployed)
    assert len({FIRST, first, deployed.sends()}) == 3


def test_the_functions_know_a_value_before_it_is_sent(deployed: Deployed) -> None:
    deployed.rotate()
    writes = [name for name in deployed.written if name in ("transact_write_items", "update_distribution")]
    assert writes == ["transact_write_items", "update_distribution", "transact_write_items"]


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "later"])
@pytest.mark.parametrize("writes", range(6))
def test_a_run_that_broke_off_anywhere_is_finished_by_the_next(deployed: Deployed, writes: int, is_first: bool) -> None:
    if not is_first:
        deployed.rotate()
    deployed.sent = [deployed.sends()]
    deployed.until_break = writes
    with pytest.raises(BrokenOff):
        deployed.rotate()
    deployed.until_break = None
    deployed.rotate()
    assert_settled(deployed)
    assert len(deployed.sent) == 2, "the distribution was changed once"


def test_there_are_six_writes_in_a_run(deployed: Deployed) -> None:
    deployed.rotate()
    assert len(deployed.written) == 6


def test_no_value_is_ever_said(deployed: Deployed) -> None:
    deployed.rotate()
    told = " ".join(deployed.said)
    assert told
    assert not any(value in told or digest_of(value) in told for value in deployed.sent)


def test_tables_that_know_different_things_are_brought_together(deployed: Deployed) -> None:
    deployed.rotate()
    value = deployed.sends()
    deployed.dynamodb.delete_item(TableName=deployed.tables[0], Key=KEY)
    deployed.rotate()
    assert_settled(deployed)
    assert deployed.sends() == value


def test_a_row_that_changed_meanwhile_is_not_written_over(deployed: Deployed) -> None:
    known = Known(deployed.dynamodb, tables=deployed.tables)
    before = known.read()
    known.write(FrontDigests(digest_of("a")), in_place_of=before)
    with pytest.raises(NoFront, match="changed elsewhere"):
        known.write(FrontDigests(digest_of("b")), in_place_of=before)
    assert deployed.known() == [FrontDigests(digest_of("a"))] * 2


def test_a_second_run_at_the_same_time_stops_the_first(deployed: Deployed) -> None:
    secret = Secret(deployed.secrets, secret_id=deployed.secret_id)
    secret.keep_pending("a" * 64)
    mine = secret.pending()
    assert mine is not None
    # AWS gives the label to the later version alone; the embedded backend leaves it with both.
    secret.keep_pending("b" * 64)
    deployed.secrets.update_secret_version_stage(
        SecretId=deployed.secret_id, VersionStage="AWSPENDING", RemoveFromVersionId=mine.id
    )
    with pytest.raises(NoFront, match="Another run"):
        secret.make_current(mine)
    assert deployed.kept() == FIRST


def test_a_distribution_of_something_else_is_left_alone(deployed: Deployed) -> None:
    other = _config(FIRST)
    other["Origins"]["Items"][0]["CustomHeaders"] = {"Quantity": 0}
    made = deployed.cloudfront.create_distribution(DistributionConfig=other)["Distribution"]
    deployed.distribution_id = made["Id"]
    with pytest.raises(NoFront, match="sends no header"):
        deployed.rotate()
    assert deployed.written == []


def test_what_aws_refuses_is_told_by_its_code_alone(deployed: Deployed) -> None:
    with pytest.raises(NoFront, match="AWS refused: ResourceNotFoundException") as told:
        Secret(deployed.secrets, secret_id="gone").current()
    assert "gone" not in str(told.value)


@pytest.fixture
def described(deployed: Deployed, aws_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Deployed:
    """As `kgw` finds it: by the outputs of a stack."""
    outputs = {
        "FrontDistributionId": deployed.distribution_id,
        "FrontSecretArn": deployed.secret_id,
        "TableRegistrationsPublicName": deployed.tables[0],
        "TableRegistrationsInternalName": deployed.tables[1],
    }
    resources = {"Nothing": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}
    template = {"Resources": resources, "Outputs": {name: {"Value": value} for name, value in outputs.items()}}
    stacks = boto3.client("cloudformation")
    stacks.create_stack(StackName="WithFront", TemplateBody=json.dumps(template))
    stacks.create_stack(StackName="Without", TemplateBody=json.dumps({"Resources": resources}))
    monkeypatch.setattr("infra.cli.front.time.sleep", deployed.slept_s.append)
    return deployed


def test_the_command_finds_everything_by_the_stacks_outputs(
    described: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["front", "rotate", "--stack", "WithFront"]) == 0
    assert_settled(described)
    told = capsys.readouterr().out
    assert "Done." in told
    assert described.sends() not in told
    assert main(["front", "rotate", "--stack", "Without"]) == 1
    assert "cloudfront=true" in capsys.readouterr().err
