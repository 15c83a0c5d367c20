"""One self-hosted product: lists, describes and searches knowledge bases. It changes nothing on a server."""

from __future__ import annotations

from typing import Protocol

from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Source
from shared.domain.remote_catalogs import CatalogPage, CatalogWish, RemoteEntry
from shared.ports.exchange import Exchange
from shared.ports.retriever import RetrieverLimits


class ServerRetriever(Protocol):
    """Searches one knowledge base. Never reads secrets, opens sockets, retries, sleeps or logs. Raises the
    `ExchangeError` family, in our own codes alone.
    """

    @property
    def limits(self) -> RetrieverLimits: ...

    async def retrieve(
        self, source: Source, question: Question, *, credential: str | None, exchange: Exchange
    ) -> Retrieval:
        """`source.config` is a `Binding` of this product, or this kind's own config. At most `question.limit` passages,
        in the server's order.
        """
        ...


class KnowledgeServer(ServerRetriever, Protocol):
    """As `ServerRetriever`, and it lists what is there. `base_url` is in the product's own form: see `at`."""

    def at(self, base_url: str) -> str:
        """The base URL under which the product is asked, whichever of the customary forms an operator gave."""
        ...

    async def catalog(
        self, base_url: str, wish: CatalogWish, *, credential: str | None, exchange: Exchange
    ) -> CatalogPage: ...

    async def detail(self, base_url: str, remote_id: str, *, credential: str | None, exchange: Exchange) -> RemoteEntry:
        """Raises `Refused` (`not_found`) for an id that the server does not know or that its key may not see."""
        ...

    async def version(self, base_url: str, *, credential: str | None, exchange: Exchange) -> str | None:
        """What the server itself says, e.g. `1.14.2`; None where it does not say."""
        ...
