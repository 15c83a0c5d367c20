"""Every alarm goes off for what it is there for, and for nothing that is as it should be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from infra.alarms import ALARMS, Alarm, Of
from infra.constructs.http_api import ACCESS_LOG
from infra.functions import FUNCTIONS
from infra.tables import TABLES
from infra.watching import COUNTED, METRICS, Emitted, Provided
from shared.domain.health import HealthState
from shared.domain.outcomes import OutcomeCode
from tests.infra.synthesised import Synthesised, synthesise
from tests.support.alarm_causes import CAUSES, PERIOD_S, Looks, a_quiet_hour, throttle_the_api
from tests.support.alarm_room import AlarmRoom, matches, transitions, worked_out
from tests.support.builders import NOW

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
NAMES = [alarm.name for alarm in ALARMS]
OF_FUNCTIONS = [(function.name, alarm) for function in FUNCTIONS for alarm in ("Errors", "Throttles", "Duration")]
LATER = NOW + 6 * 3600


@pytest.fixture
def room(shipped: Synthesised) -> AlarmRoom:
    return AlarmRoom(shipped.template)


def test_the_stack_has_the_alarms_that_are_written_down_and_no_others(room: AlarmRoom) -> None:
    assert sorted(room.alarms) == sorted(NAMES)


def test_there_is_a_cause_for_every_alarm() -> None:
    of_functions = {f"{alarm}{name.capitalize()}" for name, alarm in OF_FUNCTIONS}
    of_tables = {name for name in NAMES if name.startswith("Table")}
    assert len(of_tables) == len(TABLES)
    assert set(NAMES) == set(CAUSES) | of_functions | of_tables | {"ThrottledRequests"}


@pytest.mark.parametrize("name", sorted(CAUSES))
def test_an_alarm_goes_off_for_its_cause(room: AlarmRoom, name: str) -> None:
    CAUSES[name](room)

    assert room.state(name, at_s=NOW) == "ALARM"


@pytest.mark.parametrize("name", sorted(set(CAUSES) - {"ProbeSilent"}))
def test_an_alarm_ends_when_its_cause_is_over(room: AlarmRoom, name: str) -> None:
    CAUSES[name](room)

    assert room.state(name, at_s=LATER) == "OK"


def test_the_alarm_of_throttles_goes_off_for_what_no_function_saw(room: AlarmRoom) -> None:
    throttle_the_api(room, ACCESS_LOG)

    assert room.in_alarm(at_s=NOW) == {"ThrottledRequests", "ProbeSilent"}


def test_a_limit_of_a_credential_is_no_throttle_of_the_api(room: AlarmRoom) -> None:
    line = '{"status": "429", "functionMs": "12"}'
    room.log("LogAccess", "\n".join([line] * 50), at_s=NOW)

    assert room.state("ThrottledRequests", at_s=NOW) == "OK"


@pytest.mark.parametrize(("function", "alarm"), OF_FUNCTIONS)
def test_the_alarms_of_a_function_go_off_for_that_function(room: AlarmRoom, function: str, alarm: str) -> None:
    (one,) = [each for each in FUNCTIONS if each.name == function]
    value = one.timeout_s * 1000 - 100 if alarm == "Duration" else 1
    room.put("AWS/Lambda", alarm, value, at_s=NOW, FunctionName=f"Function{function.capitalize()}")

    assert room.in_alarm(at_s=NOW) == {f"{alarm}{function.capitalize()}", "ProbeSilent"}


@pytest.mark.parametrize("metric", ["ReadThrottleEvents", "WriteThrottleEvents"])
@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_the_alarm_of_a_table_goes_off_for_that_table(room: AlarmRoom, table: str, metric: str) -> None:
    name = "Table" + "".join(word.capitalize() for word in table.split("-"))
    room.put("AWS/DynamoDB", metric, 11, at_s=NOW, TableName=name)

    assert room.in_alarm(at_s=NOW) == {name, "ProbeSilent"}


def test_the_alarm_of_a_table_goes_off_for_failures_of_single_operations(room: AlarmRoom) -> None:
    for operation in ("BatchGetItem", "Query"):
        room.put("AWS/DynamoDB", "SystemErrors", 6, at_s=NOW, TableName="TableRegistrationsPublic", Operation=operation)

    assert room.in_alarm(at_s=NOW) == {"TableRegistrationsPublic", "ProbeSilent"}


def test_nothing_goes_off_in_a_quiet_hour(room: AlarmRoom) -> None:
    a_quiet_hour(room)
    for function in FUNCTIONS:
        dimension = f"Function{function.name.capitalize()}"
        room.put("AWS/Lambda", "Errors", 0, at_s=NOW, FunctionName=dimension)
        room.put("AWS/Lambda", "Duration", 1200, at_s=NOW, FunctionName=dimension)
    for back in range(3):
        room.put("AWS/ApiGateway", "Count", 100, at_s=NOW - PERIOD_S * back, ApiId="HttpApi")
        room.put("AWS/ApiGateway", "5xx", 1, at_s=NOW - PERIOD_S * back, ApiId="HttpApi")

    assert room.in_alarm(at_s=NOW) == set()


def test_a_few_failures_among_few_searches_are_no_alarm(room: AlarmRoom) -> None:
    for back in range(3):
        room.put("KnowledgeGateway", "Searches", 3, at_s=NOW - PERIOD_S * back, Lane="agent")
        room.put("KnowledgeGateway", "FailedAnswers", 3, at_s=NOW - PERIOD_S * back, Lane="agent")

    assert room.state("FailedAnswersAgent", at_s=NOW) == "OK"


def test_one_lane_in_trouble_is_not_the_other(room: AlarmRoom) -> None:
    CAUSES["FailedAnswersCustomer"](room)

    assert room.state("FailedAnswersAgent", at_s=NOW) == "OK"


# --- a run of failures is told once --------------------------------------------------------------


def test_credentials_that_are_refused_all_hour_are_told_once_and_within_one_run(room: AlarmRoom) -> None:
    looks, states = Looks(room), []
    for run in range(12):
        looks.look(OutcomeCode.UNAUTHORIZED, at_s=NOW + PERIOD_S * run)
        states.append(room.state("ProvidersRefused", at_s=NOW + PERIOD_S * run))

    assert states[0] == "ALARM"
    assert transitions(states) == 1


def test_a_provider_that_flaps_is_down_once_and_told_once(room: AlarmRoom) -> None:
    fail = OutcomeCode.CONNECTION_FAILED
    looks, seen, states = Looks(room), [], []
    for run, code in enumerate((None, fail, None, fail, fail, fail, None, None, None)):
        seen.append(looks.look(code, at_s=NOW + PERIOD_S * run))
        states.append(room.state("ProvidersDown", at_s=NOW + PERIOD_S * run))

    well, failing = HealthState.HEALTHY, HealthState.FAILING
    assert seen == [well, failing, well, failing, failing, HealthState.DOWN, well, well, well]
    assert transitions(states) == 1
    assert states[-1] == "OK"


def test_a_silent_probe_is_told_once_and_a_run_ends_it(room: AlarmRoom) -> None:
    at = [NOW + PERIOD_S * run for run in range(9)]
    looks = Looks(room)
    looks.look(None, at_s=at[0])
    looks.look(None, at_s=at[6])
    states = [room.state("ProbeSilent", at_s=each) for each in at]

    assert states == ["OK", "OK", "OK", "ALARM", "ALARM", "ALARM", "OK", "OK", "OK"]


# --- what is written down fits together ----------------------------------------------------------


@pytest.mark.parametrize("alarm", ALARMS, ids=NAMES)
def test_an_alarm_reads_metrics_by_dimensions_that_they_have(alarm: Alarm) -> None:
    for reading in alarm.readings:
        metric, names = METRICS[reading.metric], [name for name, _ in reading.dimensions]
        if isinstance(metric, Provided):
            assert names == list(metric.dimensions)
        elif isinstance(metric, Emitted):
            assert names == list(metric.dimensions)
            assert all(value in metric.dimensions[name] for name, value in reading.dimensions)
        else:
            assert names == []


@pytest.mark.parametrize("alarm", ALARMS, ids=NAMES)
def test_an_alarm_names_its_entry_of_the_operations_page(room: AlarmRoom, alarm: Alarm) -> None:
    assert repr(alarm.runbook) in room.alarms[alarm.name]["AlarmDescription"]


def test_the_operations_page_has_an_entry_for_every_alarm_and_no_others() -> None:
    section = OPERATIONS.read_text().split("## What to do when an alarm goes off\n")[1].split("\n## ")[0]

    assert re.findall(r"^### (.+)$", section, re.MULTILINE) == list(dict.fromkeys(one.runbook for one in ALARMS))


def test_every_counted_metric_is_counted_in_the_logs_that_it_is_of(shipped: Synthesised) -> None:
    filters = shipped.of_type("AWS::Logs::MetricFilter").values()
    made = sorted((one["MetricTransformations"][0]["MetricName"], one["LogGroupName"]["Ref"]) for one in filters)

    assert made == sorted((metric.name, f"Log{log.capitalize()}") for metric in COUNTED for log in metric.logs)


def test_alarms_of_functions_and_tables_are_of_ones_that_exist() -> None:
    of = {value for alarm in ALARMS for r in alarm.readings for _, value in r.dimensions if isinstance(value, Of)}

    assert {one.name for one in of if one.kind == "function"} == {function.name for function in FUNCTIONS}
    assert {one.name for one in of if one.kind == "table"} == {table.name for table in TABLES}


def test_the_room_reads_patterns_and_sums_as_they_are_written() -> None:
    pattern = '{ ($.a = "x" && $.b != "y") || ($.c = "z") }'
    assert matches(pattern, {"a": "x"})
    assert matches(pattern, {"c": "z", "a": "x", "b": "y"})
    assert not matches(pattern, {"a": "x", "b": "y"})
    assert worked_out("IF(n >= 10, 100 * p / n, 0)", {"n": 10.0, "p": 3.0}) == 30
    assert worked_out("IF(n >= 10, 100 * p / n, 0)", {"n": 9.0, "p": 9.0}) == 0
    assert worked_out("IF(n >= 10, 100 * p / n, 0)", {"n": None, "p": 9.0}) is None
    assert worked_out("FILL(n, 0) + FILL(p, 0)", {"n": None, "p": 2.0}) == 2


def test_the_operations_page_names_every_metric_of_our_own() -> None:
    section = OPERATIONS.read_text().split("## What is watched\n")[1].split("\n## ")[0]

    assert {
        name for name, one in METRICS.items() if not isinstance(one, Provided) and f"`{name}`" not in section
    } == set()


def test_a_stack_that_nobody_watches_has_no_alarms_and_no_dashboard(tmp_path: Path) -> None:
    template = synthesise(tmp_path, unwatched="true")

    assert not template.of_type("AWS::CloudWatch::Alarm")
    assert not template.of_type("AWS::CloudWatch::Dashboard")
    assert not template.of_type("AWS::Logs::MetricFilter")
