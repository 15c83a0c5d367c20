"""A synthesised stack, read the way people would: by type, with references as plain names."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.gateway_app import add_stack
from infra.switches import Switches


@dataclass(frozen=True)
class Synthesised:
    """`findings` are what the second opinion says when nothing has a reason; empty where it was not asked."""

    directory: Path
    template: dict[str, Any]
    switches: Switches
    findings: tuple[str, ...] = ()

    @property
    def tags(self) -> dict[str, str]:
        """Of the whole stack: CloudFormation hands them on to everything that takes some."""
        manifest = json.loads((self.directory / "manifest.json").read_text())
        tags: dict[str, str] = manifest["artifacts"][self.switches.stack_name]["properties"]["tags"]
        return tags

    @property
    def resources(self) -> dict[str, dict[str, Any]]:
        return self.template["Resources"]

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of every resource of a type, by logical id."""
        return {name: one.get("Properties", {}) for name, one in self.resources.items() if one["Type"] == kind}

    def function(self, name: str) -> dict[str, Any]:
        return self.of_type("AWS::Lambda::Function")[f"Function{name.capitalize()}"]

    def bundle(self, name: str) -> Path:
        """The zip that the named function is deployed from."""
        key = self.function(name)["Code"]["S3Key"]
        return self.directory / f"asset.{key}"

    def bundled(self, name: str) -> list[str]:
        with zipfile.ZipFile(self.bundle(name)) as archive:
            return archive.namelist()

    def statements(self, role: str) -> list[tuple[str, str, str]]:
        """Everything that a role may do, one line for each action: (action, resource, condition).

        Covers the policies in the role and those attached to it. Anything but a plain Allow is an error, as is a
        managed policy or a boundary.
        """
        own = self.of_type("AWS::IAM::Role")[role]
        assert own.keys() == {"AssumeRolePolicyDocument", "Policies"}, own.keys()
        documents = [policy["PolicyDocument"] for policy in own["Policies"]]
        attached = self.of_type("AWS::IAM::Policy").values()
        documents += [policy["PolicyDocument"] for policy in attached if {"Ref": role} in policy["Roles"]]
        statements = [statement for document in documents for statement in document["Statement"]]
        return sorted(line for statement in statements for line in lines(statement))


def lines(statement: dict[str, Any]) -> list[tuple[str, str, str]]:
    assert statement["Effect"] == "Allow"
    assert statement.keys() <= {"Action", "Condition", "Effect", "Resource", "Sid"}
    resources = statement["Resource"]
    return [
        (action, name_of(resource), condition_of(statement.get("Condition")))
        for action in as_list(statement["Action"])
        for resource in as_list(resources)
    ]


def condition_of(condition: dict[str, Any] | None) -> str:
    """`operator key = value or value`, for the one condition that a statement of ours has."""
    if not condition:
        return ""
    ((operator, keys),) = condition.items()
    ((key, values),) = keys.items()
    return f"{operator} {key} = {' | '.join(as_list(values))}"


def name_of(value: Any) -> str:
    """`TableCards.Arn` for a reference to the ARN of the table; text as it is."""
    if isinstance(value, dict) and "Fn::GetAtt" in value:
        return ".".join(value["Fn::GetAtt"])
    if isinstance(value, dict) and "Ref" in value:
        return str(value["Ref"])
    assert isinstance(value, str), value
    return value


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def synthesise(directory: Path, **context: Any) -> Synthesised:
    app = App(outdir=str(directory), context=context)
    stack = add_stack(app)
    app.synth()
    return Synthesised(directory, template_in(directory, stack.switches), stack.switches)


def synthesise_for_findings(directory: Path, **context: Any) -> Synthesised:
    """As above, and the second opinion is asked, with no reason given for anything: synthesis fails on its findings,
    after the template was written.
    """
    app = App(outdir=str(directory), context=context)
    stack = add_stack(app)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    (report,) = json.loads((directory / "validation-report.json").read_text())["pluginReports"]
    findings = tuple(sorted(found["ruleName"] for found in report["violations"]))
    return Synthesised(directory, template_in(directory, stack.switches), stack.switches, findings)


def template_in(directory: Path, switches: Switches) -> dict[str, Any]:
    template: dict[str, Any] = json.loads((directory / f"{switches.stack_name}.template.json").read_text())
    return template
