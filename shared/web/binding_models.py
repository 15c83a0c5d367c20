"""Providers that are bound to a knowledge base on a self-hosted server, on the wire. Their exposure is its own."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from shared.domain.bindings import Binding, CommonConfig, DifyConfig, FastGptConfig, RagflowConfig, is_current
from shared.domain.exposure import ExposureProfile
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.web.fields import Fixed, Name, unset
from shared.web.moments import moment
from shared.web.product_config_models import (
    DifyConfigModel,
    FastGptConfigModel,
    MaxSnippetCharacters,
    RagflowConfigModel,
    RequestTimeoutMs,
    ResultLimit,
    dify_shown,
    fastgpt_shown,
    ragflow_shown,
)
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
from shared.web.remote_ids import RemoteId
from shared.web.server_fields import TestQuery
from shared.web.shown import Shown
from shared.web.wire import AdminModel

COMMON: Final = CommonConfig()
COMMON_FIELDS: Final = frozenset(asdict(COMMON))
InstanceId = Annotated[str, Field(pattern=r"^(ao|cs)i_[a-z2-7]{16}$", examples=["csi_k3j5mq2x7a4bwz6t"])]


class BindingCreate(AdminModel):
    """A knowledge base to be bound. It is searched for `testQuery` before anything is saved, and active after that."""

    name: Name
    instance_id: InstanceId
    remote_id: RemoteId
    result_limit: ResultLimit = COMMON.result_limit
    request_timeout_ms: RequestTimeoutMs = COMMON.request_timeout_ms
    max_snippet_characters: MaxSnippetCharacters = COMMON.max_snippet_characters
    module: Module | None = None
    priority: Priority = 100
    test_query: TestQuery


class DifyCreate(BindingCreate):
    kind: Literal[ProviderKind.DIFY]
    config: DifyConfigModel = DifyConfigModel()


class FastGptCreate(BindingCreate):
    kind: Literal[ProviderKind.FASTGPT]
    config: FastGptConfigModel = FastGptConfigModel()


class RagflowCreate(BindingCreate):
    kind: Literal[ProviderKind.RAGFLOW]
    config: RagflowConfigModel = RagflowConfigModel()


AnyBindingCreate: TypeAlias = DifyCreate | FastGptCreate | RagflowCreate


class BindingPatch(AdminModel):
    """What is to change; everything left out stays. `module: null` removes it; `config` is replaced whole, and needs a
    `testQuery` where it differs. What it is bound to is fixed.
    """

    name: Name = Field(default_factory=unset)
    priority: Priority = Field(default_factory=unset)
    status: Switch = Field(default_factory=unset)
    module: Module | None = None
    result_limit: ResultLimit = Field(default_factory=unset)
    request_timeout_ms: RequestTimeoutMs = Field(default_factory=unset)
    max_snippet_characters: MaxSnippetCharacters = Field(default_factory=unset)
    test_query: TestQuery = Field(default_factory=unset)
    instance_id: Fixed
    remote_id: Fixed
    exposure_profile: Fixed
    kind: Fixed

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their names in the domain, as domain values."""
        sent = with_common({name: getattr(self, name) for name in self.model_fields_set})
        if "status" in sent:
            sent["status"] = ProviderStatus(self.status)
        if "config" in sent:
            sent["product"] = sent.pop("config").known()
        return sent


class DifyPatch(BindingPatch):
    config: DifyConfigModel = Field(default_factory=unset)


class FastGptPatch(BindingPatch):
    config: FastGptConfigModel = Field(default_factory=unset)


class RagflowPatch(BindingPatch):
    config: RagflowConfigModel = Field(default_factory=unset)


class DefaultsRestore(AdminModel):
    test_query: TestQuery


class BindingShown(Shown):
    """The credential is the instance's, and shown nowhere."""

    id: str = Field(examples=["cs_k3j5mq2x7a4bwz6t"])
    name: str
    exposure_profile: ExposureProfile = Field(description="The instance's.")
    base_url: str = Field(description="The instance's.")
    instance_id: str
    remote_id: str
    remote_name: str = Field(description="What the server called it at the last test, made plain: for showing alone.")
    result_limit: int
    request_timeout_ms: int
    max_snippet_characters: int
    adapter_version: int = Field(description="Of the code that it was tested with.")
    config_version: int
    config_invalid: bool = Field(
        description="Whether it was tested with another version of the code than would ask it now. It is not asked "
        "until its config is changed or its defaults are restored, with a test."
    )
    module: str | None
    priority: int
    status: Status
    status_reason: StatusReasonShown | None
    needs_test: bool = Field(
        description="Whether it stays disabled until a test has passed: its instance has another `baseUrl`."
    )
    generation: Generation
    created_at: Moment
    updated_at: Moment


class DifyShown(BindingShown):
    kind: Literal[ProviderKind.DIFY]
    config: DifyConfigModel
    is_economy: bool = Field(description="It has keywords and no vectors: it is asked for keywords.")


class FastGptShown(BindingShown):
    kind: Literal[ProviderKind.FASTGPT]
    config: FastGptConfigModel


class RagflowShown(BindingShown):
    kind: Literal[ProviderKind.RAGFLOW]
    config: RagflowConfigModel
    has_graph: bool = Field(description="Whether the server showed a built graph at the last test.")


AnyBindingShown: TypeAlias = DifyShown | FastGptShown | RagflowShown


def binding_shown(provider: Provider) -> AnyBindingShown:
    """A binding, as admins see it. Raises `ValueError` for a provider of another kind."""
    binding = provider.source.config
    if isinstance(binding, Binding):
        values = _values(provider, binding)
        match binding.product:
            case DifyConfig() as product:
                return DifyShown(config=dify_shown(product), is_economy=product.is_economy, **values)
            case FastGptConfig() as product:
                return FastGptShown(config=fastgpt_shown(product), **values)
            case RagflowConfig() as product:
                return RagflowShown(config=ragflow_shown(product), has_graph=product.has_graph, **values)
    raise ValueError("config")


def _values(provider: Provider, binding: Binding) -> dict[str, Any]:
    source = provider.source
    return {
        "id": source.id,
        "name": source.name,
        "kind": source.kind,
        "exposure_profile": provider.exposure_profile,
        "base_url": source.base_url,
        "instance_id": binding.instance_id,
        "remote_id": binding.remote_id,
        "remote_name": binding.remote_name,
        **asdict(binding.common),
        "adapter_version": binding.adapter_version,
        "config_version": binding.config_version,
        "config_invalid": not is_current(source.kind, binding),
        "module": provider.module,
        "priority": source.priority,
        **status_shown(provider),
        "needs_test": provider.needs_test,
        "generation": source.generation,
        "created_at": moment(source.created_at),
        "updated_at": moment(provider.updated_at),
    }


def common_known(body: AdminModel) -> CommonConfig:
    """The settings that every such kind has. `body` has them all."""
    return CommonConfig(**{name: getattr(body, name) for name in COMMON_FIELDS})


def with_common(sent: dict[str, Any]) -> dict[str, Any]:
    """`sent` with the settings that every such kind has gathered under `common`."""
    common = {name: value for name, value in sent.items() if name in COMMON_FIELDS}
    rest = {name: value for name, value in sent.items() if name not in COMMON_FIELDS}
    return rest | ({"common": common} if common else {})
