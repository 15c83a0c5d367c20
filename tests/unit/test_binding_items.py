"""What self-hosted servers and their bindings are set to survives the store; what cannot be read is not guessed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters import instance_items, provider_items, source_items
from shared.domain.bindings import (
    PRODUCT_OF,
    Binding,
    CommonConfig,
    DifyConfig,
    DifyExternalConfig,
    DifyRerankMode,
    DifyRerankModel,
    DifyRetrievalModel,
    DifySearchMethod,
    DifyWeights,
    FastGptConfig,
    FastGptSearchMode,
    ProductConfig,
    RagflowConfig,
    is_current,
)
from shared.domain.exposure import ExposureProfile
from shared.domain.instances import INSTANCE_KINDS, Instance, Risk
from shared.domain.registrations import Link, Provider, ProviderKind
from tests.support.builders import (
    a_binding,
    a_provider,
    a_sealed_secret,
    an_external_provider,
    an_instance,
    an_internal_provider,
)

UNREADABLE = (KeyError, TypeError, ValueError)
SAFE = ExposureProfile.CUSTOMER_SAFE

# --- everything that can be set ---
_words = st.text(min_size=1, max_size=40)
_shares = st.floats(min_value=0, max_value=1, allow_subnormal=False)
_counts = st.integers(min_value=1, max_value=30_000)
_common = st.builds(CommonConfig, result_limit=_counts, request_timeout_ms=_counts, max_snippet_characters=_counts)
_rerank_models = st.builds(DifyRerankModel, provider_name=_words, model_name=_words)
_weights = st.builds(
    DifyWeights,
    vector_weight=_shares,
    keyword_weight=_shares,
    embedding_provider_name=_words,
    embedding_model_name=_words,
)
_retrieval_models = st.builds(
    DifyRetrievalModel,
    search_method=st.sampled_from(DifySearchMethod),
    score_threshold=st.none() | _shares,
    rerank_mode=st.none() | st.sampled_from(DifyRerankMode),
    rerank_model=st.none() | _rerank_models,
    weights=st.none() | _weights,
)
_PRODUCTS: dict[ProviderKind, st.SearchStrategy[ProductConfig]] = {
    ProviderKind.DIFY: st.builds(DifyConfig, retrieval_model=st.none() | _retrieval_models, is_economy=st.booleans()),
    ProviderKind.FASTGPT: st.builds(
        FastGptConfig,
        search_mode=st.sampled_from(FastGptSearchMode),
        token_limit=_counts,
        similarity=_shares,
        using_rerank=st.booleans(),
    ),
    ProviderKind.RAGFLOW: st.builds(
        RagflowConfig,
        similarity_threshold=_shares,
        vector_similarity_weight=_shares,
        top_k=_counts,
        use_kg=st.booleans(),
        has_graph=st.booleans(),
    ),
}
_secrets = st.builds(a_sealed_secret, _words)


@st.composite
def _instances(draw: st.DrawFn) -> Instance:
    return an_instance(
        exposure_profile=draw(st.sampled_from(ExposureProfile)),
        kind=draw(st.sampled_from(sorted(INSTANCE_KINDS))),
        name=draw(_words),
        credential=draw(st.none() | _secrets),
        acknowledged=draw(st.frozensets(st.sampled_from(Risk))),
        private_authority=draw(st.none() | _words),
        binding_ids=draw(st.frozensets(_words, max_size=3)),
        generation=draw(_counts),
        reaches_public_only=True,
    )


@st.composite
def _bound(draw: st.DrawFn) -> tuple[Instance, Provider]:
    instance = draw(_instances())
    provider = a_binding(
        instance,
        product=draw(_PRODUCTS[instance.kind]),
        common=draw(_common),
        remote_id=draw(_words),
        remote_name=draw(_words),
        adapter_version=draw(_counts),
        needs_test=draw(st.booleans()),
    )
    return instance, provider


@given(_bound())
def test_every_binding_survives_the_store(bound: tuple[Instance, Provider]) -> None:
    instance, provider = bound
    assert provider_items.provider_of(provider_items.item_of(provider), {instance.id: instance}.get) == provider


@given(_instances())
def test_every_instance_survives_the_store(instance: Instance) -> None:
    assert instance_items.instance_of(instance_items.item_of(instance)) == instance


@given(
    st.builds(
        DifyExternalConfig,
        knowledge_id=_words,
        score_threshold=_shares,
        reaches_public_only=st.just(True),
        common=_common,
    ),
    st.none() | _secrets,
    st.booleans(),
    st.none() | _words,
    st.sampled_from(ExposureProfile),
)
def test_every_provider_with_a_credential_of_its_own_survives_the_store(
    config: DifyExternalConfig, credential: Any, plain: bool, authority: str | None, profile: ExposureProfile
) -> None:
    provider = an_external_provider(exposure_profile=profile)
    link = Link(owner_id=provider.id, credential=credential, allow_plain_http=plain, private_authority=authority)
    provider = provider.with_source(config=config, link=link)
    assert provider_items.provider_of(provider_items.item_of(provider), _nothing) == provider


def test_no_config_and_no_field_of_one_is_left_out_above() -> None:
    """A field that is added without being stored would come back as its default."""
    changed = {
        CommonConfig: CommonConfig(result_limit=1, request_timeout_ms=2, max_snippet_characters=3),
        DifyRetrievalModel: DifyRetrievalModel(
            search_method=DifySearchMethod.HYBRID,
            score_threshold=0.5,
            rerank_mode=DifyRerankMode.WEIGHTS,
            rerank_model=DifyRerankModel(provider_name="p", model_name="m"),
            weights=DifyWeights(
                vector_weight=0.25, keyword_weight=0.75, embedding_provider_name="e", embedding_model_name="m"
            ),
        ),
        FastGptConfig: FastGptConfig(
            search_mode=FastGptSearchMode.MIXED, token_limit=9, similarity=0.9, using_rerank=True
        ),
        RagflowConfig: RagflowConfig(
            similarity_threshold=0.9, vector_similarity_weight=0.9, top_k=9, use_kg=True, has_graph=True
        ),
    }
    changed[DifyConfig] = DifyConfig(retrieval_model=changed[DifyRetrievalModel], is_economy=True)
    for kind, product in PRODUCT_OF.items():
        instance = an_instance(kind=kind)
        provider = a_binding(instance, product=changed[product], common=changed[CommonConfig], adapter_version=9)
        read = provider_items.provider_of(provider_items.item_of(provider), {instance.id: instance}.get)
        for config, default in ((read.source.config.product, product()), (read.source.config.common, CommonConfig())):
            for field in fields(config):
                assert getattr(config, field.name) != getattr(default, field.name), field.name
    assert set(get_args(ProductConfig)) == set(PRODUCT_OF.values()) <= set(changed)


# --- what is not stored ---
def test_nothing_of_an_instance_is_stored_with_its_binding() -> None:
    instance = an_instance(base_url="https://only-here.fern-desk.test/v1", private_authority="only here")
    item = provider_items.item_of(a_binding(instance))
    assert {"base_url", "allow_private_network", "link"}.isdisjoint(item)
    assert "only-here" not in repr(item)
    assert repr(instance.credential.ciphertext) not in repr(item)


@pytest.mark.parametrize("kind", sorted(INSTANCE_KINDS))
def test_a_binding_of_another_kind_is_not_stored(kind: ProviderKind) -> None:
    for other in INSTANCE_KINDS - {kind}:
        provider = a_binding(an_instance(kind=other)).with_source(kind=kind)
        with pytest.raises(ValueError, match="config"):
            provider_items.item_of(provider)


@pytest.mark.parametrize("config", [None, DifyExternalConfig(knowledge_id="x")], ids=["nothing", "another kind's"])
def test_a_server_kind_without_its_own_config_is_not_stored(config: Any) -> None:
    with pytest.raises(ValueError, match="config"):
        provider_items.item_of(a_binding(an_instance()).with_source(config=config))
    with pytest.raises(ValueError, match="config"):
        provider_items.item_of(an_external_provider().with_source(config=a_binding(an_instance()).source.config))


def test_a_link_of_somebody_else_is_not_stored() -> None:
    provider = an_external_provider()
    for link in (None, Link(owner_id="ao_aaaaaaaaaaaaaaaa")):
        with pytest.raises(ValueError, match="link"):
            provider_items.item_of(provider.with_source(link=link))


# --- what cannot be read ---
def _nothing(_instance_id: str) -> None:
    return None


def _stored(**over: Any) -> tuple[dict[str, Any], Instance]:
    instance = an_instance(exposure_profile=SAFE)
    return dict(provider_items.item_of(a_binding(instance, **over))), instance


def _everywhere(item: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every attribute inside an attribute map."""
    for name, value in item.items():
        yield (*path, name)
        if isinstance(value, dict) and "M" in value:
            yield from _everywhere(value["M"], (*path, name))


def _with(item: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A copy with another value there, or none where it is None."""
    name, *rest = path
    if rest:
        return item | {name: {"M": _with(item[name]["M"], tuple(rest), value)}}
    return {key: kept for key, kept in item.items() if key != name} | ({} if value is None else {name: value})


_FULL = DifyConfig(
    retrieval_model=DifyRetrievalModel(
        search_method=DifySearchMethod.HYBRID,
        score_threshold=0.5,
        rerank_mode=DifyRerankMode.MODEL,
        rerank_model=DifyRerankModel(provider_name="p", model_name="m"),
        weights=DifyWeights(
            vector_weight=0.5, keyword_weight=0.5, embedding_provider_name="e", embedding_model_name="m"
        ),
    )
)
_OPTIONAL = {"retrieval_model", "score_threshold", "rerank_mode", "rerank_model", "weights"}


def test_a_binding_that_lacks_anything_is_unreadable() -> None:
    item, instance = _stored(product=_FULL)
    paths = list(_everywhere(item["binding"]["M"], ("binding",)))
    assert len(paths) > 20
    for path in paths:
        if path[-1] not in _OPTIONAL:
            with pytest.raises(UNREADABLE):
                source_items.source_of(_with(item, path, None), {instance.id: instance}.get)


@pytest.mark.parametrize(
    "value", [{"S": "sideways"}, {"BOOL": "yes"}, {"N": "many"}, {"N": "0.5"}, {"NULL": True}], ids=str
)
def test_a_binding_that_says_anything_in_an_unknown_way_is_unreadable(value: dict[str, Any]) -> None:
    """Texts and numbers apart, which can be anything of their kind."""
    item, instance = _stored(product=_FULL)
    for path in _everywhere(item["binding"]["M"], ("binding",)):
        kept = item
        for name in path[:-1]:
            kept = kept[name]["M"]
        is_free_text = "S" in value and path[-1].endswith(("_id", "_name"))
        is_free_number = value == {"N": "0.5"} and path[-1].endswith(("_weight", "_threshold"))
        if not (is_free_text or is_free_number):
            with pytest.raises(UNREADABLE):
                source_items.source_of(_with(item, path, value), {instance.id: instance}.get)


@pytest.mark.parametrize("version", [0, 2, 99])
@pytest.mark.parametrize("lost", [(), ("product",), ("common",), ("product", "common")], ids=str)
def test_a_config_of_another_version_is_read_as_outdated_with_nothing_taken_from_it(
    version: int, lost: tuple[str, ...]
) -> None:
    item, instance = _stored(product=_FULL, common=CommonConfig(result_limit=3))
    older = _with(item, ("binding", "config_version"), {"N": str(version)})
    for name in lost:
        older = _with(older, ("binding", name), {"S": "written in another way"})
    source = source_items.source_of(older, {instance.id: instance}.get)
    binding = source.config

    assert isinstance(binding, Binding)
    assert not is_current(source.kind, binding)
    assert (binding.product, binding.common) == (DifyConfig(), CommonConfig())
    assert (binding.instance_id, binding.remote_id) == (instance.id, item["binding"]["M"]["remote_id"]["S"])
    assert (binding.config_version, source.base_url) == (version, instance.base_url)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_unreadable(number: str) -> None:
    assert not math.isfinite(float(number))
    item, instance = _stored(product=_FULL)
    spoiled = _with(item, ("binding", "product", "retrieval_model", "score_threshold"), {"N": number})
    with pytest.raises(ValueError, match="score_threshold"):
        source_items.source_of(spoiled, {instance.id: instance}.get)


def test_a_binding_without_its_instance_is_unreadable() -> None:
    item, instance = _stored()
    strangers = {
        "none": None,
        "another one": an_instance(exposure_profile=SAFE),
        "another kind": replace(instance, kind=ProviderKind.RAGFLOW),
        "another exposure profile": replace(an_instance(), id="aoi_aaaaaaaaaaaaaaaa"),
    }
    for stranger in strangers.values():
        with pytest.raises(ValueError, match="instance"):
            source_items.source_of(item, lambda _instance_id, found=stranger: found)


def test_a_binding_never_reaches_an_instance_of_the_other_exposure_profile() -> None:
    """However both came to lie in one table, and whatever else they say."""
    for profile, other in ((SAFE, ExposureProfile.AGENT_ONLY), (ExposureProfile.AGENT_ONLY, SAFE)):
        instance, foreign = an_instance(exposure_profile=profile), an_instance(exposure_profile=other)
        item = provider_items.item_of(a_binding(instance))
        crossed = _with(item, ("binding", "instance_id"), {"S": foreign.id})
        with pytest.raises(ValueError, match="exposure_profile"):
            source_items.source_of(crossed, {foreign.id: foreign}.get)


@pytest.mark.parametrize("kind", sorted(INSTANCE_KINDS))
def test_an_item_of_another_kind_is_not_taken_for_a_binding(kind: ProviderKind) -> None:
    instance = an_instance(kind=kind)
    for item in (provider_items.item_of(a_provider()), provider_items.item_of(an_external_provider())):
        with pytest.raises(UNREADABLE):
            source_items.source_of(item | {"kind": {"S": kind.value}}, lambda _instance_id: instance)


def test_an_external_provider_that_lacks_anything_is_unreadable() -> None:
    item = provider_items.item_of(an_external_provider())
    paths = [*_everywhere(item["external"]["M"], ("external",)), ("external",), ("link",), ("link", "allow_plain_http")]
    assert len(paths) == 10
    for path in paths:
        with pytest.raises(UNREADABLE):
            source_items.source_of(_with(dict(item), path, None), _nothing)


def test_nothing_is_customer_safe_that_may_reach_more_than_public_content() -> None:
    provider = an_external_provider(exposure_profile=SAFE)
    item = _with(dict(provider_items.item_of(provider)), ("external", "reaches_public_only"), {"BOOL": False})
    with pytest.raises(ValueError, match="public"):
        source_items.source_of(item, _nothing)
    with pytest.raises(ValueError, match="public"):
        instance_items.item_of(an_instance(exposure_profile=SAFE, reaches_public_only=False))
    stored = instance_items.item_of(an_instance(exposure_profile=SAFE))
    with pytest.raises(ValueError, match="public"):
        instance_items.instance_of(stored | {"reaches_public_only": {"BOOL": False}})


@pytest.mark.parametrize(
    "over",
    [
        {"kind": {"S": "contract"}},
        {"kind": {"S": "dify_external"}},
        {"kind": {"S": "telepathy"}},
        {"exposure_profile": {"S": "customer_safe"}},
        {"exposure_profile": {"S": "everyone"}},
        {"acknowledged": {"L": [{"S": "everything"}]}},
        {"acknowledged": {"S": "plain_http"}},
        {"reaches_public_only": {"S": "true"}},
        {"generation": {"N": "1.5"}},
        {"credential": {"M": {"fingerprint": {"S": "x"}}}},
        {"private_authority": {"BOOL": True}},
        {"binding_ids": {"L": []}},
    ],
    ids=str,
)
def test_an_instance_that_cannot_be_trusted_is_unreadable(over: dict[str, Any]) -> None:
    item = instance_items.item_of(an_instance())
    with pytest.raises(UNREADABLE):
        instance_items.instance_of(item | over)


def test_an_instance_that_lacks_anything_is_unreadable() -> None:
    item = instance_items.item_of(an_instance(credential=None))
    for name in set(item) - {"pk"}:
        with pytest.raises(UNREADABLE):
            instance_items.instance_of({key: value for key, value in item.items() if key != name})


def test_other_kinds_are_stored_as_they_were() -> None:
    provider = an_internal_provider(allow_private_network=True)
    item = provider_items.item_of(provider)
    assert {"binding", "external", "link"}.isdisjoint(item)
    assert provider_items.provider_of(item, _nothing) == provider


def test_a_binding_carries_the_versions_it_was_tested_with() -> None:
    config = a_binding(an_instance(), adapter_version=7).source.config
    assert isinstance(config, Binding)
    instance = an_instance(id=config.instance_id)
    provider = a_binding(instance, adapter_version=7)
    read = source_items.source_of(provider_items.item_of(provider), {instance.id: instance}.get)
    assert isinstance(read.config, Binding)
    assert (read.config.adapter_version, read.config.config_version) == (7, 1)
