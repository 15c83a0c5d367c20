"""What a gateway tells an admin, as the models of the API have it."""

from __future__ import annotations

import json
from typing import Any

from shared.web.contract_provider_models import ContractShown
from shared.web.health_models import HealthShown, OneHealthShown
from shared.web.provider_test_models import ProviderTestShown

ID = "cs_k3j5mq2x7a4bwz6t"
SINCE = "2026-09-21T14:13:20Z"
CLOSED = {"state": "closed", "failures": 0, "openUntil": None, "lastCode": None, "lastAt": None}
OPEN = {"state": "open", "failures": 3, "openUntil": SINCE, "lastCode": "connection_failed", "lastAt": SINCE}
TROUBLED = ("auto_disabled", "refused", "broken", "down", "limited", "failing", "not_configured")
STATES = (*TROUBLED, "unchecked", "healthy", "disabled")


def one_health(state: str = "healthy", *, at: int = 0, **over: Any) -> dict[str, Any]:
    """`at` tells providers apart."""
    wrong = state in TROUBLED
    told = {
        "id": f"cs_k3j5mq2x7a4bwz6{'abcdefghij'[at]}",
        "name": f"Source {at}, {state.replace('_', ' ')}",
        "kind": "contract",
        "exposureProfile": "customer_safe",
        "status": state if state in ("disabled", "auto_disabled") else "active",
        "state": state,
        "since": SINCE if wrong else None,
        "looked": "capabilities",
        "code": "connection_failed" if wrong else None,
        "explanation": "What that means, and what to do about it.",
        "retryAt": SINCE if state in ("down", "limited") else None,
        "lastWellAt": SINCE,
        "warnings": ["capabilities_changed"] if state == "healthy" else [],
        "circuits": {"agent": OPEN if state == "down" else CLOSED, "customer": None if wrong else CLOSED},
    }
    return told | over


POOLS = [
    {
        "pool": pool,
        "takesKeys": takes,
        "configured": 3 if takes else 0,
        "usable": 2 if takes else 0,
        "resting": 1 if takes else 0,
        "retryAt": None,
        "allowance": {"limit": 1000, "used": used, "unknown": 1},
    }
    for pool, takes, used in (("exa", True, 950), ("context7", True, 720), ("deepwiki", False, 0))
]


def health(*providers: dict[str, Any], **over: Any) -> dict[str, Any]:
    told = {
        "status": "degraded",
        "checkedAt": SINCE,
        "stale": False,
        "run": {"startedAt": SINCE, "finishedAt": SINCE, "lookedAt": 6, "leftOut": 1},
        "pools": POOLS,
        "unavailable": [],
        "providers": list(providers),
    }
    HealthShown.model_validate_json(json.dumps(told | over))
    return told | over


def health_of_one(provider: dict[str, Any], *history: dict[str, Any]) -> dict[str, Any]:
    whole = health()
    del whole["providers"]
    told = whole | {"pools": POOLS[:1], "provider": provider, "history": list(history)}
    OneHealthShown.model_validate_json(json.dumps(told))
    return told


def happening(what: str, **over: Any) -> dict[str, Any]:
    return {"at": SINCE, "happening": what, "state": "open", "lane": "agent", "code": None, "until": None} | over


CAPABILITIES = dict.fromkeys(
    [
        "semanticSearch",
        "locale",
        "localeFallback",
        "freshness",
        "translationGroups",
        "chunking",
        "scoring",
        "citationUrl",
    ],
    False,
)


def contract(**over: Any) -> dict[str, Any]:
    told = {
        "id": ID,
        "name": "Help centre",
        "kind": "contract",
        "exposureProfile": "customer_safe",
        "baseUrl": "https://kb.example.com/v1",
        "allowPrivateNetwork": False,
        "sendConversationId": False,
        "module": None,
        "capabilities": CAPABILITIES | {"locale": True},
        "contractVersion": 1,
        "priority": 100,
        "status": "active",
        "statusReason": None,
        "needsTest": False,
        "generation": 2,
        "secretFingerprint": "7af4e1eb38a3b797",
        "rotation": None,
        "createdAt": SINCE,
        "updatedAt": SINCE,
    }
    ContractShown.model_validate_json(json.dumps(told | over))
    return told | over


def passage(**over: Any) -> dict[str, Any]:
    told = {
        "documentId": "d1",
        "title": "Ferry passes",
        "snippet": "A ferry pass is valid on every night ferry.",
        "audience": "public",
        "evidence": "source_excerpt",
        "revision": None,
        "chunkId": None,
        "url": "https://help.example.com/passes",
        "locale": "en",
        "providerScore": 1.5,
        "freshness": "stale",
        "reviewDueAt": None,
        "translationGroupId": None,
        "truncated": True,
    }
    return told | over


def report(*passages: dict[str, Any], **over: Any) -> dict[str, Any]:
    effective = {"baseUrl": "https://kb.example.com/v1", "contractVersion": 1, "capabilities": CAPABILITIES}
    told = {
        "status": "success",
        "errorCode": None,
        "explanation": None,
        "durationMs": 6,
        "resultCount": len(passages),
        "results": list(passages),
        "dropped": [{"documentId": "d2", "title": "Inside", "audience": "internal", "reason": "internal_dropped"}],
        "warnings": ["internal_dropped"],
        "activated": False,
        "effective": effective | {"allowPrivateNetwork": False, "timeoutMs": 9999, "limit": 10, "signatures": 1},
        "provider": contract(),
    }
    ProviderTestShown.model_validate_json(json.dumps(told | over))
    return told | over
