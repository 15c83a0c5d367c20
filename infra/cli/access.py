"""Which gateway the command speaks to, and as whom. Tokens never come from the command line, where others see them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from infra.cli.http import Client, Unsendable, is_visible
from infra.cli.state import LOCAL, read_json

URL_VARIABLE = "KGW_URL"
TOKEN_VARIABLE = "KGW_TOKEN"


class NoAccess(Exception):
    """The message says what is missing or cannot be used, and shows none of it."""


def client_as(caller: str) -> Client:
    """The gateway that runs here, unless `KGW_URL` names another one; its own token, unless `KGW_TOKEN` holds one.

    A token of the gateway that runs here is never sent anywhere else. Raises `NoAccess`.
    """
    elsewhere, token = os.environ.get(URL_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
    if not elsewhere:
        return client_here(caller, token=token)
    if not token:
        raise NoAccess(f"{URL_VARIABLE} wants a token in {TOKEN_VARIABLE} to go with it.")
    return _client(elsewhere, token, url_in=URL_VARIABLE, token_in=TOKEN_VARIABLE)


def client_here(caller: str, *, token: str = "") -> Client:
    """The gateway that runs here, as `caller` or as the bearer of the `token` that `KGW_TOKEN` holds. Raises
    `NoAccess`.
    """
    local = local_access()
    if not local or not (token or local.get(caller)):
        raise _nobody(caller)
    if token:
        return _client(local.get("url"), token, url_in=str(LOCAL), token_in=TOKEN_VARIABLE)
    return _client(local.get("url"), local[caller], url_in=str(LOCAL), token_in=f"{caller} in {LOCAL}")


def local_access() -> Mapping[str, Any]:
    """What the gateway that runs here has written; empty where none does. Raises `NoAccess`."""
    try:
        return read_json(LOCAL) or {}
    except (ValueError, OSError, RecursionError):
        raise NoAccess(f"{LOCAL} cannot be read.") from None


def origin_here() -> str:
    """Where the widget of the gateway that runs here is shown. Raises `NoAccess`."""
    origin = str(local_access().get("origin", ""))
    if not is_visible(origin):
        raise NoAccess(f"There is no origin in {LOCAL} that can be sent.")
    return origin


def _nobody(caller: str) -> NoAccess:
    what = "gateway" if caller == "admin" else "demo"  # the one without it has an admin alone
    return NoAccess(f"There is no {caller} in {LOCAL}. Start the {what} here first: kgw up")


def _client(url: object, token: object, *, url_in: str, token_in: str) -> Client:
    try:
        return Client(str(url), str(token))
    except Unsendable as wrong:
        raise NoAccess(f"{token_in if wrong.is_token else url_in} {wrong}") from None
