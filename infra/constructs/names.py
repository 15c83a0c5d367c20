"""Logical ids. Renaming one makes CloudFormation replace what it names, so those of data are written down."""

from __future__ import annotations

from aws_cdk import CfnResource
from constructs import IConstruct


def camel(name: str) -> str:
    """`registrations-public` becomes `RegistrationsPublic`."""
    return "".join(part.capitalize() for part in name.split("-"))


def pin(construct: IConstruct, logical_id: str) -> None:
    """Gives the construct's own resource this logical id, wherever the construct moves in the tree."""
    resource = construct if isinstance(construct, CfnResource) else construct.node.default_child
    if not isinstance(resource, CfnResource):
        raise TypeError(f"{construct.node.path} has no resource of its own")
    resource.override_logical_id(logical_id)
