"""Has the stack checked against AWS's own list of good practice (cdk-nag); what is not followed says why."""

from __future__ import annotations

from aws_cdk import Acknowledgment, App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.constructs.names import camel
from infra.stack import KnowledgeGatewayStack
from infra.switches import Switches
from infra.tables import TABLES

ALWAYS = {
    "AwsSolutions-APIG4": "Each function verifies bearer tokens of its own classes; the API has no users to authorise.",
    "AwsSolutions-SMG4": "The root secret is made once and root is switched off when another admin exists. A rotation "
    "would lock out an operator who has only that one. The keys of pools are made by other services, not by AWS, and "
    "what a distribution sends has to change at the functions first: kgw front rotate does.",
    "AwsSolutions-L1": "Wheels and bytecode are made for python3.13, which AWS supports. "
    "Moving on is a change of its own.",
}
TRACING = "Sending traces to X-Ray knows no narrower resource; the two actions can do nothing else."
CONNECTING = (
    "Lambda describes and makes network interfaces with the function's role, on resources that do not exist before. "
    "A condition keeps the function's own code from all six actions."
)
BACKUPS = "The backups of one table, which have names only once they are made."
FRONT = {
    "AwsSolutions-CFR1": "The gateway has no content of its own whose reach is limited to certain countries.",
    "AwsSolutions-CFR3": "Such logs hold visitors' addresses and full paths. The API's access log tells route, status, "
    "sizes and times without them, and a web ACL counts what it stops.",
}
NO_CERTIFICATE = (
    "Without a name and a certificate of the operator's the distribution has CloudFront's own, whose policy cannot be "
    "chosen. With cloudfront_domain it speaks TLS 1.2 and newer alone."
)
NO_WEB_ACL = "Whether a web ACL is worth its price is the operator's decision: the switch web_acl_arn takes one."


def reasons(switches: Switches) -> dict[str, str]:
    """By rule, or by finding where a rule has several; those alone that this stack gives rise to."""
    found = dict(ALWAYS)
    if switches.tracing or switches.vpc:
        why = [TRACING] * switches.tracing + [CONNECTING] * bool(switches.vpc)
        found["AwsSolutions-IAM5[Resource::*]"] = " ".join(why)
    if switches.backups:
        found |= {f"AwsSolutions-IAM5[Resource::<Table{camel(one.name)}.Arn>/backup/*]": BACKUPS for one in TABLES}
    if switches.cloudfront:
        found |= FRONT
        if not switches.cloudfront_domain:
            found["AwsSolutions-CFR4"] = NO_CERTIFICATE
        if not switches.web_acl_arn:
            found["AwsSolutions-CFR2"] = NO_WEB_ACL
    return found


def ask_second_opinion(app: App, stack: KnowledgeGatewayStack) -> None:
    """Synthesis fails on anything without a reason."""
    for rule, reason in reasons(stack.switches).items():
        Validations.of(stack).acknowledge(Acknowledgment(id=f"AwsSolutions::{rule}", reason=reason))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
