"""What is measured, in which lines, and that what is measured stays few metrics."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest

from infra.watching import EMITTED, KINDS, LANES, OUTCOMES, series_of
from shared.domain.acquisitions import Acquired, Wanted
from shared.errors import Refused
from shared.measures import (
    DEFAULT_NAMESPACE,
    NAMESPACE_VARIABLE,
    Asked,
    Searched,
    measure_asked,
    measure_health,
    measure_search,
)
from shared.ports.meter import Meter
from tests.support.alarm_room import measured
from tests.support.live_stage import LiveStage

ABOUT = {"request_id": "r-1", "gateway_request_id": "g-1", "function_request_id": "f-1"}


def lines_of(work: Callable[[], object]) -> list[dict[str, Any]]:
    with contextlib.redirect_stdout(io.StringIO()) as written:
        work()
    return [json.loads(line) for line in written.getvalue().splitlines()]


def numbers_of(work: Callable[[], object]) -> list[tuple[str, dict[str, str], float]]:
    return [(n.name, dict(n.dimensions), n.value) for line in lines_of(work) for n in measured(line, at_s=0)]


def test_a_search_is_counted_by_its_lane() -> None:
    searched = Searched(lane="customer", duration_ms=41, found_nothing=True)

    assert numbers_of(lambda: measure_search(searched, [], about=ABOUT)) == [
        ("Searches", {"Lane": "customer"}, 1),
        ("SearchDuration", {"Lane": "customer"}, 41),
        ("PartialAnswers", {"Lane": "customer"}, 0),
        ("FailedAnswers", {"Lane": "customer"}, 0),
        ("ZeroResults", {"Lane": "customer"}, 1),
    ]


def test_providers_of_one_kind_that_went_alike_share_a_line() -> None:
    asked = [Asked(kind="contract", status="success", duration_ms=ms) for ms in (5, 7, 9)]
    asked.append(Asked(kind="contract", status="failed", duration_ms=8))
    lines = lines_of(lambda: measure_search(Searched(lane="agent", duration_ms=9), asked, about=ABOUT))

    assert len(lines) == 3
    assert (lines[1]["ProviderOutcomes"], lines[1]["ProviderDuration"]) == (3, [5, 7, 9])
    assert (lines[2]["Kind"], lines[2]["Status"], lines[2]["Lane"]) == ("contract", "failed", "agent")


def test_one_that_was_not_asked_took_no_time() -> None:
    asked = [Asked(kind="exa", status="skipped")]

    numbers = numbers_of(lambda: measure_asked(asked, lane="agent", about=ABOUT))
    assert numbers == [("ProviderOutcomes", {"Kind": "exa", "Lane": "agent", "Status": "skipped"}, 1)]


@pytest.mark.parametrize("count", [99, 100, 200, 201])
def test_as_many_providers_as_can_be_are_all_counted(count: int) -> None:
    asked = [Asked(kind="contract", status="success", duration_ms=ms) for ms in range(count)]
    numbers = numbers_of(lambda: measure_asked(asked, lane="agent", about=ABOUT))

    assert sum(value for name, _, value in numbers if name == "ProviderOutcomes") == count
    assert [value for name, _, value in numbers if name == "ProviderDuration"] == list(range(count))


def test_every_line_carries_the_ids_of_its_request() -> None:
    asked = [Asked(kind="dify", status="empty", duration_ms=1)]
    lines = lines_of(lambda: measure_search(Searched(lane="agent", duration_ms=1), asked, about=ABOUT))

    assert [{name: line[name] for name in ABOUT} for line in lines] == [ABOUT, ABOUT]


def test_the_ids_of_a_request_are_no_dimensions() -> None:
    asked = [Asked(kind="dify", status="empty", duration_ms=1)]
    numbers = numbers_of(lambda: measure_search(Searched(lane="agent", duration_ms=1), asked, about=ABOUT))

    assert {name for _, dimensions, _ in numbers for name in dimensions} == {"Kind", "Lane", "Status"}


def test_the_namespace_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    def namespace() -> str:
        (line,) = lines_of(lambda: measure_health({}, left_out=0, about={}))
        return str(line["_aws"]["CloudWatchMetrics"][0]["Namespace"])

    monkeypatch.delenv(NAMESPACE_VARIABLE, raising=False)
    assert namespace() == DEFAULT_NAMESPACE
    monkeypatch.setenv(NAMESPACE_VARIABLE, "KnowledgeGateway-staging")
    assert namespace() == "KnowledgeGateway-staging"


def test_a_run_of_the_probe_tells_the_states_that_there_are() -> None:
    counts = {"healthy": 3, "down": 1, "refused": 0}

    assert numbers_of(lambda: measure_health(counts, left_out=2, about={})) == [
        ("ProbeRuns", {}, 1),
        ("ProbeLeftOut", {}, 2),
        ("ProvidersByState", {"State": "healthy"}, 3),
        ("ProvidersByState", {"State": "down"}, 1),
    ]


def test_there_are_only_so_many_metrics_however_much_happens() -> None:
    """Every kind, status and lane, again and again with other providers: what comes out is what is written down."""
    seen: set[tuple[str, frozenset[tuple[str, str]]]] = set()
    for lane, number in itertools.product(LANES, range(3)):
        asked = [Asked(kind=kind, status=status, duration_ms=number) for kind in KINDS for status in OUTCOMES]
        searched = Searched(lane=lane, duration_ms=number, is_partial=True, is_failed=True, found_nothing=True)
        about = {"request_id": f"{lane}-{number}"}
        numbers = numbers_of(lambda s=searched, a=asked, b=about: measure_search(s, a, about=b))
        seen |= {(name, frozenset(dimensions.items())) for name, dimensions, _ in numbers}
    written_down = {
        (metric.name, frozenset(one.items()))
        for metric in EMITTED
        if "Lane" in metric.dimensions
        for one in series_of(metric)
    }

    assert seen == written_down
    assert len(seen) == 2 * 5 + 2 * len(KINDS) * len(OUTCOMES) * len(LANES)


@pytest.mark.parametrize(
    ("refusal", "status", "has_duration"),
    [(None, "success", True), ("unauthorized", "failed", True), ("keys_exhausted", "skipped", False)],
    ids=["success", "failed", "skipped"],
)
def test_an_acquisition_is_counted_like_a_provider_in_a_search(
    refusal: str | None, status: str, has_duration: bool
) -> None:
    stage = LiveStage()
    provider = stage.add()

    async def fetch(wanted: Wanted, _meter: Meter) -> Acquired:
        if refusal is not None:
            raise Refused(refusal)
        return Acquired(url=wanted.url, final_url=wanted.url, title=None, text="text")

    stage.service.fetches[provider.id] = fetch
    numbers = numbers_of(stage.acquire)
    stage.close()

    dimensions = {"Kind": provider.source.kind, "Lane": "agent", "Status": status}
    assert ("ProviderOutcomes", dimensions, 1) in numbers
    assert ("ProviderDuration" in {name for name, _, _ in numbers}) is has_duration
