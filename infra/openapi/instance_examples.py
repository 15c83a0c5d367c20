"""Examples of instances, of what is on them, and of providers that are bound to it."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_AT = "2026-09-21T14:13:20.000Z"
_INSTANCE_ID = "csi_k3j5mq2x7a4bwz6t"
_REMOTE_ID = "6f0c2d5e-0000-4000-8000-00000000c0de"
_FINGERPRINT = "a8ae6e6ee929abea"
_INSTANCE: Json = {
    "id": _INSTANCE_ID,
    "name": "Public Dify",
    "kind": "dify",
    "exposureProfile": "customer_safe",
    "baseUrl": "https://dify.example.com/v1",
    "credentialFingerprint": _FINGERPRINT,
    "acknowledged": [],
    "credentialReachesPublicContentOnly": True,
    "privateAuthority": None,
    "bindings": ["cs_k3j5mq2x7a4bwz6t"],
    "generation": 1,
    "createdAt": _AT,
    "updatedAt": _AT,
}
_ENTRY: Json = {
    "id": _REMOTE_ID,
    "name": "Ferry handbook",
    "kind": "knowledge_base",
    "description": "",
    "notSearchable": None,
    "documents": 12,
    "isEconomy": False,
    "hasGraph": None,
}
_COMMON: Json = {"resultLimit": 6, "requestTimeoutMs": 15000, "maxSnippetCharacters": 4000}
_DIFY: Json = {
    "id": "cs_k3j5mq2x7a4bwz6t",
    "name": "Ferry handbook",
    "exposureProfile": "customer_safe",
    "baseUrl": "https://dify.example.com/v1",
    "instanceId": _INSTANCE_ID,
    "remoteId": _REMOTE_ID,
    "remoteName": "Ferry handbook",
    **_COMMON,
    "adapterVersion": 1,
    "configVersion": 1,
    "configInvalid": False,
    "module": None,
    "priority": 100,
    "status": "active",
    "statusReason": None,
    "needsTest": False,
    "generation": 1,
    "createdAt": _AT,
    "updatedAt": _AT,
    "kind": "dify",
    "config": {"retrievalModel": None},
    "isEconomy": False,
}
_WHOLE_MODEL: Json = {
    "searchMethod": "hybrid_search",
    "scoreThreshold": 0.4,
    "rerankMode": "weighted_score",
    "rerankModel": None,
    "weights": {
        "vectorWeight": 0.7,
        "keywordWeight": 0.3,
        "embeddingProviderName": "example/embeddings",
        "embeddingModelName": "multilingual-small",
    },
}
INSTANCE_REQUESTS: dict[str, Json] = {
    "InstanceCreate": {
        "name": "Public Dify",
        "kind": "dify",
        "exposureProfile": "customer_safe",
        "baseUrl": "https://dify.example.com",
        "credential": {"action": "replace", "value": "dataset-example"},
        "credentialReachesPublicContentOnly": True,
    },
    "InstancePatch": {
        "baseUrl": "http://dify.office.internal/v1",
        "credential": {"action": "replace", "value": "dataset-example-2"},
        "acknowledge": {"url": "http://dify.office.internal/v1", "risks": ["plain_http", "private_network"]},
        "credentialReachesPublicContentOnly": True,
    },
    "InstanceTest": {"query": "night ferry", "remoteId": _REMOTE_ID},
    "DifyCreate": {
        "name": "Ferry handbook",
        "kind": "dify",
        "instanceId": _INSTANCE_ID,
        "remoteId": _REMOTE_ID,
        "testQuery": "night ferry",
    },
    "FastGptCreate": {
        "name": "Tram handbook",
        "kind": "fastgpt",
        "instanceId": "aoi_k3j5mq2x7a4bwz6t",
        "remoteId": "66f0c0ffee0000000000aa01",
        "config": {"searchMode": "mixedRecall", "usingReRank": True},
        "testQuery": "night tram",
    },
    "RagflowCreate": {
        "name": "Bus handbook",
        "kind": "ragflow",
        "instanceId": "aoi_w5n2q7c4x6b3m2zt",
        "remoteId": "3f2a9c0e5b1d11f0a1b20242ac120006",
        "resultLimit": 10,
        "config": {"similarityThreshold": 0.3},
        "testQuery": "night bus",
    },
    "DifyExternalCreate": {
        "name": "Harbour notes",
        "kind": "dify_external",
        "exposureProfile": "agent_only",
        "baseUrl": "https://harbour.example.com/knowledge",
        "credential": {"action": "replace", "value": "harbour-example"},
        "config": {"knowledgeId": "notes"},
        "testQuery": "opening hours",
    },
    "DifyPatch": {"config": {"retrievalModel": _WHOLE_MODEL}, "testQuery": "night ferry"},
    "FastGptPatch": {"config": {"searchMode": "embedding", "similarity": 0.4}, "testQuery": "night tram"},
    "RagflowPatch": {"resultLimit": 4, "maxSnippetCharacters": 1000},
    "DifyExternalPatch": {"config": {"scoreThreshold": 0.5}, "testQuery": "opening hours"},
    "DefaultsRestore": {"testQuery": "night ferry"},
}
INSTANCE_ANSWERS: dict[str, Json] = {
    "InstanceShown": _INSTANCE,
    "InstancePage": {"instances": [_INSTANCE], "nextCursor": None},
    "InstanceTestShown": {
        "reachable": "passed",
        "authenticated": "passed",
        "listReadable": "failed",
        "retrieval": "passed",
        "resultCount": 4,
        "errorCode": None,
        "explanation": None,
        "version": "1.14.2",
        "durationMs": 731,
        "warnings": ["upstream_may_bill_or_log", "list_forbidden"],
        "effective": {
            "kind": "dify",
            "baseUrl": "https://dify.example.com/v1",
            "credentialFingerprint": _FINGERPRINT,
            "acknowledged": [],
            "hasPrivateAuthority": False,
            "timeoutMs": 25000,
        },
    },
    "CatalogShown": {"entries": [_ENTRY], "page": 1, "hasMore": False, "total": 1, "isCut": False},
    "EntryShown": _ENTRY,
    "DifyShown": _DIFY,
    "ServerTestShown": {
        "status": "success",
        "errorCode": None,
        "explanation": None,
        "retryAt": None,
        "durationMs": 412,
        "resultCount": 1,
        "results": [
            {
                "documentId": "9c2f0c1e-0000-4000-8000-00000000beef",
                "title": "ferries.txt",
                "snippet": "The night ferry leaves at one.",
                "audience": "public",
                "evidence": "source_excerpt",
                "revision": None,
                "chunkId": "0a1f0c1e-0000-4000-8000-00000000cafe",
                "url": None,
                "locale": None,
                "providerScore": 0.61,
                "freshness": "unknown",
                "reviewDueAt": None,
                "translationGroupId": None,
                "truncated": False,
            }
        ],
        "warnings": ["upstream_may_bill_or_log"],
        "activated": False,
        "effective": {
            "baseUrl": "https://dify.example.com/v1",
            "timeoutMs": 15000,
            "limit": 6,
            "maxSnippetCharacters": 4000,
        },
        "provider": _DIFY,
    },
}
