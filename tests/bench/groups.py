"""What `make bench` measures, in the order of its table: one line a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from tests.bench import (
    bundles,
    callers,
    cards,
    hanging,
    imports,
    live,
    memory,
    overrun,
    registrations,
    search,
    store,
    stored_cards,
    throughput,
)
from tests.bench.fresh import FUNCTIONS
from tests.bench.measure import Absent, Row
from tests.bench.peers import comparison
from tests.bench.world import the_world


@dataclass(frozen=True, slots=True)
class Group:
    """`about` says what its rows are of: `--only` looks there too, and among `words`, which are of rows alone."""

    name: str
    about: str
    rows: Callable[[], Iterator[Row | Absent]]
    words: str = ""


GROUPS: tuple[Group, ...] = (
    Group(
        "imports",
        "import of a handler, first search, waterfall of an import",
        lambda: imports.rows(the_world()),
        f"boto3 {' '.join(FUNCTIONS)}",
    ),
    Group(
        "search",
        "search beside a bare gather and sockets alone; time beyond the slowest provider",
        lambda: search.rows(the_world()),
    ),
    Group("throughput", "search CPU, warm: throughput of a core", lambda: throughput.rows(the_world())),
    Group("callers", "agent, assistant, widget and MCP search", lambda: callers.rows(the_world())),
    Group("hanging", "one of ten providers hangs, dribbles or has failed", lambda: hanging.rows(the_world())),
    Group(
        "peers",
        "searches beside other ways to ask many sources",
        lambda: comparison.rows(the_world()),
        "FastAPI and gather, a thread per engine, LiteLLM's proxy; CPU, memory of the server, one of ten hangs",
    ),
    Group("registrations", "search among 200 registrations, or 10", lambda: registrations.rows(the_world())),
    Group("memory", "memory of searches in flight", lambda: memory.rows(the_world())),
    Group("overrun", "worst overrun of a deadline, providers and store misbehaving", overrun.rows),
    Group("bundles", "bundle of each function, unzipped", bundles.rows),
    Group(
        "cards",
        "cards: match 2 KB, beside other ways to find many keys",
        cards.rows,
        "bare automaton, a naive scan, a regular expression, a trie of dictionaries, FlashText; nested, making ready",
    ),
    Group("stored-cards", "cards: look up 100 terms and match, reads included", stored_cards.rows),
    Group("store", "store: trips, calls, capacity and bytes of an operation", store.rows),
    Group("cost", "cost: dollars for a million of an operation", store.bills),
    Group("live", "live: an operation at a hosted service, failover between keys", live.rows),
)


def chosen(words: Sequence[str], *, among: Sequence[Group] = GROUPS) -> list[Group]:
    """The one that a word is the name of, else those that have it in name or subject; all where there is no word."""
    names = {group.name for group in among}
    return [group for group in among if not words or any(_may_have(group, word.lower(), names) for word in words)]


def _may_have(group: Group, word: str, names: Set[str]) -> bool:
    return word == group.name if word in names else word in f"{group.name} {group.about} {group.words}".lower()


def is_wanted(group: Group, row: Row | Absent, words: Sequence[str]) -> bool:
    """Whether a word names the whole group, or is in the row's own name."""
    return not words or any(word.lower() in group.name or word.lower() in row.name.lower() for word in words)
