"""What functions ask of AWS, recorded as it is asked; and whether a synthesised role would let them."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.infra.synthesised import Synthesised, as_list, lines

_EQUALS = re.compile(r"([#\w]+)\s*=\s*(:\w+)")


@dataclass(frozen=True, order=True)
class Asked:
    """One permission that one call needs. `resource` is a logical name; `keys` are the partition keys it touches."""

    function: str
    action: str
    resource: str
    keys: tuple[str, ...] = ()
    exposure: str = ""

    def __str__(self) -> str:
        return f"{self.function}: {self.action} on {self.resource} {'/'.join(self.keys)}{self.exposure}"


class Recorder:
    """`hear` listens to what clients ask. `during` says which function is at work."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.asked: set[Asked] = set()
        self._names = logical_names(environment)
        self._function = ""
        self._lock = threading.Lock()

    @contextmanager
    def during(self, function: str) -> Iterator[None]:
        self._function = function
        try:
            yield
        finally:
            self._function = ""

    def hear(self, service: str, operation: str, asked: Mapping[str, Any]) -> None:
        if self._function:
            found = set(permissions(service, operation, asked))
            with self._lock:
                self.asked |= {
                    Asked(self._function, action, self._names[resource], keys, exposure)
                    for action, resource, keys, exposure in found
                }


def logical_names(environment: Mapping[str, str]) -> dict[str, str]:
    """Physical name -> the template's name."""
    tables = {
        value: "Table" + "".join(part.capitalize() for part in name.removeprefix("KG_TABLE_").split("_")) + ".Arn"
        for name, value in environment.items()
        if name.startswith("KG_TABLE_")
    }
    return tables | {
        environment["KG_KEY_PUBLIC"]: "KeyPublic.Arn",
        environment["KG_KEY_INTERNAL"]: "KeyInternal.Arn",
        environment["KG_ROOT_SECRET"]: "RootSecret.Id",
        environment["KG_POOL_CONTEXT7"]: "PoolContext7.Id",
        environment["KG_POOL_EXA"]: "PoolExa.Id",
        environment["KG_POOL_FIRECRAWL"]: "PoolFirecrawl.Id",
    }


Permission = tuple[str, str, tuple[str, ...], str]


def permissions(service: str, operation: str, params: Mapping[str, Any]) -> Iterator[Permission]:
    """(action, physical resource, partition keys, exposure in the encryption context) of one call.

    A transaction needs the permissions of its parts and none of its own.
    """
    if service == "dynamodb" and operation == "TransactWriteItems":
        for part in params["TransactItems"]:
            ((verb, action),) = part.items()
            yield from permissions(service, f"{verb}Item", action)
    elif service == "dynamodb" and operation.startswith("Batch"):
        yield from of_batch(operation, params["RequestItems"])
    elif service == "dynamodb":
        yield f"dynamodb:{operation}", params["TableName"], (partition_of(params),), ""
    elif service == "kms":
        yield f"kms:{operation}", params["KeyId"], (), params["EncryptionContext"]["exposure"]
    elif service == "secretsmanager":
        yield f"secretsmanager:{operation}", params["SecretId"], (), ""
    else:
        raise AssertionError(f"nothing is known of {service}:{operation}")


def of_batch(operation: str, tables: Mapping[str, Any]) -> Iterator[Permission]:
    """Every key of a batch has to fit some pattern of a line, not all of them the same one."""
    for table, request in tables.items():
        for partition in sorted({partition_of(one) for one in batched(request)}):
            yield f"dynamodb:{operation}", table, (partition,), ""


def batched(request: Any) -> list[Mapping[str, Any]]:
    """The parts of a batch for one table, each as a call of its own would have it."""
    if isinstance(request, Mapping):
        return [{"Key": key} for key in request["Keys"]]
    return [action for part in request for action in part.values()]


def partition_of(params: Mapping[str, Any]) -> str:
    row = params.get("Key") or params.get("Item")
    if row:
        return str(row["pk"]["S"])
    names = params.get("ExpressionAttributeNames", {})
    for name, value in _EQUALS.findall(params["KeyConditionExpression"]):
        if names.get(name, name) == "pk":
            return str(params["ExpressionAttributeValues"][value]["S"])
    raise AssertionError(f"no partition in {params['KeyConditionExpression']}")


@dataclass(frozen=True, order=True)
class Granted:
    """One line of a role, for one partition pattern where the line names some."""

    action: str
    resource: str
    key: str = ""
    exposure: str = ""

    def covers(self, asked: Asked) -> bool:
        return (
            self.action == asked.action
            and self.resource == asked.resource
            and (not self.exposure or self.exposure == asked.exposure)
            and (not self.key or all(matches(self.key, key) for key in asked.keys))
        )


def matches(pattern: str, key: str) -> bool:
    """As IAM compares: `*` stands for anything, everything else for itself."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), key) is not None


def granted(synthesised: Synthesised, role: str) -> set[Granted]:
    """The role's statements. A condition that is not understood is an error, not a permission."""
    found: set[Granted] = set()
    for statement in raw_statements(synthesised, role):
        keys, exposures = read_condition(statement.get("Condition"))
        found |= {
            Granted(action, resource, key, exposure)
            for action, resource, _ in lines(statement)
            for key in keys
            for exposure in exposures
        }
    return found


def read_condition(condition: dict[str, Any] | None) -> tuple[list[str], list[str]]:
    """Partition patterns and exposures; one empty string where there is no condition."""
    if condition is None:
        return [""], [""]
    ((operator, pairs),) = condition.items()
    ((name, values),) = pairs.items()
    if (operator, name) == ("ForAllValues:StringLike", "dynamodb:LeadingKeys"):
        return as_list(values), [""]
    if (operator, name) == ("StringEquals", "kms:EncryptionContext:exposure"):
        return [""], as_list(values)
    raise AssertionError(f"{operator} {name}")


def raw_statements(synthesised: Synthesised, role: str) -> list[dict[str, Any]]:
    attached = synthesised.of_type("AWS::IAM::Policy").values()
    documents = [policy["PolicyDocument"] for policy in attached if {"Ref": role} in policy["Roles"]]
    return [statement for document in documents for statement in document["Statement"]]
