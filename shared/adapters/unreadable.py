"""Items that cannot be read are left out, and noted by id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from shared.adapters.attributes import Item
from shared.adapters.keys import PARTITION_KEY, SORT_KEY
from shared.observability import STORE_ITEM_UNREADABLE, logger_for

P = ParamSpec("P")
T = TypeVar("T")

_logger = logger_for("store")


def readable(read: Callable[Concatenate[Item, P], T]) -> Callable[Concatenate[Item, P], T | None]:
    """`read`, giving None for an item that lacks something or says it in an unknown way."""

    def attempt(item: Item, /, *args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return read(item, *args, **kwargs)
        except (KeyError, TypeError, ValueError):
            row = "/".join(str(item.get(name, {}).get("S")) for name in (PARTITION_KEY, SORT_KEY))
            _logger.error(STORE_ITEM_UNREADABLE, row=row)
            return None

    return attempt
