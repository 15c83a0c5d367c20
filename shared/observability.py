"""Structured logs. An event is a dotted constant with fields; what callers and providers say is never a field."""

from __future__ import annotations

from typing import Final

from aws_lambda_powertools import Logger

REQUEST_REFUSED: Final = "request.refused"
REQUEST_FAULT: Final = "request.fault"
SEARCH_ANSWERED: Final = "search.answered"
ACQUIRE_ANSWERED: Final = "acquire.answered"
ALEXANDRIA_SEARCHED: Final = "alexandria.searched"
ALEXANDRIA_INSPECTED: Final = "alexandria.inspected"
ALEXANDRIA_EXECUTED: Final = "alexandria.executed"
RECEIPT_UNSETTLED: Final = "alexandria.receipt_unsettled"
PROVIDER_FAULT: Final = "provider.fault"
PROVIDER_AUTO_DISABLED: Final = "provider.auto_disabled"
CIRCUIT_CHANGED: Final = "circuit.changed"
CIRCUITS_UNKNOWN: Final = "circuit.unknown"
CIRCUITS_UNWRITTEN: Final = "circuit.unwritten"
SEARCHED_FROM_MEMORY: Final = "search.from_memory"
PROBE_FINISHED: Final = "probe.finished"
PROBE_FAULT: Final = "probe.fault"
HEALTH_CHANGED: Final = "health.changed"
CARDS_LOOKED_UP: Final = "cards.looked_up"
CARDS_MATCHED: Final = "cards.matched"
CARDS_FAULT: Final = "cards.fault"
KEY_RESTS: Final = "pool.key_rests"
UNIT_UNSETTLED: Final = "pool.unit_unsettled"
UNITS_ASK_FOR_REVIEW: Final = "pool.units_ask_for_review"
WIDGET_REFUSED: Final = "widget.refused"
ADMIN_AUTHENTICATION_FAILED: Final = "admin.authentication_failed"
ADMIN_CHANGED: Final = "admin.changed"
STORE_ITEM_UNREADABLE: Final = "store.item_unreadable"
COLLECTIONS_CLEARED: Final = "probe.collections_cleared"
PROBE_INTERRUPTED: Final = "probe.interrupted"


def logger_for(service: str) -> Logger:
    """One logger a function. Exceptions are logged by type and place, never by their message."""
    return Logger(service=service, log_uncaught_exceptions=False, utc=True)


def place_of(error: BaseException) -> str:
    """`TypeName at file.py:line` of the innermost frame: enough to find a fault, with nothing that a caller said."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = "unknown" if frame is None else f"{frame.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno}"
    return f"{type(error).__name__} at {where}"
