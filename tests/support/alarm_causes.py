"""What sets each alarm off, played with the gateway's own code: its real lines and measures go into an `AlarmRoom`.

Whatever AWS counts itself is put there as its documentation names it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from unittest.mock import Mock

from aws_lambda_powertools import Logger

from functions.search.routes import api_for
from shared import observability
from shared.adapters.allowances import DynamoAllowances
from shared.adapters.attributes import number
from shared.adapters.secret_box import KmsUnsealer
from shared.adapters.service_faults import ServiceRefusal
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.front import FrontDigests, digest_of
from shared.domain.health import Finding, HealthState, Look, ProviderHealth, after_look
from shared.domain.outcomes import OutcomeCode
from shared.domain.pools import Pool
from shared.domain.registrations import SealedSecret
from shared.errors import ExchangeError, ExchangeTimeout, KeyRefused, Refused, Unavailable
from shared.measures import measure_health
from shared.ports.meter import Attempt
from shared.services.metering import Metering
from tests.support.admin_stage import PROVIDERS, AdminStage
from tests.support.alarm_room import AlarmRoom
from tests.support.builders import NOW, a_source, an_internal_provider
from tests.support.fake_exchanges import FakeExchanges, json_answer
from tests.support.fakes import FakeClock
from tests.support.front_fakes import FakeFrontDoor
from tests.support.live_fakes import FakeAllowances, FakePoolKeys, FakePoolLedger
from tests.support.search_stage import Stage, answering, passages, raising

PERIOD_S: Final = 300.0
_NAMES: Final = itertools.count()


@contextlib.contextmanager
def written() -> Iterator[io.StringIO]:
    """All that the loggers which adapters have for themselves, and the measures, write meanwhile."""
    stream = io.StringIO()
    handlers = [logger.registered_handler for logger in observability.loggers()]
    before = [handler.setStream(stream) for handler in handlers]
    try:
        with contextlib.redirect_stdout(stream):
            yield stream
    finally:
        for handler, old in zip(handlers, before, strict=True):
            handler.setStream(old or io.StringIO())


def a_logger(stream: io.StringIO) -> Logger:
    return Logger(service=f"alarm-{next(_NAMES)}", stream=stream)


class Searches:
    """Searches of both lanes into a real log."""

    def __init__(self, room: AlarmRoom) -> None:
        self.room = room
        self.lines = io.StringIO()
        self.stage = Stage(log=a_logger(self.lines))

    def over(self, search: Callable[[], object], *, times: int, at_s: float = NOW) -> None:
        """Makes the search so often, and has its lines logged."""
        with written() as measures:
            for _ in range(times):
                search()
        self.room.log("LogSearch", self.lines.getvalue() + measures.getvalue(), at_s=at_s)
        self.lines.truncate(0)
        self.lines.seek(0)

    def close(self) -> None:
        self.stage.close()


@contextlib.contextmanager
def searches(room: AlarmRoom) -> Iterator[Searches]:
    made = Searches(room)
    try:
        yield made
    finally:
        made.close()


def _fails(room: AlarmRoom, lane: str, *, beside_one_that_works: bool) -> None:
    with searches(room) as made:
        made.stage.add(act=raising(ExchangeTimeout()))
        if beside_one_that_works:
            made.stage.add(act=answering(*passages(1)))
        search = made.stage.agent if lane == "agent" else made.stage.assistant
        for period in range(3):
            made.over(search, times=12, at_s=NOW - PERIOD_S * period)


def _refused_admins(room: AlarmRoom) -> None:
    stage = AdminStage()
    try:
        for _ in range(11):
            stage.call("GET", PROVIDERS, token="kg_adm_aaaaaaaaaaaaaaaa_" + "0" * 64)
        room.log("LogAdmin", stage.log.getvalue(), at_s=NOW)
    finally:
        stage.close()


def _unreviewed_units(room: AlarmRoom) -> None:
    """The row of a pool of which two of ten units are unknown, as the table gives it back."""

    def update_item(**request: Any) -> dict[str, Any]:
        (name,) = (value for value in request["ExpressionAttributeNames"].values() if value.startswith("o_"))
        return {"Attributes": {"limit": number(10), "unknown": number(2), name: number(NOW + 60)}}

    allowances = DynamoAllowances(Mock(update_item=update_item), table="ledger", clock=FakeClock())
    with written() as lines:
        asyncio.run(allowances.reserve(Pool.EXA))
    room.log("LogLive", lines.getvalue(), at_s=NOW)


def _faults(room: AlarmRoom) -> None:
    with searches(room) as made:
        made.stage.add(act=raising(RuntimeError("nobody expected this")))
        made.over(made.stage.agent, times=1)


def _auto_disabled(room: AlarmRoom) -> None:
    with searches(room) as made:
        made.stage.add(act=raising(Refused(OutcomeCode.UNAUTHORIZED)))
        made.over(made.stage.agent, times=3)


def _from_memory(room: AlarmRoom) -> None:
    with searches(room) as made:
        made.stage.add(act=answering(*passages(1)))
        made.stage.agent()
        made.stage.catalog.failure = Unavailable()
        made.over(made.stage.agent, times=1)


def _past_the_front(room: AlarmRoom) -> None:
    door = FakeFrontDoor(FrontDigests(digest_of("what the distribution sends")))
    with searches(room) as made:
        made.stage.search_api = api_for(replace(made.stage._search_parts(0.0), front=door))
        made.over(made.stage.agent, times=51)


def _store_fails(room: AlarmRoom) -> None:
    with searches(room) as made:
        made.stage.credentials.failure = Unavailable()
        made.over(made.stage.agent, times=6)


def _secrets_fail(room: AlarmRoom) -> None:
    def decrypt(**_: Any) -> object:
        raise ServiceRefusal("ThrottlingException", document={"message": "not for anybody"})

    unsealer = KmsUnsealer(Mock(decrypt=decrypt), key_id="k", exposure=ExposureProfile.CUSTOMER_SAFE, clock=FakeClock())
    sealed = SealedSecret(ciphertext=b"sealed", fingerprint="f" * 16)
    with written() as lines:
        for _ in range(3):
            with contextlib.suppress(Unavailable):
                asyncio.run(unsealer.unseal(sealed, owner_id="cs_x", purpose="signing"))
    assert "not for anybody" not in lines.getvalue()
    room.log("LogWidget", lines.getvalue(), at_s=NOW)


def _pool_rests(room: AlarmRoom) -> None:
    clock, lines = FakeClock(), io.StringIO()
    metering = Metering(
        keys=FakePoolKeys({Pool.EXA: {"EXA_API_KEY": "k-demo"}}),
        ledger=FakePoolLedger(clock=clock),
        allowances=FakeAllowances(clock=clock),
        exchanges=FakeExchanges(clock=clock, answer=json_answer({})),
        clock=clock,
        logger=a_logger(lines),
    )
    deadline = Deadline.after(25, now_s=clock.monotonic())

    async def work(_: Attempt) -> None:
        raise KeyRefused("quota", until=NOW + 600)

    with contextlib.suppress(ExchangeError):
        asyncio.run(metering.open(a_source(), Pool.EXA, deadline=deadline).perform(work))
    room.log("LogSearch", lines.getvalue(), at_s=NOW)


@dataclass
class Looks:
    """The probe's view of one provider, look by look; each run says what it found."""

    room: AlarmRoom
    health: ProviderHealth | None = None

    def look(self, code: OutcomeCode | None, *, at_s: float) -> HealthState:
        finding = Finding(look=Look.CAPABILITIES, code=code)
        self.health = after_look(self.health, finding, provider_id="cs_x", revision="1", now=at_s)
        with written() as lines:
            measure_health({self.health.state: 1}, left_out=0, about={})
        self.room.log("LogProbe", lines.getvalue(), at_s=at_s)
        return self.health.state


def _looked_at(room: AlarmRoom, *codes: OutcomeCode | None) -> None:
    looks = Looks(room)
    for back, code in zip(range(len(codes) - 1, -1, -1), codes, strict=True):
        looks.look(code, at_s=NOW - PERIOD_S * back)


def _throttled(room: AlarmRoom, access_log: Mapping[str, str]) -> None:
    """The API writes a dash for what there is none of: it called no function."""
    said = {"$context.status": "429", "$context.requestId": "a="}
    line = json.dumps({name: said.get(variable, "-") for name, variable in access_log.items()})
    room.log("LogAccess", "\n".join([line] * 21), at_s=NOW)


def _api_fails(room: AlarmRoom) -> None:
    for period in range(2):
        room.put("AWS/ApiGateway", "Count", 100, at_s=NOW - PERIOD_S * period, ApiId="HttpApi")
        room.put("AWS/ApiGateway", "5xx", 6, at_s=NOW - PERIOD_S * period, ApiId="HttpApi")


CAUSES: Final[Mapping[str, Callable[[AlarmRoom], None]]] = {
    "RefusedAdminAuthentications": _refused_admins,
    "UnreviewedUnits": _unreviewed_units,
    "GatewayFaults": _faults,
    "ApiFailures": _api_fails,
    "FailedAnswersAgent": lambda room: _fails(room, "agent", beside_one_that_works=False),
    "FailedAnswersCustomer": lambda room: _fails(room, "customer", beside_one_that_works=False),
    "PartialAnswersAgent": lambda room: _fails(room, "agent", beside_one_that_works=True),
    "PartialAnswersCustomer": lambda room: _fails(room, "customer", beside_one_that_works=True),
    "ProvidersRefused": lambda room: _looked_at(room, OutcomeCode.UNAUTHORIZED),
    "ProvidersDown": lambda room: _looked_at(room, *[OutcomeCode.TIMEOUT] * 3),
    "ProvidersBroken": lambda room: _looked_at(room, OutcomeCode.INVALID_RESPONSE),
    "ProvidersAutoDisabled": _auto_disabled,
    "PoolsExhausted": _pool_rests,
    "RequestsPastTheFront": _past_the_front,
    "StoreFailures": _store_fails,
    "SecretFailures": _secrets_fail,
    "SearchesFromMemory": _from_memory,
    "ProbeSilent": lambda room: None,
}


def throttle_the_api(room: AlarmRoom, access_log: Mapping[str, str]) -> None:
    _throttled(room, access_log)


def a_quiet_hour(room: AlarmRoom) -> None:
    """Searches that work, providers that are well, and AWS counting no trouble."""
    with searches(room) as made:
        made.stage.add(act=answering(*passages(2)))
        made.stage.add(act=answering())
        made.stage.add(source=an_internal_provider().source, exposure_profile=ExposureProfile.AGENT_ONLY)
        for period in range(3):
            made.over(made.stage.agent, times=15, at_s=NOW - PERIOD_S * period)
            made.over(made.stage.assistant, times=9, at_s=NOW - PERIOD_S * period)
    looks = Looks(room)
    for back in range(11, -1, -1):
        looks.look(None, at_s=NOW - PERIOD_S * back)
