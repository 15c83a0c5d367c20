"""Has the stack checked against AWS's own list of good practice (cdk-nag); what is not followed says why."""

from __future__ import annotations

from aws_cdk import Acknowledgment, App, Stack, Validations
from cdk_nag import AwsSolutionsChecks

REASONS = {
    "AwsSolutions-APIG4": "Each function verifies bearer tokens of its own classes; the API has no users to authorise.",
    "AwsSolutions-SMG4": "The root secret is made once and root is switched off when another admin exists. A rotation "
    "would lock out an operator who has only that one. The keys of pools are made by other services, not by AWS.",
    "AwsSolutions-L1": "Wheels and bytecode are made for python3.13, which AWS supports. "
    "Moving on is a change of its own.",
}


def ask_second_opinion(app: App, stack: Stack) -> None:
    """Synthesis fails on anything without a reason."""
    for rule, reason in REASONS.items():
        Validations.of(stack).acknowledge(Acknowledgment(id=f"AwsSolutions::{rule}", reason=reason))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
