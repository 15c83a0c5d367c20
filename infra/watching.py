"""What is watched, as data: every metric that an alarm or the dashboard reads, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from infra.functions import FUNCTIONS
from shared.domain.circuits import Lane
from shared.domain.health import HealthState
from shared.domain.outcomes import OutcomeStatus
from shared.domain.registrations import ProviderKind
from shared.measures import (
    FAILED_ANSWERS,
    PARTIAL_ANSWERS,
    PROBE_LEFT_OUT,
    PROBE_RUNS,
    PROVIDER_DURATION,
    PROVIDER_OUTCOMES,
    PROVIDERS_BY_STATE,
    SEARCH_DURATION,
    SEARCHES,
    ZERO_RESULTS,
)
from shared.observability import (
    ADMIN_AUTHENTICATION_FAILED,
    CARDS_FAULT,
    POOL_EXHAUSTED,
    PROBE_FAULT,
    PROVIDER_AUTO_DISABLED,
    PROVIDER_FAULT,
    REQUEST_FAULT,
    REQUEST_REFUSED,
    SEARCHED_FROM_MEMORY,
    SECRETS_FAILED,
    STORE_FAILED,
    UNITS_ASK_FOR_REVIEW,
)

ACCESS: Final = "access"  # the API's own log; the others are named after their function
_EVERY: Final = tuple(function.name for function in FUNCTIONS)
_CALLED: Final = tuple(function.name for function in FUNCTIONS if not function.every_min)
_STORING: Final = tuple(function.name for function in FUNCTIONS if function.tables)
_POOLED: Final = tuple(function.name for function in FUNCTIONS if function.reads_pools)

KINDS: Final = tuple(ProviderKind)
LANES: Final = tuple(Lane)
OUTCOMES: Final = tuple(OutcomeStatus)
STATES: Final = tuple(HealthState)


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitted:
    """Written by `shared.measures`. `dimensions`: every value that each of them can have."""

    name: str
    dimensions: Mapping[str, tuple[str, ...]]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Log lines in which each field has this value: a JSON name and what it equals."""

    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many lines of these logs are as one of `lines`."""

    name: str
    lines: tuple[Line, ...]
    logs: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provided:
    """One that AWS keeps itself, for nothing. `dimensions` are its names of them."""

    name: str
    namespace: str
    dimensions: tuple[str, ...]
    says: str


Metric: TypeAlias = "Emitted | Counted | Provided"


def event(message: str, /, **fields: str) -> Line:
    return Line(fields=(("message", message), *fields.items()))


_LANE: Final = {"Lane": tuple(LANES)}
_ASKED: Final = {"Kind": tuple(KINDS), "Lane": tuple(LANES), "Status": tuple(OUTCOMES)}

EMITTED: Final = (
    Emitted(name=SEARCHES, dimensions=_LANE, says="answered searches"),
    Emitted(name=SEARCH_DURATION, dimensions=_LANE, says="how long they took, in ms"),
    Emitted(name=PARTIAL_ANSWERS, dimensions=_LANE, says="of them, those to which some providers gave nothing"),
    Emitted(name=FAILED_ANSWERS, dimensions=_LANE, says="of them, those to which no provider gave anything"),
    Emitted(
        name=ZERO_RESULTS,
        dimensions=_LANE,
        says="of them, those to which every provider answered, and none had anything: a gap in the knowledge",
    ),
    Emitted(name=PROVIDER_OUTCOMES, dimensions=_ASKED, says="how it went at the providers"),
    Emitted(name=PROVIDER_DURATION, dimensions=_ASKED, says="how long those that were asked took, in ms"),
    Emitted(name=PROVIDERS_BY_STATE, dimensions={"State": tuple(STATES)}, says="providers as the probe found them"),
    Emitted(name=PROBE_RUNS, dimensions={}, says="finished runs of the probe"),
    Emitted(name=PROBE_LEFT_OUT, dimensions={}, says="providers for which a run had no time"),
)

COUNTED: Final = (
    Counted(
        name="RefusedAdminAuthentications",
        lines=(event(ADMIN_AUTHENTICATION_FAILED),),
        logs=("admin",),
        says="admin tokens that were not valid",
    ),
    Counted(
        name="UnreviewedUnits",
        lines=(event(UNITS_ASK_FOR_REVIEW),),
        logs=_POOLED,
        says="operations at a pool of whose allowance a fifth or more is unknown",
    ),
    Counted(
        name="ThrottledRequests",
        lines=(Line(fields=(("status", "429"), ("functionMs", "-"))),),
        logs=(ACCESS,),
        says="requests that the API refused before any function saw them",
    ),
    Counted(
        name="GatewayFaults",
        lines=(event(REQUEST_FAULT), event(PROVIDER_FAULT), event(CARDS_FAULT), event(PROBE_FAULT)),
        logs=_EVERY,
        says="errors that nobody expected",
    ),
    Counted(
        name="ProvidersAutoDisabled",
        lines=(event(PROVIDER_AUTO_DISABLED),),
        logs=("search", "live", "mcp", "probe"),
        says="providers that were taken out of use",
    ),
    Counted(
        name="PoolsExhausted",
        lines=(event(POOL_EXHAUSTED, code="keys_exhausted"),),
        logs=_POOLED,
        says="operations for which every key of a pool rested",
    ),
    Counted(
        name="RequestsPastTheFront",
        lines=(event(REQUEST_REFUSED, code="not_through_front"),),
        logs=_CALLED,
        says="requests refused because they did not come through the distribution; none without one",
    ),
    Counted(
        name="StoreFailures",
        lines=(event(STORE_FAILED), event(REQUEST_REFUSED, code="store_unavailable")),
        logs=_STORING,
        says="calls to the tables that failed, and requests refused for that",
    ),
    Counted(
        name="SecretFailures",
        lines=(event(SECRETS_FAILED), event(REQUEST_REFUSED, code="secrets_unavailable")),
        logs=_EVERY,
        says="calls to KMS and Secrets Manager that failed, and requests refused for that",
    ),
    Counted(
        name="SearchesFromMemory",
        lines=(event(SEARCHED_FROM_MEMORY),),
        logs=("search", "mcp"),
        says="searches answered from what a function remembered, because the store was away",
    ),
)

_LAMBDA, _DYNAMODB, _API = "AWS/Lambda", "AWS/DynamoDB", "AWS/ApiGateway"
PROVIDED: Final = (
    Provided(name="Count", namespace=_API, dimensions=("ApiId",), says="requests"),
    Provided(name="4xx", namespace=_API, dimensions=("ApiId",), says="requests refused for their callers' reasons"),
    Provided(name="5xx", namespace=_API, dimensions=("ApiId",), says="requests that failed for ours"),
    Provided(name="Latency", namespace=_API, dimensions=("ApiId",), says="how long answers took, in ms"),
    Provided(name="DataProcessed", namespace=_API, dimensions=("ApiId",), says="bytes, which is what is paid for"),
    Provided(name="Invocations", namespace=_LAMBDA, dimensions=("FunctionName",), says="runs of a function"),
    Provided(name="Errors", namespace=_LAMBDA, dimensions=("FunctionName",), says="runs that broke off"),
    Provided(name="Throttles", namespace=_LAMBDA, dimensions=("FunctionName",), says="runs refused for want of room"),
    Provided(name="Duration", namespace=_LAMBDA, dimensions=("FunctionName",), says="how long runs took, in ms"),
    Provided(name="ConcurrentExecutions", namespace=_LAMBDA, dimensions=("FunctionName",), says="runs at one time"),
    Provided(name="ReadThrottleEvents", namespace=_DYNAMODB, dimensions=("TableName",), says="refused reads"),
    Provided(name="WriteThrottleEvents", namespace=_DYNAMODB, dimensions=("TableName",), says="refused writes"),
    Provided(
        name="SystemErrors", namespace=_DYNAMODB, dimensions=("TableName", "Operation"), says="failures of DynamoDB"
    ),
    Provided(name="ConsumedReadCapacityUnits", namespace=_DYNAMODB, dimensions=("TableName",), says="read units"),
    Provided(name="ConsumedWriteCapacityUnits", namespace=_DYNAMODB, dimensions=("TableName",), says="write units"),
)

METRICS: Final[Mapping[str, Metric]] = {metric.name: metric for metric in (*EMITTED, *COUNTED, *PROVIDED)}


def series_of(metric: Emitted) -> Iterator[dict[str, str]]:
    """Every combination of values that it may come with: each is a metric of its own, and has its price."""
    combinations: list[dict[str, str]] = [{}]
    for name, values in metric.dimensions.items():
        combinations = [{**one, name: value} for one in combinations for value in values]
    yield from combinations
