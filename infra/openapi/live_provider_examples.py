"""Examples of providers of the live kinds, of pools and of allowances."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_AT = "2026-09-21T14:13:20.000Z"
_LATER = "2026-09-22T14:13:20.000Z"
_EXA_CONFIG: Json = {
    "approvedHosts": ["docs.example.com"],
    "searchType": "fast",
    "results": 5,
    "maxCharacters": 10000,
}
_EXA: Json = {
    "id": "ao_k3j5mq2x7a4bwz6t",
    "name": "Documentation, live",
    "exposureProfile": "agent_only",
    "baseUrl": "https://api.exa.ai",
    "module": None,
    "priority": 200,
    "status": "disabled",
    "statusReason": None,
    "needsTest": True,
    "generation": 1,
    "createdAt": _AT,
    "updatedAt": _AT,
    "kind": "exa",
    "config": _EXA_CONFIG,
}
_POOL: Json = {
    "pool": "exa",
    "takesKeys": True,
    "configured": 2,
    "usable": 1,
    "resting": 1,
    "keys": [
        {"name": "EXA_API_KEY", "state": "resting", "restingUntil": _LATER, "reason": "quota"},
        {"name": "EXA_API_KEY_1", "state": "active", "restingUntil": None, "reason": None},
    ],
    "unusable": [],
    "readyAgainAt": None,
}
_ALLOWANCE: Json = {
    "pool": "exa",
    "state": "open",
    "limit": 1000,
    "used": 215,
    "confirmed": 211,
    "reserved": 1,
    "unknown": 3,
    "unknownShare": 0.003,
    "freeAgainAt": None,
    "generation": 0,
}
ADMIN_LIVE_REQUESTS: dict[str, Json] = {
    "ExaCreate": {
        "name": "Documentation, live",
        "kind": "exa",
        "exposureProfile": "agent_only",
        "priority": 200,
        "config": {"approvedHosts": ["docs.example.com"]},
    },
    "DeepWikiCreate": {
        "name": "Our sources explained",
        "kind": "deepwiki",
        "exposureProfile": "agent_only",
        "config": {"repositories": ["acme/widgets"]},
    },
    "Context7Patch": {"config": {"approvedHosts": ["docs.example.com"], "library": "/acme/widgets"}},
    "ExaPatch": {"config": {"approvedHosts": ["docs.example.com", "blog.example.com"], "results": 8}},
    "FirecrawlPatch": {"config": {"approvedHosts": ["docs.example.com"]}},
    "MintlifyPatch": {"config": {"approvedHosts": ["docs.example.com"], "tokenBudget": 4000}},
    "DeepWikiPatch": {"priority": 300, "status": "active"},
    "Context7Test": {"query": "open a widget", "repository": "acme/widgets", "version": "2.1.0", "activate": True},
    "MintlifyTest": {"query": "open a widget", "product": "widgets"},
    "DeepWikiTest": {"query": "How is a widget opened?", "repository": "acme/widgets"},
    "FirecrawlTest": {"url": "https://docs.example.com/widgets", "activate": True},
    "KeyRest": {"key": "EXA_API_KEY_1", "seconds": 3600},
    "KeysWake": {"key": None},
    "AllowancePut": {"limit": 2000, "review": {"happened": 2, "didNotHappen": 1}},
}
ADMIN_LIVE_ANSWERS: dict[str, Json] = {
    "ExaShown": _EXA,
    "LiveTestShown": {
        "status": "success",
        "errorCode": None,
        "explanation": None,
        "retryAt": None,
        "durationMs": 912,
        "resultCount": 1,
        "results": [
            {
                "documentId": "https://docs.example.com/widgets",
                "title": "Widgets",
                "snippet": "A widget is opened once.",
                "audience": "internal",
                "evidence": "source_excerpt",
                "revision": None,
                "chunkId": None,
                "url": "https://docs.example.com/widgets",
                "locale": None,
                "providerScore": None,
                "freshness": "unknown",
                "reviewDueAt": None,
                "translationGroupId": None,
                "truncated": False,
            }
        ],
        "discoveries": [],
        "fetched": None,
        "warnings": [],
        "activated": True,
        "effective": {"timeoutMs": 25000, "limit": 10},
        "provider": {**_EXA, "status": "active", "needsTest": False, "generation": 2},
    },
    "PoolsShown": {"pools": [_POOL]},
    "PoolShown": _POOL,
    "AllowancesShown": {"allowances": [_ALLOWANCE]},
    "AllowanceShown": _ALLOWANCE,
}
