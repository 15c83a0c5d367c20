"""Version 1 of the provider contract as JSON Schemas: the one source of everything that is published of its shapes.

They agree with the gateway's reader: what a schema takes is read without any loss, and what it refuses costs the
provider a field, a result or the answer. Four things no schema says: whether a URL's host is public, whether a day is
in the calendar, how many results were asked for, and whether a key stands there twice.
"""

from __future__ import annotations

from typing import Final

from infra.contract_schemas.texts import (
    CITATION,
    DATE_TIME,
    IDENTIFIER,
    LANGUAGE_TAG,
    SNIPPET,
    TITLE,
    Json,
    optional_text,
    text,
)

VERSION: Final = 1
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_MAX_QUERY_CHARACTERS: Final = 1024
_MAX_LIMIT: Final = 50

_CAPABILITIES: Final = {
    "semanticSearch": "Passages are found by their meaning too.",
    "locale": "`locale` in a request is obeyed.",
    "localeFallback": "`localeFallback` in a request is obeyed.",
    "freshness": "Results carry `freshness`.",
    "translationGroups": "Results carry `translationGroupId`.",
    "chunking": "Results are passages of documents and carry `chunkId`.",
    "scoring": "Results carry `score`, the best first.",
    "citationUrl": "Results carry `url`.",
}

_RESULT: Final[Json] = {
    "type": "object",
    "required": ["documentId", "title", "snippet", "audience"],
    "properties": {
        "documentId": text("Names the document, always the same.", IDENTIFIER),
        "title": text("Plain text.", TITLE),
        "snippet": text("The passage, as plain text. What is longer is cut.", SNIPPET),
        "audience": {
            "type": "string",
            "enum": ["public", "internal"],
            "description": "Who may read it. Whatever is no such word is taken as internal.",
        },
        "revision": optional_text("Names the version of the document.", IDENTIFIER),
        "chunkId": optional_text("Names the passage within the document.", IDENTIFIER),
        "url": optional_text("Where the document is shown: https, a public host, no user name.", CITATION),
        "locale": optional_text("The language of the passage (BCP 47).", LANGUAGE_TAG),
        "score": {"type": ["number", "null"], "description": "Finite; higher is better."},
        "freshness": {"enum": ["current", "stale", "unknown", None], "description": "Absent means unknown."},
        "reviewDueAt": optional_text("When somebody has to look at it again (RFC 3339).", DATE_TIME),
        "translationGroupId": optional_text("The same for translations of one document.", IDENTIFIER),
    },
}

_REQUEST: Final[Json] = {
    "required": ["query", "limit"],
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": _MAX_QUERY_CHARACTERS,
            "description": "What is looked for, in code points.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": _MAX_LIMIT,
            "description": "The most results to answer.",
        },
        "locale": text("Sent only to providers that declare `locale`.", LANGUAGE_TAG),
        "localeFallback": text("Sent only to providers that declare `localeFallback`.", LANGUAGE_TAG),
        "context": {
            "type": "object",
            "properties": {"conversationId": {"type": "string", "minLength": 1}},
            "description": "Sent only to agent_only providers whose registration enables it.",
        },
    },
}

_RESPONSE: Final[Json] = {
    "required": ["contractVersion", "results"],
    "properties": {
        "contractVersion": {"const": VERSION},
        "results": {"type": "array", "items": _RESULT, "description": "At most `limit`, the best first; may be empty."},
    },
}

_DECLARATION: Final[Json] = {
    "required": ["contractVersion"],
    "properties": {
        "contractVersion": {"const": VERSION},
        "capabilities": {
            "type": ["object", "null"],
            "properties": {
                name: {"type": ["boolean", "null"], "description": words} for name, words in _CAPABILITIES.items()
            },
            "description": "Whatever is absent is false.",
        },
    },
}


def schemas() -> dict[str, Json]:
    """By name: `request`, `response`, `capabilities`. Each stands alone; unknown fields are ignored on both sides."""
    return {
        "request": _schema("request", "What a provider is asked", _REQUEST),
        "response": _schema("response", "What a provider answers", _RESPONSE),
        "capabilities": _schema("capabilities", "What a provider declares", _DECLARATION),
    }


def _schema(name: str, title: str, body: Json) -> Json:
    return {
        "$schema": _DIALECT,
        "$id": f"urn:knowledge-gateway:schema:knowledge-provider:v{VERSION}:{name}",
        "title": f"{title} (knowledge provider contract, version {VERSION})",
        "type": "object",
        **body,
    }
