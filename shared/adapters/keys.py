"""The key attributes that every table has, and how one row is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

PARTITION_KEY: Final = "pk"
SORT_KEY: Final = "sk"
EXPIRES_AT: Final = "expires_at"  # whole Unix seconds; the store deletes the row some time after, so readers compare
ONLY: Final = "-"  # the sort key of a partition that has one row


def key_of(partition: str, sort: str) -> dict[str, AttributeValueTypeDef]:
    return {PARTITION_KEY: {"S": partition}, SORT_KEY: {"S": sort}}
