"""What a server says of a knowledge base, as part of how it is asked."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.bindings import DifyConfig, ProductConfig, RagflowConfig
from shared.domain.remote_catalogs import RemoteEntry
from shared.errors import Conflict


def with_facts(product: ProductConfig, entry: RemoteEntry) -> ProductConfig:
    """What the server does not say is taken as not so."""
    if isinstance(product, DifyConfig):
        return replace(product, is_economy=entry.is_economy is True)
    return replace(product, has_graph=entry.has_graph is True) if isinstance(product, RagflowConfig) else product


def with_facts_of(product: ProductConfig, known: ProductConfig) -> ProductConfig:
    """`product` as it would be of the same knowledge base as `known`."""
    if isinstance(product, DifyConfig) and isinstance(known, DifyConfig):
        return replace(product, is_economy=known.is_economy)
    if isinstance(product, RagflowConfig) and isinstance(known, RagflowConfig):
        return replace(product, has_graph=known.has_graph)
    return product


def check_searchable(entry: RemoteEntry) -> None:
    """Raises `Conflict` (`not_searchable`), whose facts say why."""
    if entry.not_searchable is not None:
        raise Conflict(
            "The server lists this and cannot search it.",
            code="not_searchable",
            facts={"reason": entry.not_searchable.value},
        )


def check_graph(product: ProductConfig) -> None:
    """A graph is searched where one was built, and by nobody's guess. Raises `Conflict` (`graph_not_built`)."""
    if isinstance(product, RagflowConfig) and product.use_kg and not product.has_graph:
        raise Conflict("Nothing shows that this knowledge base has a graph.", code="graph_not_built")
