"""The seam: what the services say when they fail, and what it means here. None of their words go further than a log
line with the code of the refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from shared.adapters.service_faults import ServiceFault, ServiceRefusal
from shared.errors import Unavailable
from shared.observability import SECRETS_FAILED, STORE_FAILED, logger_for

P = ParamSpec("P")
T = TypeVar("T")

RETRY_AFTER_S: Final = 5
_logger = logger_for("store")
CONDITION_FAILED: Final = "ConditionalCheckFailedException"


def code_of(fault: Exception) -> str:
    """The service's own code of a refusal, or the empty string for anything else."""
    return fault.code if isinstance(fault, ServiceRefusal) else ""


def store_unavailable() -> Unavailable:
    return Unavailable("Try again in a few seconds.", retry_after_s=RETRY_AFTER_S)


def secrets_unavailable() -> Unavailable:
    return Unavailable("Try again in a few seconds.", code="secrets_unavailable", retry_after_s=RETRY_AFTER_S)


def of_store(work: Callable[P, T]) -> Callable[P, T]:
    """For calls to the tables: throttling, timeouts, lost connections and refusals alike are `Unavailable`."""
    return _translated(work, store_unavailable, event=STORE_FAILED)


def of_secrets(work: Callable[P, T]) -> Callable[P, T]:
    """For calls to the key service and the secret store."""
    return _translated(work, secrets_unavailable, event=SECRETS_FAILED)


def _translated(work: Callable[P, T], problem: Callable[[], Unavailable], *, event: str) -> Callable[P, T]:
    @wraps(work)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return work(*args, **kwargs)
        except ServiceFault as fault:
            _logger.warning(event, reason=code_of(fault) or type(fault).__name__)
            raise problem() from None

    return call
