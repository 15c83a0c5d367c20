"""Health for people: a table with the worst first, short words, relative times. Colour says nothing of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from infra.cli.tables import line, plain, shortened, width
from infra.cli.terminal import Coloured, Line, Lines

_NAME_CHARACTERS: Final = 30
_GOOD: Final = frozenset({"healthy", "closed"})
_WARNING: Final = frozenset({"degraded", "failing", "limited", "half_open", "not_configured"})
_BAD: Final = frozenset({"down", "refused", "broken", "auto_disabled", "open"})
_COLOURS: Final = {**dict.fromkeys(_GOOD, 32), **dict.fromkeys(_WARNING, 33), **dict.fromkeys(_BAD, 31)}
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_LANES: Final = {"agent": "agents", "customer": "customers"}

Json = Mapping[str, Any]


def all_text(told: Json, *, now: datetime) -> Lines:
    """The answer about all providers."""
    lines: Lines = [_summary(told, now=now)]
    if told["providers"]:
        rows = [_row(each, now=now) for each in told["providers"]]
        lines += ["", *_table(("STATE", "PROVIDER", "KIND", "SINCE", "WHY", "AGAIN"), rows)]
    return [*lines, *_pool_lines(told["pools"], now=now)]


def one_text(told: Json, *, now: datetime) -> Lines:
    """The answer about one provider, with its history."""
    provider = told["provider"]
    name = f"{_shortened(provider['name'])}  {provider['id']}  {provider['kind']}  {provider['exposureProfile']}"
    lines: Lines = [name, ("  ", *_how(provider, now=now)), f"  {provider['explanation']}"]
    lines.append(f"  {_looked(provider)}; {_last_well(provider, now=now)}")
    lines += _unknown(told, now=now)
    lines += [_lane_line(lane, circuit, now=now) for lane in _LANES if (circuit := provider["circuits"][lane])]
    lines += _pool_lines(told["pools"], now=now)
    rows = [_happening_row(each, now=now) for each in told["history"]]
    if not rows:
        return [*lines, "", "Nothing has happened to it in 30 days."]
    return [*lines, "", *_table(("AGO", "LANE", "WHAT", "STATE", "WHY"), rows)]


def _summary(told: Json, *, now: datetime) -> Line:
    states = Counter(each["state"] for each in told["providers"])
    counted = ", ".join(f"{count} {_word(state)}" for state, count in states.items())
    providers = f"{len(told['providers'])} providers: {counted}" if states else "no providers"
    return _coloured(told["status"], told["status"].upper()), "; ".join(["", providers, *_notes(told, now=now)])


def _notes(told: Json, *, now: datetime) -> Iterator[str]:
    """When somebody looked, and what is not known."""
    checked_at = told["checkedAt"]
    looked = "nobody has looked yet" if checked_at is None else f"looked {_ago(checked_at, now=now)} ago"
    yield f"{looked}, which is too long" if told["stale"] and checked_at is not None else looked
    if told["run"] and told["run"]["leftOut"]:
        yield f"{told['run']['leftOut']} left out for want of time"
    if told["unavailable"]:
        yield "cannot be read now: " + ", ".join(_word(part) for part in told["unavailable"])


def _unknown(told: Json, *, now: datetime) -> Lines:
    return [f"  {note}" for note in _notes(told, now=now)]


def _row(provider: Json, *, now: datetime) -> tuple[str, ...]:
    return (
        provider["state"],
        _shortened(provider["name"]),
        provider["kind"],
        _ago(provider["since"], now=now),
        _why(provider),
        _until(provider["retryAt"], now=now),
    )


def _why(provider: Json) -> str:
    """The code; of one that has none, what could not be looked at."""
    words = [provider["code"] if provider["state"] not in ("healthy", "disabled") and provider["code"] else ""]
    if provider["state"] == "unchecked":
        words = ["nothing to look at" if provider["looked"] == "nothing" else "not looked at"]
    return ", ".join(word for word in (*words, *map(_word, provider["warnings"])) if word)


def _how(provider: Json, *, now: datetime) -> tuple[Coloured, str]:
    since, again = _ago(provider["since"], now=now), _until(provider["retryAt"], now=now)
    told = [f"for {since}" if since else "", provider["code"] or "", f"again {again}" if again else ""]
    return _coloured(provider["state"]), ", ".join(["", *(each for each in told if each)])


def _looked(provider: Json) -> str:
    looked = provider["looked"]
    if looked is None:
        return "not looked at yet"
    return "nothing to look at without a search" if looked == "nothing" else f"looked at: {_word(looked)}"


def _last_well(provider: Json, *, now: datetime) -> str:
    at = provider["lastWellAt"]
    if at is None:
        return "never seen well"
    if provider["state"] == "healthy":
        return f"every look has gone well for {_ago(at, now=now)}"
    return f"last well {_ago(at, now=now)} ago"


def _lane_line(lane: str, circuit: Json, *, now: datetime) -> Line:
    told = [""]
    if circuit["failures"]:
        told.append(f"{circuit['failures']} failed in a row")
    if circuit["lastCode"]:
        told.append(f"{circuit['lastCode']} {_ago(circuit['lastAt'], now=now)} ago")
    if circuit["openUntil"]:
        told.append(f"again {_until(circuit['openUntil'], now=now)}")
    return f"  {_LANES[lane]}: ", _coloured(circuit["state"]), ", ".join(told)


def _happening_row(entry: Json, *, now: datetime) -> tuple[str, ...]:
    return (
        _ago(entry["at"], now=now),
        entry["lane"] or "probe",
        _word(entry["happening"]),
        _word(entry["state"]),
        entry["code"] or "",
    )


def _pool_lines(pools: Sequence[Json], *, now: datetime) -> Lines:
    rows = [
        (each["pool"], _keys(each), _until(each["retryAt"], now=now), _allowance(each["allowance"])) for each in pools
    ]
    return ["", *_table(("POOL", "KEYS", "AGAIN", "ALLOWANCE"), rows)] if rows else []


def _keys(pool: Json) -> str:
    if not pool["takesKeys"]:
        return "takes none"
    if pool["configured"] is None:
        return "unknown"
    return f"{pool['usable']} of {pool['configured']} usable" if pool["configured"] else "none"


def _allowance(allowance: Json | None) -> str:
    if allowance is None:
        return "unknown"
    unknown = f", {allowance['unknown']} of them unknown" if allowance["unknown"] else ""
    return f"{allowance['used']} of {allowance['limit']} used{unknown}"


def _table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[Line]:
    """The first column in the colour of its word."""
    shown = [(plain(_word(first)), *map(plain, others)) for first, *others in rows]
    widths = [max(map(width, column)) for column in zip(titles, *shown, strict=True)]
    yield line(titles, widths)
    for (code, *_), (first, *others) in zip(rows, shown, strict=True):
        rest = line(others, widths[1:])
        yield _coloured(code, first + " " * (widths[0] - width(first)) if rest else first), f"  {rest}".rstrip()


def _coloured(code: str, text: str | None = None) -> Coloured:
    """`text`, or the word itself, in the colour of the word."""
    return Coloured(_word(code) if text is None else text, _COLOURS.get(code))


def _shortened(name: str) -> str:
    return shortened(name, _NAME_CHARACTERS)


def _word(code: str) -> str:
    return code.replace("_", " ")


def _ago(moment: str | None, *, now: datetime) -> str:
    return "" if moment is None else _span((now - datetime.fromisoformat(moment)).total_seconds())


def _until(moment: str | None, *, now: datetime) -> str:
    if moment is None:
        return ""
    left_s = (datetime.fromisoformat(moment) - now).total_seconds()
    return f"in {_span(left_s)}" if left_s >= 1 else "now"


def _span(seconds: float) -> str:
    """In the largest unit that fits; what a clock that differs makes negative is nothing."""
    whole = max(0, int(seconds))
    size, unit = next(((size, unit) for size, unit in _UNITS if whole >= size), (1, "s"))
    return f"{whole // size} {unit}"
