"""What an acceptance run tries, product by product. Nothing here calls a language model on the server."""

from __future__ import annotations

import secrets
import string
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from infra.cli.accept_line import Reading, reading
from shared.domain.bindings import (
    Binding,
    DifyConfig,
    DifyExternalConfig,
    DifyRetrievalModel,
    DifySearchMethod,
    FastGptConfig,
    FastGptSearchMode,
    ProductConfig,
    RagflowConfig,
)
from shared.domain.registrations import ProviderConfig, ProviderKind
from shared.domain.remote_catalogs import RemoteEntry
from shared.ports.clock import Clock
from shared.ports.knowledge_server import KnowledgeServer, ServerRetriever
from shared.providers.dify import DifyServer
from shared.providers.dify_external import DifyExternalRetriever
from shared.providers.fastgpt import FastGptServer
from shared.providers.ragflow import RagflowServer

AS_BOUND = "as_bound"
_SOME_LIKENESS = 0.3
_ID = "[^/?#&]+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """`lists` is the same server, where the product lists its knowledge bases. `modes` are the ways to search by name,
    the usual one first. `missing_id` has the product's own form and is of no knowledge base; `malformed_id` has none.
    `long_page` asks for more rows than a page should have.
    """

    server: ServerRetriever
    lists: KnowledgeServer | None
    readings: tuple[Reading, ...]
    modes: Mapping[str, Callable[[RemoteEntry], ProviderConfig]]
    missing_id: str
    malformed_id: str = "not-an-id"
    id_name: str = "id"
    long_page: str | None = None


def product_of(kind: ProviderKind, clock: Clock, *, allow_test_names: bool) -> Product:
    makers: dict[ProviderKind, Callable[..., Product]] = {
        ProviderKind.DIFY: _dify,
        ProviderKind.FASTGPT: _fastgpt,
        ProviderKind.RAGFLOW: _ragflow,
        ProviderKind.DIFY_EXTERNAL: _dify_external,
    }
    return makers[kind](clock=clock, allow_test_names=allow_test_names)


def other_key(key: str) -> str:
    """A key of the same form that is not this one; a longer one where there is no letter or digit to change."""
    head, dash, tail = key.partition("-")
    kept, changed = (head + dash, tail) if _can_change(tail) else ("", key)
    if not _can_change(changed):
        return f"{key}{secrets.choice(string.digits)}"
    while True:
        made = kept + "".join(_another(character) for character in changed)
        if made != key:
            return made


def _can_change(text: str) -> bool:
    return any(character.isascii() and character.isalnum() for character in text)


def _another(character: str) -> str:
    for letters in (string.digits, string.ascii_lowercase, string.ascii_uppercase):
        if character in letters:
            return secrets.choice(letters)
    return character


def _bound(config: Callable[[RemoteEntry], ProductConfig]) -> Callable[[RemoteEntry], ProviderConfig]:
    def binding(entry: RemoteEntry) -> ProviderConfig:
        return Binding(instance_id="", remote_id=entry.id, remote_name="", product=config(entry))

    return binding


def _dify(*, clock: Clock, allow_test_names: bool) -> Product:
    def method(name: DifySearchMethod, threshold: float | None = None) -> Callable[[RemoteEntry], ProviderConfig]:
        model = DifyRetrievalModel(search_method=name, score_threshold=threshold)
        return _bound(lambda entry: DifyConfig(retrieval_model=model, is_economy=entry.is_economy is True))

    server = DifyServer(clock=clock, allow_test_names=allow_test_names)
    return Product(
        server=server,
        lists=server,
        readings=(
            reading("GET /datasets", r"/datasets\?[^#]*"),
            reading("GET /datasets/{id}", f"/datasets/{_ID}"),
            reading("POST /datasets/{id}/retrieve", f"/datasets/{_ID}/retrieve", is_search=True),
        ),
        modes={
            AS_BOUND: _bound(lambda entry: DifyConfig(is_economy=entry.is_economy is True)),
            **{str(name): method(name) for name in DifySearchMethod},
            "semantic_search_above_threshold": method(DifySearchMethod.SEMANTIC, _SOME_LIKENESS),
        },
        missing_id=str(uuid.uuid4()),
        long_page="/datasets?page=1&limit=101",
    )


def _fastgpt(*, clock: Clock, allow_test_names: bool) -> Product:
    def with_(**fields: object) -> Callable[[RemoteEntry], ProviderConfig]:
        config = FastGptConfig(**fields)  # type: ignore[arg-type]
        return _bound(lambda _: config)

    server = FastGptServer(clock=clock, allow_test_names=allow_test_names)
    return Product(
        server=server,
        lists=server,
        readings=(
            reading("POST /core/dataset/list", "/core/dataset/list"),
            reading("GET /core/dataset/detail", rf"/core/dataset/detail\?id={_ID}"),
            reading("POST /core/dataset/searchTest", "/core/dataset/searchTest", is_search=True),
        ),
        modes={
            AS_BOUND: with_(),
            "fullTextRecall": with_(search_mode=FastGptSearchMode.FULL_TEXT),
            "mixedRecall": with_(search_mode=FastGptSearchMode.MIXED),
            "embedding_above_similarity": with_(similarity=_SOME_LIKENESS),
            "embedding_reranked": with_(using_rerank=True),
            "one_token": with_(token_limit=1),
        },
        missing_id=secrets.token_hex(12),
        id_name="_id",
    )


def _ragflow(*, clock: Clock, allow_test_names: bool) -> Product:
    def with_(**fields: object) -> Callable[[RemoteEntry], ProviderConfig]:
        config = RagflowConfig(**fields)  # type: ignore[arg-type]
        return _bound(lambda _: config)

    server = RagflowServer(clock=clock, allow_test_names=allow_test_names)
    return Product(
        server=server,
        lists=server,
        readings=(
            reading("GET /datasets", r"/datasets\?[^#]*"),
            reading("POST /retrieval", "/retrieval", is_search=True),
            reading("GET /system/version", "/system/version"),
        ),
        modes={
            AS_BOUND: with_(),
            "vectors_alone": with_(vector_similarity_weight=1.0),
            "words_alone": with_(vector_similarity_weight=0.0),
            "without_threshold": with_(similarity_threshold=0.0),
        },
        missing_id=uuid.uuid4().hex,
        long_page="/datasets?page=1&page_size=101",
    )


def _dify_external(*, clock: Clock, allow_test_names: bool) -> Product:
    def above(threshold: float) -> Callable[[RemoteEntry], ProviderConfig]:
        return lambda entry: DifyExternalConfig(knowledge_id=entry.id, score_threshold=threshold)

    return Product(
        server=DifyExternalRetriever(clock=clock, allow_test_names=allow_test_names),
        lists=None,
        readings=(reading("POST /retrieval", "/retrieval", is_search=True),),
        modes={AS_BOUND: above(0.0), "above_threshold": above(_SOME_LIKENESS)},
        missing_id=str(uuid.uuid4()),
    )
