"""What each function gets to know: its own variables and nothing else, from the list that the stack is made of."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from infra.functions import FUNCTIONS, KEY_VARIABLES, ROOT_SECRET_VARIABLE, Function
from infra.pools import POOL_VARIABLES

# Here alone may a provider be plain http on loopback.
_LOOPBACK = {"KG_ALLOW_LOOPBACK_HTTP": "true"}
# Here what runs by the clock does so more often.
_OFTEN = {"KG_PROBE_EVERY_S": "15"}
_INHERITED = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE")


def environments(
    *, store: Mapping[str, str], client: Mapping[str, str], local_origins: Mapping[str, str] | None = None
) -> dict[str, dict[str, str]]:
    """The whole environment of each function's processes, by function.

    `store` holds the KG_* variables of all functions together; `client` is what leads an AWS client to the backend;
    `local_origins` is for those that ask the live services, or look at them: kind -> origin on loopback.
    """
    moved = {"KG_LOCAL_ORIGINS": json.dumps(dict(local_origins))} if local_origins else {}
    return {
        each.name: _environment(each, store=store, client=client)
        | (moved if each.reads_pools or each.every_min else {})
        for each in FUNCTIONS
    }


def _environment(function: Function, *, store: Mapping[str, str], client: Mapping[str, str]) -> dict[str, str]:
    variables = {name: store[name] for name in _stored(function)}
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    environment = {"AWS_LAMBDA_FUNCTION_NAME": f"kg-{function.name}", "TZ": "UTC", "PYTHONUNBUFFERED": "1"}
    environment |= inherited | variables | dict(function.settings)
    if variables:
        environment |= client
    environment |= _OFTEN if function.every_min else {}
    return environment | (_LOOPBACK if function.dials_out else {})


def _stored(function: Function) -> list[str]:
    names = [table.variable for table in function.tables]
    names += [KEY_VARIABLES[exposure] for exposure in function.keys]
    names += [ROOT_SECRET_VARIABLE] if function.reads_root_secret else []
    return [*names, *(POOL_VARIABLES[pool] for pool in function.reads_pools)]
