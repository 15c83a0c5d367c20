"""When somebody is told, as data: what is looked at, what is too much, and where it says what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from infra.functions import FUNCTIONS, Function
from infra.tables import TABLES, Table
from infra.watching import LANES
from shared.domain.health import HealthState
from shared.measures import FAILED_ANSWERS, PARTIAL_ANSWERS, PROBE_RUNS, PROVIDERS_BY_STATE, SEARCHES

ENOUGH_TO_JUDGE: Final = 10  # searches or requests in a period: a share of fewer says little
_NEAR_THE_END: Final = 0.95


@dataclass(frozen=True, slots=True)
class Of:
    """A function or a table of the stack, or its API: what a metric of AWS is of."""

    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`metric` is named in `infra.watching`; `id` names it in an expression. `statistic`: Sum, Maximum."""

    id: str
    metric: str
    statistic: str = "Sum"
    dimensions: tuple[tuple[str, str | Of], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """Goes off when what is read, or what `expression` makes of several readings, is above `above` (or, for `below`,
    under it) in `datapoints` of the last `periods` periods. `runbook` is a heading of `docs/operations.md`.

    `is_silence_bad`: a period without any number counts as bad; otherwise as good.
    """

    name: str
    readings: tuple[Reading, ...]
    why: str
    runbook: str
    expression: str = ""
    above: float | None = None
    below: float | None = None
    period_min: int = 5
    periods: int = 1
    datapoints: int = 1
    is_silence_bad: bool = False


def _events(name: str, *, why: str, runbook: str, above: float = 0) -> Alarm:
    """More than so many such lines in five minutes. The alarm is named as its metric is."""
    return Alarm(name=name, readings=(Reading(id="n", metric=name),), above=above, why=why, runbook=runbook)


def _share(name: str, part: Reading, whole: Reading, *, percent: float, of: int, why: str, runbook: str) -> Alarm:
    """More than `percent` of enough, in `of` periods of the last three."""
    return Alarm(
        name=name,
        readings=(part, whole),
        expression=f"IF({whole.id} >= {ENOUGH_TO_JUDGE}, 100 * {part.id} / {whole.id}, 0)",
        above=percent,
        periods=3,
        datapoints=of,
        why=why,
        runbook=runbook,
    )


def _of_lane(lane: str) -> tuple[Alarm, ...]:
    of = (("Lane", lane),)
    searches = Reading(id="searches", metric=SEARCHES, dimensions=of)
    failed = Reading(id="part", metric=FAILED_ANSWERS, dimensions=of)
    partial = Reading(id="part", metric=PARTIAL_ANSWERS, dimensions=of)
    return (
        _share(
            f"FailedAnswers{lane.capitalize()}",
            failed,
            searches,
            percent=20,
            of=2,
            why=f"One in five searches on the {lane} lane gets nothing from any provider.",
            runbook="Failed and partial answers",
        ),
        _share(
            f"PartialAnswers{lane.capitalize()}",
            partial,
            searches,
            percent=50,
            of=3,
            why=f"Half of the searches on the {lane} lane miss some provider.",
            runbook="Failed and partial answers",
        ),
    )


def _of_function(function: Function) -> tuple[Alarm, ...]:
    of = (("FunctionName", Of("function", function.name)),)
    name = function.name.capitalize()
    return (
        Alarm(
            name=f"Errors{name}",
            readings=(Reading(id="n", metric="Errors", dimensions=of),),
            above=0,
            why=f"Runs of the {function.name} function break off.",
            runbook="A function breaks off",
        ),
        Alarm(
            name=f"Throttles{name}",
            readings=(Reading(id="n", metric="Throttles", dimensions=of),),
            above=0,
            why=f"Lambda has no room for runs of the {function.name} function.",
            runbook="A function has no room",
        ),
        Alarm(
            name=f"Duration{name}",
            readings=(Reading(id="n", metric="Duration", statistic="Maximum", dimensions=of),),
            above=_NEAR_THE_END * 1000 * function.timeout_s,
            why=f"Runs of the {function.name} function come near the time at which they are broken off.",
            runbook="A function takes too long",
        ),
    )


# Each one read is paid for, so they are those by which a failing table shows first.
_OPERATIONS: Final = ("BatchGetItem", "Query", "UpdateItem")


def _of_table(table: Table) -> Alarm:
    grants = [grant for function in FUNCTIONS for grant in function.table_grants if grant.table is table]
    operations = [name for name in _OPERATIONS if any(name in grant.actions for grant in grants)]
    of = ("TableName", Of("table", table.name))
    throttles = [
        Reading(id=id_, metric=metric, dimensions=(of,))
        for id_, metric in (("reads", "ReadThrottleEvents"), ("writes", "WriteThrottleEvents"))
    ]
    errors = [
        Reading(id=f"errors{name}", metric="SystemErrors", dimensions=(of, ("Operation", name))) for name in operations
    ]
    return Alarm(
        name="Table" + "".join(word.capitalize() for word in table.name.split("-")),
        readings=(*throttles, *errors),
        expression=" + ".join(f"FILL({reading.id}, 0)" for reading in (*throttles, *errors)),
        above=10,
        why=f"DynamoDB throttles or fails on the table {table.name}.",
        runbook="A table throttles or fails",
    )


def _of_state(state: HealthState, *, why: str, runbook: str) -> Alarm:
    """A gauge: one alarm for as long as it lasts. Two runs of the probe lie in a period."""
    reading = Reading(id="n", metric=PROVIDERS_BY_STATE, statistic="Maximum", dimensions=(("State", state),))
    name = f"Providers{state.capitalize()}"
    return Alarm(name=name, readings=(reading,), above=0, period_min=10, why=why, runbook=runbook)


_API: Final = (("ApiId", Of("api")),)

ALARMS: Final = (
    _events(
        "RefusedAdminAuthentications",
        above=10,
        why="Somebody is trying admin tokens that are not valid.",
        runbook="Refused admin authentications",
    ),
    _events(
        "UnreviewedUnits",
        why="A fifth of a pool's allowance is taken by operations whose end nobody knows: review them.",
        runbook="When units ask for review",
    ),
    _events("GatewayFaults", why="The gateway met an error that nobody expected.", runbook="Faults of the gateway"),
    _share(
        "ApiFailures",
        Reading(id="failures", metric="5xx", dimensions=_API),
        Reading(id="requests", metric="Count", dimensions=_API),
        percent=5,
        of=2,
        why="One in twenty requests is answered with 5xx.",
        runbook="The API fails",
    ),
    _events(
        "ThrottledRequests",
        above=20,
        why="The API refuses requests because a route gets more than its throttle lets through.",
        runbook="The API throttles",
    ),
    *(alarm for lane in LANES for alarm in _of_lane(lane)),
    _of_state(
        HealthState.REFUSED,
        why="A provider does not take the gateway's credentials any more.",
        runbook="Providers refuse our credentials",
    ),
    _of_state(HealthState.DOWN, why="A provider does not answer any more.", runbook="Providers are down"),
    _of_state(
        HealthState.BROKEN,
        why="A provider answers, and not as it should.",
        runbook="Providers answer wrongly",
    ),
    _events(
        "ProvidersAutoDisabled",
        why="A provider was taken out of use. It stays so until an operator puts it back.",
        runbook="A provider was taken out of use",
    ),
    _events("PoolsExhausted", why="Every key of a pool rests: nothing is asked.", runbook="Every key of a pool rests"),
    _events(
        "RequestsPastTheFront",
        above=50,
        why="Somebody calls the API past the distribution in front of it.",
        runbook="Requests past the front",
    ),
    _events("StoreFailures", above=5, why="Calls to DynamoDB fail.", runbook="The store is unavailable"),
    _events(
        "SecretFailures",
        above=2,
        why="Calls to KMS or Secrets Manager fail: providers whose secrets are not in memory are not asked.",
        runbook="Secrets are unavailable",
    ),
    _events(
        "SearchesFromMemory",
        why="The store is away, and searches are answered from what the functions remember.",
        runbook="Answers from memory",
    ),
    Alarm(
        name="ProbeSilent",
        readings=(Reading(id="n", metric=PROBE_RUNS),),
        below=1,
        period_min=15,
        is_silence_bad=True,
        why="The probe has not finished a run for a quarter of an hour: nobody looks at the providers.",
        runbook="The probe is silent",
    ),
    *(alarm for function in FUNCTIONS for alarm in _of_function(function)),
    *(_of_table(table) for table in TABLES),
)
