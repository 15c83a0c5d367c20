"""How the circuits of a lane are stored: one row, in which each circuit that is not well is an attribute.

The attribute is `c_` and the provider's id, a map of what is not zero. `version` marks a state of the whole row: every
write draws a new one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shared.adapters.attributes import (
    Item,
    NewItem,
    flag,
    flag_of,
    number,
    number_of,
    optional,
    text,
    text_of,
    whole_of,
)
from shared.adapters.circuits import CIRCUITS
from shared.domain.circuits import Circuit
from shared.domain.outcomes import OutcomeCode
from shared.observability import STORE_ITEM_UNREADABLE, logger_for
from shared.ports.circuits import KnownCircuits

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

CIRCUIT: Final = "c_"
VERSION: Final = "version"

_TEXTS = ("revision", "trial_id")
_COUNTS = ("failures", "refusals", "faults", "openings")
_TIMES = ("open_until", "trial_until", "disabled_at", "last_at")

_logger = logger_for("store")


def known_in(item: Item) -> KnownCircuits:
    """What cannot be read of a circuit counts as well; of a row without a version that can be read, nothing is known.
    Both are noted, and gone with the next write of the same.
    """
    try:
        version = whole_of(item, VERSION) if item else 0
    except (KeyError, TypeError, ValueError):
        _logger.error(STORE_ITEM_UNREADABLE, row=CIRCUITS)
        return KnownCircuits()
    circuits = {
        name.removeprefix(CIRCUIT): circuit
        for name in item
        if name.startswith(CIRCUIT) and (circuit := _circuit(item, name)) is not None
    }
    return KnownCircuits(circuits=circuits, version=version)


def _circuit(item: Item, name: str) -> Circuit | None:
    try:
        return circuit_of(item[name]["M"])
    except (KeyError, TypeError, ValueError):
        _logger.error(STORE_ITEM_UNREADABLE, row=f"{CIRCUITS}/{name}")
        return None


def circuit_of(parts: Item) -> Circuit:
    code = optional(parts, "last_code", text_of)
    return Circuit(
        revision=optional(parts, "revision", text_of) or "",
        failures=optional(parts, "failures", whole_of) or 0,
        refusals=optional(parts, "refusals", whole_of) or 0,
        faults=optional(parts, "faults", whole_of) or 0,
        openings=optional(parts, "openings", whole_of) or 0,
        open_until=optional(parts, "open_until", number_of) or 0.0,
        is_held=optional(parts, "is_held", flag_of) or False,
        trial_id=optional(parts, "trial_id", text_of) or "",
        trial_until=optional(parts, "trial_until", number_of) or 0.0,
        disabled_at=optional(parts, "disabled_at", number_of) or 0.0,
        last_code=None if code is None else OutcomeCode(code),
        last_at=optional(parts, "last_at", number_of) or 0.0,
    )


def attribute_of(circuit: Circuit) -> AttributeValueTypeDef:
    parts: NewItem = {name: text(value) for name in _TEXTS if (value := getattr(circuit, name))}
    parts |= {name: number(value) for name in (*_COUNTS, *_TIMES) if (value := getattr(circuit, name))}
    if circuit.is_held:
        parts["is_held"] = flag(circuit.is_held)
    if circuit.last_code is not None:
        parts["last_code"] = text(circuit.last_code)
    return {"M": parts}
