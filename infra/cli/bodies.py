"""What options say, as the gateway's API takes it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from infra.cli.ending import Told, WrongUse
from infra.cli.prompts import secret

_FIELDS: Final = {
    "name": "name",
    "exposure": "exposureProfile",
    "base_url": "baseUrl",
    "priority": "priority",
    "instance": "instanceId",
    "remote_id": "remoteId",
    "allow_private_network": "allowPrivateNetwork",
    "send_conversation_id": "sendConversationId",
    "result_limit": "resultLimit",
    "request_timeout_ms": "requestTimeoutMs",
    "max_snippet_characters": "maxSnippetCharacters",
    "test_query": "testQuery",
    "public_content_only": "credentialReachesPublicContentOnly",
}
_MOST_AUTHORITY_BYTES: Final = 1_048_576


def body_of(options: argparse.Namespace, *, present: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Of a provider or an instance. What is `present` is what settings are added to. Raises `WrongUse`, `NotGiven`."""
    body = {field: value for name, field in _FIELDS.items() if (value := getattr(options, name, None)) is not None}
    if (module := getattr(options, "module", None)) is not None:
        body["module"] = module or None
    now = present or {}
    body |= _with("config", _settings(options), now) | _with("capabilities", _capabilities(options), now)
    return body | _connection(options, now)


def something(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises `WrongUse` for a change of nothing."""
    if not body:
        raise WrongUse("Say what to change: --help has the options.")
    return body


def _with(field: str, given: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    return {field: {**(present.get(field) or {}), **given}} if given else {}


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    found: dict[str, Any] = dict(getattr(options, "config", None) or ())
    lists = {"approved_host": "approvedHosts", "repository": "repositories"}
    return found | {field: value for name, field in lists.items() if (value := getattr(options, name, None))}


def _capabilities(options: argparse.Namespace) -> dict[str, bool]:
    can, cannot = (getattr(options, name, None) or () for name in ("capability", "no_capability"))
    return dict.fromkeys(can, True) | dict.fromkeys(cannot, False)


def _connection(options: argparse.Namespace, present: Mapping[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if options.key_env or options.key_stdin:
        body["credential"] = {"action": "replace", "value": secret("The server's key", variable=options.key_env)}
    if getattr(options, "clear_key", False):
        if body:
            raise WrongUse("The key is either replaced or forgotten.")
        body["credential"] = {"action": "clear"}
    if options.acknowledge:
        body["acknowledge"] = {"url": options.base_url or present.get("baseUrl", ""), "risks": options.acknowledge}
    if options.authority is not None:
        body["privateAuthority"] = _text_of(options.authority)
    return body


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_AUTHORITY_BYTES).decode("ascii")
    except OSError as error:
        raise Told(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Told(f"{path} holds no certificates (PEM).") from None
