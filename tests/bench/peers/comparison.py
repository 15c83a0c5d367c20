"""A search of many providers beside other ways to ask them: FastAPI and gather, a thread per engine, LiteLLM's proxy.

Each is a server of one worker, asked over HTTP on loopback by the same client, for the same results of the same
providers. Ours is the search function behind the front of `make up`. It also reads from the store who asks and whom to
ask, signs what it sends, checks addresses and texts, and keeps circuits; the others do none of this, and no store is
counted. There are no bars: peers are there to know.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from shared.adapters.event_loop import ProcessLoop
from tests.bench.measure import Absent, Row, percentile
from tests.bench.peers.contenders import PYTHON, TIMEOUT_S, Contender, ours, peers, versions
from tests.bench.peers.running import NOT_AN_ANSWER, DidNotStart, Running, running
from tests.bench.peers.spent import family, is_told
from tests.bench.world import World

COUNTS = (1, 5, 10)
DELAY_MS = 50
_ROUNDS = 15
_CPU_ROUNDS, _CPU_AT_A_TIME = 3, 15
_HANGING_ROUNDS = 3
_INSTALLED = PYTHON.parent.parent / ".installed"


@dataclass(frozen=True, slots=True)
class Heard:
    """What a search came to: how long it took, and from how many providers there were results."""

    ms: float
    providers: int


@dataclass(slots=True)
class Figures:
    """Of one contender. CPU time is of one search; what is called first is the first process's alone. A search is
    lacking where not all of its providers were heard, of those that answer.
    """

    heard: dict[int, list[Heard]] = field(default_factory=dict)
    hanging: list[Heard] = field(default_factory=list)
    lacking: int = 0
    cpu_ms: float = 0.0
    first_cpu_ms: float = 0.0
    resident_mb: float = 0.0
    first_resident_mb: float = 0.0
    processes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """By name, in the order of their registration."""

    slow: Sequence[str]
    quick: Sequence[str]
    hangs: str


def rows(world: World) -> Iterator[Row | Absent]:
    if why := _missing():
        yield Absent("searches beside others", why)
        return
    urls = [world.provider(DELAY_MS)] * 10 + [world.provider(0)] * 10 + [world.provider(0, "hangs")]
    gateway = world.gateway(urls)
    providers = Providers(slow=gateway.ids[:10], quick=gateway.ids[10:20], hangs=gateway.ids[20])
    loop = ProcessLoop()
    with ExitStack() as stack:
        contenders = [ours(gateway), *peers(dict(zip(gateway.ids, urls, strict=True)))]
        mine, *others = [stack.enter_context(running(each)) for each in contenders]
        loop.run(mine.until_ready(providers.quick[0]))
        ready, absent = _ready(loop, others, providers.quick[0])
        yield from absent
        found = _measured(loop, [mine, *ready], providers)
    assert not found[mine].lacking, found[mine]
    for each in ready:
        yield from rows_of(each.contender, found[mine], found[each])


def _missing() -> str | None:
    if not _INSTALLED.exists():
        return "their environment could not be made; `make bench` says why"
    return None if is_told() else "the system does not tell in /proc what processes take"


def _ready(loop: ProcessLoop, others: Sequence[Running], name: str) -> tuple[list[Running], list[Absent]]:
    ready, absent = [], []
    for each in others:
        try:
            loop.run(each.until_ready(name))
            ready.append(each)
        except DidNotStart as error:
            absent.append(Absent(f"search / {each.contender.name}", str(error)))
    return ready, absent


def _measured(loop: ProcessLoop, all_of_them: Sequence[Running], providers: Providers) -> Mapping[Running, Figures]:
    """Everyone takes turns, so that drift of the machine hits all alike."""
    found = {each: Figures() for each in all_of_them}
    for count in COUNTS:
        for each in all_of_them:
            found[each].heard[count] = []
            _search(loop, each, providers.slow[:count])
        for _ in range(_ROUNDS):
            for each in all_of_them:
                found[each].heard[count].append(_whole(loop, each, providers.slow[:count], found[each]))
    _cpu(loop, found, providers.quick)
    for each in all_of_them:
        _at_rest(each, found[each])
    for _ in range(_HANGING_ROUNDS):
        for each in all_of_them:
            found[each].hanging.append(_search(loop, each, [*providers.quick[:9], providers.hangs]))
    return found


def _whole(loop: ProcessLoop, server: Running, names: Sequence[str], figures: Figures) -> Heard:
    """A search whose providers all answer. That a peer loses some is told with its figures; ours may not."""
    heard = _search(loop, server, names)
    figures.lacking += heard.providers < len(names)
    return heard


def _search(loop: ProcessLoop, server: Running, names: Sequence[str]) -> Heard:
    started_s = time.perf_counter()
    try:
        providers = server.contender.heard(loop.run(server.search(names)))
    except NOT_AN_ANSWER:
        providers = 0
    return Heard((time.perf_counter() - started_s) * 1000, providers)


def _cpu(loop: ProcessLoop, found: Mapping[Running, Figures], names: Sequence[str]) -> None:
    """The first turn is to be warm. The system counts hundredths of a second, so that many searches count together."""
    taken: dict[Running, list[tuple[float, float]]] = {each: [] for each in found}
    for _ in range(_CPU_ROUNDS + 1):
        for each, figures in taken.items():
            before = _cpu_so_far(each)
            for _ in range(_CPU_AT_A_TIME):
                _whole(loop, each, names, found[each])
            after = _cpu_so_far(each)
            figures.append((after[0] - before[0], after[1] - before[1]))
    for each, figures in taken.items():
        searches = _CPU_ROUNDS * _CPU_AT_A_TIME
        found[each].cpu_ms = sum(whole for whole, _ in figures[1:]) / searches
        found[each].first_cpu_ms = sum(first for _, first in figures[1:]) / searches


def _cpu_so_far(server: Running) -> tuple[float, float]:
    """Of all its processes, and of the first."""
    spent = family(server.pid)
    return sum(each.cpu_ms for each in spent), spent[0].cpu_ms


def _at_rest(server: Running, figures: Figures) -> None:
    spent = family(server.pid)
    figures.resident_mb = sum(each.resident_mb for each in spent)
    figures.first_resident_mb = spent[0].resident_mb
    figures.processes = len(spent)


def rows_of(peer: Contender, mine: Figures, theirs: Figures) -> Iterator[Row]:
    """The lines about one peer."""
    about = peer.about + (f"; {theirs.lacking} of its searches lacked results" if theirs.lacking else "")
    for count in COUNTS:
        providers = "1 provider" if count == 1 else f"{count} providers"
        name = f"search, {providers} at {DELAY_MS} ms / {peer.name}"
        yield _times(name, mine.heard[count], theirs.heard[count], about=about)
    note = f"of ours, {mine.first_cpu_ms:.1f} is the front, which is API Gateway on AWS; {versions(peer.packages)}"
    name = f"CPU of a search, 10 x 10 at once / {peer.name}"
    yield Row(name, mine.cpu_ms, theirs.cpu_ms, "ms CPU", None, note, _CPU_ROUNDS * _CPU_AT_A_TIME)
    yield _one_hangs(f"one of ten hangs: the whole answer / {peer.name}", mine.hanging, theirs.hanging)
    note = f"of ours, {mine.first_resident_mb:.0f} is the front; processes {mine.processes}, {theirs.processes}"
    yield Row(f"memory of the server / {peer.name}", mine.resident_mb, theirs.resident_mb, "MB", None, note)


def _times(name: str, mine: Sequence[Heard], theirs: Sequence[Heard], *, about: str) -> Row:
    ours_ms, theirs_ms = [each.ms for each in mine], [each.ms for each in theirs]
    note = f"p50; p95 {percentile(ours_ms, 0.95):.1f}, {percentile(theirs_ms, 0.95):.1f} of {len(mine)}{about}"
    return Row(name, statistics.median(ours_ms), statistics.median(theirs_ms), "ms", None, note, len(mine))


def _one_hangs(name: str, mine: Sequence[Heard], theirs: Sequence[Heard]) -> Row:
    heard, peer_heard = min(each.providers for each in mine), min(each.providers for each in theirs)
    ours_ms, theirs_ms = (statistics.median(each.ms for each in some) for some in (mine, theirs))
    note = f"given {TIMEOUT_S * 1000:.0f} ms; results of {heard} of ten, {peer_heard} of ten"
    return Row(name, ours_ms, theirs_ms, "ms", None, note, len(mine))
