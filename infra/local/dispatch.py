"""Chooses the function for a request by the route table, as API Gateway does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from infra.routes import DEFAULT_FUNCTION, ROUTES, Route


@dataclass(frozen=True, slots=True)
class Match:
    """`route_key` is `$default` where no route fits."""

    function: str
    route_key: str
    parameters: Mapping[str, str] = field(default_factory=dict)


class Dispatcher:
    """Built once; the whole path must fit, and a literal segment wins over a parameter."""

    def __init__(self, routes: Iterable[Route] = ROUTES, *, default_function: str = DEFAULT_FUNCTION) -> None:
        # Literal segments first, so that the first fit is the best one.
        self._routes = sorted(
            ((route, route.path.split("/")) for route in routes),
            key=lambda item: [_is_parameter(segment) for segment in item[1]],
        )
        self._default = Match(default_function, "$default")

    def match(self, method: str, path: str) -> Match:
        segments = path.split("/")
        for route, pattern in self._routes:
            if route.method == method and _fits(pattern, segments):
                return Match(route.function, f"{route.method} {route.path}", _parameters(pattern, segments))
        return self._default


def _is_parameter(segment: str) -> bool:
    return segment.startswith("{")


def _fits(pattern: list[str], segments: list[str]) -> bool:
    return len(pattern) == len(segments) and all(
        bool(given) if _is_parameter(wanted) else wanted == given
        for wanted, given in zip(pattern, segments, strict=True)
    )


def _parameters(pattern: list[str], segments: list[str]) -> dict[str, str]:
    return {
        wanted[1:-1]: unquote(given) for wanted, given in zip(pattern, segments, strict=True) if _is_parameter(wanted)
    }
