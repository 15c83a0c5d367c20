"""What a provider of a self-hosted product is bound to: one knowledge base on one instance, and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeAlias

from shared.domain.registrations import ProviderConfig, ProviderKind

# Raised when an adapter begins to send or read something that an older binding was not tested with.
ADAPTER_VERSION: Final = {ProviderKind.DIFY: 1, ProviderKind.FASTGPT: 1, ProviderKind.RAGFLOW: 1}
CONFIG_VERSION: Final = 1

MAX_RESULTS: Final = 20
MAX_REMOTE_ID_CHARACTERS: Final = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonConfig:
    """What every product can be set to. The time-out never reaches past the search's own deadline."""

    result_limit: int = 6  # 1..20
    request_timeout_ms: int = 15_000  # 1,000..25,000
    max_snippet_characters: int = 4_000  # 100..8,000


class DifySearchMethod(StrEnum):
    KEYWORD = "keyword_search"
    SEMANTIC = "semantic_search"
    FULL_TEXT = "full_text_search"
    HYBRID = "hybrid_search"


class DifyRerankMode(StrEnum):
    MODEL = "reranking_model"
    WEIGHTS = "weighted_score"


@dataclass(frozen=True, slots=True, kw_only=True)
class DifyRerankModel:
    provider_name: str
    model_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifyWeights:
    """`vector_weight` and `keyword_weight` make 1 together."""

    vector_weight: float
    keyword_weight: float
    embedding_provider_name: str
    embedding_model_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DifyRetrievalModel:
    """Complete or not sent at all: the product merges nothing with the knowledge base's own settings."""

    search_method: DifySearchMethod
    score_threshold: float | None = None  # None = switched off
    rerank_mode: DifyRerankMode | None = None  # None = switched off
    rerank_model: DifyRerankModel | None = None
    weights: DifyWeights | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DifyConfig:
    """Without a `retrieval_model` the knowledge base's own settings apply. `is_economy` is a fact of the knowledge
    base, read when it was bound: such a one is asked for keywords, since its own settings ask for a model it lacks.
    """

    retrieval_model: DifyRetrievalModel | None = None
    is_economy: bool = False


class FastGptSearchMode(StrEnum):
    EMBEDDING = "embedding"
    FULL_TEXT = "fullTextRecall"
    MIXED = "mixedRecall"


@dataclass(frozen=True, slots=True, kw_only=True)
class FastGptConfig:
    """`token_limit` counts tokens of text, not rows. `similarity` filters in some modes alone."""

    search_mode: FastGptSearchMode = FastGptSearchMode.EMBEDDING
    token_limit: int = 5_000  # 1..20,000
    similarity: float = 0.0  # 0..1
    using_rerank: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RagflowConfig:
    """`top_k` is the pool of candidates, not the number of results. `use_kg` costs the operator a language model's work
    at every search and is sent only while `has_graph`, a fact read when the binding was tested, holds.
    """

    similarity_threshold: float = 0.2  # 0..1
    vector_similarity_weight: float = 0.3  # 0..1
    top_k: int = 1_024  # 1..2,048
    use_kg: bool = False
    has_graph: bool = False


ProductConfig: TypeAlias = DifyConfig | FastGptConfig | RagflowConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding(ProviderConfig):
    """`remote_id` is an identifier as the server returned it, or as an operator typed it where lists are forbidden.
    `remote_name` is a copy for showing, not an authorisation.
    """

    instance_id: str
    remote_id: str
    remote_name: str
    product: ProductConfig
    common: CommonConfig = field(default_factory=CommonConfig)
    adapter_version: int = 1
    config_version: int = CONFIG_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class DifyExternalConfig(ProviderConfig):
    """A server that implements Dify's External Knowledge API; `knowledge_id` is its name for the knowledge.
    `reaches_public_only`: an operator has stated that the credential reaches public content alone; without it nothing
    from there is customer_safe.
    """

    knowledge_id: str
    score_threshold: float = 0.0
    reaches_public_only: bool = False
    common: CommonConfig = field(default_factory=CommonConfig)


PRODUCT_OF: Final[dict[ProviderKind, type[ProductConfig]]] = {
    ProviderKind.DIFY: DifyConfig,
    ProviderKind.FASTGPT: FastGptConfig,
    ProviderKind.RAGFLOW: RagflowConfig,
}


def is_current(kind: ProviderKind, binding: Binding) -> bool:
    """Whether it was tested with the adapter that would ask it. One that was not is not guessed at: it is asked again
    once it has been tested anew.
    """
    return (binding.adapter_version, binding.config_version) == (ADAPTER_VERSION[kind], CONFIG_VERSION)


def has_known_config(binding: Binding) -> bool:
    """Otherwise its settings are the defaults in place of what is stored, which is left as it is."""
    return binding.config_version == CONFIG_VERSION


def common_of(config: ProviderConfig | None) -> CommonConfig | None:
    """None for a provider of another kind."""
    return config.common if isinstance(config, Binding | DifyExternalConfig) else None
