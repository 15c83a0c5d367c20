"""Numbers about the gateway, as lines that the log service makes metrics of (CloudWatch's embedded metric format).

What is measured here has few dimensions, each out of a fixed list: a new combination is a new metric, with its price.
Ids and codes stay in the log lines. The namespace is the environment's `POWERTOOLS_METRICS_NAMESPACE`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

NAMESPACE_VARIABLE: Final = "POWERTOOLS_METRICS_NAMESPACE"
DEFAULT_NAMESPACE: Final = "KnowledgeGateway"

SEARCHES: Final = "Searches"
SEARCH_DURATION: Final = "SearchDuration"
PARTIAL_ANSWERS: Final = "PartialAnswers"
FAILED_ANSWERS: Final = "FailedAnswers"
ZERO_RESULTS: Final = "ZeroResults"
PROVIDER_OUTCOMES: Final = "ProviderOutcomes"
PROVIDER_DURATION: Final = "ProviderDuration"
PROVIDERS_BY_STATE: Final = "ProvidersByState"
PROBE_RUNS: Final = "ProbeRuns"
PROBE_LEFT_OUT: Final = "ProbeLeftOut"

_BATCH: Final = 100  # values of one metric in one line: the log service takes no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """One search that was answered. `lane`: agent or customer."""

    lane: str
    duration_ms: int
    is_partial: bool = False
    is_failed: bool = False
    found_nothing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One provider in one request: its kind and how it went. `duration_ms` is None for one that was not asked."""

    kind: str
    status: str
    duration_ms: int | None = None


def measure_search(search: Searched, asked: Iterable[Asked], *, about: Mapping[str, str]) -> None:
    """A line for the lane and one for each kind and status. `about`: the ids that the lines carry beside."""
    line = _Line(about, Lane=search.lane)
    line.count(SEARCHES, 1)
    line.ms(SEARCH_DURATION, [search.duration_ms])
    line.count(PARTIAL_ANSWERS, search.is_partial)
    line.count(FAILED_ANSWERS, search.is_failed)
    line.count(ZERO_RESULTS, search.found_nothing)
    line.end()
    measure_asked(asked, lane=search.lane, about=about)


def measure_asked(asked: Iterable[Asked], *, lane: str, about: Mapping[str, str]) -> None:
    """For what asks single providers, outside a search."""
    alike: dict[tuple[str, str], list[Asked]] = {}
    for each in asked:
        alike.setdefault((each.kind, each.status), []).append(each)
    for (kind, status), those in alike.items():
        for start in range(0, len(those), _BATCH):
            batch = those[start : start + _BATCH]
            line = _Line(about, Kind=kind, Lane=lane, Status=status)
            line.count(PROVIDER_OUTCOMES, len(batch))
            durations_ms = [each.duration_ms for each in batch if each.duration_ms is not None]
            if durations_ms:
                line.ms(PROVIDER_DURATION, durations_ms)
            line.end()


def measure_health(counts: Mapping[str, int], *, left_out: int, about: Mapping[str, str]) -> None:
    """Once a run of the probe: how many providers are in each state. A state in which none is gets no line: the
    metric is then missing, which says the same and costs nothing.
    """
    line = _Line(about)
    line.count(PROBE_RUNS, 1)
    line.count(PROBE_LEFT_OUT, left_out)
    line.end()
    for state, count in counts.items():
        if count:
            line = _Line(about, State=state)
            line.count(PROVIDERS_BY_STATE, count)
            line.end()


class _Line:
    """One line: one set of dimensions with some metrics."""

    def __init__(self, about: Mapping[str, str], /, **dimensions: str) -> None:
        self._about = about
        self._dimensions = dimensions
        self._metrics: dict[str, dict[str, object]] = {}

    def count(self, name: str, value: int) -> None:
        self._metrics[name] = {"Unit": "Count", "Value": int(value)}  # never `true`: that is no number there

    def ms(self, name: str, values: Sequence[int]) -> None:
        self._metrics[name] = {"Unit": "Milliseconds", "Value": values}

    def end(self) -> None:
        """In one write, as the log service takes each line for itself."""
        writer = _writer(os.environ.get(NAMESPACE_VARIABLE) or DEFAULT_NAMESPACE)
        line = writer.serialize_metric_set(self._metrics, self._dimensions, dict(self._about))
        sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")


@cache
def _writer(namespace: str) -> AmazonCloudWatchEMFProvider:
    """Made once, and given all numbers at once: adding them one by one takes several times as long."""
    return AmazonCloudWatchEMFProvider(namespace=namespace)
