"""What a gateway tells an admin of instances, what is on them, and what is bound to them."""

from __future__ import annotations

import json
from typing import Any

from shared.web.binding_models import DifyShown, RagflowShown
from shared.web.catalog_models import CatalogShown
from shared.web.instance_models import InstanceShown
from shared.web.instance_test_models import InstanceTestShown

INSTANCE = "aoi_k3j5mq2x7a4bwz6t"
BOUND = "ao_k3j5mq2x7a4bwz6t"
REMOTE = "6f0c2d5e/../0001"
FINGERPRINT = "0a169c19cf000a63"
AT = "2026-09-21T14:13:20Z"


def instance(**over: Any) -> dict[str, Any]:
    told = {
        "id": INSTANCE,
        "name": "Crew server",
        "kind": "dify",
        "exposureProfile": "agent_only",
        "baseUrl": "http://dify.office.example/v1",
        "credentialFingerprint": FINGERPRINT,
        "acknowledged": ["plain_http", "private_network"],
        "credentialReachesPublicContentOnly": False,
        "privateAuthority": None,
        "bindings": [],
        "generation": 3,
        "createdAt": AT,
        "updatedAt": AT,
    }
    InstanceShown.model_validate_json(json.dumps(told | over))
    return told | over


def entry(**over: Any) -> dict[str, Any]:
    told = {
        "id": REMOTE,
        "name": "Ferry handbook",
        "kind": "knowledge_base",
        "description": "What a traveller asks",
        "notSearchable": None,
        "documents": 3,
        "isEconomy": True,
        "hasGraph": None,
    }
    return told | over


def catalog(*entries: dict[str, Any], **over: Any) -> dict[str, Any]:
    told = {"entries": list(entries), "page": 1, "hasMore": False, "total": len(entries), "isCut": False}
    CatalogShown.model_validate_json(json.dumps(told | over))
    return told | over


def instance_test(**over: Any) -> dict[str, Any]:
    told = {
        "reachable": "passed",
        "authenticated": "passed",
        "listReadable": "failed",
        "retrieval": "untested",
        "resultCount": None,
        "errorCode": "forbidden",
        "explanation": "The key may not read the list.",
        "version": "1.14.2",
        "durationMs": 12,
        "warnings": ["list_forbidden"],
        "effective": {
            "kind": "dify",
            "baseUrl": "http://dify.office.example/v1",
            "credentialFingerprint": FINGERPRINT,
            "acknowledged": ["plain_http"],
            "hasPrivateAuthority": False,
            "timeoutMs": 25_000,
        },
    }
    InstanceTestShown.model_validate_json(json.dumps(told | over))
    return told | over


def binding(**over: Any) -> dict[str, Any]:
    """Of kind dify, unless told."""
    told = {
        "id": BOUND,
        "name": "Ferries, bound",
        "exposureProfile": "agent_only",
        "baseUrl": "http://dify.office.example/v1",
        "instanceId": INSTANCE,
        "remoteId": REMOTE,
        "remoteName": "Ferry handbook",
        "resultLimit": 6,
        "requestTimeoutMs": 15_000,
        "maxSnippetCharacters": 4000,
        "adapterVersion": 1,
        "configVersion": 1,
        "configInvalid": False,
        "module": None,
        "priority": 100,
        "status": "active",
        "statusReason": None,
        "needsTest": False,
        "generation": 4,
        "createdAt": AT,
        "updatedAt": AT,
        "kind": "dify",
        "config": {"retrievalModel": None},
        "isEconomy": True,
    }
    model = DifyShown if (told | over)["kind"] == "dify" else RagflowShown
    model.model_validate_json(json.dumps(told | over))
    return told | over
