"""What every write with an expression has in common."""

from __future__ import annotations

import re
from typing import Final

# The row is part of a transaction that is under way.
CONFLICTS: Final = ("TransactionConflictException", "TransactionInProgressException")

_NAME = re.compile(r"#(\w+)")


def names_in(expression: str) -> dict[str, str]:
    """Every attribute is written `#name`, so that no name can be one of the store's reserved words."""
    return {f"#{name}": name for name in _NAME.findall(expression)}
