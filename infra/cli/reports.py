"""Reports of tests, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from infra.cli.output import Json, word
from infra.cli.tables import line, shortened, width
from infra.cli.terminal import Lines

_MOST_SHOWN: Final = 10
_SNIPPET_CHARACTERS: Final = 150
_PASSED: Final = ("success", "empty")


def is_well(told: Json, *, wants_activation: bool) -> bool:
    """Whether a test passed, and what was to be switched on is."""
    return told.get("status") in _PASSED and not (wants_activation and told.get("activated") is not True)


def test_text(told: Json) -> Lines:
    """Of a provider."""
    count = told["resultCount"]
    lines: Lines = [f"{word(told['status'])}: {count} passages in {told['durationMs']} ms"]
    if told["errorCode"]:
        lines = [f"{word(told['status'])}: {word(told['errorCode'])} after {told['durationMs']} ms"]
    lines += _why(told)
    lines += [part for each in told["results"][:_MOST_SHOWN] for part in _passage(each)]
    lines += [f"  dropped: {shortened(each['title'])} ({word(each['reason'])})" for each in told.get("dropped", ())]
    lines += [f"  further: {shortened(each['url'])}" for each in told.get("discoveries", ())[:_MOST_SHOWN]]
    if fetched := told.get("fetched"):
        lines.append(f"  fetched: {shortened(fetched['finalUrl'])}, {fetched['characters']} characters")
    return [*lines, _switched(told)]


def instance_text(told: Json) -> Lines:
    """Of a self-hosted server."""
    fields = [(name, word(told[key])) for name, key in _FINDINGS.items()]
    most = max(width(name) for name, _ in fields)
    lines = [line(pair, (most, 0)) for pair in fields]
    found = [] if told["resultCount"] is None else [f"{told['resultCount']} passages"]
    found += [f"version {word(told['version'])}"] if told["version"] else []
    found += [word(told["errorCode"])] if told["errorCode"] else []
    return [*lines, "; ".join([*found, f"{told['durationMs']} ms"]), *_why(told)]


def capabilities_text(told: Json) -> Lines:
    if told["errorCode"]:
        return [f"{word(told['status'])}: {word(told['errorCode'])}", *_why(told)]
    changed = word(told["changed"]) if told["changed"] else "nothing"
    can = [name for name, is_able in told["provider"]["capabilities"].items() if is_able]
    return [f"It can: {word(can)}", f"Changed: {changed}"]


_FINDINGS: Final = {
    "reached": "reachable",
    "takes the key": "authenticated",
    "lists": "listReadable",
    "finds": "retrieval",
}


def _why(told: Json) -> list[str]:
    lines = [f"  {told['explanation']}"] if told["explanation"] else []
    if told.get("retryAt"):
        lines.append(f"  It may be tried again at {word(told['retryAt'])}.")
    return lines + ([f"  warnings: {word(told['warnings'])}"] if told.get("warnings") else [])


def _passage(each: Json) -> Iterator[str]:
    yield f"  {word(each['audience'])}: {shortened(each['title'])}"
    yield f"    {shortened(each['snippet'], _SNIPPET_CHARACTERS)}"


def _switched(told: Json) -> str:
    if told["provider"]["status"] == "active":
        return f"It is switched on{' now' if told['activated'] else ''}."
    return "It is not switched on." + (" Test it with --activate to do that." if told["status"] in _PASSED else "")
