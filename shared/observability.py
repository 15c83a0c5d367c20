"""Structured logs. An event is a dotted constant with fields; what callers and providers say is never a field."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
POOL_EXHAUSTED: Final = "pool.exhausted"
UNIT_UNSETTLED: Final = "pool.unit_unsettled"
UNITS_ASK_FOR_REVIEW: Final = "pool.units_ask_for_review"
WIDGET_REFUSED: Final = "widget.refused"
MCP_ANSWERED: Final = "mcp.answered"
ADMIN_AUTHENTICATION_FAILED: Final = "admin.authentication_failed"
ADMIN_CHANGED: Final = "admin.changed"
STORE_FAILED: Final = "store.failed"
SECRETS_FAILED: Final = "secrets.failed"
STORE_ITEM_UNREADABLE: Final = "store.item_unreadable"
COLLECTIONS_CLEARED: Final = "probe.collections_cleared"
PROBE_INTERRUPTED: Final = "probe.interrupted"


def logger_for(service: str) -> Logger:
    """One logger a function. Exceptions are logged by type and place, never by their message."""
    logger = Logger(service=service, log_uncaught_exceptions=False, utc=True)
    _loggers[service] = logger
    return logger


def correlate(logger: Logger, ids: Mapping[str, str | None]) -> None:
    """From now on every line of `logger`, and of all that `logger_for` made, carries these ids. A process handles one
    request at a time; the next one brings the same names.
    """
    _correlation.clear()
    _correlation.update((name, value) for name, value in ids.items() if value is not None)
    for each in {id(one): one for one in (logger, *_loggers.values())}.values():
        each.append_keys(**ids)


def loggers() -> Collection[Logger]:
    """All that `logger_for` made."""
    return _loggers.values()


def correlation() -> Mapping[str, str]:
    """The ids of the request at hand."""
    return _correlation


_loggers: Final[dict[str, Logger]] = {}
_correlation: Final[dict[str, str]] = {}


def place_of(error: BaseException) -> str:
    """`TypeName at file.py:line` of the innermost frame: enough to find a fault, with nothing that a caller said."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = "unknown" if frame is None else f"{frame.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{frame.tb_lineno}"
    return f"{type(error).__name__} at {where}"
