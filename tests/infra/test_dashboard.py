"""The dashboard shows all that is watched, and reads nothing that is not."""

from __future__ import annotations

import json
import re
from typing import Any

from infra.alarms import ALARMS
from infra.panels import ROWS, Found
from infra.watching import KINDS, LANES, METRICS, STATES, Counted, Emitted, Provided
from tests.infra.synthesised import Synthesised
from tests.support.alarm_room import STACK, plain

_SEARCH = re.compile(
    r"""^(SUM|MAX)\(SEARCH\('\{"([^"]+)",([\w,]+)\} MetricName="(\w+)" (\w+)="(\w+)"', '\w+', 300\)\)$"""
)


def body_of(shipped: Synthesised) -> dict[str, Any]:
    (dashboard,) = shipped.of_type("AWS::CloudWatch::Dashboard").values()
    parts = dashboard["DashboardBody"]["Fn::Join"][1]
    body: dict[str, Any] = json.loads("".join(part if isinstance(part, str) else plain(part) for part in parts))
    return body


def graphs(shipped: Synthesised) -> list[dict[str, Any]]:
    return [one["properties"] for one in body_of(shipped)["widgets"] if one["type"] == "metric"]


def shown(shipped: Synthesised) -> list[tuple[str, str, dict[str, str]]]:
    """Each line of each graph: namespace, metric, dimensions with their values."""
    found = []
    for graph in graphs(shipped):
        for line in graph["metrics"]:
            if isinstance(line[0], dict):
                search = _SEARCH.match(line[0]["expression"])
                assert search, line[0]
                _, namespace, dimensions, name, dimension, value = search.groups()
                assert dimensions.split(",") == list(METRICS[name].dimensions)  # type: ignore[union-attr]
                found.append((namespace, name, {dimension: value}))
            else:
                words = [word for word in line if isinstance(word, str)]
                found.append((words[0], words[1], dict(zip(words[2::2], words[3::2], strict=True))))
    return found


def test_every_graph_reads_what_is_watched_by_dimensions_that_it_has(shipped: Synthesised) -> None:
    for namespace, name, dimensions in shown(shipped):
        metric = METRICS[name]
        if isinstance(metric, Provided):
            assert (namespace, set(dimensions)) == (metric.namespace, set(metric.dimensions))
        elif isinstance(metric, Emitted):
            assert namespace == STACK
            assert all(value in metric.dimensions[each] for each, value in dimensions.items())
        else:
            assert (namespace, dimensions) == (STACK, {})


def test_all_that_is_watched_is_shown(shipped: Synthesised) -> None:
    assert {name for _, name, _ in shown(shipped)} == set(METRICS)


def test_every_alarm_can_be_followed_on_the_dashboard(shipped: Synthesised) -> None:
    names = {name for _, name, _ in shown(shipped)}

    assert {reading.metric for alarm in ALARMS for reading in alarm.readings} <= names


def test_what_is_watched_is_watched_for_something() -> None:
    """Numbers of our own have a price: each is the reason of an alarm, or shown for its own sake."""
    read = {reading.metric for alarm in ALARMS for reading in alarm.readings}

    assert {metric.name for metric in METRICS.values() if isinstance(metric, Counted)} <= read


def test_all_lanes_kinds_and_states_are_on_it(shipped: Synthesised) -> None:
    def values(metric: str, dimension: str) -> set[str]:
        return {of[dimension] for _, name, of in shown(shipped) if name == metric and dimension in of}

    assert values("Searches", "Lane") == set(LANES)
    assert values("ProviderOutcomes", "Kind") == set(KINDS)
    assert values("ProvidersByState", "State") == set(STATES)


def test_every_panel_becomes_a_graph(shipped: Synthesised) -> None:
    panels = [panel for row in ROWS for panel in row.panels]

    assert [graph["title"] for graph in graphs(shipped)] == [panel.title for panel in panels]
    assert [len(graph["metrics"]) for graph in graphs(shipped)] == [len(panel.shown) for panel in panels]
    assert any(isinstance(one, Found) for panel in panels for one in panel.shown)


def test_lines_of_one_graph_have_names_of_their_own(shipped: Synthesised) -> None:
    for graph in graphs(shipped):
        labels = [line[-1].get("label") or line[0].get("label") for line in graph["metrics"]]
        assert len(set(labels)) == len(labels)
