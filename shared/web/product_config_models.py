"""How each self-hosted product is asked, on the wire. A `config` is replaced whole."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, Final

from pydantic import Field, model_validator

from shared.domain.bindings import (
    CommonConfig,
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
from shared.web.search_fields import SentLine
from shared.web.wire import AdminModel

_COMMON: Final = CommonConfig()
_FASTGPT: Final = FastGptConfig()
_RAGFLOW: Final = RagflowConfig()

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
ModelName = Annotated[str, Field(min_length=1, max_length=256), SentLine]
ResultLimit = Annotated[int, Field(ge=1, le=20, description="At most this many passages a search.")]
RequestTimeoutMs = Annotated[
    int, Field(ge=1_000, le=25_000, description="How long the server is waited for; never past the search's deadline.")
]
MaxSnippetCharacters = Annotated[
    int, Field(ge=100, le=8_000, description="A longer passage is cut and marked as `truncated`.")
]


class ProductConfigModel(AdminModel):
    """The settings of one product."""

    @abstractmethod
    def known(self) -> ProductConfig: ...


class RerankModelModel(AdminModel):
    """As the product names them: the provider of the model, and the model."""

    provider_name: ModelName
    model_name: ModelName


class WeightsModel(AdminModel):
    """The two weights make 1 together."""

    vector_weight: Share
    keyword_weight: Share
    embedding_provider_name: ModelName
    embedding_model_name: ModelName

    @model_validator(mode="after")
    def _whole(self) -> WeightsModel:
        if abs(self.vector_weight + self.keyword_weight - 1) > 1e-6:
            raise ValueError("`vectorWeight` and `keywordWeight` make 1 together")
        return self


class RetrievalModelModel(AdminModel):
    """Sent whole: the product merges nothing with the knowledge base's own settings. `scoreThreshold` and `rerankMode`
    are off while they are null; each `rerankMode` comes with what it needs, and with nothing else.
    """

    search_method: DifySearchMethod
    score_threshold: Share | None = None
    rerank_mode: DifyRerankMode | None = None
    rerank_model: RerankModelModel | None = None
    weights: WeightsModel | None = None

    @model_validator(mode="after")
    def _complete(self) -> RetrievalModelModel:
        if (self.rerank_mode is DifyRerankMode.MODEL) != (self.rerank_model is not None):
            raise ValueError("`rerankModel` comes with `rerankMode: reranking_model`, and only with it")
        if (self.rerank_mode is DifyRerankMode.WEIGHTS) != (self.weights is not None):
            raise ValueError("`weights` come with `rerankMode: weighted_score`, and only with it")
        return self

    def known(self) -> DifyRetrievalModel:
        named, weights = self.rerank_model, self.weights
        return DifyRetrievalModel(
            search_method=self.search_method,
            score_threshold=self.score_threshold,
            rerank_mode=self.rerank_mode,
            rerank_model=None if named is None else DifyRerankModel(**named.model_dump()),
            weights=None if weights is None else DifyWeights(**weights.model_dump()),
        )


class DifyConfigModel(ProductConfigModel):
    """Without a `retrievalModel` the knowledge base is asked as it is set in the product."""

    retrieval_model: RetrievalModelModel | None = None

    def known(self) -> DifyConfig:
        return DifyConfig(retrieval_model=None if self.retrieval_model is None else self.retrieval_model.known())


class FastGptConfigModel(ProductConfigModel):
    """No language model is asked to rewrite the query, whatever is set here."""

    search_mode: FastGptSearchMode = _FASTGPT.search_mode
    token_limit: int = Field(
        default=_FASTGPT.token_limit, ge=1, le=20_000, description="Tokens of text the product may return, not rows."
    )
    similarity: Share = Field(
        default=_FASTGPT.similarity, description="Filters in mode `embedding`, and wherever a rerank really ran."
    )
    using_re_rank: bool = Field(
        default=_FASTGPT.using_rerank, description="Silently off in the product where it has no rerank model."
    )

    def known(self) -> FastGptConfig:
        return FastGptConfig(
            search_mode=self.search_mode,
            token_limit=self.token_limit,
            similarity=self.similarity,
            using_rerank=self.using_re_rank,
        )


class RagflowConfigModel(ProductConfigModel):
    similarity_threshold: Share = _RAGFLOW.similarity_threshold
    vector_similarity_weight: Share = _RAGFLOW.vector_similarity_weight
    top_k: int = Field(
        default=_RAGFLOW.top_k, ge=1, le=2_048, description="The pool of candidates, not the number of results."
    )
    use_kg: bool = Field(
        default=_RAGFLOW.use_kg,
        description="Search the knowledge graph as well. Costs a language model's work at every search, and is taken "
        "only where the server shows that a graph was built.",
    )

    def known(self) -> RagflowConfig:
        return RagflowConfig(**self.model_dump())


def dify_shown(config: DifyConfig) -> DifyConfigModel:
    """What is stored was checked when it was set."""
    model = config.retrieval_model
    if model is None:
        return DifyConfigModel()
    named, weights = model.rerank_model, model.weights
    shown = RetrievalModelModel.model_construct(
        search_method=model.search_method,
        score_threshold=model.score_threshold,
        rerank_mode=model.rerank_mode,
        rerank_model=None if named is None else RerankModelModel.model_construct(**_fields(named)),
        weights=None if weights is None else WeightsModel.model_construct(**_fields(weights)),
    )
    return DifyConfigModel.model_construct(retrieval_model=shown)


def fastgpt_shown(config: FastGptConfig) -> FastGptConfigModel:
    return FastGptConfigModel.model_construct(
        search_mode=config.search_mode,
        token_limit=config.token_limit,
        similarity=config.similarity,
        using_re_rank=config.using_rerank,
    )


def ragflow_shown(config: RagflowConfig) -> RagflowConfigModel:
    fields = _fields(config)
    del fields["has_graph"]
    return RagflowConfigModel.model_construct(**fields)


def _fields(value: DifyRerankModel | DifyWeights | RagflowConfig) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__slots__}
