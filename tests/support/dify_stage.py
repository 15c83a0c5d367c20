"""One Dify server that plays its answers, and one data set on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.passages import Question, Retrieval
from shared.domain.remote_catalogs import CatalogPage, CatalogWish, RemoteEntry
from shared.errors import ExchangeError
from shared.ports.exchange import Exchange
from shared.providers.dify import DifyServer
from tests.support.builders import a_binding, an_instance
from tests.support.fake_exchanges import Step
from tests.support.fakes import FakeClock
from tests.support.live_cases import good
from tests.support.read_only import ReadOnlyExchanges

T = TypeVar("T")
KEY = "dataset-SENTINEL"
BASE = "https://dify.example.com/v1"
ID = "5fc3a1de-0000-4000-8000-00000000c0de"
NOTHING = good({"query": {"content": "huts"}, "records": []})
QUESTION = Question(query="huts")


class Stage:
    """One server that plays its answers, and one data set on it."""

    def __init__(self, *steps: Step, exposure: ExposureProfile = ExposureProfile.AGENT_ONLY, **binding: Any) -> None:
        self.clock = FakeClock()
        self.exchanges = ReadOnlyExchanges(clock=self.clock)
        self.dify = DifyServer(clock=self.clock, allow_test_names=True)
        instance = an_instance(exposure_profile=exposure, base_url=BASE)
        self.source = a_binding(instance, **{"remote_id": ID} | binding).source
        self.exchanges.script(self.source.id, *steps)

    def retrieve(self, question: Question = QUESTION, *, key: str | None = KEY) -> Retrieval:
        return self._run(self.dify.retrieve(self.source, question, credential=key, exchange=self.line))

    def catalog(self, **wish: Any) -> CatalogPage:
        return self._run(self.dify.catalog(BASE, CatalogWish(**wish), credential=KEY, exchange=self.line))

    def detail(self, remote_id: str = ID) -> RemoteEntry:
        return self._run(self.dify.detail(BASE, remote_id, credential=KEY, exchange=self.line))

    def version(self) -> str | None:
        return self._run(self.dify.version(BASE, credential=KEY, exchange=self.line))

    @property
    def line(self) -> Exchange:
        return self.exchanges.open(self.source, deadline=Deadline.after(25.0, now_s=self.clock.monotonic()))

    @property
    def asked(self) -> list[str]:
        return [f"{sent.request.method} {sent.request.url.removeprefix(BASE)}" for sent in self.exchanges.sent]

    @property
    def body(self) -> Any:
        (sent,) = self.exchanges.sent
        return json.loads(sent.request.body)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)


def failure_of(work: Callable[[], object]) -> ExchangeError:
    with pytest.raises(ExchangeError) as caught:
        work()
    assert KEY not in repr(caught.value) + str(caught.value)
    return caught.value
