"""Every operation of the API, in words and by its wire models. The document is made from this and the route table."""

from __future__ import annotations

from infra.openapi.alexandria_operations import ALEXANDRIA_OPERATIONS
from infra.openapi.card_operations import CARD_OPERATIONS
from infra.openapi.dify_operations import DIFY_OPERATIONS
from infra.openapi.face_operations import FACE_OPERATIONS
from infra.openapi.health_operations import HEALTH_OPERATIONS
from infra.openapi.instance_operations import INSTANCE_OPERATIONS
from infra.openapi.live_operations import LIVE_OPERATIONS
from infra.openapi.mcp_operations import MCP_OPERATIONS
from infra.openapi.operation import IfMatch, Operation
from infra.openapi.pool_operations import POOL_OPERATIONS
from infra.openapi.provider_operations import PROVIDER_OPERATIONS
from infra.openapi.schema_operations import SCHEMA_OPERATIONS
from shared.web.agent_answers import AgentAnswerOut
from shared.web.audit_models import AuditPage
from shared.web.credential_models import (
    CredentialCreate,
    CredentialPage,
    CredentialPatch,
    CredentialShown,
    CredentialWithToken,
)
from shared.web.customer_answers import CustomerAnswerOut
from shared.web.customer_requests import AssistantSearchBody, WidgetSearchBody
from shared.web.fields import Nothing
from shared.web.search_requests import AgentSearchBody

_ADMIN = ("adminToken",)
_CREDENTIALS = "/api/v1/credentials"
_CREDENTIAL = _CREDENTIALS + "/{credentialId}"

_SEARCHING: dict[tuple[str, str], Operation] = {
    ("POST", "/api/v1/knowledge/search"): Operation(
        id="search",
        tag="Search",
        summary="Find passages, live, in every source that the credential may reach",
        description=(
            "All eligible providers are asked at once; the answer comes by `deadlineMs`. A provider that fails is an "
            "outcome, not an error. The class of the token decides what may be sent and what comes back: an agent gets "
            "passages with their provenance and outcomes, an assistant gets the five customer fields alone. When every "
            "provider said when to come back, the answer carries `Retry-After`. A provider whose circuit is open is "
            "not asked and told as `circuit_open`; one that was taken out of use as `disabled`, whether it was named "
            "or not."
        ),
        tokens=("agentToken", "assistantToken"),
        request=(AgentSearchBody, AssistantSearchBody),
        answer=(AgentAnswerOut, CustomerAnswerOut),
        problems=("forbidden",),
    ),
    ("POST", "/api/v1/knowledge/widget/search"): Operation(
        id="searchFromWidget",
        tag="Widget",
        summary="Find public passages for a visitor of a website",
        description=(
            "Takes a publishable key together with the page's `Origin`, which must be in the key's list, exactly. "
            "Every refusal of a key is the same 403, byte for byte."
        ),
        tokens=("widgetToken",),
        request=(WidgetSearchBody,),
        answer=(CustomerAnswerOut,),
        problems=("forbidden",),
    ),
    ("OPTIONS", "/api/v1/knowledge/widget/search"): Operation(
        id="preflightWidgetSearch",
        tag="Widget",
        summary="Answer a browser's question whether a page may search",
        description="Allows origins that an active widget credential lists. Others get the same 204 without headers.",
        status=204,
    ),
}

_ADMINISTERING_CREDENTIALS: dict[tuple[str, str], Operation] = {
    ("POST", _CREDENTIALS): Operation(
        id="createCredential",
        tag="Credentials",
        summary="Issue a credential",
        description="The answer shows the token, this once.",
        tokens=_ADMIN,
        request=(CredentialCreate,),
        status=201,
        answer=(CredentialWithToken,),
        problems=("grant_refused", "invalid_origin", "id_taken"),
        is_idempotent_by_key=True,
        has_etag=True,
    ),
    ("GET", _CREDENTIALS): Operation(
        id="listCredentials",
        tag="Credentials",
        summary="List credentials: root, then ascending by id",
        tokens=_ADMIN,
        answer=(CredentialPage,),
        is_list=True,
    ),
    ("GET", _CREDENTIAL): Operation(
        id="getCredential",
        tag="Credentials",
        summary="Show one credential",
        tokens=_ADMIN,
        answer=(CredentialShown,),
        has_etag=True,
    ),
    ("PATCH", _CREDENTIAL): Operation(
        id="updateCredential",
        tag="Credentials",
        summary="Change a credential",
        description=(
            "What is left out stays; the class is fixed. Root takes `status` alone, and can be switched off once "
            "another lasting admin credential exists."
        ),
        tokens=_ADMIN,
        request=(CredentialPatch,),
        answer=(CredentialShown,),
        problems=("grant_refused", "invalid_origin", "last_admin", "root_protected"),
        if_match=IfMatch.REQUIRED,
        has_etag=True,
    ),
    ("DELETE", _CREDENTIAL): Operation(
        id="deleteCredential",
        tag="Credentials",
        summary="Delete a credential: it is refused from the next request on",
        tokens=_ADMIN,
        status=204,
        problems=("last_admin", "root_protected"),
        if_match=IfMatch.REQUIRED,
    ),
    ("POST", _CREDENTIAL + "/rotate"): Operation(
        id="rotateCredential",
        tag="Credentials",
        summary="Give a credential a new token; the old one is refused at once",
        description="The answer shows the new token, this once.",
        tokens=_ADMIN,
        request=(Nothing,),
        body_required=False,
        answer=(CredentialWithToken,),
        problems=("root_protected",),
        if_match=IfMatch.OPTIONAL,
        is_idempotent_by_key=True,
        has_etag=True,
    ),
}

_REST: dict[tuple[str, str], Operation] = {
    ("GET", "/api/v1/audit"): Operation(
        id="listAudit",
        tag="Audit",
        summary="List what admins changed, newest first",
        description="Entries are kept for 400 days. No role may change or delete one.",
        tokens=_ADMIN,
        answer=(AuditPage,),
        is_list=True,
    ),
    ("GET", "/openapi.json"): Operation(
        id="getOpenApi", tag="Service", summary="This document", has_etag=True, documents=("application/json",)
    ),
    **SCHEMA_OPERATIONS,
    **FACE_OPERATIONS,
    ("GET", "/livez"): Operation(
        id="getLiveness",
        tag="Service",
        summary="Whether the process answers; it reads no data and asks nobody",
    ),
}

OPERATIONS: dict[tuple[str, str], Operation] = {
    **_SEARCHING,
    **DIFY_OPERATIONS,
    **PROVIDER_OPERATIONS,
    **INSTANCE_OPERATIONS,
    **POOL_OPERATIONS,
    **HEALTH_OPERATIONS,
    **_ADMINISTERING_CREDENTIALS,
    **CARD_OPERATIONS,
    **LIVE_OPERATIONS,
    **ALEXANDRIA_OPERATIONS,
    **MCP_OPERATIONS,
    **_REST,
}
