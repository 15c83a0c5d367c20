"""What is logged and measured of a search: never what was asked or found."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from shared.domain.registrations import ProviderKind
from shared.errors import ExchangeTimeout, Refused
from shared.observability import SEARCH_ANSWERED
from tests.support.alarm_room import measured
from tests.support.builders import a_passage
from tests.support.search_stage import Stage, answering, raising

QUERY = "where is the secret harbour"


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def stage(log: io.StringIO, request: pytest.FixtureRequest) -> Iterator[Stage]:
    stage = Stage(log=Logger(service=request.node.name, stream=log))
    yield stage
    stage.close()


def measures_of(work: Any) -> dict[tuple[str, ...], float]:
    """By metric and the values of its dimensions; what came several times is summed."""
    with contextlib.redirect_stdout(io.StringIO()) as written:
        work()
    found: dict[tuple[str, ...], float] = {}
    for line in written.getvalue().splitlines():
        assert QUERY not in line
        for n in measured(json.loads(line), at_s=0):
            key = (n.name, *(value for _, value in sorted(n.dimensions)))
            found[key] = found.get(key, 0) + n.value
    return found


def answered(log: io.StringIO) -> dict[str, Any]:
    (line,) = [one for one in map(json.loads, log.getvalue().splitlines()) if one["message"] == SEARCH_ANSWERED]
    assert QUERY not in log.getvalue()
    return dict(line)


def test_kinds_statuses_and_lanes_are_counted(stage: Stage, log: io.StringIO) -> None:
    stage.add(act=answering(a_passage()))
    stage.add(act=raising(ExchangeTimeout()))
    stage.add(kind=ProviderKind.DIFY)  # nobody here asks that kind
    measures = measures_of(lambda: stage.agent(QUERY))

    assert measures["ProviderOutcomes", "contract", "agent", "success"] == 1
    assert measures["ProviderOutcomes", "contract", "agent", "failed"] == 1
    assert measures["ProviderOutcomes", "dify", "agent", "skipped"] == 1
    assert ("ProviderDuration", "dify", "agent", "skipped") not in measures
    assert (measures["Searches", "agent"], measures["PartialAnswers", "agent"]) == (1, 1)
    assert measures["FailedAnswers", "agent"] == 0
    assert answered(log)["status"] == "partial"


def test_a_code_is_in_the_log_and_in_no_metric(stage: Stage, log: io.StringIO) -> None:
    stage.add(act=raising(Refused("unauthorized")))
    measures = measures_of(lambda: stage.agent(QUERY))

    assert answered(log)["providers"][0]["code"] == "unauthorized"
    assert not any("unauthorized" in key for key in measures)


@pytest.mark.parametrize("lane", ["agent", "customer"])
def test_nothing_found_anywhere_is_a_gap(stage: Stage, log: io.StringIO, lane: str) -> None:
    stage.add(act=answering())
    stage.add(act=answering())
    search = stage.agent if lane == "agent" else stage.widget
    measures = measures_of(lambda: search(QUERY))

    assert measures["ZeroResults", lane] == 1
    assert answered(log)["found_nothing"] is True


@pytest.mark.parametrize("lane", ["agent", "customer"])
def test_nothing_found_beside_a_failure_is_no_gap(stage: Stage, log: io.StringIO, lane: str) -> None:
    stage.add(act=answering())
    stage.add(act=raising(ExchangeTimeout()))
    search = stage.agent if lane == "agent" else stage.assistant
    measures = measures_of(lambda: search(QUERY))

    assert measures["ZeroResults", lane] == 0
    assert answered(log)["found_nothing"] is False


def test_nobody_to_ask_is_no_gap(stage: Stage, log: io.StringIO) -> None:
    assert measures_of(lambda: stage.agent(QUERY))["ZeroResults", "agent"] == 0
    assert answered(log)["found_nothing"] is False


def test_a_refused_search_is_no_search(stage: Stage) -> None:
    assert measures_of(lambda: stage.agent(QUERY, token=None)) == {}


def test_ids_of_one_request_do_not_stay_for_the_next(stage: Stage, log: io.StringIO) -> None:
    stage.add(act=answering(a_passage()))
    for request_id in ("first-1", "second-2"):
        stage.agent(QUERY, headers={"x-request-id": request_id})
    ids = [json.loads(line)["request_id"] for line in log.getvalue().splitlines()]

    assert ids == ["first-1", "second-2"]
