"""The operations of instances: self-hosted servers."""

from __future__ import annotations

from infra.openapi.operation import IfMatch, Operation
from shared.web.catalog_models import CatalogShown, EntryShown
from shared.web.instance_models import InstanceCreate, InstancePage, InstancePatch, InstanceShown
from shared.web.instance_test_models import InstanceTest, InstanceTestShown

_ADMIN = ("adminToken",)
_INSTANCES = "/api/v1/knowledge/instances"
_INSTANCE = _INSTANCES + "/{instanceId}"
SERVER_ADDRESS = (
    "invalid_base_url",
    "blocked_address",
    "host_not_resolved",
    "private_network_unavailable",
    "risk_not_acknowledged",
    "invalid_private_authority",
    "credential_used_elsewhere",
)
_READ = ("provider_failed", "provider_rate_limited", "not_configured", "provider_timeout", "invalid_request")

INSTANCE_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", _INSTANCES): Operation(
        id="createInstance",
        tag="Instances",
        summary="Register a self-hosted server",
        description=(
            "Nothing is sent to the server. `baseUrl` is put into the product's own form. Plain http and a private "
            "address are refused until they are acknowledged for exactly that form, in the same request: the refusal "
            "names both. What is customer_safe needs `credentialReachesPublicContentOnly: true`."
        ),
        tokens=_ADMIN,
        request=(InstanceCreate,),
        status=201,
        answer=(InstanceShown,),
        problems=(*SERVER_ADDRESS, "name_taken", "instance_limit_reached", "id_taken"),
        is_idempotent_by_key=True,
        has_etag=True,
    ),
    ("GET", _INSTANCES): Operation(
        id="listInstances",
        tag="Instances",
        summary="List instances, ascending by id",
        tokens=_ADMIN,
        answer=(InstancePage,),
        is_list=True,
    ),
    ("GET", _INSTANCE): Operation(
        id="getInstance",
        tag="Instances",
        summary="Show one instance",
        tokens=_ADMIN,
        answer=(InstanceShown,),
        has_etag=True,
    ),
    ("PATCH", _INSTANCE): Operation(
        id="updateInstance",
        tag="Instances",
        summary="Change an instance",
        description=(
            "What is left out stays. Another `baseUrl` voids what was acknowledged for the old one and disables the "
            "bindings until a test of each has passed; one with another scheme, host or port needs a `credential` to "
            "replace or clear in the same request."
        ),
        tokens=_ADMIN,
        request=(InstancePatch,),
        answer=(InstanceShown,),
        problems=(*SERVER_ADDRESS, "name_taken", "credential_required"),
        if_match=IfMatch.REQUIRED,
        has_etag=True,
    ),
    ("DELETE", _INSTANCE): Operation(
        id="deleteInstance",
        tag="Instances",
        summary="Delete an instance, with its bindings where exactly they are named",
        description=(
            "Refused while providers are bound to it, and the refusal lists them. `?bindings=` with exactly those ids "
            "deletes them and the instance at once, all or nothing."
        ),
        tokens=_ADMIN,
        status=204,
        problems=("instance_in_use", "invalid_request"),
        if_match=IfMatch.REQUIRED,
    ),
    ("POST", _INSTANCE + "/test"): Operation(
        id="testInstance",
        tag="Instances",
        summary="Find out what works at a server, each thing apart",
        description=(
            "Reads the list; with `query` and `remoteId`, searches one knowledge base. Within 25 s. It changes nothing "
            "here and touches no binding; the server may bill and log the search. What was not tried is `untested`."
        ),
        tokens=_ADMIN,
        request=(InstanceTest,),
        body_required=False,
        answer=(InstanceTestShown,),
    ),
    ("GET", _INSTANCE + "/catalog"): Operation(
        id="listCatalog",
        tag="Instances",
        summary="List what is on a server: knowledge bases, and folders on the way to them",
        description="Read from the server now, within 25 s. At most 500 entries in all.",
        tokens=_ADMIN,
        answer=(CatalogShown,),
        problems=_READ,
    ),
    ("GET", _INSTANCE + "/catalog/{remoteId}"): Operation(
        id="getRemote",
        tag="Instances",
        summary="Describe one knowledge base on a server",
        description="Read from the server now, within 25 s.",
        tokens=_ADMIN,
        answer=(EntryShown,),
        problems=_READ,
    ),
}
