"""What a self-hosted server lists: knowledge bases, and folders on the way to them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MAX_PAGE: Final = 100
MAX_LISTED: Final = 500
MAX_ROWS: Final = 2_000  # looked at in one answer of a server that knows no pages


class EntryKind(StrEnum):
    KNOWLEDGE_BASE = "knowledge_base"
    FOLDER = "folder"


class NotSearchable(StrEnum):
    """Why an entry is listed and cannot be bound."""

    FOLDER = "folder"
    EXTERNAL = "external"  # a data set that lies elsewhere: the product's own API cannot search it
    API_DISABLED = "api_disabled"
    UNKNOWN_TYPE = "unknown_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteEntry:
    """Names and descriptions are untrusted text, made plain and bounded. `is_economy`, `has_graph` and `documents` are
    None where the server does not say.
    """

    id: str
    name: str
    kind: EntryKind = EntryKind.KNOWLEDGE_BASE
    description: str = ""
    not_searchable: NotSearchable | None = None
    documents: int | None = None
    is_economy: bool | None = None
    has_graph: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogWish:
    """`page` counts from 1. `search` narrows by name, `parent` is a folder's id (None = the top)."""

    page: int = 1
    search: str | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogPage:
    """At most `MAX_PAGE` entries, each id once, in the server's order. `total` only where the server says it.
    `is_cut`: there is more than `MAX_LISTED`, which is not shown.
    """

    entries: tuple[RemoteEntry, ...]
    page: int
    has_more: bool = False
    total: int | None = None
    is_cut: bool = False
