"""Switches are read once and checked before anything is made; what is wrong is said with the switch's name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from infra.bundles.target import RUNTIMES, Target
from infra.switch_words import RefusedSwitch, Throttle, WrongSwitch
from infra.switches import Switches
from tests.infra.stages import CERTIFICATE, EVERYTHING, FRONT_CERTIFICATE, STAGING, TOPIC, WEB_ACL

ROOT = Path(__file__).resolve().parents[2]


def test_without_any_switch_the_stack_is_the_usual_one() -> None:
    assert Switches.read({}) == Switches()
    assert Switches().stack_name == "KnowledgeGateway"


def test_the_context_that_is_shipped_turns_no_switch() -> None:
    assert Switches.read(json.loads((ROOT / "cdk.json").read_text())["context"]) == Switches()


def test_the_stages_of_these_tests_turn_every_switch_but_those_of_rehearsals_and_of_watching() -> None:
    turned = set(STAGING) | set(EVERYTHING)
    assert {field.name for field in fields(Switches)} - turned == {"runtime", "disposable", "unwatched"}


def test_values_of_a_file_may_be_json() -> None:
    """As in `cdk.json`; on the command line everything is text."""
    given: dict[str, Any] = {
        "cloudfront": True,
        "log_retention_days": 90,
        "tags": {"team": "support"},
        "reserved_concurrency": {"search": 50.0},
        "throttles": {"admin": {"rate_per_s": 5, "burst": 10}},
    }
    text = {name: json.dumps(value) for name, value in given.items()}
    assert Switches.read(given) == Switches.read(text)
    assert Switches.read(given).throttles == (("admin", Throttle(rate_per_s=5, burst=10)),)


def test_a_stage_names_the_stack() -> None:
    assert Switches.read({"stage": "staging"}).stack_name == "KnowledgeGateway-staging"


def test_the_throttle_of_a_route_goes_before_that_of_its_function() -> None:
    switches = Switches.read(STAGING)
    assert switches.throttle_of("admin", "GET /api/v1/audit") == Throttle(rate_per_s=1, burst=2)
    assert switches.throttle_of("admin", "GET /api/v1/credentials") == Throttle(rate_per_s=5, burst=10)
    assert switches.throttle_of("search", "POST /api/v1/knowledge/search") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("architecture", "two words"),
        ("architecture", "mips"),
        ("runtime", "nodejs22.x"),
        ("runtime", "python3.9"),
        ("runtime", "python3.99"),
        ("disposable", "yes"),
        ("stage", "Staging"),
        ("stage", "-x"),
        ("stage", "a--b"),
        ("stage", "x" * 22),
        ("release", "2026 11"),
        ("tags", "team"),
        ("tags", '["team"]'),
        ("tags", '{"aws:team": "x"}'),
        ("tags", '{"team": 1}'),
        ("log_retention_days", "31"),
        ("log_retention_days", "-30"),
        ("reserved_concurrency", '{"searching": 5}'),
        ("reserved_concurrency", '{"search": 0}'),
        ("reserved_concurrency", '{"search": true}'),
        ("reserved_concurrency", '{"search": 1.5}'),
        ("throttles", '{"GET /nowhere": {"rate_per_s": 1, "burst": 1}}'),
        ("throttles", '{"search": {"rate_per_s": 1}}'),
        ("throttles", '{"search": {"rate_per_s": 1, "burst": 0}}'),
        ("throttles", '{"search": 5}'),
        ("tracing", "on"),
        ("backups", "1"),
        ("alarm_email", "nobody"),
        ("alarm_email", "a@example.com,b@example.com"),
        ("alarm_topic_arn", "operations"),
        ("alarm_topic_arn", CERTIFICATE),
        ("domain_name", "https://kb.example.com"),
        ("domain_name", "KB.example.com"),
        ("domain_name", "localhost"),
        ("certificate_arn", TOPIC),
        ("hosted_zone_id", "zone"),
        ("vpc", "old"),
        ("private_subnet_ids", "subnet-0a1b2c3d subnet-4e5f6a7b"),
        ("security_group_ids", "subnet-0a1b2c3d"),
        ("cloudfront", "maybe"),
        ("cloudfront_domain", "*.example.com"),
        ("cloudfront_certificate_arn", CERTIFICATE),
        ("web_acl_arn", WEB_ACL.replace("us-east-1", "eu-central-1")),
        ("mcp_origins", "app.example.com"),
        ("mcp_origins", "https://app.example.com/"),
        ("mcp_origins", "http://app.example.com"),
        ("mcp_origins", "https://app.example.com,"),
        ("mcp_origins", "*"),
        ("stage", {"name": "staging"}),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_switch(name: str, value: object) -> None:
    with pytest.raises(WrongSwitch, match=f"The switch {name} must be "):
        Switches.read({name: value})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"domain_name": "kb.example.com"}, "certificate_arn"),
        ({"certificate_arn": CERTIFICATE}, "domain_name"),
        ({"cloudfront": "true", "cloudfront_domain": "kb.example.com"}, "cloudfront_certificate_arn"),
        ({"cloudfront": "true", "cloudfront_certificate_arn": FRONT_CERTIFICATE}, "cloudfront_domain"),
        ({"hosted_zone_id": "Z0123456789ABC"}, "hosted_zone_id"),
        ({"web_acl_arn": WEB_ACL}, "web_acl_arn"),
        ({"cloudfront_domain": "a.example.com", "cloudfront_certificate_arn": FRONT_CERTIFICATE}, "cloudfront_domain"),
        ({"alarm_email": "a@example.com", "alarm_topic_arn": TOPIC}, "alarm_email"),
        ({"disposable": "true", "backups": "true"}, "backups"),
        ({"vpc": "given"}, "vpc"),
        ({"vpc": "given", "private_subnet_ids": "subnet-0a1b2c3d"}, "vpc"),
        ({"vpc": "new", "security_group_ids": "sg-8c9d0e1f"}, "vpc"),
        ({"private_subnet_ids": "subnet-0a1b2c3d", "security_group_ids": "sg-8c9d0e1f"}, "vpc"),
        (STAGING | {"domain_name": "kb.example.com"}, "cloudfront_domain"),
    ],
)
def test_switches_that_need_each_other_are_refused_alone(given: dict[str, Any], named: str) -> None:
    with pytest.raises(WrongSwitch, match=f"The switch {named} must be "):
        Switches.read(given)


def test_a_switch_that_does_not_exist_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(RefusedSwitch, match=r"no switch web_acl\. Was web_acl_arn meant\? There are alarm_email, "):
        Switches.read({"web_acl": WEB_ACL})


def test_every_runtime_of_which_there_are_bundles_may_be_chosen() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={RUNTIMES[0].removeprefix('python')}"
    assert [Switches.read({"runtime": one}).target for one in RUNTIMES] == [Target(runtime=one) for one in RUNTIMES]


@pytest.mark.parametrize(
    ("app", "name", "value", "said"),
    [
        ("shipped", "stage", "Prod", "The switch stage must be up to 20 of a-z, 0-9 and single hyphens."),
        ("rehearsed", "runtime", "python3.9", f"The switch runtime must be one of {', '.join(RUNTIMES)}."),
        ("shipped", "backup", "true", "There is no switch backup. Was backups meant?"),
    ],
    ids=["value", "runtime", "no-switch"],
)
def test_a_refusal_ends_in_its_sentence_alone(tmp_path: Path, app: str, name: str, value: str, said: str) -> None:
    environment, arguments = dict(os.environ), ["infra.app"]
    if app == "shipped":
        environment |= {"CDK_CONTEXT_JSON": json.dumps({name: value}), "CDK_OUTDIR": str(tmp_path)}
    else:
        arguments = ["infra.rehearsal.app", json.dumps({str(tmp_path): {name: value}})]
    ended = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(said)
    assert len(ended.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_what_the_cdk_keeps_in_the_context_is_no_switch() -> None:
    theirs = {"@aws-cdk/core:target-partitions": ["aws"], "aws:cdk:enable-path-metadata": True, "availability:1": "x"}
    assert Switches.read(theirs) == Switches()


def test_every_switch_is_explained() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    assert [field.name for field in fields(Switches) if f"`{field.name}`" not in page] == []
