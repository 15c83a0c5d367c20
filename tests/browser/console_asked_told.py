"""What a gateway tells who asks it, and who administers that, as the models of the API have it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from playwright.sync_api import Route

from shared.web.agent_answers import AgentAnswerOut
from shared.web.allowance_models import AllowanceShown
from shared.web.audit_models import AuditEntryShown
from shared.web.credential_models import CredentialShown
from shared.web.customer_answers import CustomerAnswerOut
from shared.web.pool_models import PoolShown
from tests.browser.console_told import ID, SINCE

SEARCH: Final = "knowledge/search"
CREDENTIALS: Final = "credentials"
INSIDE: Final = "ao_k3j5mq2x7a4bwz6t"
HOSTILE: Final = ("<img src=x onerror=alert(1)>", "<script>document.body.remove()</script>", "&lt;b&gt;\u202ex\u202c")


def agent_result(**over: Any) -> dict[str, Any]:
    told = {
        "provider": {"id": ID, "name": "Help centre", "kind": "contract"},
        "locator": {"documentId": "d1"},
        "documentId": "d1",
        "title": "Ferry passes",
        "snippet": "A ferry pass is valid on every night ferry.",
        "audience": "public",
        "evidence": "source_excerpt",
        "revision": "r4",
        "chunkId": "d1#1",
        "url": "https://help.example.com/passes",
        "locale": "de",
        "localeFallback": True,
        "providerScore": 1.5,
        "freshness": "stale",
        "reviewDueAt": SINCE,
        "translationGroupId": None,
        "truncated": True,
    }
    return told | over


def customer_result(of: Mapping[str, Any]) -> dict[str, Any]:
    return {name: of[name] for name in ("title", "snippet", "url", "locale", "localeFallback")}


def outcome(**over: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": ID,
        "name": "Help centre",
        "status": "success",
        "errorCode": None,
        "durationMs": 300,
        "resultCount": 1,
        "truncated": False,
        "retryAt": None,
        "warnings": [],
    }
    return told | over


def agent_answer(**over: Any) -> dict[str, Any]:
    told = {
        "requestId": "JKJaXmPLvHcESHA=",
        "status": "complete",
        "results": [],
        "discoveries": [],
        "cards": [],
        "cardsStatus": None,
        "providers": [outcome()],
        "returnedLocale": None,
    }
    AgentAnswerOut.model_validate_json(json.dumps(told | over))
    return told | over


def customer_answer(*results: dict[str, Any], **over: Any) -> dict[str, Any]:
    told = {"results": list(results)} | over
    CustomerAnswerOut.model_validate_json(json.dumps(told))
    return told


def card(**over: Any) -> dict[str, Any]:
    told = {
        "id": "crd_k3j5mq2x7a4bwz6t",
        "collectionId": "aoc_k3j5mq2x7a4bwz6t",
        "keys": ["ferry pass"],
        "title": "Ferry pass",
        "body": "**89 euro** a month.",
        "normKeys": ["ferry pass"],
        "generation": 1,
        "createdAt": SINCE,
        "updatedAt": SINCE,
    }
    return told | over


def collection(**over: Any) -> dict[str, Any]:
    told = {"id": "aoc_k3j5mq2x7a4bwz6t", "name": "Words of the desk", "exposureProfile": "agent_only"}
    return told | {"cardCount": 1, "generation": 1, "createdAt": SINCE, "updatedAt": SINCE} | over


def credential(credential_class: str = "agt", **over: Any) -> dict[str, Any]:
    website = credential_class == "pub"
    told = {
        "id": "k3j5mq2x7a4bwz6t",
        "class": credential_class,
        "name": "Ticket tool",
        "status": "active",
        "grants": [],
        "origins": ["https://help.example.com"] if website else None,
        "allowedProviders": None,
        "ratePerMinute": 600,
        "addressRatePerMinute": 30 if website else None,
        "expiresAt": None,
        "generation": 3,
        "secretFingerprint": "7af4e1eb38a3b797",
        "createdAt": SINCE,
        "updatedAt": SINCE,
    }
    CredentialShown.model_validate_json(json.dumps(told | over))
    return told | over


def pool(**over: Any) -> dict[str, Any]:
    keys = [
        {"name": "EXA_API_KEY", "state": "resting", "restingUntil": SINCE, "reason": "quota"},
        {"name": "EXA_API_KEY_1", "state": "active", "restingUntil": None, "reason": None},
    ]
    told = {"pool": "exa", "takesKeys": True, "configured": 2, "usable": 1, "resting": 1, "keys": keys}
    told |= {"unusable": ["EXA_API_KEY_7"], "readyAgainAt": None} | over
    PoolShown.model_validate_json(json.dumps(told))
    return told


def allowance(**over: Any) -> dict[str, Any]:
    told = {"pool": "exa", "state": "open", "limit": 10, "used": 6, "confirmed": 2, "reserved": 1, "unknown": 3}
    told |= {"unknownShare": 0.3, "freeAgainAt": None, "generation": 4} | over
    AllowanceShown.model_validate_json(json.dumps(told))
    return told


def audit_entry(at: int = 0, **over: Any) -> dict[str, Any]:
    """`at` tells entries apart."""
    told = {
        "id": f"2026-09-21T14:13:20.000000Z#{at:08x}",
        "at": SINCE,
        "actor": "k3j5mq2x7a4bwz6t",
        "action": "provider.updated",
        "resource": f"provider/{ID}",
        "generationBefore": 1,
        "generationAfter": 2,
        "before": {"status": "disabled"},
        "after": {"status": "active"},
    }
    AuditEntryShown.model_validate_json(json.dumps(told | over))
    return told | over


class Lender:
    """Stands in for the gateway where credentials are made: each has a number, and its token says whose it is."""

    def __init__(self, agent: Any, customer: Any) -> None:
        self.made: list[dict[str, Any]] = []
        self.by_class = {"agt": agent, "ast": customer}

    def lend(self, route: Route) -> None:
        if route.request.method != "POST":
            route.fallback()
            return
        wanted: dict[str, Any] = route.request.post_data_json or {}
        self.made.append(wanted)
        number = len(self.made)
        told = credential(wanted["class"], id=f"lent{number}", name=wanted["name"], expiresAt=wanted["expiresAt"])
        token = f"kg_{wanted['class']}_lent{number}"
        body = json.dumps(told | {"token": token, "warnings": []})
        route.fulfill(status=201, body=body, headers={"Content-Type": "application/json", "ETag": '"1"'})

    def answer(self, route: Route) -> None:
        """To whoever asks, what is there for the class of their token; what has a `code` is a problem."""
        told = self.by_class[route.request.headers["authorization"].split("_")[1]]
        status = told["status"] if "code" in told else 200
        route.fulfill(status=status, body=json.dumps(told), headers={"Content-Type": "application/json"})
