"""What each self-hosted product can be set to, as parts of items."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeVar

from shared.adapters.attributes import (
    Item,
    NewItem,
    flag,
    flag_of,
    number,
    number_of,
    optional,
    text,
    text_of,
    whole_of,
)
from shared.domain.bindings import (
    DifyConfig,
    DifyRerankMode,
    DifyRerankModel,
    DifyRetrievalModel,
    DifySearchMethod,
    DifyWeights,
    FastGptConfig,
    FastGptSearchMode,
    ProductConfig,
    RagflowConfig,
)
from shared.domain.registrations import ProviderKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

T = TypeVar("T")


def item_of_product(product: ProductConfig) -> NewItem:
    if isinstance(product, DifyConfig):
        return _item_of_dify(product)
    if isinstance(product, FastGptConfig):
        return {
            "search_mode": text(product.search_mode),
            "token_limit": number(product.token_limit),
            "similarity": number(product.similarity),
            "using_rerank": flag(product.using_rerank),
        }
    return {
        "similarity_threshold": number(product.similarity_threshold),
        "vector_similarity_weight": number(product.vector_similarity_weight),
        "top_k": number(product.top_k),
        "use_kg": flag(product.use_kg),
        "has_graph": flag(product.has_graph),
    }


def _fastgpt_of(item: Item) -> FastGptConfig:
    return FastGptConfig(
        search_mode=FastGptSearchMode(text_of(item, "search_mode")),
        token_limit=whole_of(item, "token_limit"),
        similarity=finite_of(item, "similarity"),
        using_rerank=flag_of(item, "using_rerank"),
    )


def _ragflow_of(item: Item) -> RagflowConfig:
    return RagflowConfig(
        similarity_threshold=finite_of(item, "similarity_threshold"),
        vector_similarity_weight=finite_of(item, "vector_similarity_weight"),
        top_k=whole_of(item, "top_k"),
        use_kg=flag_of(item, "use_kg"),
        has_graph=flag_of(item, "has_graph"),
    )


def _item_of_dify(config: DifyConfig) -> NewItem:
    item = {"is_economy": flag(config.is_economy)}
    if config.retrieval_model is not None:
        item["retrieval_model"] = {"M": _item_of_retrieval(config.retrieval_model)}
    return item


def _dify_of(item: Item) -> DifyConfig:
    retrieval = optional(item, "retrieval_model", map_of)
    return DifyConfig(
        retrieval_model=None if retrieval is None else _retrieval_of(retrieval),
        is_economy=flag_of(item, "is_economy"),
    )


def _item_of_retrieval(model: DifyRetrievalModel) -> NewItem:
    return {
        "search_method": text(model.search_method),
        **_unless_none("score_threshold", model.score_threshold, number),
        **_unless_none("rerank_mode", model.rerank_mode, text),
        **_unless_none("rerank_model", model.rerank_model, _item_of_rerank_model),
        **_unless_none("weights", model.weights, _item_of_weights),
    }


def _retrieval_of(item: Item) -> DifyRetrievalModel:
    mode = optional(item, "rerank_mode", text_of)
    return DifyRetrievalModel(
        search_method=DifySearchMethod(text_of(item, "search_method")),
        score_threshold=optional(item, "score_threshold", finite_of),
        rerank_mode=None if mode is None else DifyRerankMode(mode),
        rerank_model=optional(item, "rerank_model", _rerank_model_of),
        weights=optional(item, "weights", _weights_of),
    )


def _item_of_rerank_model(model: DifyRerankModel) -> AttributeValueTypeDef:
    return {"M": {"provider_name": text(model.provider_name), "model_name": text(model.model_name)}}


def _rerank_model_of(item: Item, name: str) -> DifyRerankModel:
    model = map_of(item, name)
    return DifyRerankModel(provider_name=text_of(model, "provider_name"), model_name=text_of(model, "model_name"))


def _item_of_weights(weights: DifyWeights) -> AttributeValueTypeDef:
    return {
        "M": {
            "vector_weight": number(weights.vector_weight),
            "keyword_weight": number(weights.keyword_weight),
            "embedding_provider_name": text(weights.embedding_provider_name),
            "embedding_model_name": text(weights.embedding_model_name),
        }
    }


def _weights_of(item: Item, name: str) -> DifyWeights:
    weights = map_of(item, name)
    return DifyWeights(
        vector_weight=finite_of(weights, "vector_weight"),
        keyword_weight=finite_of(weights, "keyword_weight"),
        embedding_provider_name=text_of(weights, "embedding_provider_name"),
        embedding_model_name=text_of(weights, "embedding_model_name"),
    )


_PRODUCTS: Final[Mapping[ProviderKind, Callable[[Item], ProductConfig]]] = {
    ProviderKind.DIFY: _dify_of,
    ProviderKind.FASTGPT: _fastgpt_of,
    ProviderKind.RAGFLOW: _ragflow_of,
}


def product_of(kind: ProviderKind, item: Item) -> ProductConfig:
    """Raises `KeyError`, `TypeError` or `ValueError` for what cannot be read."""
    return _PRODUCTS[kind](item)


def _unless_none(name: str, value: T | None, write: Callable[[T], AttributeValueTypeDef]) -> NewItem:
    return {} if value is None else {name: write(value)}


def map_of(item: Item, name: str) -> Item:
    return item[name]["M"]


def finite_of(item: Item, name: str) -> float:
    value = number_of(item, name)
    if not math.isfinite(value):
        raise ValueError(name)
    return value
