"""What the live kinds are set to, as a part of an item. Read and written on the agent's lane alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from shared.adapters.attributes import Item, NewItem, number, text, text_of, texts, texts_of, whole_of
from shared.domain.live_configs import CONFIG_OF, ExaSearchType, MintlifyEndpoint
from shared.domain.registrations import ProviderConfig, ProviderKind

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

# By field, so that what is stored in another form is unreadable: a text in place of a list would still have members.
_READERS: Final[Mapping[str, Callable[[Item, str], Any]]] = {
    "approved_hosts": texts_of,
    "repositories": texts_of,
    "library": text_of,
    "product": text_of,
    "results": whole_of,
    "max_characters": whole_of,
    "token_budget": whole_of,
    "search_type": lambda item, name: ExaSearchType(text_of(item, name)),
    "endpoint": lambda item, name: MintlifyEndpoint(text_of(item, name)),
}


def item_of_config(kind: ProviderKind, config: ProviderConfig | None) -> NewItem:
    """Raises `ValueError` for a config that is not its kind's own."""
    if type(config) is not CONFIG_OF[kind]:
        raise ValueError("config")
    values = {field.name: getattr(config, field.name) for field in fields(config)}
    return {name: _attribute(value) for name, value in values.items() if value is not None}


def config_of(kind: ProviderKind, item: Item) -> ProviderConfig:
    """What an older item does not mention has its default. Raises `KeyError`, `TypeError` or `ValueError` for what
    cannot be read.
    """
    wanted = CONFIG_OF[kind]
    known = [field.name for field in fields(wanted) if field.name in item]
    return wanted(**{name: _READERS[name](item, name) for name in known})


def _attribute(value: str | int | tuple[str, ...]) -> AttributeValueTypeDef:
    if isinstance(value, tuple):
        return texts(value)
    return text(value) if isinstance(value, str) else number(value)
