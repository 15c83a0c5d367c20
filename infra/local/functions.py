"""What each function gets to know: its own variables and nothing else, as the stack gives them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from infra.routes import DEFAULT_FUNCTION, ROUTES
from infra.tables import LEDGER_INTERNAL, LEDGER_PUBLIC, REGISTRATIONS_INTERNAL, REGISTRATIONS_PUBLIC

_PUBLIC = (REGISTRATIONS_PUBLIC.variable, LEDGER_PUBLIC.variable, "KG_KEY_PUBLIC")
_BOTH = (*_PUBLIC, REGISTRATIONS_INTERNAL.variable, LEDGER_INTERNAL.variable, "KG_KEY_INTERNAL")
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "assets": (),
    "widget": _PUBLIC,
    "search": _BOTH,
    "admin": (*_BOTH, "KG_ROOT_SECRET"),
}
FUNCTIONS = tuple(sorted({route.function for route in ROUTES} | {DEFAULT_FUNCTION}))

# Here alone may a provider be plain http on loopback.
_LOCAL = {"KG_ALLOW_LOOPBACK_HTTP": "true"}
_INHERITED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE")


def environment_of(function: str, *, store: Mapping[str, str], client: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of one function's processes.

    `store` holds the KG_* variables of all functions together; `client` is what leads an AWS client to the backend.
    """
    variables = {name: store[name] for name in VARIABLES[function]}
    dialling = _LOCAL if function != DEFAULT_FUNCTION else {}
    lambda_like = {"AWS_LAMBDA_FUNCTION_NAME": f"kg-{function}", "TZ": "UTC", "PYTHONUNBUFFERED": "1"}
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return inherited | lambda_like | (dict(client) if variables else {}) | variables | dialling
