"""What several operations share: parameters, headers, tokens."""

from __future__ import annotations

from typing import Any

from shared.domain.bindings import MAX_REMOTE_ID_CHARACTERS
from shared.domain.instances import MAX_BINDINGS_PER_INSTANCE
from shared.domain.pools import Pool
from shared.web.catalog_models import MAX_PAGES, MAX_SEARCH_CHARACTERS
from shared.web.page_queries import DEFAULT_LIMIT, MAX_EXPORTED, MAX_LIMIT

Json = dict[str, Any]

_TAG: Json = {"type": "string", "pattern": '^"(0|[1-9][0-9]{0,14})"$'}

PARAMETERS: dict[str, Json] = {
    "providerId": {
        "name": "providerId",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^(ao|cs)_[a-z2-7]{16}$"},
        "description": "Its first two letters name the exposure profile.",
        "example": "cs_k3j5mq2x7a4bwz6t",
    },
    "credentialId": {
        "name": "credentialId",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^([a-z2-7]{16}|root)$"},
        "example": "k3j5mq2x7a4bwz6t",
    },
    "collectionId": {
        "name": "collectionId",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^(aoc|csc)_[a-z2-7]{16}$"},
        "description": "Its first three letters name the exposure profile.",
        "example": "csc_k3j5mq2x7a4bwz6t",
    },
    "cardId": {
        "name": "cardId",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^crd_[a-z2-7]{16}$"},
        "example": "crd_k3j5mq2x7a4bwz6t",
    },
    "instanceId": {
        "name": "instanceId",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^(aoi|csi)_[a-z2-7]{16}$"},
        "description": "Its first two letters name the exposure profile.",
        "example": "csi_k3j5mq2x7a4bwz6t",
    },
    "remoteId": {
        "name": "remoteId",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_REMOTE_ID_CHARACTERS},
        "description": "As the server writes it.",
        "example": "6f0c2d5e-0000-4000-8000-00000000c0de",
    },
    "catalogPage": {
        "name": "page",
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_PAGES, "default": 1},
    },
    "catalogSearch": {
        "name": "search",
        "in": "query",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_SEARCH_CHARACTERS},
        "description": "Narrows by name.",
    },
    "catalogParent": {
        "name": "parent",
        "in": "query",
        "schema": {"type": "string", "minLength": 1, "maxLength": MAX_REMOTE_ID_CHARACTERS},
        "description": "The folder to open. Without it: the top. Only fastgpt has folders.",
    },
    "bindings": {
        "name": "bindings",
        "in": "query",
        "style": "form",
        "explode": False,
        "schema": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_BINDINGS_PER_INSTANCE,
            "items": {"type": "string", "pattern": "^(ao|cs)_[a-z2-7]{16}$"},
        },
        "description": "Exactly the providers that are bound to it, which are deleted with it.",
    },
    "pool": {
        "name": "pool",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "enum": [pool.value for pool in Pool]},
        "description": "The live service. Only context7, exa and firecrawl have keys.",
        "example": "exa",
    },
    "script": {
        "name": "script",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": r"^knowledge-search\.[0-9a-f]{16}\.js$"},
        "example": "knowledge-search.0123456789abcdef.js",
    },
    "file": {
        "name": "file",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": r"^[a-z][a-z-]{0,31}\.(js|css|svg)$"},
        "example": "app.js",
    },
    "limit": {
        "name": "limit",
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    },
    "exportLimit": {
        "name": "limit",
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_EXPORTED, "default": MAX_EXPORTED},
        "description": "A page ends earlier where it would be larger than 4 MiB.",
    },
    "cursor": {
        "name": "cursor",
        "in": "query",
        "schema": {"type": "string", "minLength": 1, "maxLength": 256},
        "description": "`nextCursor` of the page before. It is opaque.",
    },
    "ifMatch": {
        "name": "If-Match",
        "in": "header",
        "required": True,
        "schema": _TAG,
        "description": "The ETag that was read. The change is refused when it is no longer the right one.",
        "example": '"3"',
    },
    "ifMatchOptional": {
        "name": "If-Match",
        "in": "header",
        "schema": _TAG,
        "description": "The ETag that was read, where the action is meant for that version alone.",
        "example": '"3"',
    },
    "ifNoneMatch": {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}},
    "idempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
        "description": (
            "For 24 hours the same request with the same key is carried out once; a repetition shows the thing as it "
            "is then, without the secret."
        ),
        "example": "5f0c9a4e-8f0f-4d0c-9d5d-1f4f6c1b2a3e",
    },
    "agentId": {
        "name": "X-Helpthread-Agent-Id",
        "in": "header",
        "schema": {"type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[!-~]+$"},
        "description": "Which person the tool acts for. Attribution alone; class agt.",
    },
    "mcpRevision": {
        "name": "MCP-Protocol-Version",
        "in": "header",
        "schema": {"type": "string"},
        "description": "The revision that the message is in. 2026-07-28 demands it.",
        "example": "2026-07-28",
    },
    "mcpMethod": {
        "name": "Mcp-Method",
        "in": "header",
        "schema": {"type": "string"},
        "description": "Revision 2026-07-28: the method of the message once more.",
        "example": "tools/call",
    },
    "mcpName": {
        "name": "Mcp-Name",
        "in": "header",
        "schema": {"type": "string"},
        "description": "Revision 2026-07-28, `tools/call`: the name of the tool once more.",
        "example": "knowledge_search",
    },
    "origin": {
        "name": "Origin",
        "in": "header",
        "schema": {"type": "string"},
        "description": "The page's origin, as browsers send it.",
        "example": "https://help.example.com",
    },
    "requestId": {
        "name": "X-Request-Id",
        "in": "header",
        "schema": {"type": "string"},
        "description": "Echoed where it is well-formed, else replaced.",
    },
}

HEADERS: dict[str, Json] = {
    "X-Request-Id": {"schema": {"type": "string"}, "description": "Quote it when you report something."},
    "ETag": {"schema": {"type": "string"}, "description": "The version, for `If-Match`."},
    "Link": {
        "schema": {"type": "string"},
        "description": 'The next page, as `<?cursor=…>; rel="next"`, relative to this one. Absent on the last page.',
    },
    "Location": {"schema": {"type": "string"}, "description": "Where the new thing is."},
    "Retry-After": {"schema": {"type": "integer", "minimum": 1}, "description": "Seconds to wait."},
    "X-Knowledge-Degraded": {
        "schema": {"type": "string", "enum": ["store"]},
        "description": (
            "The gateway's store could not be used: whom the credential may reach, and what is registered, is as it "
            "was less than a minute ago. Given to agents alone."
        ),
    },
    "RateLimit": {"schema": {"type": "string"}, "description": "What is left (`r`) and until when (`t`, seconds)."},
    "WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}},
}


def _token(label: str, who: str) -> Json:
    return {"type": "http", "scheme": "bearer", "bearerFormat": f"kg_{label}_<id>_<secret>", "description": who}


SECURITY_SCHEMES: dict[str, Json] = {
    "adminToken": _token("adm", "Administers; reaches the admin API alone."),
    "agentToken": _token("agt", "A trusted human's tool: reaches customer_safe and agent_only sources."),
    "assistantToken": _token("ast", "An assistant with the grant `knowledge:read_public`: customer_safe sources."),
    "widgetToken": _token("pub", "A website's publishable key: customer_safe sources, from its origins alone."),
}

TAGS: tuple[tuple[str, str], ...] = (
    ("Search", "Agents and assistants find passages."),
    ("Widget", "Visitors of a website find passages."),
    (
        "External knowledge",
        "A Dify, or whatever speaks its External Knowledge API, has this gateway as a knowledge base.",
    ),
    ("Glossary", "Agents and assistants look up words and names."),
    ("MCP", "Clients of the Model Context Protocol find all of that as tools."),
    ("Alexandria", "Agents find, price and execute tools of other companies."),
    ("Providers", "Admins register the sources."),
    ("Instances", "Admins register self-hosted servers, test them and read what is on them."),
    ("Health", "How the providers are: for admins, and for agents about what they may reach."),
    ("Live services", "Admins look after the keys and allowances of the hosted live services."),
    ("Credentials", "Admins decide who may ask."),
    ("Cards", "Admins keep the glossary: collections of cards."),
    ("Audit", "What admins changed."),
    ("Service", "The description of the API and the life of the process."),
)
