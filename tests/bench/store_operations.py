"""What is measured of each function, in a gateway of five providers, or of one or ten, and a hundred cards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Final

from tests.bench.measured_calls import Event, Measured, first, warm
from tests.bench.store_world import ORIGIN, PAGE, PROVIDERS, StoreWorld, a_store_world, an_event

CARDS: Final = 100
COLD: Final = ", cold"
_QUESTION = "how do I change a booking m7 m8"
_BODY = "Open your booking, choose a new crossing and confirm the difference in fare. " * 6


@cache
def operations() -> Mapping[str, Measured]:
    """By name; measured once in a run."""
    with a_store_world() as world:
        return {each.name: each for each in _all(world)}


def _all(world: StoreWorld) -> Iterator[Measured]:
    world.keep_keys({"EXA_API_KEY": "good-0"})
    world.import_cards([{"keys": [f"m{n}"], "title": f"Crossing {n}", "body": _BODY} for n in range(CARDS)])
    yield from _agents(world, providers=1)
    yield from _agents(world, providers=5)
    yield from _searches(world)
    yield from _glossary(world)
    yield from _agents(world, providers=10)
    yield from _administration(world)
    yield from _live(world)


def _agents(world: StoreWorld, *, providers: int) -> Iterator[Measured]:
    world.register_contract(providers)
    name = f"agent search, {providers} provider{'s' if providers > 1 else ''}"
    yield from _cold_and_warm(world, "search", name, partial(_search, world, "agent"))


def _searches(world: StoreWorld) -> Iterator[Measured]:
    with world.started("search") as search:
        with_cards = partial(_search, world, "agent", collections=[world.collection])
        yield first(world, search, f"agent search, 5 providers, cards{COLD}", with_cards())
        yield warm(world, search, "agent search, 5 providers, cards", with_cards)
        yield warm(world, search, "assistant search, 5 providers", partial(_search, world, "assistant"))
    yield from _cold_and_warm(world, "widget", "widget search, 5 providers", partial(_widget, world))
    with world.started("mcp") as mcp:
        yield warm(world, mcp, "MCP search, 5 providers", partial(_tool, world))


def _glossary(world: StoreWorld) -> Iterator[Measured]:
    with world.started("lookup") as lookup:
        for name, terms in _TERMS.items():
            yield warm(world, lookup, f"look up {name}", partial(_cards, world, "lookup", terms=terms))
    yield from _cold_and_warm(world, "lookup", "match, 2 cards", partial(_cards, world, "match", text=_QUESTION))


_TERMS: Final[Mapping[str, list[str]]] = {
    "1 term": ["m7"],
    "1 term, not found": ["nothing"],
    "10 terms, 5 found": [f"m{n}" for n in range(CARDS - 5, CARDS + 5)],
    "100 terms, 100 found": [f"m{n}" for n in range(CARDS)],
}


def _administration(world: StoreWorld) -> Iterator[Measured]:
    health = an_event("/api/v1/knowledge/health", token=world.root, method="GET")
    yield warm(world, world.admin, "health read, 10 providers", lambda: health)
    with world.started("probe") as probe:
        yield warm(world, probe, "probe round, 10 providers", _due, calls=3)
    numbers = iter(range(1_000))
    yield warm(world, world.admin, "registration of a provider", lambda: _registration(world, next(numbers)))


def _live(world: StoreWorld) -> Iterator[Measured]:
    ask = partial(an_event, "/api/v1/knowledge/acquire", {"url": PAGE}, token=world.tokens["agent"])
    world.register_exa()
    yield from _cold_and_warm(world, "live", "live acquisition", ask)


def _cold_and_warm(world: StoreWorld, function: str, name: str, event: Callable[[], Event]) -> Iterator[Measured]:
    with world.started(function) as process:
        yield first(world, process, name + COLD, event())
        yield warm(world, process, name, event)


def _search(world: StoreWorld, who: str, **more: object) -> Event:
    return an_event("/api/v1/knowledge/search", {"query": _QUESTION, "limit": 10, **more}, token=world.tokens[who])


def _widget(world: StoreWorld) -> Event:
    body = {"query": _QUESTION, "limit": 10, "locale": "en"}
    return an_event("/api/v1/knowledge/widget/search", body, token=world.tokens["widget"], origin=ORIGIN)


def _tool(world: StoreWorld) -> Event:
    params = {"name": "knowledge_search", "arguments": {"query": _QUESTION, "limit": 10}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return an_event("/mcp", body, token=world.tokens["agent"], accept="application/json, text/event-stream")


def _cards(world: StoreWorld, verb: str, **body: object) -> Event:
    path = f"/api/v1/collections/{world.collection}/context-cards/{verb}"
    return an_event(path, body, token=world.tokens["agent"])


def _registration(world: StoreWorld, number: int) -> Event:
    wanted = {"name": f"Other {number}", "exposureProfile": "agent_only", "baseUrl": world.sources.url}
    return an_event(PROVIDERS, wanted, token=world.root)


def _due() -> Event:
    """A run of the probe begins at the soonest a second after the last."""
    time.sleep(1.1)
    return {}
