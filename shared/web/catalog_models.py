"""What is on a self-hosted server, on the wire. Names and descriptions are untrusted text."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from shared.domain.remote_catalogs import (
    MAX_LISTED,
    MAX_PAGE,
    CatalogPage,
    CatalogWish,
    EntryKind,
    NotSearchable,
    RemoteEntry,
)
from shared.domain.server_passages import is_remote_id
from shared.errors import Invalid, NotFound, Violation
from shared.web.events import Event
from shared.web.shown import Shown

MAX_PAGES: Final = MAX_LISTED // MAX_PAGE
MAX_SEARCH_CHARACTERS: Final = 120
_KNOWN: Final = frozenset({"page", "search", "parent"})


class EntryShown(Shown):
    """`documents`, `isEconomy` (dify) and `hasGraph` (ragflow) are null where the server does not say."""

    id: str
    name: str
    kind: EntryKind
    description: str
    not_searchable: NotSearchable | None = Field(
        description="Why it cannot be bound. A folder is opened as `parent`; an `external` data set of dify lies on "
        "another server and cannot be searched through this one."
    )
    documents: int | None
    is_economy: bool | None
    has_graph: bool | None

    @classmethod
    def of(cls, entry: RemoteEntry) -> EntryShown:
        return cls(
            id=entry.id,
            name=entry.name,
            kind=entry.kind,
            description=entry.description,
            not_searchable=entry.not_searchable,
            documents=entry.documents,
            is_economy=entry.is_economy,
            has_graph=entry.has_graph,
        )


class CatalogShown(Shown):
    """At most 100 entries a page and 500 in all: `isCut` says that there is more than those."""

    entries: tuple[EntryShown, ...] = Field(max_length=MAX_PAGE)
    page: int
    has_more: bool
    total: int | None = Field(description="Only where the server says it.")
    is_cut: bool

    @classmethod
    def of(cls, page: CatalogPage) -> CatalogShown:
        is_last = page.page >= MAX_PAGES
        return cls(
            entries=tuple(EntryShown.of(entry) for entry in page.entries[:MAX_PAGE]),
            page=page.page,
            has_more=page.has_more and not is_last,
            total=page.total,
            is_cut=page.is_cut or (page.has_more and is_last),
        )


def catalog_wish(event: Event) -> CatalogWish:
    """`page`, `search` and `parent` of the query string. Raises `Invalid`, also for parameters not known here."""
    given: dict[str, str] = event["queryStringParameters"]
    search, parent = given.get("search"), given.get("parent")
    violations = [Violation(f"/{name}", "This parameter is not known here.") for name in sorted(given.keys() - _KNOWN)]
    if not _is_page(given.get("page", "1")):
        violations.append(Violation("/page", f"Send a whole number from 1 to {MAX_PAGES}."))
    if search is not None and not (search.strip() and len(search) <= MAX_SEARCH_CHARACTERS):
        violations.append(Violation("/search", f"Send 1 to {MAX_SEARCH_CHARACTERS} characters, not only spaces."))
    if parent is not None and not is_remote_id(parent):
        violations.append(Violation("/parent", "Send the id of a folder, as the catalog shows it."))
    if violations:
        raise Invalid("Correct the parameters named in `errors`.", violations=tuple(violations))
    return CatalogWish(page=int(given.get("page", "1")), search=search, parent=parent)


def checked_remote_id(text: str) -> str:
    """Of the path. Raises `NotFound` for what no server has as an id."""
    if not is_remote_id(text):
        raise NotFound("The server knows nothing by this id.")
    return text


def _is_page(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 2 and 1 <= int(text) <= MAX_PAGES
