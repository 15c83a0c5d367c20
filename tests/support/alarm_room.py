"""CloudWatch's part in an alarm, small and from the synthesised template alone: log lines become numbers, numbers are
gathered in periods, periods are held against thresholds.

    room = AlarmRoom(template)
    room.log("search", line, at_s=...)          # a line as a function writes it; measures are among them
    room.put("AWS/Lambda", "Errors", 1, at_s=..., FunctionName="FunctionSearch")     # what AWS counts itself
    room.state("ErrorsSearch", at_s=...)        # "ALARM" or "OK"

Names of resources are their logical ids; the stack's own name is `STACK`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STACK = "KnowledgeGateway"
_STATISTICS = {"Sum": sum, "Maximum": max, "Minimum": min, "SampleCount": len}


@dataclass(frozen=True)
class Number:
    namespace: str
    name: str
    dimensions: frozenset[tuple[str, str]]
    at_s: float
    value: float


class AlarmRoom:
    def __init__(self, template: Mapping[str, Any]) -> None:
        resources = template["Resources"].values()
        self._filters = [r["Properties"] for r in resources if r["Type"] == "AWS::Logs::MetricFilter"]
        self.alarms = {
            name.removesuffix(name[-8:]).removesuffix("Alarm"): resource["Properties"]
            for name, resource in template["Resources"].items()
            if resource["Type"] == "AWS::CloudWatch::Alarm"
        }
        self.numbers: list[Number] = []

    def log(self, log_group: str, text: str, *, at_s: float) -> None:
        """`text` is any number of lines, of the log group with this logical id."""
        for line in filter(None, text.splitlines()):
            fields = json.loads(line)
            self.numbers += measured(fields, at_s=at_s)
            self.numbers += self._counted(log_group, fields, at_s=at_s)

    def put(self, namespace: str, name: str, value: float, *, at_s: float, **dimensions: str) -> None:
        self.numbers.append(Number(namespace, name, frozenset(dimensions.items()), at_s, value))

    def state(self, alarm: str, *, at_s: float) -> str:
        """With periods that end now."""
        wanted = self.alarms[alarm]
        series = self._series(wanted, at_s=at_s)
        bad = sum(_is_bad(value, wanted) for value in series)
        return "ALARM" if bad >= wanted["DatapointsToAlarm"] else "OK"

    def states(self, *, at_s: float) -> dict[str, str]:
        return {name: self.state(name, at_s=at_s) for name in self.alarms}

    def in_alarm(self, *, at_s: float) -> set[str]:
        return {name for name, state in self.states(at_s=at_s).items() if state == "ALARM"}

    def _counted(self, log_group: str, fields: Mapping[str, Any], *, at_s: float) -> Iterable[Number]:
        for one in self._filters:
            if one["LogGroupName"] == {"Ref": log_group} and matches(one["FilterPattern"], fields):
                (change,) = one["MetricTransformations"]
                value = float(change["MetricValue"])
                yield Number(plain(change["MetricNamespace"]), change["MetricName"], frozenset(), at_s, value)

    def _series(self, alarm: Mapping[str, Any], *, at_s: float) -> list[float | None]:
        """What the alarm looks at, the newest period first; None for a period without any number."""
        if "Metrics" not in alarm:
            return self._of_metric({**alarm, "Stat": alarm["Statistic"]}, alarm, at_s=at_s)
        (asked,) = [one for one in alarm["Metrics"] if "Expression" in one]
        known = {
            one["Id"]: self._of_metric(
                {**one["MetricStat"]["Metric"], **one["MetricStat"]}, {**alarm, **one["MetricStat"]}, at_s=at_s
            )
            for one in alarm["Metrics"]
            if "MetricStat" in one
        }
        return [
            worked_out(asked["Expression"], {id_: series[back] for id_, series in known.items()})
            for back in range(alarm["EvaluationPeriods"])
        ]

    def _of_metric(self, metric: Mapping[str, Any], alarm: Mapping[str, Any], *, at_s: float) -> list[float | None]:
        wanted = frozenset((one["Name"], plain(one["Value"])) for one in metric.get("Dimensions", []))
        namespace, name = plain(metric["Namespace"]), metric["MetricName"]
        found = [n for n in self.numbers if (n.namespace, n.name, n.dimensions) == (namespace, name, wanted)]
        period_s = alarm["Period"]
        periods: list[float | None] = []
        for back in range(alarm["EvaluationPeriods"]):
            end = at_s - back * period_s
            values = [n.value for n in found if end - period_s < n.at_s <= end]
            periods.append(_STATISTICS[metric["Stat"]](values) if values else None)
        return periods


def _is_bad(value: float | None, alarm: Mapping[str, Any]) -> bool:
    if value is None:
        return alarm["TreatMissingData"] == "breaching"
    if alarm["ComparisonOperator"] == "LessThanThreshold":
        return value < alarm["Threshold"]
    assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
    return value > alarm["Threshold"]


def plain(value: Any) -> str:
    """Text, or the logical id that is referred to; the stack's own name for itself."""
    if isinstance(value, str):
        return value
    name = value["Ref"] if "Ref" in value else value["Fn::GetAtt"][0]
    return STACK if name == "AWS::StackName" else str(name)


def measured(fields: Mapping[str, Any], *, at_s: float) -> Iterable[Number]:
    """The numbers in a line of the embedded metric format; none in any other line."""
    for directive in fields.get("_aws", {}).get("CloudWatchMetrics", []):
        for names in directive["Dimensions"]:
            dimensions = frozenset((name, fields[name]) for name in names)
            assert all(isinstance(value, str) and value for _, value in dimensions)
            for metric in directive["Metrics"]:
                values = fields[metric["Name"]]
                assert not isinstance(values, list) or 1 <= len(values) <= 100
                for value in values if isinstance(values, list) else [values]:
                    assert type(value) in (int, float), "the log service takes numbers alone"
                    yield Number(directive["Namespace"], metric["Name"], dimensions, at_s, value)


_TOKEN = re.compile(r'\s*(?:(\(|\)|&&|\|\|)|\$\.(\w+)\s*(=|!=)\s*"([^"]*)")')


def matches(pattern: str, fields: Mapping[str, Any]) -> bool:
    """CloudWatch's filter patterns over JSON, as far as they are used: `{ ($.a = "x" && $.b = "y") || … }`."""
    inner = pattern.strip().removeprefix("{").removesuffix("}").strip()
    words, at = [], 0
    while at < len(inner):
        token = _TOKEN.match(inner, at)
        assert token, f"not understood: {inner[at:]}"
        mark, name, operator, value = token.groups()
        at = token.end()
        words.append(
            {"&&": " and ", "||": " or "}.get(mark, mark) if mark else _compared(fields, name, operator, value)
        )
    return bool(_truth(ast.parse("".join(words).strip(), mode="eval").body))


def _compared(fields: Mapping[str, Any], name: str, operator: str, value: str) -> str:
    is_equal = name in fields and str(fields[name]) == value
    return str(is_equal if operator == "=" else not is_equal)


def _truth(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return (all if isinstance(node.op, ast.And) else any)([_truth(value) for value in node.values])
    assert isinstance(node, ast.Constant)
    return bool(node.value)


def worked_out(expression: str, values: Mapping[str, float | None]) -> float | None:
    """CloudWatch's metric maths, as far as they are used. What nothing is known of stays unknown."""
    return _worth(ast.parse(expression, mode="eval").body, values)


def _worth(node: ast.expr, values: Mapping[str, float | None]) -> float | None:
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.Call):
        return _called(node, values)
    if isinstance(node, ast.Compare):
        return _both(node.left, node.comparators[0], values, lambda a, b: float(a >= b))
    assert isinstance(node, ast.BinOp)
    work = {ast.Add: lambda a, b: a + b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b if b else None}
    return _both(node.left, node.right, values, work[type(node.op)])


def _called(node: ast.Call, values: Mapping[str, float | None]) -> float | None:
    assert isinstance(node.func, ast.Name)
    first = _worth(node.args[0], values)
    if node.func.id == "FILL":
        return _worth(node.args[1], values) if first is None else first
    assert node.func.id == "IF"
    return None if first is None else _worth(node.args[1 if first else 2], values)


def _both(left: ast.expr, right: ast.expr, values: Mapping[str, float | None], work: Any) -> float | None:
    a, b = _worth(left, values), _worth(right, values)
    return None if a is None or b is None else work(a, b)


def transitions(states: Sequence[str]) -> int:
    """How often somebody is told."""
    return sum(now == "ALARM" and before != "ALARM" for before, now in zip(["OK", *states], states, strict=False))
