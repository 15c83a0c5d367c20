"""Things of the gateway, listed and changed: every page, and every change of what was read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from infra.cli.http import Client, NotAGateway
from infra.cli.progress import working

_PAGE: Final = 100
_MOST_PAGES: Final = 1_000


def path_of(collection: str, thing: str, *below: str) -> str:
    """What somebody typed is one segment of a path, whatever it says."""
    return "/".join([collection, quote(thing, safe=""), *below])


def listed(client: Client, path: str, name: str, *, most: int | None = None) -> dict[str, Any]:
    """All pages as one answer, or the first `most` things. Raises `Declined`, `Unreachable`."""
    things: list[Any] = []
    for page in _pages(client, path, page_size=min(_PAGE, most or _PAGE)):
        with client.understood():
            things += list(page[name])
        if most is not None and len(things) >= most:
            return {name: things[:most]}
    return {name: things}


def changed(
    client: Client, method: str, path: str, body: Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> dict[str, Any]:
    """Sends a change of exactly what was read; `body` may be made of that. Raises `Declined`, `Unreachable`."""
    present = client.call("GET", path)
    with client.understood():
        wanted = body if isinstance(body, Mapping) else body(present.body)
    with working("Changing it"):
        return client.call(method, path, wanted, If_Match=_etag(client, present.etag)).body


def removed(client: Client, path: str, *, etag: str | None, query: str = "") -> None:
    """Deletes what was read under this `etag`. Raises `Declined`, `Unreachable`."""
    client.call("DELETE", path + query, If_Match=_etag(client, etag))


def _etag(client: Client, etag: str | None) -> str:
    if etag is None:
        raise NotAGateway(f"What answers at {client.url} names no version of what it has.")
    return etag


def _pages(client: Client, path: str, *, page_size: int) -> Iterator[Mapping[str, Any]]:
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        asked = {"limit": str(page_size)} | ({} if cursor is None else {"cursor": cursor})
        page = client.call("GET", f"{path}?{urlencode(asked)}").body
        yield page
        with client.understood():
            after: object = page["nextCursor"]
        if after is None:
            return
        if after == cursor or not isinstance(after, str):
            break
        cursor = after
    raise NotAGateway(f"What answers at {client.url} comes to no last page.")
