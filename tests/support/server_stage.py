"""One self-hosted server of any product that plays its answers, and one knowledge base on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.passages import NamedScore, Passage, Question, Retrieval
from shared.domain.registrations import ProviderKind
from shared.domain.remote_catalogs import CatalogPage, CatalogWish, RemoteEntry
from shared.errors import ExchangeError
from shared.ports.exchange import Exchange
from shared.ports.knowledge_server import KnowledgeServer
from tests.support.builders import a_binding, an_instance
from tests.support.fake_exchanges import Step
from tests.support.fakes import FakeClock
from tests.support.read_only import ReadOnlyExchanges

T = TypeVar("T")
KEY = "product-SENTINEL"
ASKED = "tidal QUERY-SENTINEL"


class ServerStage:
    """Nothing but reading gets through to it. `binding` takes fields of the binding."""

    def __init__(
        self,
        server: KnowledgeServer,
        kind: ProviderKind,
        *steps: Step,
        clock: FakeClock,
        base_url: str,
        exposure: ExposureProfile = ExposureProfile.AGENT_ONLY,
        **binding: Any,
    ) -> None:
        self.server = server
        self.clock = clock
        self.base_url = base_url
        self.exchanges = ReadOnlyExchanges(clock=clock)
        instance = an_instance(exposure_profile=exposure, base_url=base_url, kind=kind)
        self.source = a_binding(instance, **binding).source
        self.exchanges.script(self.source.id, *steps)

    def retrieve(
        self, question: Question | None = None, *, key: str | None = KEY, timeout_s: float = 25.0
    ) -> Retrieval:
        asked = question or Question(query=ASKED)
        line = self.line(timeout_s)
        return self._run(self.server.retrieve(self.source, asked, credential=key, exchange=line))

    def catalog(self, *, timeout_s: float = 25.0, **wish: Any) -> CatalogPage:
        line = self.line(timeout_s)
        return self._run(self.server.catalog(self.base_url, CatalogWish(**wish), credential=KEY, exchange=line))

    def detail(self, remote_id: str) -> RemoteEntry:
        return self._run(self.server.detail(self.base_url, remote_id, credential=KEY, exchange=self.line()))

    def version(self) -> str | None:
        return self._run(self.server.version(self.base_url, credential=KEY, exchange=self.line()))

    def line(self, timeout_s: float = 25.0) -> Exchange:
        return self.exchanges.open(self.source, deadline=Deadline.after(timeout_s, now_s=self.clock.monotonic()))

    @property
    def asked(self) -> list[str]:
        return [f"{sent.request.method} {sent.request.url.removeprefix(self.base_url)}" for sent in self.exchanges.sent]

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(sent.request.body) for sent in self.exchanges.sent if sent.request.body]

    def check_secrets(self) -> None:
        """The credential travels in its header alone, and the question in a body alone."""
        for sent in self.exchanges.sent:
            assert [name for name, value in sent.request.headers if KEY in value] == ["Authorization"]
            assert KEY not in sent.request.url + sent.request.body.decode()
            assert "SENTINEL" not in sent.request.url

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)


def failure_of(work: Callable[[], object]) -> ExchangeError:
    """What the work raises: it repeats neither the credential nor the question, nor does what it comes from."""
    with pytest.raises(ExchangeError) as caught:
        work()
    for each in (caught.value, caught.value.__cause__, caught.value.__context__):
        assert "SENTINEL" not in repr(each) + str(each)
    return caught.value


def passage_as_recorded(passage: Passage) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "documentId": passage.document_id,
        "chunkId": passage.chunk_id,
        "title": passage.title,
        "snippet": passage.snippet,
        "score": passage.score,
    }
    if passage.scores:
        shown["scores"] = [_score_as_recorded(each) for each in passage.scores]
    if passage.truncated:
        shown["truncated"] = True
    if passage.evidence.value != "source_excerpt":
        shown["evidence"] = passage.evidence.value
    return shown


def entry_as_recorded(entry: RemoteEntry) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": entry.id, "name": entry.name, "description": entry.description}
    stated = {"documents": entry.documents, "hasGraph": entry.has_graph, "isEconomy": entry.is_economy}
    if entry.not_searchable is not None:
        stated["notSearchable"] = entry.not_searchable.value  # type: ignore[assignment]
    if entry.kind.value != "knowledge_base":
        stated["kind"] = entry.kind.value  # type: ignore[assignment]
    return shown | {name: value for name, value in stated.items() if value is not None}


def _score_as_recorded(score: NamedScore) -> list[Any]:
    return [score.kind, score.value]
