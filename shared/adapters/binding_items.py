"""What providers on self-hosted servers are bound to and set to, as parts of items. The same on every lane."""

from __future__ import annotations

from dataclasses import replace

from shared.adapters.attributes import Item, NewItem, flag, flag_of, number, text, text_of, whole_of
from shared.adapters.product_items import finite_of, item_of_product, map_of, product_of
from shared.domain.bindings import PRODUCT_OF, Binding, CommonConfig, DifyExternalConfig, has_known_config
from shared.domain.registrations import ProviderConfig, ProviderKind


def item_of_binding(kind: ProviderKind, config: ProviderConfig | None) -> NewItem:
    """Raises `ValueError` for what is no binding of this kind."""
    if not isinstance(config, Binding) or type(config.product) is not PRODUCT_OF.get(kind):
        raise ValueError("config")
    return {
        "instance_id": text(config.instance_id),
        "remote_id": text(config.remote_id),
        "remote_name": text(config.remote_name),
        "product": {"M": item_of_product(config.product)},
        "common": {"M": _item_of_common(config.common)},
        "adapter_version": number(config.adapter_version),
        "config_version": number(config.config_version),
    }


def binding_of(kind: ProviderKind, item: Item) -> Binding:
    """What it is bound to is the same in every version. Of a config of another version than this one nothing else is
    known: the defaults stand in for it, and it is asked nothing until it has been set and tested anew.
    """
    bound = Binding(
        instance_id=text_of(item, "instance_id"),
        remote_id=text_of(item, "remote_id"),
        remote_name=text_of(item, "remote_name"),
        product=PRODUCT_OF[kind](),
        adapter_version=whole_of(item, "adapter_version"),
        config_version=whole_of(item, "config_version"),
    )
    if not has_known_config(bound):
        return bound
    return replace(bound, product=product_of(kind, map_of(item, "product")), common=_common_of(map_of(item, "common")))


def item_of_external(config: ProviderConfig | None) -> NewItem:
    """Raises `ValueError` for another kind's config."""
    if not isinstance(config, DifyExternalConfig):
        raise ValueError("config")
    return {
        "knowledge_id": text(config.knowledge_id),
        "score_threshold": number(config.score_threshold),
        "reaches_public_only": flag(config.reaches_public_only),
        "common": {"M": _item_of_common(config.common)},
    }


def external_of(item: Item) -> DifyExternalConfig:
    return DifyExternalConfig(
        knowledge_id=text_of(item, "knowledge_id"),
        score_threshold=finite_of(item, "score_threshold"),
        reaches_public_only=flag_of(item, "reaches_public_only"),
        common=_common_of(map_of(item, "common")),
    )


def _item_of_common(common: CommonConfig) -> NewItem:
    return {
        "result_limit": number(common.result_limit),
        "request_timeout_ms": number(common.request_timeout_ms),
        "max_snippet_characters": number(common.max_snippet_characters),
    }


def _common_of(item: Item) -> CommonConfig:
    return CommonConfig(
        result_limit=whole_of(item, "result_limit"),
        request_timeout_ms=whole_of(item, "request_timeout_ms"),
        max_snippet_characters=whole_of(item, "max_snippet_characters"),
    )
