"""The route table: the stack makes its HTTP API from it, and the embedded runtime dispatches by it.

The order does not matter; a literal segment wins over a parameter, as in API Gateway.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Route:
    """`rate_per_s` and `burst` throttle the route in API Gateway, over all callers."""

    method: str
    path: str
    function: str
    rate_per_s: int = 200
    burst: int = 400


_ADMIN = {"rate_per_s": 20, "burst": 40}
_LIVE = {"rate_per_s": 50, "burst": 100}
_PROVIDERS = "/api/v1/knowledge/providers"
_INSTANCES = "/api/v1/knowledge/instances"
_ALEXANDRIA = "/api/v1/knowledge/alexandria"
_POOLS = "/api/v1/knowledge/pools"
_ALLOWANCES = "/api/v1/knowledge/allowances"
_SCHEMAS = "/schemas/knowledge-provider/v1"
_HEALTH = "/api/v1/knowledge/health"
_CREDENTIALS = "/api/v1/credentials"
_COLLECTIONS = "/api/v1/collections"
_CARDS = _COLLECTIONS + "/{collectionId}/cards"
_CONTEXT_CARDS = _COLLECTIONS + "/{collectionId}/context-cards"

ROUTES: tuple[Route, ...] = (
    Route("POST", "/api/v1/knowledge/search", "search"),
    Route("POST", "/api/v1/dify/retrieval", "search"),
    Route("POST", "/api/v1/knowledge/widget/search", "widget"),
    Route("OPTIONS", "/api/v1/knowledge/widget/search", "widget"),
    Route("POST", _CONTEXT_CARDS + "/lookup", "lookup"),
    Route("POST", _CONTEXT_CARDS + "/match", "lookup"),
    Route("POST", "/api/v1/knowledge/acquire", "live", **_LIVE),
    Route("POST", _ALEXANDRIA + "/search", "live", **_LIVE),
    Route("POST", _ALEXANDRIA + "/inspect", "live", **_LIVE),
    Route("POST", _ALEXANDRIA + "/execute", "live", **_LIVE),
    Route("POST", _ALEXANDRIA + "/receipt", "live", **_LIVE),
    Route("POST", "/mcp", "mcp"),
    Route("OPTIONS", "/mcp", "mcp"),
    Route("POST", _PROVIDERS, "admin", **_ADMIN),
    Route("GET", _PROVIDERS, "admin", **_ADMIN),
    Route("GET", _PROVIDERS + "/{providerId}", "admin", **_ADMIN),
    Route("PATCH", _PROVIDERS + "/{providerId}", "admin", **_ADMIN),
    Route("DELETE", _PROVIDERS + "/{providerId}", "admin", **_ADMIN),
    Route("POST", _PROVIDERS + "/{providerId}/rotate-secret", "admin", **_ADMIN),
    Route("POST", _PROVIDERS + "/{providerId}/test", "admin", **_ADMIN),
    Route("POST", _PROVIDERS + "/{providerId}/capabilities", "admin", **_ADMIN),
    Route("POST", _PROVIDERS + "/{providerId}/restore-defaults", "admin", **_ADMIN),
    Route("POST", _INSTANCES, "admin", **_ADMIN),
    Route("GET", _INSTANCES, "admin", **_ADMIN),
    Route("GET", _INSTANCES + "/{instanceId}", "admin", **_ADMIN),
    Route("PATCH", _INSTANCES + "/{instanceId}", "admin", **_ADMIN),
    Route("DELETE", _INSTANCES + "/{instanceId}", "admin", **_ADMIN),
    Route("POST", _INSTANCES + "/{instanceId}/test", "admin", **_ADMIN),
    Route("GET", _INSTANCES + "/{instanceId}/catalog", "admin", **_ADMIN),
    Route("GET", _INSTANCES + "/{instanceId}/catalog/{remoteId}", "admin", **_ADMIN),
    Route("GET", _POOLS, "admin", **_ADMIN),
    Route("POST", _POOLS + "/{pool}/rest", "admin", **_ADMIN),
    Route("POST", _POOLS + "/{pool}/wake", "admin", **_ADMIN),
    Route("GET", _ALLOWANCES, "admin", **_ADMIN),
    Route("GET", _ALLOWANCES + "/{pool}", "admin", **_ADMIN),
    Route("PUT", _ALLOWANCES + "/{pool}", "admin", **_ADMIN),
    Route("GET", _HEALTH, "admin", **_ADMIN),
    Route("GET", _HEALTH + "/{providerId}", "admin", **_ADMIN),
    Route("POST", _CREDENTIALS, "admin", **_ADMIN),
    Route("GET", _CREDENTIALS, "admin", **_ADMIN),
    Route("GET", _CREDENTIALS + "/{credentialId}", "admin", **_ADMIN),
    Route("PATCH", _CREDENTIALS + "/{credentialId}", "admin", **_ADMIN),
    Route("DELETE", _CREDENTIALS + "/{credentialId}", "admin", **_ADMIN),
    Route("POST", _CREDENTIALS + "/{credentialId}/rotate", "admin", **_ADMIN),
    Route("POST", _COLLECTIONS, "admin", **_ADMIN),
    Route("GET", _COLLECTIONS, "admin", **_ADMIN),
    Route("GET", _COLLECTIONS + "/{collectionId}", "admin", **_ADMIN),
    Route("PATCH", _COLLECTIONS + "/{collectionId}", "admin", **_ADMIN),
    Route("DELETE", _COLLECTIONS + "/{collectionId}", "admin", **_ADMIN),
    Route("POST", _CARDS, "admin", **_ADMIN),
    Route("GET", _CARDS, "admin", **_ADMIN),
    Route("POST", _CARDS + "/import", "admin", **_ADMIN),
    Route("GET", _CARDS + "/export", "admin", **_ADMIN),
    Route("GET", _CARDS + "/{cardId}", "admin", **_ADMIN),
    Route("PATCH", _CARDS + "/{cardId}", "admin", **_ADMIN),
    Route("DELETE", _CARDS + "/{cardId}", "admin", **_ADMIN),
    Route("GET", "/api/v1/audit", "admin", **_ADMIN),
    Route("GET", "/openapi.json", "assets"),
    Route("GET", _SCHEMAS + "/request.schema.json", "assets"),
    Route("GET", _SCHEMAS + "/response.schema.json", "assets"),
    Route("GET", _SCHEMAS + "/capabilities.schema.json", "assets"),
    Route("GET", "/widget/v1/knowledge-search.js", "assets"),
    Route("GET", "/widget/v1/{script}", "assets"),
    Route("GET", "/console", "assets"),
    Route("GET", "/console/{file}", "assets"),
    Route("GET", "/livez", "assets"),
)

# Whatever no route names is answered by this function: a problem+json 404, or 405 with Allow.
DEFAULT_FUNCTION = "assets"
