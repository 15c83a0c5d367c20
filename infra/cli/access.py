"""Which gateway the command speaks to, and as whom. Tokens never come from the command line, where others see them."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from infra.cli.http import Client
from infra.cli.state import LOCAL, read_json

URL_VARIABLE = "KGW_URL"
TOKEN_VARIABLE = "KGW_TOKEN"


class NoAccess(Exception):
    """The message says what is missing."""


def client_as(caller: str) -> Client:
    """The gateway that runs here, unless `KGW_URL` names another one; its own token, unless `KGW_TOKEN` holds one.

    A token of the gateway that runs here is never sent anywhere else. Raises `NoAccess`.
    """
    elsewhere, token = os.environ.get(URL_VARIABLE, ""), os.environ.get(TOKEN_VARIABLE, "")
    if elsewhere:
        if urlsplit(elsewhere).scheme not in ("http", "https") or not token:
            raise NoAccess(f"{URL_VARIABLE} wants an http(s) URL, and a token in {TOKEN_VARIABLE} to go with it.")
        return Client(elsewhere.rstrip("/"), token)
    try:
        local = read_json(LOCAL)
    except (ValueError, OSError):
        raise NoAccess(f"{LOCAL} cannot be read.") from None
    if local is None or not (token or caller in local):
        raise NoAccess(f"There is no {caller} in {LOCAL}. Start the gateway here first: kgw up")
    return Client(local["url"], token or local[caller])
