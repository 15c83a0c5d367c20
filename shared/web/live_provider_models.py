"""Providers of the live kinds, on the wire. They have no address of their own, no secret and one exposure profile."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Provider, ProviderConfig, ProviderKind, ProviderStatus
from shared.web.fields import Fixed, Name, unset
from shared.web.live_config_models import (
    ConfigModel,
    Context7ConfigModel,
    DeepWikiConfigModel,
    ExaConfigModel,
    FirecrawlConfigModel,
    MintlifyConfigModel,
)
from shared.web.moments import moment
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
from shared.web.shown import Shown
from shared.web.wire import AdminModel

_AGENT_ONLY: Final = ExposureProfile.AGENT_ONLY


def _agent_only(profile: ExposureProfile) -> ExposureProfile:
    if profile is not _AGENT_ONLY:
        raise ValueError("A live kind is agent_only")
    return profile


AgentOnly = Annotated[
    ExposureProfile,
    AfterValidator(_agent_only),
    WithJsonSchema({"type": "string", "const": _AGENT_ONLY.value, "description": "A live kind is agent_only."}),
]


class LiveCreate(AdminModel):
    """A live service to be registered. It starts disabled; a test with `activate: true` turns it on."""

    name: Name
    exposure_profile: AgentOnly
    module: Module | None = None
    priority: Priority = 100


class Context7Create(LiveCreate):
    kind: Literal[ProviderKind.CONTEXT7]
    config: Context7ConfigModel


class ExaCreate(LiveCreate):
    kind: Literal[ProviderKind.EXA]
    config: ExaConfigModel


class FirecrawlCreate(LiveCreate):
    kind: Literal[ProviderKind.FIRECRAWL]
    config: FirecrawlConfigModel


class MintlifyCreate(LiveCreate):
    kind: Literal[ProviderKind.MINTLIFY]
    config: MintlifyConfigModel


class DeepWikiCreate(LiveCreate):
    kind: Literal[ProviderKind.DEEPWIKI]
    config: DeepWikiConfigModel


AnyLiveCreate: TypeAlias = Context7Create | ExaCreate | FirecrawlCreate | MintlifyCreate | DeepWikiCreate


class LivePatch(AdminModel):
    """What is to change; everything left out stays. `module: null` removes it; `config` is replaced whole."""

    name: Name = Field(default_factory=unset)
    priority: Priority = Field(default_factory=unset)
    status: Switch = Field(default_factory=unset)
    module: Module | None = None
    exposure_profile: Fixed
    kind: Fixed

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their Python names, as domain values."""
        sent: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if "status" in sent:
            sent["status"] = ProviderStatus(self.status)
        if "config" in sent:
            sent["config"] = sent["config"].known()
        return sent


class Context7Patch(LivePatch):
    config: Context7ConfigModel = Field(default_factory=unset)


class ExaPatch(LivePatch):
    config: ExaConfigModel = Field(default_factory=unset)


class FirecrawlPatch(LivePatch):
    config: FirecrawlConfigModel = Field(default_factory=unset)


class MintlifyPatch(LivePatch):
    config: MintlifyConfigModel = Field(default_factory=unset)


class DeepWikiPatch(LivePatch):
    config: DeepWikiConfigModel = Field(default_factory=unset)


class LiveShown(Shown):
    """Its keys, where the service takes any, lie in the pool and are shown nowhere."""

    id: str = Field(examples=["ao_k3j5mq2x7a4bwz6t"])
    name: str
    exposure_profile: Literal[ExposureProfile.AGENT_ONLY]
    base_url: str = Field(description="Where the service is. It cannot be set.")
    module: str | None
    priority: int
    status: Status
    status_reason: StatusReasonShown | None
    needs_test: bool = Field(description="Whether it stays disabled until a test with `activate: true` has passed.")
    generation: Generation
    created_at: Moment
    updated_at: Moment


class Context7Shown(LiveShown):
    kind: Literal[ProviderKind.CONTEXT7]
    config: Context7ConfigModel


class ExaShown(LiveShown):
    kind: Literal[ProviderKind.EXA]
    config: ExaConfigModel


class FirecrawlShown(LiveShown):
    kind: Literal[ProviderKind.FIRECRAWL]
    config: FirecrawlConfigModel


class MintlifyShown(LiveShown):
    kind: Literal[ProviderKind.MINTLIFY]
    config: MintlifyConfigModel


class DeepWikiShown(LiveShown):
    kind: Literal[ProviderKind.DEEPWIKI]
    config: DeepWikiConfigModel


AnyLiveShown: TypeAlias = Context7Shown | ExaShown | FirecrawlShown | MintlifyShown | DeepWikiShown

_SHOWN: Final[dict[ProviderKind, tuple[type[AnyLiveShown], type[ConfigModel]]]] = {
    ProviderKind.CONTEXT7: (Context7Shown, Context7ConfigModel),
    ProviderKind.EXA: (ExaShown, ExaConfigModel),
    ProviderKind.FIRECRAWL: (FirecrawlShown, FirecrawlConfigModel),
    ProviderKind.MINTLIFY: (MintlifyShown, MintlifyConfigModel),
    ProviderKind.DEEPWIKI: (DeepWikiShown, DeepWikiConfigModel),
}


def live_shown(provider: Provider) -> AnyLiveShown:
    """A registration of a live kind, as admins see it."""
    source = provider.source
    shown, config = _SHOWN[source.kind]
    values: dict[str, Any] = {
        "id": source.id,
        "name": source.name,
        "kind": source.kind,
        "exposure_profile": provider.exposure_profile,
        "base_url": source.base_url,
        "module": provider.module,
        "priority": source.priority,
        **status_shown(provider),
        "needs_test": provider.needs_test,
        "generation": source.generation,
        "created_at": moment(source.created_at),
        "updated_at": moment(provider.updated_at),
        "config": config.model_construct(**_settings(source.config)),
    }
    return shown(**values)


def _settings(config: ProviderConfig | None) -> dict[str, Any]:
    """What is stored was checked when it was set."""
    return {} if config is None else asdict(config)
