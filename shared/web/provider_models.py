"""Providers on the wire: what admins send and what they are shown. `kind` says which of the models it is."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from pydantic import ConfigDict, Field, RootModel

from shared.domain.registrations import LIVE_KINDS, Provider, ProviderKind
from shared.web.binding_models import (
    AnyBindingCreate,
    AnyBindingShown,
    BindingPatch,
    DifyCreate,
    DifyPatch,
    FastGptCreate,
    FastGptPatch,
    RagflowCreate,
    RagflowPatch,
    binding_shown,
)
from shared.web.contract_provider_models import (
    ContractCreate,
    ContractPatch,
    ContractShown,
    ContractWithSecret,
)
from shared.web.events import Event
from shared.web.external_provider_models import (
    DifyExternalCreate,
    DifyExternalPatch,
    DifyExternalShown,
    external_shown,
)
from shared.web.live_provider_models import (
    AnyLiveCreate,
    AnyLiveShown,
    Context7Create,
    Context7Patch,
    DeepWikiCreate,
    DeepWikiPatch,
    ExaCreate,
    ExaPatch,
    FirecrawlCreate,
    FirecrawlPatch,
    LivePatch,
    MintlifyCreate,
    MintlifyPatch,
    live_shown,
)
from shared.web.shown import Shown
from shared.web.wire import AdminModel, read_body

AnyCreate: TypeAlias = ContractCreate | AnyLiveCreate | AnyBindingCreate | DifyExternalCreate
AnyPatch: TypeAlias = ContractPatch | LivePatch | BindingPatch | DifyExternalPatch
_OtherShown: TypeAlias = AnyLiveShown | AnyBindingShown | DifyExternalShown

_CREATES: Final[dict[ProviderKind, type[AnyCreate]]] = {
    ProviderKind.CONTRACT: ContractCreate,
    ProviderKind.CONTEXT7: Context7Create,
    ProviderKind.EXA: ExaCreate,
    ProviderKind.FIRECRAWL: FirecrawlCreate,
    ProviderKind.MINTLIFY: MintlifyCreate,
    ProviderKind.DEEPWIKI: DeepWikiCreate,
    ProviderKind.DIFY: DifyCreate,
    ProviderKind.FASTGPT: FastGptCreate,
    ProviderKind.RAGFLOW: RagflowCreate,
    ProviderKind.DIFY_EXTERNAL: DifyExternalCreate,
}
_PATCHES: Final[dict[ProviderKind, type[AnyPatch]]] = {
    ProviderKind.CONTRACT: ContractPatch,
    ProviderKind.CONTEXT7: Context7Patch,
    ProviderKind.EXA: ExaPatch,
    ProviderKind.FIRECRAWL: FirecrawlPatch,
    ProviderKind.MINTLIFY: MintlifyPatch,
    ProviderKind.DEEPWIKI: DeepWikiPatch,
    ProviderKind.DIFY: DifyPatch,
    ProviderKind.FASTGPT: FastGptPatch,
    ProviderKind.RAGFLOW: RagflowPatch,
    ProviderKind.DIFY_EXTERNAL: DifyExternalPatch,
}


class ProviderCreate(RootModel[Annotated[AnyCreate, Field(discriminator="kind")]]):
    """A provider to be registered. Without `kind` it is one that speaks the contract."""

    model_config = ConfigDict(defer_build=True)


class ProviderShown(RootModel[Annotated[ContractShown | _OtherShown, Field(discriminator="kind")]]):
    """A registration. One of kind contract has what the contract needs; every other kind has a `config`."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True, defer_build=True)

    @classmethod
    def of(cls, provider: Provider, *, now: float) -> ProviderShown:
        is_contract = provider.source.kind is ProviderKind.CONTRACT
        return cls(ContractShown.of(provider, now=now) if is_contract else _other_shown(provider))


class ProviderMade(RootModel[Annotated[ContractWithSecret | _OtherShown, Field(discriminator="kind")]]):
    """A new registration: of kind contract with its signing secret, this once. No other kind has one."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True, defer_build=True)

    @classmethod
    def of(cls, provider: Provider, secret: str | None, *, now: float) -> ProviderMade:
        if provider.source.kind is ProviderKind.CONTRACT:
            return cls(ContractWithSecret.with_secret(provider, secret, now=now))
        return cls(_other_shown(provider))


class ProviderPage(Shown):
    """`nextCursor` is null on the last page."""

    providers: tuple[ProviderShown, ...]
    next_cursor: str | None


class _Kinded(AdminModel):
    """Which model the rest of a body is to be read by."""

    model_config = ConfigDict(extra="ignore")

    kind: ProviderKind = ProviderKind.CONTRACT


def read_create(event: Event) -> AnyCreate:
    """Raises `BadRequest`, `Invalid`."""
    return read_body(_CREATES[read_body(_Kinded, event).kind], event)


def read_patch(event: Event, kind: ProviderKind) -> AnyPatch:
    """`kind` is the provider's own. Raises `BadRequest`, `Invalid`."""
    return read_body(_PATCHES[kind], event)


def _other_shown(provider: Provider) -> _OtherShown:
    kind = provider.source.kind
    if kind in LIVE_KINDS:
        return live_shown(provider)
    return external_shown(provider) if kind is ProviderKind.DIFY_EXTERNAL else binding_shown(provider)
