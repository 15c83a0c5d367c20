"""Runs calls with the credentials it is given, and says how each went.

For the rehearsal this file becomes the code of the deployed widget function, so that the credentials are that
function's own. It imports only what the Lambda runtime ships.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

OK = "ok"
_IMPATIENT = Config(connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1})


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """`python` is the version that runs this, `outcomes` one for each call."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"python": version, "outcomes": outcomes(event, boto3.client)}


def outcomes(event: dict[str, Any], client_for: Callable[..., Any]) -> list[str]:
    """`event["calls"]`: service, operation and parameters of each. Returns `ok` or the error code, in that order."""
    return [_outcome(call, client_for(call["service"], config=_IMPATIENT)) for call in event["calls"]]


def _outcome(call: dict[str, Any], client: Any) -> str:
    try:
        getattr(client, call["operation"])(**_decoded(call["parameters"]))
    except ClientError as refusal:
        return str(refusal.response["Error"]["Code"])
    return OK


def _decoded(value: Any) -> Any:
    """Bytes travel as `{"base64": text}`."""
    if isinstance(value, dict):
        if value.keys() == {"base64"}:
            return base64.b64decode(value["base64"])
        return {name: _decoded(each) for name, each in value.items()}
    return [_decoded(each) for each in value] if isinstance(value, list) else value
