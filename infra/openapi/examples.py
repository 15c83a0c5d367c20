"""Examples of requests, answers and problems. A test holds each to its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from infra.openapi.alexandria_operations import ALEXANDRIA_ANSWERS, ALEXANDRIA_REQUESTS
from infra.openapi.card_examples import CARD_ANSWERS, CARD_REQUESTS, CARD_TEXTS
from infra.openapi.dify_operations import DIFY_ANSWERS, DIFY_REQUESTS
from infra.openapi.health_examples import HEALTH_ANSWERS
from infra.openapi.instance_examples import INSTANCE_ANSWERS, INSTANCE_REQUESTS
from infra.openapi.live_examples import LIVE_ANSWERS, LIVE_REQUESTS
from infra.openapi.live_provider_examples import ADMIN_LIVE_ANSWERS, ADMIN_LIVE_REQUESTS
from infra.openapi.mcp_operations import MCP_ANSWERS, MCP_REQUESTS
from infra.openapi.problem_words import PROBLEMS

Json = dict[str, Any]
_FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "problems"
_AT = "2026-09-21T14:13:20.000Z"
_PROVIDER_ID = "cs_k3j5mq2x7a4bwz6t"
_CREDENTIAL_ID = "k3j5mq2x7a4bwz6t"
# Recognisable as an example: not random, so nobody mistakes it for a secret that leaked.
_EXAMPLE_HEX = "0123456789abcdef" * 4

_CAPABILITIES: Json = {
    "semanticSearch": False,
    "locale": True,
    "localeFallback": False,
    "freshness": False,
    "translationGroups": False,
    "chunking": False,
    "scoring": True,
    "citationUrl": True,
}
_PROVIDER: Json = {
    "id": _PROVIDER_ID,
    "name": "Help centre",
    "kind": "contract",
    "exposureProfile": "customer_safe",
    "baseUrl": "https://kb.example.com/v1",
    "allowPrivateNetwork": False,
    "sendConversationId": False,
    "needsTest": True,
    "module": "billing",
    "capabilities": _CAPABILITIES,
    "contractVersion": 1,
    "priority": 100,
    "status": "disabled",
    "statusReason": None,
    "generation": 1,
    "secretFingerprint": "a8ae6e6ee929abea",
    "rotation": None,
    "createdAt": _AT,
    "updatedAt": _AT,
}
_WITH_SECRET: Json = {**_PROVIDER, "secret": f"kgs_{_EXAMPLE_HEX}", "warnings": []}
_CREDENTIAL: Json = {
    "id": _CREDENTIAL_ID,
    "class": "pub",
    "name": "Help site",
    "status": "active",
    "grants": [],
    "origins": ["https://help.example.com"],
    "allowedProviders": None,
    "ratePerMinute": 1200,
    "addressRatePerMinute": 30,
    "expiresAt": None,
    "generation": 1,
    "secretFingerprint": "a8ae6e6ee929abea",
    "createdAt": _AT,
    "updatedAt": _AT,
}
_PASSAGE: Json = {
    "documentId": "ferry-passes",
    "title": "Ferry passes",
    "snippet": "A ferry pass is valid on every night ferry.",
    "audience": "public",
    "evidence": "source_excerpt",
    "revision": "7",
    "chunkId": None,
    "url": "https://help.example.com/ferry-passes",
    "locale": "en",
    "providerScore": 0.82,
    "freshness": "current",
    "reviewDueAt": None,
    "translationGroupId": None,
    "truncated": False,
}
_CUSTOMER_RESULT: Json = {
    "title": "Ferry passes",
    "snippet": "A ferry pass is valid on every night ferry.",
    "url": "https://help.example.com/ferry-passes",
    "locale": "en",
    "localeFallback": False,
}
_AGENT_ANSWER: Json = {
    "requestId": "JKJaXmPLvHcESHA=",
    "status": "partial",
    "results": [
        {
            **_PASSAGE,
            "provider": {"id": _PROVIDER_ID, "name": "Help centre", "kind": "contract"},
            "locator": {"documentId": "ferry-passes", "revision": "7"},
            "localeFallback": False,
        }
    ],
    "discoveries": [],
    "cards": [],
    "cardsStatus": None,
    "providers": [
        {
            "id": _PROVIDER_ID,
            "name": "Help centre",
            "status": "success",
            "errorCode": None,
            "durationMs": 48,
            "resultCount": 1,
            "truncated": False,
            "retryAt": None,
            "warnings": [],
        },
        {
            "id": "ao_b7c2d3e4f5g6h7ij",
            "name": "Internal wiki",
            "status": "failed",
            "errorCode": "timeout",
            "durationMs": 10000,
            "resultCount": 0,
            "truncated": False,
            "retryAt": None,
            "warnings": [],
        },
    ],
    "returnedLocale": "en",
}
_REQUESTS: dict[str, Json] = {
    "AgentSearchBody": {"query": "night ferry pass", "limit": 5, "locale": "en", "deadlineMs": 8000},
    "AssistantSearchBody": {"query": "night ferry pass", "limit": 5},
    "WidgetSearchBody": {"query": "night ferry pass", "locale": "en"},
    "ProviderCreate": {
        "name": "Help centre",
        "kind": "contract",
        "exposureProfile": "customer_safe",
        "baseUrl": "https://kb.example.com/v1",
        "module": "billing",
        "capabilities": {"locale": True, "scoring": True, "citationUrl": True},
    },
    "ContractPatch": {"priority": 50, "status": "active", "module": None},
    "SecretRotate": {"windowHours": 24},
    "ProviderTest": {"query": "night ferry pass", "activate": True},
    "CredentialCreate": {"class": "pub", "name": "Help site", "origins": ["https://help.example.com"]},
    "CredentialPatch": {"origins": ["https://help.example.com", "https://shop.example.com"]},
    "Nothing": {},
}
_ANSWERS: dict[str, Json] = {
    "AgentAnswerOut": _AGENT_ANSWER,
    "CustomerAnswerOut": {"results": [_CUSTOMER_RESULT]},
    "ProviderShown": _PROVIDER,
    "ContractWithSecret": _WITH_SECRET,
    "ProviderMade": _WITH_SECRET,
    "ProviderPage": {"providers": [_PROVIDER], "nextCursor": None},
    "ProviderTestShown": {
        "status": "success",
        "errorCode": None,
        "explanation": None,
        "durationMs": 48,
        "resultCount": 1,
        "results": [_PASSAGE],
        "dropped": [
            {
                "documentId": "refund-codes",
                "title": "Refund override codes",
                "audience": "internal",
                "reason": "internal_dropped",
            }
        ],
        "warnings": ["internal_dropped"],
        "activated": True,
        "effective": {
            "baseUrl": "https://kb.example.com/v1",
            "contractVersion": 1,
            "capabilities": _CAPABILITIES,
            "allowPrivateNetwork": False,
            "timeoutMs": 10000,
            "limit": 10,
            "signatures": 1,
        },
        "provider": {**_PROVIDER, "status": "active", "needsTest": False, "generation": 2},
    },
    "CapabilitiesShown": {
        "status": "success",
        "errorCode": None,
        "explanation": None,
        "listed": True,
        "changed": ["scoring"],
        "provider": {**_PROVIDER, "generation": 2},
    },
    "CredentialShown": _CREDENTIAL,
    "CredentialWithToken": {**_CREDENTIAL, "token": f"kg_pub_{_CREDENTIAL_ID}_{_EXAMPLE_HEX}", "warnings": []},
    "CredentialPage": {"credentials": [_CREDENTIAL], "nextCursor": None},
    "AuditPage": {
        "entries": [
            {
                "id": "2026-09-21T14:13:20.000000Z#0123abcd",
                "at": _AT,
                "actor": "root",
                "action": "provider.updated",
                "resource": f"provider/{_PROVIDER_ID}",
                "generationBefore": 1,
                "generationAfter": 2,
                "before": {"status": "disabled"},
                "after": {"status": "active"},
            }
        ],
        "nextCursor": None,
    },
}


def request_examples() -> dict[str, Json]:
    return {
        name: {"value": value}
        for name, value in {
            **_REQUESTS,
            **CARD_REQUESTS,
            **LIVE_REQUESTS,
            **ALEXANDRIA_REQUESTS,
            **DIFY_REQUESTS,
            **MCP_REQUESTS,
            **ADMIN_LIVE_REQUESTS,
            **INSTANCE_REQUESTS,
        }.items()
    }


def answer_examples() -> dict[str, Json]:
    return {
        name: {"value": value}
        for name, value in {
            **_ANSWERS,
            **CARD_ANSWERS,
            **LIVE_ANSWERS,
            **ALEXANDRIA_ANSWERS,
            **DIFY_ANSWERS,
            **MCP_ANSWERS,
            **ADMIN_LIVE_ANSWERS,
            **INSTANCE_ANSWERS,
            **HEALTH_ANSWERS,
        }.items()
    }


def text_examples() -> dict[str, Json]:
    return {name: {"value": value} for name, value in CARD_TEXTS.items()}


def problem_examples() -> dict[str, Json]:
    """Raises `FileNotFoundError` for a code without an example."""
    return {
        code: {"summary": words.happened, "value": json.loads((_FIXTURES / f"{code}.json").read_text(encoding="utf-8"))}
        for code, words in PROBLEMS.items()
    }
