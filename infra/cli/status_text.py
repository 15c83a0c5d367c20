"""Health for people: a table with the worst first, short words, relative times. Colour says nothing of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from infra.cli.tables import line, shortened, width

_NAME_CHARACTERS: Final = 30
_GOOD: Final = frozenset({"healthy", "closed"})
_WARNING: Final = frozenset({"degraded", "failing", "limited", "half_open", "not_configured"})
_BAD: Final = frozenset({"down", "refused", "broken", "auto_disabled", "open"})
_COLOURS: Final = {**dict.fromkeys(_GOOD, 32), **dict.fromkeys(_WARNING, 33), **dict.fromkeys(_BAD, 31)}
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_LANES: Final = {"agent": "agents", "customer": "customers"}

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Style:
    is_coloured: bool

    def of(self, word: str, *, text: str | None = None) -> str:
        """`text`, or the word itself, in the colour of the word."""
        shown, colour = word if text is None else text, _COLOURS.get(word)
        return f"\x1b[{colour}m{shown}\x1b[0m" if self.is_coloured and colour else shown


def all_text(told: Json, *, now: datetime, style: Style) -> str:
    """The answer about all providers."""
    lines = [_summary(told, now=now, style=style)]
    if told["providers"]:
        rows = [_row(each, now=now) for each in told["providers"]]
        lines += ["", *_table(("STATE", "PROVIDER", "KIND", "SINCE", "WHY", "AGAIN"), rows, style=style)]
    return "\n".join([*lines, *_pool_lines(told["pools"], now=now, style=style)])


def one_text(told: Json, *, now: datetime, style: Style) -> str:
    """The answer about one provider, with its history."""
    provider = told["provider"]
    name = f"{_shortened(provider['name'])}  {provider['id']}  {provider['kind']}  {provider['exposureProfile']}"
    lines = [name, f"  {_how(provider, now=now, style=style)}", f"  {provider['explanation']}"]
    lines.append(f"  {_looked(provider)}; {_last_well(provider, now=now)}")
    lines += _unknown(told, now=now)
    lines += [line for lane in _LANES if (line := _lane_line(lane, provider["circuits"][lane], now=now, style=style))]
    lines += _pool_lines(told["pools"], now=now, style=style)
    rows = [_happening_row(each, now=now) for each in told["history"]]
    if not rows:
        return "\n".join([*lines, "", "Nothing has happened to it in 30 days."])
    return "\n".join([*lines, "", *_table(("AGO", "LANE", "WHAT", "STATE", "WHY"), rows, style=style)])


def _summary(told: Json, *, now: datetime, style: Style) -> str:
    states = Counter(each["state"] for each in told["providers"])
    counted = ", ".join(f"{count} {_word(state)}" for state, count in states.items())
    providers = f"{len(told['providers'])} providers: {counted}" if states else "no providers"
    return "; ".join([style.of(told["status"], text=told["status"].upper()), providers, *_notes(told, now=now)])


def _notes(told: Json, *, now: datetime) -> Iterator[str]:
    """When somebody looked, and what is not known."""
    checked_at = told["checkedAt"]
    looked = "nobody has looked yet" if checked_at is None else f"looked {_ago(checked_at, now=now)} ago"
    yield f"{looked}, which is too long" if told["stale"] and checked_at is not None else looked
    if told["run"] and told["run"]["leftOut"]:
        yield f"{told['run']['leftOut']} left out for want of time"
    if told["unavailable"]:
        yield "cannot be read now: " + ", ".join(_word(part) for part in told["unavailable"])


def _unknown(told: Json, *, now: datetime) -> list[str]:
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


def _how(provider: Json, *, now: datetime, style: Style) -> str:
    since, again = _ago(provider["since"], now=now), _until(provider["retryAt"], now=now)
    told = [f"for {since}" if since else "", provider["code"] or "", f"again {again}" if again else ""]
    return ", ".join([style.of(provider["state"], text=_word(provider["state"])), *(each for each in told if each)])


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


def _lane_line(lane: str, circuit: Json | None, *, now: datetime, style: Style) -> str:
    if circuit is None:
        return ""
    told = [style.of(circuit["state"], text=_word(circuit["state"]))]
    if circuit["failures"]:
        told.append(f"{circuit['failures']} failed in a row")
    if circuit["lastCode"]:
        told.append(f"{circuit['lastCode']} {_ago(circuit['lastAt'], now=now)} ago")
    if circuit["openUntil"]:
        told.append(f"again {_until(circuit['openUntil'], now=now)}")
    return f"  {_LANES[lane]}: {', '.join(told)}"


def _happening_row(entry: Json, *, now: datetime) -> tuple[str, ...]:
    return (
        _ago(entry["at"], now=now),
        entry["lane"] or "probe",
        _word(entry["happening"]),
        _word(entry["state"]),
        entry["code"] or "",
    )


def _pool_lines(pools: Sequence[Json], *, now: datetime, style: Style) -> list[str]:
    rows = [
        (each["pool"], _keys(each), _until(each["retryAt"], now=now), _allowance(each["allowance"])) for each in pools
    ]
    return ["", *_table(("POOL", "KEYS", "AGAIN", "ALLOWANCE"), rows, style=style)] if rows else []


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


def _table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, style: Style) -> Iterator[str]:
    widths = [max(map(width, column)) for column in zip(titles, *rows, strict=True)]
    yield line(titles, widths)
    for row in rows:
        words = (_word(row[0]), *row[1:])
        first = words[0] + " " * (widths[0] - width(words[0]))
        yield "  ".join([style.of(row[0], text=first), line(words[1:], widths[1:])]).rstrip()


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
