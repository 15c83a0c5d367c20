"""What an operation asks of the services of AWS: calls, trips one after another, capacity, bytes; and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from infra import costs
from tests.bench.measure import Row
from tests.bench.measured_calls import Measured
from tests.bench.store_operations import COLD, operations

_SERVICES: Final = ("dynamodb", "kms", "secretsmanager")


# The fewest trips, one after another. Who asks and whom to ask are read together. A look-up then has a batch of terms
# and one of cards. An operation at a hosted service reads its pool, takes from the allowance, and settles.
_PROMISES: Final[Mapping[str, int]] = {
    "agent search, 1 provider": 1,
    "agent search, 5 providers": 1,
    "agent search, 10 providers": 1,
    "assistant search, 5 providers": 1,
    "widget search, 5 providers": 1,
    "MCP search, 5 providers": 1,
    "agent search, 5 providers, cards": 3,
    "look up 1 term": 3,
    "look up 1 term, not found": 2,
    "look up 10 terms, 5 found": 3,
    "look up 100 terms, 100 found": 3,
    "match, 2 cards": 3,
    "live acquisition": 4,
}
# What the operators' page reckons with, and the call that is the same one.
_BILLS: Final = (
    (costs.SEARCH, "agent search, 5 providers"),
    (costs.WIDGET, "widget search, 5 providers"),
    (costs.MCP, "MCP search, 5 providers"),
    (costs.LOOKUP, "look up 10 terms, 5 found"),
)
_ALLOWED: Final = 1.05


def rows() -> Iterator[Row]:
    """Trips, and beside them the calls, units and bytes of the same call."""
    for name, measured in operations().items():
        fewest = _PROMISES.get(name)
        yield Row(f"store: {name}", measured.trips, fewest, "trips", None if fewest is None else 1.0, told(measured))


def bills() -> Iterator[Row]:
    """A million of them, by what one was seen to do, beside what the page says; of time, what the page assumes."""
    for assumed, name in _BILLS:
        seen, one = operations()[name], operations()[name].spent
        request = replace(
            assumed, reads=one.reads, writes=one.writes, lines_bytes=seen.logged_bytes, answer_bytes=seen.answer_bytes
        )
        parts = costs.per_million(request)
        ours, paged = costs.total_of(parts), costs.total_of(costs.per_million(assumed))
        note = ", ".join(f"{part.name} {part.dollars:.2f}" for part in parts)
        yield Row(f"a million of: {name}", ours, paged, "$", _ALLOWED, note)


def told(measured: Measured) -> str:
    """What the calls were, and what they came to."""
    spent = measured.spent
    others = [f"{count} of {name}" for name in _SERVICES[1:] if (count := spent.of(name))]
    before = [f"{measured.trips_before} before the first source is asked"] if measured.asked else []
    return "; ".join(
        [
            *before,
            spent.told() + (f" ({', '.join(others)})" if others else ""),
            f"{spent.reads} read and {spent.writes} write units",
            f"{spent.sent_bytes:,} bytes out, {spent.answered_bytes:,} in",
            f"{measured.cpu_ms:.1f} ms CPU" + (", the import in it" if measured.name.endswith(COLD) else ""),
            f"{measured.logged_bytes:,} bytes of log",
        ]
    )
