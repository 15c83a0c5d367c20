"""Servers that implement Dify's External Knowledge API, on the wire. Each has its own address and credential."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from shared.domain.bindings import DifyExternalConfig
from shared.domain.exposure import ExposureProfile
from shared.domain.instances import Risk
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.web.binding_models import COMMON, with_common
from shared.web.fields import Fixed, Name, unset
from shared.web.instance_models import server_changes
from shared.web.moments import moment
from shared.web.product_config_models import MaxSnippetCharacters, RequestTimeoutMs, ResultLimit, Share
from shared.web.provider_fields import (
    Generation,
    Module,
    Moment,
    Priority,
    Status,
    StatusReasonShown,
    Switch,
    status_shown,
)
from shared.web.search_fields import SentLine
from shared.web.server_fields import (
    Acknowledge,
    AnyCredentialMutation,
    CredentialReplace,
    PrivateAuthority,
    PublicOnly,
    ServerUrl,
    TestQuery,
    fingerprint_shown,
)
from shared.web.shown import Shown
from shared.web.wire import AdminModel

KnowledgeId = Annotated[
    str,
    Field(min_length=1, max_length=512, description="The server's own name for the knowledge, sent as it is."),
    SentLine,
]


class ExternalConfigModel(AdminModel):
    knowledge_id: KnowledgeId
    score_threshold: Share = Field(default=0.0, description="Sent to the server; what it does with it is its affair.")


class ExternalConfigPatch(AdminModel):
    knowledge_id: KnowledgeId = Field(default_factory=unset)
    score_threshold: Share = Field(default_factory=unset)


class DifyExternalCreate(AdminModel):
    """A server to be registered. It is searched for `testQuery` before anything is saved, and active after that.
    `customer_safe` needs `credentialReachesPublicContentOnly: true`.
    """

    name: Name
    kind: Literal[ProviderKind.DIFY_EXTERNAL]
    exposure_profile: ExposureProfile = ExposureProfile.AGENT_ONLY
    base_url: ServerUrl = Field(description="`/retrieval` is appended to it.")
    credential: CredentialReplace | None = None
    acknowledge: Acknowledge | None = None
    credential_reaches_public_content_only: PublicOnly = False
    private_authority: PrivateAuthority | None = None
    config: ExternalConfigModel
    result_limit: ResultLimit = COMMON.result_limit
    request_timeout_ms: RequestTimeoutMs = COMMON.request_timeout_ms
    max_snippet_characters: MaxSnippetCharacters = COMMON.max_snippet_characters
    module: Module | None = None
    priority: Priority = 100
    test_query: TestQuery


class DifyExternalPatch(AdminModel):
    """What is to change; everything left out stays, inside `config` too. What changes how the server is asked needs a
    `testQuery`: another `baseUrl`, `credential`, `privateAuthority` or `config`.
    """

    name: Name = Field(default_factory=unset)
    priority: Priority = Field(default_factory=unset)
    status: Switch = Field(default_factory=unset)
    module: Module | None = None
    base_url: ServerUrl = Field(default_factory=unset)
    credential: AnyCredentialMutation = Field(default_factory=unset)
    acknowledge: Acknowledge = Field(default_factory=unset)
    credential_reaches_public_content_only: PublicOnly = Field(default_factory=unset)
    private_authority: PrivateAuthority | None = None
    config: ExternalConfigPatch = Field(default_factory=unset)
    result_limit: ResultLimit = Field(default_factory=unset)
    request_timeout_ms: RequestTimeoutMs = Field(default_factory=unset)
    max_snippet_characters: MaxSnippetCharacters = Field(default_factory=unset)
    test_query: TestQuery = Field(default_factory=unset)
    exposure_profile: Fixed
    kind: Fixed

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their names in the domain, as domain values."""
        sent = with_common(server_changes(self, self.model_fields_set))
        if "status" in sent:
            sent["status"] = ProviderStatus(self.status)
        if "config" in sent:
            sent["config"] = {name: getattr(self.config, name) for name in self.config.model_fields_set}
        return sent


class DifyExternalShown(Shown):
    id: str = Field(examples=["ao_k3j5mq2x7a4bwz6t"])
    name: str
    kind: Literal[ProviderKind.DIFY_EXTERNAL]
    exposure_profile: ExposureProfile
    base_url: str
    credential_fingerprint: str | None = Field(
        description="The first 16 hex digits of the credential's SHA-256; null without one."
    )
    acknowledged: tuple[Risk, ...] = Field(description="The risks that were accepted for exactly this `baseUrl`.")
    credential_reaches_public_content_only: bool
    private_authority: str | None
    config: ExternalConfigModel
    result_limit: int
    request_timeout_ms: int
    max_snippet_characters: int
    module: str | None
    priority: int
    status: Status
    status_reason: StatusReasonShown | None
    needs_test: bool
    generation: Generation
    created_at: Moment
    updated_at: Moment


def external_shown(provider: Provider) -> DifyExternalShown:
    """Raises `ValueError` for a provider of another kind."""
    source, config, link = provider.source, provider.source.config, provider.source.link
    if not isinstance(config, DifyExternalConfig) or link is None:
        raise ValueError("config")
    accepted = {Risk.PLAIN_HTTP: link.allow_plain_http, Risk.PRIVATE_NETWORK: source.allow_private_network}
    return DifyExternalShown(
        id=source.id,
        name=source.name,
        kind=ProviderKind.DIFY_EXTERNAL,
        exposure_profile=provider.exposure_profile,
        base_url=source.base_url,
        credential_fingerprint=fingerprint_shown(link.credential),
        acknowledged=tuple(sorted(risk for risk, is_accepted in accepted.items() if is_accepted)),
        credential_reaches_public_content_only=config.reaches_public_only,
        private_authority=link.private_authority,
        config=ExternalConfigModel.model_construct(
            knowledge_id=config.knowledge_id, score_threshold=config.score_threshold
        ),
        **asdict(config.common),
        module=provider.module,
        priority=source.priority,
        **status_shown(provider),
        needs_test=provider.needs_test,
        generation=source.generation,
        created_at=moment(source.created_at),
        updated_at=moment(provider.updated_at),
    )
