"""Registers each behaviour as a provider of the running gateway, beside a good one, and asks as an agent and as an
assistant. Many are asked in one search: what one of them does must not show at another.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tests.e2e.running import PROVIDERS, Answer, Gateway
from tests.hostile.case import LIMIT, Case, passages
from tests.hostile.catalogue import CASES
from tests.support.hostile_provider import JSON_TYPE, HostileProvider, Seen, Wire, _bomb, hostile_provider

QUERY: Final = "zzyzx qwrtz"  # of which the demo's own knowledge bases know nothing
GOOD: Final = "good"
SHORT_MS: Final = 900  # for those that take as long as they may
LONG_MS: Final = 20_000  # for all others: nothing may hang on how busy the machine is
_MOST_AT_ONCE: Final = 20
_REGISTERED_AT_ONCE: Final = 2
_TIMES_AS_LONG: Final = 6


async def _answers_well(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(passages(GOOD, 3), headers=JSON_TYPE)
    return True


@dataclass(frozen=True, slots=True)
class Search:
    """One search of an agent and one of an assistant, in which all of `ids` were asked. Ids are those of providers, by
    behaviour; the good provider is among them.
    """

    ids: dict[str, str]
    deadline_ms: int
    agent: Answer
    customer: Answer


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one behaviour: `outcome` and `results` are the agent's, `shown` the customer's, `questions` what the
    provider was sent.
    """

    case: Case
    search: Search
    outcome: dict[str, Any]
    results: list[dict[str, Any]]
    shown: list[dict[str, Any]]
    questions: list[Seen]

    @property
    def agents_outcome(self) -> str:
        return str(self.outcome["errorCode"] or self.outcome["status"])


@contextmanager
def misbehaving() -> Iterator[HostileProvider]:
    """A server of all behaviours."""
    _bomb(31), _bomb(15)  # made once and beforehand: that takes a second
    behaviours = {case.id: case.sends for case in CASES.values()} | {GOOD: _answers_well}
    early = frozenset(case.id for case in CASES.values() if case.is_early)
    with hostile_provider(behaviours=behaviours, early=early) as server:
        yield server


def batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    """Up to twenty each, slow ones apart, and no more results than an answer has room for."""
    batch: list[Case] = []
    for case in sorted(cases, key=lambda case: (not case.is_slow, case.found > LIMIT // 2)):
        results = sum(each.found for each in (*batch, case)) + 3
        is_full = len(batch) == _MOST_AT_ONCE or (bool(batch) and results > LIMIT)
        if is_full or (batch and batch[0].is_slow != case.is_slow):
            yield batch
            batch = []
        batch.append(case)
    if batch:
        yield batch


def ask(gateway: Gateway, hostile: HostileProvider, cases: Sequence[Case]) -> list[Finding]:
    """What came of each, asked in two searches."""
    with registered(gateway, hostile, cases) as ids:
        before = len(hostile.requests)
        search = _searched(gateway, ids, cases)
        asked = [one for one in hostile.requests[before:] if one.method == "POST"]  # it may also be looked at
    return [_finding(case, search, [one for one in asked if one.behaviour == case.id]) for case in cases]


@contextmanager
def registered(gateway: Gateway, hostile: HostileProvider, cases: Sequence[Case]) -> Iterator[dict[str, str]]:
    """The ids of the providers, by behaviour, the good one among them. All pass their first test, and show what they
    are like from then on. Removes them afterwards.
    """
    wanted = [*((case.id, case.exposure) for case in cases), (GOOD, "customer_safe")]
    made: dict[str, tuple[str, str]] = {}
    with ThreadPoolExecutor(_REGISTERED_AT_ONCE) as pool:
        try:
            with hostile.best_behaviour():
                made.update(pool.map(lambda one: _registered(gateway, hostile, *one), wanted))
            yield {id_: provider_id for id_, (provider_id, _) in made.items()}
        finally:
            list(pool.map(lambda one: _remove(gateway, *one), made.values()))


def _registered(gateway: Gateway, hostile: HostileProvider, id_: str, exposure: str) -> tuple[str, tuple[str, str]]:
    """The behaviour, and its provider's id and entity tag."""
    wanted = {"name": f"Hostile {id_}", "exposureProfile": exposure, "baseUrl": hostile.url(id_, "first")}
    made = gateway.as_admin("POST", PROVIDERS, wanted)
    assert made.status == 201, made.data
    path = f"{PROVIDERS}/{made.json['id']}"
    report = gateway.as_admin("POST", f"{path}/test", {"query": QUERY, "activate": True})
    assert report.found["activated"], report.data
    return id_, (made.json["id"], report.headers["etag"])


def _remove(gateway: Gateway, provider_id: str, etag: str) -> None:
    assert gateway.as_admin("DELETE", f"{PROVIDERS}/{provider_id}", If_Match=etag).status == 204


def _searched(gateway: Gateway, ids: dict[str, str], cases: Sequence[Case]) -> Search:
    deadline_ms = SHORT_MS if cases[0].is_slow else LONG_MS
    asked: dict[str, Any] = {"query": QUERY, "limit": LIMIT, "deadlineMs": deadline_ms}
    agent = gateway.search("agent", **asked, providers=list(ids.values()))
    # What is sent unasked while the next question is on its way would be its answer, for all that anybody can tell.
    time.sleep(_TIMES_AS_LONG * max(case.goes_on_s for case in cases))
    customer = gateway.search("assistant", **asked)
    assert (agent.status, customer.status) == (200, 200), f"one of these made the whole search fail: {list(ids)}"
    return Search(ids, deadline_ms, agent, customer)


def _finding(case: Case, search: Search, questions: list[Seen]) -> Finding:
    id_ = search.ids[case.id]
    return Finding(
        case=case,
        search=search,
        outcome=next(each for each in search.agent.json["providers"] if each["id"] == id_),
        results=[each for each in search.agent.json["results"] if each["provider"]["id"] == id_],
        shown=[each for each in search.customer.json["results"] if each["title"].startswith(f"{case.id} ")],
        questions=questions,
    )
