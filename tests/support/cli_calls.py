"""What the operator command can be told to do at a gateway, what it asks for that, and what a gateway answers."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from tests.support.scripted_gateway import Answered, ScriptedGateway

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))["components"]["examples"]
KNOWLEDGE = "/api/v1/knowledge"
PID, IID, KID, CID = "cs_k3j5mq2x7a4bwz6t", "csi_k3j5mq2x7a4bwz6t", "k3j5mq2x7a4bwz6t", "csc_k3j5mq2x7a4bwz6t"
PROVIDER, INSTANCE = f"{KNOWLEDGE}/providers/{PID}", f"{KNOWLEDGE}/instances/{IID}"
CREDENTIAL, COLLECTION = f"/api/v1/credentials/{KID}", f"/api/v1/collections/{CID}"
KEY = "a-key-of-a-server-0123456789"


def example(name: str, **over: Any) -> dict[str, Any]:
    """What the published document shows for it."""
    value: dict[str, Any] = json.loads(json.dumps(EXAMPLES[name]["value"]))
    return value | over


def said(line: str) -> list[str]:
    """The arguments that a shell makes of a line."""
    return shlex.split(line)


SECRET = example("ContractWithSecret")["secret"]
TOKEN = example("CredentialWithToken")["token"]
ANSWERS: dict[str, dict[str, Any]] = {
    f"GET {KNOWLEDGE}/providers?limit=100": example("ProviderPage", nextCursor=None),
    f"POST {KNOWLEDGE}/providers": example("ContractWithSecret"),
    f"GET {PROVIDER}": example("ProviderShown"),
    f"PATCH {PROVIDER}": example("ProviderShown"),
    f"POST {PROVIDER}/rotate-secret": example("ContractWithSecret"),
    f"POST {PROVIDER}/test": example("ProviderTestShown"),
    f"POST {PROVIDER}/capabilities": example("CapabilitiesShown"),
    f"POST {PROVIDER}/restore-defaults": example("DifyShown"),
    f"GET {KNOWLEDGE}/instances?limit=100": example("InstancePage", nextCursor=None),
    f"POST {KNOWLEDGE}/instances": example("InstanceShown"),
    f"GET {INSTANCE}": example("InstanceShown"),
    f"PATCH {INSTANCE}": example("InstanceShown"),
    f"POST {INSTANCE}/test": example("InstanceTestShown"),
    f"GET {INSTANCE}/catalog?page=1": example("CatalogShown"),
    "GET /api/v1/credentials?limit=100": example("CredentialPage", nextCursor=None),
    "POST /api/v1/credentials": example("CredentialWithToken"),
    f"GET {CREDENTIAL}": example("CredentialShown"),
    f"PATCH {CREDENTIAL}": example("CredentialShown"),
    f"POST {CREDENTIAL}/rotate": example("CredentialWithToken"),
    "GET /api/v1/audit?limit=25": example("AuditPage", nextCursor=None),
    "GET /api/v1/collections?limit=100": example("CollectionPage", nextCursor=None),
    "POST /api/v1/collections": example("CollectionShown"),
    f"GET {COLLECTION}": example("CollectionShown"),
    f"PATCH {COLLECTION}": example("CollectionShown"),
    f"GET {KNOWLEDGE}/pools": example("PoolsShown"),
    f"POST {KNOWLEDGE}/pools/exa/rest": example("PoolShown"),
    f"POST {KNOWLEDGE}/pools/exa/wake": example("PoolShown"),
    f"GET {KNOWLEDGE}/allowances": example("AllowancesShown"),
    f"GET {KNOWLEDGE}/allowances/exa": example("AllowanceShown"),
    f"PUT {KNOWLEDGE}/allowances/exa": example("AllowanceShown"),
    f"POST {KNOWLEDGE}/search": example("AgentAnswerOut"),
    f"POST {KNOWLEDGE}/widget/search": example("CustomerAnswerOut"),
    f"POST {COLLECTION}/context-cards/lookup": example("LookupOut"),
}
DELETED = (PROVIDER, f"{INSTANCE}?bindings={PID}", INSTANCE, CREDENTIAL, COLLECTION)


def answers_all(gateway: ScriptedGateway) -> None:
    """As the published document shows it."""
    for request, answer in ANSWERS.items():
        gateway.will(request, answer)
    for path in DELETED:
        gateway.will(f"DELETE {path}", Answered(None, 202 if path == COLLECTION else 204))


WRITES: dict[str, tuple[list[str], str, Any]] = {
    "providers-create": (
        said(
            "providers create --name Help --exposure customer_safe --base-url https://kb.example.com --priority "
            "50 --module billing --capability locale --no-capability chunking --json"
        ),
        f"POST {KNOWLEDGE}/providers",
        {
            "kind": "contract",
            "name": "Help",
            "exposureProfile": "customer_safe",
            "baseUrl": "https://kb.example.com",
            "priority": 50,
            "module": "billing",
            "capabilities": {"locale": True, "chunking": False},
        },
    ),
    "providers-create-live": (
        said(
            "providers create --kind exa --name Docs --exposure agent_only --approved-host a.example.com "
            "--approved-host b.example.com --config results=5 --config searchType=fast"
        ),
        f"POST {KNOWLEDGE}/providers",
        {
            "kind": "exa",
            "name": "Docs",
            "exposureProfile": "agent_only",
            "config": {"approvedHosts": ["a.example.com", "b.example.com"], "results": 5, "searchType": "fast"},
        },
    ),
    "providers-create-external": (
        said(
            "providers create --kind dify_external --name Galley --base-url http://10.0.0.1/v1 --acknowledge "
            "plain_http --acknowledge private_network --key-env SERVER_KEY --config knowledgeId=kb-1 --test-query "
            "menu --result-limit 3"
        ),
        f"POST {KNOWLEDGE}/providers",
        {
            "kind": "dify_external",
            "name": "Galley",
            "baseUrl": "http://10.0.0.1/v1",
            "acknowledge": {"url": "http://10.0.0.1/v1", "risks": ["plain_http", "private_network"]},
            "credential": {"action": "replace", "value": KEY},
            "config": {"knowledgeId": "kb-1"},
            "testQuery": "menu",
            "resultLimit": 3,
        },
    ),
    "providers-update": (
        said(f"providers update {PID} --priority 7 --module '' --capability chunking --no-send-conversation-id"),
        f"PATCH {PROVIDER}",
        {
            "priority": 7,
            "module": None,
            "sendConversationId": False,
            "capabilities": example("ProviderShown")["capabilities"] | {"chunking": True},
        },
    ),
    "providers-enable": (["providers", "enable", PID], f"PATCH {PROVIDER}", {"status": "active"}),
    "providers-disable": (["providers", "disable", PID], f"PATCH {PROVIDER}", {"status": "disabled"}),
    "providers-rotate": (
        ["providers", "rotate", PID, "--window-hours", "0", "--replace-pending", "--json"],
        f"POST {PROVIDER}/rotate-secret",
        {"windowHours": 0, "replacePending": True},
    ),
    "providers-test": (
        ["providers", "test", PID, "--query", "ferry", "--activate", "--version", "2"],
        f"POST {PROVIDER}/test",
        {"query": "ferry", "activate": True, "version": "2"},
    ),
    "providers-capabilities": (["providers", "capabilities", PID], f"POST {PROVIDER}/capabilities", {}),
    "providers-defaults": (
        ["providers", "restore-defaults", PID, "--test-query", "ferry"],
        f"POST {PROVIDER}/restore-defaults",
        {"testQuery": "ferry"},
    ),
    "providers-delete": (["providers", "delete", PID, "--yes"], f"DELETE {PROVIDER}", None),
    "instances-create": (
        said(
            "instances create --kind dify --name Public --exposure customer_safe --base-url "
            "https://dify.example.com --key-env SERVER_KEY --public-content-only"
        ),
        f"POST {KNOWLEDGE}/instances",
        {
            "kind": "dify",
            "name": "Public",
            "exposureProfile": "customer_safe",
            "baseUrl": "https://dify.example.com",
            "credential": {"action": "replace", "value": KEY},
            "credentialReachesPublicContentOnly": True,
        },
    ),
    "instances-update": (
        ["instances", "update", IID, "--clear-key", "--acknowledge", "private_network"],
        f"PATCH {INSTANCE}",
        {
            "credential": {"action": "clear"},
            "acknowledge": {"url": example("InstanceShown")["baseUrl"], "risks": ["private_network"]},
        },
    ),
    "instances-test": (
        ["instances", "test", IID, "--query", "x", "--remote-id", "kb-1"],
        f"POST {INSTANCE}/test",
        {"query": "x", "remoteId": "kb-1"},
    ),
    "instances-bind": (
        ["instances", "bind", IID, "kb-1", "--name", "Handbook", "--test-query", "night", "--config", "topK=9"],
        f"POST {KNOWLEDGE}/providers",
        {
            "kind": "dify",
            "instanceId": IID,
            "remoteId": "kb-1",
            "name": "Handbook",
            "testQuery": "night",
            "config": {"topK": 9},
        },
    ),
    "instances-delete": (
        ["instances", "delete", IID, "--with-bindings", "--yes"],
        f"DELETE {INSTANCE}?bindings={PID}",
        None,
    ),
    "credentials-create": (
        said(
            "credentials create pub --name Site --origin https://a.example --rate-per-minute 9 --expires "
            "2027-01-31T00:00:00Z --json"
        ),
        "POST /api/v1/credentials",
        {
            "class": "pub",
            "name": "Site",
            "origins": ["https://a.example"],
            "ratePerMinute": 9,
            "expiresAt": "2027-01-31T00:00:00Z",
        },
    ),
    "credentials-update": (
        ["credentials", "update", KID, "--no-grants", "--all-providers", "--expires", "never", "--status", "disabled"],
        f"PATCH {CREDENTIAL}",
        {"grants": [], "allowedProviders": None, "expiresAt": None, "status": "disabled"},
    ),
    "credentials-rotate": (["credentials", "rotate", KID, "--json"], f"POST {CREDENTIAL}/rotate", {}),
    "credentials-revoke": (["credentials", "revoke", KID, "--yes"], f"DELETE {CREDENTIAL}", None),
    "collections-create": (
        ["cards", "collections", "create", "--name", "Words", "--exposure", "agent_only"],
        "POST /api/v1/collections",
        {"name": "Words", "exposureProfile": "agent_only"},
    ),
    "collections-rename": (
        ["cards", "collections", "rename", CID, "--name", "Terms"],
        f"PATCH {COLLECTION}",
        {"name": "Terms"},
    ),
    "collections-delete": (["cards", "collections", "delete", CID, "--yes"], f"DELETE {COLLECTION}", None),
    "keys-rest": (
        ["keys", "rest", "exa", "EXA_API_KEY_2", "--seconds", "60"],
        f"POST {KNOWLEDGE}/pools/exa/rest",
        {"key": "EXA_API_KEY_2", "seconds": 60},
    ),
    "keys-wake": (["keys", "wake", "exa"], f"POST {KNOWLEDGE}/pools/exa/wake", {}),
    "allowances-set": (
        ["allowances", "set", "exa", "--happened", "2"],
        f"PUT {KNOWLEDGE}/allowances/exa",
        {"limit": example("AllowanceShown")["limit"], "review": {"happened": 2, "didNotHappen": 0}},
    ),
    "search": (
        said(
            f"search ferry --limit 3 --provider {PID} --collection {CID} --deadline-ms 900 --locale de "
            "--locale-fallback en --freshness fresh --product p --version 1"
        ),
        f"POST {KNOWLEDGE}/search",
        {
            "query": "ferry",
            "limit": 3,
            "providers": [PID],
            "collections": [CID],
            "deadlineMs": 900,
            "locale": "de",
            "localeFallback": "en",
            "freshness": "fresh",
            "product": "p",
            "version": "1",
        },
    ),
}
READS: dict[str, list[str]] = {
    "providers-list": ["providers", "list"],
    "providers-show": ["providers", "show", PID],
    "instances-list": ["instances", "list"],
    "instances-show": ["instances", "show", IID],
    "instances-catalog": ["instances", "catalog", IID],
    "credentials-list": ["credentials", "list"],
    "credentials-show": ["credentials", "show", KID],
    "audit-list": ["audit", "list"],
    "collections-list": ["cards", "collections", "list"],
    "keys-status": ["keys", "status"],
    "allowances-list": ["allowances", "list"],
    "lookup": ["cards", "lookup", "ferry", "--collection", CID],
    "widget": ["search", "ferry", "--as", "widget", "--origin", "https://a.example"],
}
