"""The operations of providers."""

from __future__ import annotations

from infra.openapi.instance_operations import SERVER_ADDRESS
from infra.openapi.operation import IfMatch, Operation
from shared.web.binding_models import DefaultsRestore, DifyPatch, FastGptPatch, RagflowPatch
from shared.web.contract_provider_models import ContractPatch, ContractWithSecret, SecretRotate
from shared.web.external_provider_models import DifyExternalPatch
from shared.web.fields import Nothing
from shared.web.live_provider_models import (
    Context7Patch,
    DeepWikiPatch,
    ExaPatch,
    FirecrawlPatch,
    MintlifyPatch,
)
from shared.web.live_test_models import Context7Test, DeepWikiTest, FirecrawlTest, LiveTestShown, MintlifyTest
from shared.web.provider_models import ProviderCreate, ProviderMade, ProviderPage, ProviderShown
from shared.web.provider_test_models import CapabilitiesShown, ProviderTest, ProviderTestShown
from shared.web.server_test_models import ServerTestShown

_ADMIN = ("adminToken",)
_PROVIDERS = "/api/v1/knowledge/providers"
_PROVIDER = _PROVIDERS + "/{providerId}"
_SERVER = (*SERVER_ADDRESS, "credential_required")
_TESTED = ("test_failed", "not_searchable", "graph_not_built", "config_changed")
_ADDRESS = ("invalid_base_url", "blocked_address", "host_not_resolved", "private_network_unavailable")

PROVIDER_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", _PROVIDERS): Operation(
        id="createProvider",
        tag="Providers",
        summary="Register a provider",
        description=(
            "The provider starts disabled and has to pass a test. For kind contract, which is meant without `kind`, "
            "the answer shows its signing secret, this once: give it to the provider, then test it with `activate: "
            "true`. A live kind is agent_only, has a `config` and no secret: its keys lie in the pool. The kinds of "
            "self-hosted servers are searched for `testQuery` before anything is saved, and active after that: dify, "
            "fastgpt and ragflow bind a knowledge base of an instance, whose exposure they have; dify_external has an "
            "address and a credential of its own. A repetition by the same idempotency key asks the server nothing."
        ),
        tokens=_ADMIN,
        request=(ProviderCreate,),
        request_examples=(
            "ExaCreate",
            "DeepWikiCreate",
            "DifyCreate",
            "FastGptCreate",
            "RagflowCreate",
            "DifyExternalCreate",
        ),
        status=201,
        answer=(ProviderMade,),
        answer_examples=("ExaShown", "DifyShown"),
        problems=(
            *_ADDRESS,
            *SERVER_ADDRESS,
            *_TESTED,
            "already_bound",
            "binding_limit_reached",
            "name_taken",
            "provider_limit_reached",
            "id_taken",
        ),
        is_idempotent_by_key=True,
        has_etag=True,
    ),
    ("GET", _PROVIDERS): Operation(
        id="listProviders",
        tag="Providers",
        summary="List providers, ascending by id",
        tokens=_ADMIN,
        answer=(ProviderPage,),
        is_list=True,
    ),
    ("GET", _PROVIDER): Operation(
        id="getProvider",
        tag="Providers",
        summary="Show one provider",
        tokens=_ADMIN,
        answer=(ProviderShown,),
        answer_examples=("ExaShown", "DifyShown"),
        has_etag=True,
    ),
    ("PATCH", _PROVIDER): Operation(
        id="updateProvider",
        tag="Providers",
        summary="Change a provider",
        description=(
            "What is left out stays. `exposureProfile` and `kind` are fixed; the provider's own kind decides what else "
            "may be sent. A `config` replaces the whole. A new `baseUrl` disables a customer_safe provider until a "
            "test has passed. While `needsTest` is true, `status: active` is refused; one that is `auto_disabled` is "
            "put back into use by it. At a self-hosted server, what changes how it is asked needs a `testQuery`, which "
            "is searched for before anything is saved."
        ),
        tokens=_ADMIN,
        request=(
            ContractPatch,
            Context7Patch,
            ExaPatch,
            FirecrawlPatch,
            MintlifyPatch,
            DeepWikiPatch,
            DifyPatch,
            FastGptPatch,
            RagflowPatch,
            DifyExternalPatch,
        ),
        answer=(ProviderShown,),
        answer_examples=("ExaShown", "DifyShown"),
        problems=(*_ADDRESS, *_SERVER, *_TESTED, "name_taken", "test_required"),
        if_match=IfMatch.REQUIRED,
        has_etag=True,
    ),
    ("DELETE", _PROVIDER): Operation(
        id="deleteProvider",
        tag="Providers",
        summary="Delete a provider",
        tokens=_ADMIN,
        status=204,
        if_match=IfMatch.REQUIRED,
    ),
    ("POST", _PROVIDER + "/rotate-secret"): Operation(
        id="rotateProviderSecret",
        tag="Providers",
        summary="Replace a provider's signing secret",
        description=(
            "The answer shows the new secret, this once. Requests carry both signatures for `windowHours`, so the "
            "provider can switch at any moment within; 0 drops the replaced secret at once. A live kind has none."
        ),
        tokens=_ADMIN,
        request=(SecretRotate,),
        body_required=False,
        answer=(ContractWithSecret,),
        problems=("rotation_pending", "no_signing_secret"),
        if_match=IfMatch.OPTIONAL,
        is_idempotent_by_key=True,
        has_etag=True,
    ),
    ("POST", _PROVIDER + "/test"): Operation(
        id="testProvider",
        tag="Providers",
        summary="Ask a provider one question and see what came back",
        description=(
            "A real retrieval under a ceiling of 25 s. It counts for no circuit and touches no cache; the provider may "
            "bill or log it. With `activate: true` a provider that answered is turned on, or put back into use, unless "
            "it was changed while the test ran: the report has the warning `activation_lost` then. The test of a live "
            "kind is a real operation, uses its pool's keys and allowance, and may take what its kind needs beside the "
            "query; firecrawl is tested with the `url` of an approved source in its place."
        ),
        tokens=_ADMIN,
        request=(ProviderTest, Context7Test, MintlifyTest, DeepWikiTest, FirecrawlTest),
        answer=(ProviderTestShown, LiveTestShown, ServerTestShown),
        problems=("invalid_source_url", "source_not_approved"),
        if_match=IfMatch.OPTIONAL,
        has_etag=True,
    ),
    ("POST", _PROVIDER + "/restore-defaults"): Operation(
        id="restoreProviderDefaults",
        tag="Providers",
        summary="Set a provider on a self-hosted server back to how a new one is asked",
        description=(
            "Its `config` and the three common settings; what it is bound to stays. It is searched for `testQuery` "
            "with them before anything is saved."
        ),
        tokens=_ADMIN,
        request=(DefaultsRestore,),
        answer=(ProviderShown,),
        problems=(*_TESTED, "no_defaults"),
        if_match=IfMatch.OPTIONAL,
        has_etag=True,
    ),
    ("POST", _PROVIDER + "/capabilities"): Operation(
        id="rereadProviderCapabilities",
        tag="Providers",
        summary="Read a provider's capabilities again and keep them",
        description=(
            "A provider without that page declares nothing: all false. A failed reading changes nothing. A live kind "
            "declares none."
        ),
        tokens=_ADMIN,
        request=(Nothing,),
        body_required=False,
        answer=(CapabilitiesShown,),
        problems=("no_capabilities",),
        if_match=IfMatch.OPTIONAL,
        has_etag=True,
    ),
}
