"""The caller's id, the line of the API's access log and the function's own lines can be joined."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from functions.probe.parts import Parts
from functions.probe.run import Probe
from infra.constructs.http_api import ACCESS_LOG
from shared.adapters.event_loop import ProcessLoop
from shared.adapters.failures import of_store
from shared.adapters.service_faults import ServiceRefusal
from shared.domain.health import HealthState
from shared.errors import ExchangeTimeout, Refused, Unavailable
from shared.services.clear_collections import Cleared
from shared.services.probe_providers import Probed
from tests.infra.synthesised import Synthesised
from tests.support.alarm_causes import written
from tests.support.builders import a_passage, a_token
from tests.support.search_stage import Stage, answering, event_for, raising

THEIRS = "call-7f3a"
QUERY = "where is the secret harbour"


@dataclass(frozen=True)
class Context:
    aws_request_id: str = "5f0c0d1e-1111-4222-8333-444455556666"
    function_name: str = "search"


class RunContext(Context):
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def stage(log: io.StringIO, request: pytest.FixtureRequest) -> Iterator[Stage]:
    stage = Stage(log=Logger(service=request.node.name, stream=log))
    yield stage
    stage.close()


def sent(stage: Stage, log: io.StringIO, event: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The answer, and every line that was written for it."""
    with written() as others:
        answer = stage.search_api.handle(event, Context())
    lines = [json.loads(line) for line in (log.getvalue() + others.getvalue()).splitlines()]
    assert lines
    return answer, lines


def access_line(event: dict[str, Any], answer: dict[str, Any]) -> dict[str, str]:
    """As the API writes it: it knows its own id, and the one that Lambda gave the run."""
    known = {
        "$context.requestId": event["requestContext"]["requestId"],
        "$context.integration.requestId": Context().aws_request_id,
        "$context.status": str(answer["statusCode"]),
    }
    return {name: known.get(variable, "-") for name, variable in ACCESS_LOG.items()}


def an_event(stage: Stage, *, theirs: str | None = THEIRS, token: str | None = "") -> dict[str, Any]:
    token = a_token(stage.agent_credential) if token == "" else token
    return event_for("search_agent", token, {"query": QUERY}, {"x-request-id": theirs})


@pytest.mark.parametrize("how", ["answered", "partial", "refused", "unavailable", "broken", "unread"])
def test_what_the_caller_knows_leads_to_every_line_of_its_request(stage: Stage, log: io.StringIO, how: str) -> None:
    stage.add(act=answering(a_passage()))
    event = an_event(stage, token=None if how == "refused" else "")
    if how == "partial":
        stage.add(act=raising(ExchangeTimeout()))
        stage.add(act=raising(RuntimeError("nobody expected this")))
        for _ in range(3):
            stage.add(act=raising(Refused("unauthorized")))
    elif how == "unavailable":
        stage.credentials.failure = Unavailable()
    elif how == "broken":
        stage.credentials.failure = RuntimeError("nobody expected this")  # type: ignore[assignment]
    elif how == "unread":
        event["body"] = "{"
    answer, lines = sent(stage, log, event)
    access = access_line(event, answer)

    assert answer["headers"]["X-Request-Id"] == THEIRS
    assert {line["request_id"] for line in lines} == {THEIRS}
    assert {line["gateway_request_id"] for line in lines} == {access["requestId"]}
    assert {line["function_request_id"] for line in lines} == {access["functionRequestId"]}


def test_without_an_id_of_the_callers_the_gateways_is_the_one_that_is_told(stage: Stage, log: io.StringIO) -> None:
    stage.add(act=answering(a_passage()))
    event = an_event(stage, theirs=None)
    answer, lines = sent(stage, log, event)

    own = event["requestContext"]["requestId"]
    assert answer["headers"]["X-Request-Id"] == own
    assert {(line["request_id"], line["gateway_request_id"]) for line in lines} == {(own, own)}


@pytest.mark.parametrize("odd", [None, 7, "a b", "x" * 200, {}])
def test_an_odd_id_of_the_gateway_is_left_out(stage: Stage, log: io.StringIO, odd: object) -> None:
    stage.add(act=answering(a_passage()))
    event = an_event(stage)
    event["requestContext"]["requestId"] = odd
    _, lines = sent(stage, log, event)

    assert all(line.get("gateway_request_id") is None for line in lines)
    assert {line["request_id"] for line in lines} == {THEIRS}


def test_no_line_has_the_query_the_token_the_body_or_the_address(stage: Stage, log: io.StringIO) -> None:
    stage.add(act=answering(a_passage()))
    stage.add(act=raising(RuntimeError(QUERY)))
    event = an_event(stage)
    _, lines = sent(stage, log, event)
    text = json.dumps(lines)

    for secret in (QUERY, event["headers"]["authorization"].split("_")[-1], "203.0.113.7"):
        assert secret not in text


def test_the_access_log_of_the_stack_has_both_ids(shipped: Synthesised) -> None:
    (stage,) = shipped.of_type("AWS::ApiGatewayV2::Stage").values()
    said = json.loads(stage["AccessLogSettings"]["Format"])

    assert said == ACCESS_LOG
    assert said["requestId"] == "$context.requestId"
    assert said["functionRequestId"] == "$context.integration.requestId"


def test_lines_of_adapters_carry_the_ids_too(stage: Stage) -> None:

    def refuse() -> None:
        raise ServiceRefusal("ThrottlingException", document={"message": "words of theirs"})

    with written() as lines, contextlib.redirect_stdout(io.StringIO()):
        stage.search_api.handle(an_event(stage), Context())
        with pytest.raises(Unavailable):
            of_store(refuse)()
    (line,) = [json.loads(one) for one in lines.getvalue().splitlines() if "store.failed" in one]

    assert (line["request_id"], line["reason"]) == (THEIRS, "ThrottlingException")
    assert "words of theirs" not in lines.getvalue()


def test_lines_and_measures_of_the_probe_carry_the_id_of_their_run(log: io.StringIO) -> None:
    async def probed(*, budget_s: float) -> Probed:
        return Probed(run_id="run-1", states={HealthState.DOWN: 1}, looked_at=1)

    async def interrupted(*, budget_s: float) -> Cleared:
        raise Unavailable

    loop = ProcessLoop()
    parts = Parts(
        probe_providers=probed,  # type: ignore[arg-type]
        clear_collections=interrupted,  # type: ignore[arg-type]
        loop=loop,
        logger=Logger(service="correlation-probe", stream=log),
    )
    with written() as measures:
        Probe(parts).run(RunContext())
    loop.close()
    lines = [json.loads(line) for line in (log.getvalue() + measures.getvalue()).splitlines()]

    assert len(lines) == 3
    assert {line["function_request_id"] for line in lines} == {RunContext().aws_request_id}
    assert {line["run"] for line in lines if "_aws" in line} == {"run-1"}
