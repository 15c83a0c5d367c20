"""The routes of providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from aws_lambda_powertools.event_handler import Response
from pydantic import BaseModel

from functions.admin.bindings import ServerProviders
from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from shared.domain.registrations import Provider
from shared.services.change_provider import ChangeProvider
from shared.services.check_address import CheckAddress
from shared.services.create_provider import CreateProvider
from shared.services.list_providers import ListProviders
from shared.services.register import NewLiveProvider, NewProvider, Register, Registered
from shared.services.remove_provider import RemoveProvider
from shared.services.replay import Replay
from shared.services.rotate_secret import RotateSecret, Rotation
from shared.services.update_provider import ProviderChanges, UpdateProvider
from shared.web.api import answer, nothing
from shared.web.binding_models import BindingCreate, BindingPatch
from shared.web.contract_provider_models import ContractCreate, ContractWithSecret, SecretRotate
from shared.web.cursors import List, cursor_of
from shared.web.etags import etag_of, generation_named, required_generation
from shared.web.external_provider_models import DifyExternalCreate, DifyExternalPatch
from shared.web.idempotency_keys import once_of
from shared.web.live_provider_models import AnyLiveCreate
from shared.web.page_queries import page_query
from shared.web.provider_models import (
    ProviderMade,
    ProviderPage,
    ProviderShown,
    read_create,
    read_patch,
)
from shared.web.wire import read_body

PATH = "/api/v1/knowledge/providers"
ONE = PATH + "/{provider_id}"


def add_provider_routes(desk: Desk, parts: Parts) -> None:
    change = ChangeProvider(registry=parts.registry, put_back=parts.health.put_back, clock=parts.clock)
    check_address = CheckAddress(address_check=parts.address_check, allow_loopback_http=parts.allow_loopback_http)
    _add_reading(desk, parts)
    servers = ServerProviders(parts)
    _add_registering(desk, parts, check_address, servers)
    _add_changing(desk, parts, change, check_address, servers)
    _add_rotating(desk, parts, change)


def _add_reading(desk: Desk, parts: Parts) -> None:
    providers = ListProviders(registry=parts.registry)

    @desk.route("GET", PATH)
    async def list_providers(call: Call) -> Response[str]:
        query = page_query(call.event, List.PROVIDERS)
        page = await providers.page(limit=query.limit, after=query.after)
        now = parts.clock.now()
        shown = ProviderPage(
            providers=tuple(ProviderShown.of(each, now=now) for each in page.items),
            next_cursor=cursor_of(List.PROVIDERS, page.next_after) if page.next_after else None,
        )
        return answer(shown.model_dump_json(by_alias=True))

    @desk.route("GET", ONE)
    async def get_provider(_call: Call, provider_id: str) -> Response[str]:
        return _shown(await providers.one(provider_id), now=parts.clock.now())


def _add_registering(desk: Desk, parts: Parts, check_address: CheckAddress, servers: ServerProviders) -> None:
    replay = Replay(idempotency=parts.idempotency)
    register = Register(
        registry=parts.registry,
        sealers=parts.sealers,
        check_address=check_address,
        create=CreateProvider(registry=parts.registry, replay=replay, clock=parts.clock),
        replay=replay,
        clock=parts.clock,
        private_network_available=parts.private_network_available,
    )

    @desk.route("POST", PATH)
    async def create_provider(call: Call) -> Response[str]:
        body, once = read_create(call.event), once_of(call.event, call.principal)
        if isinstance(body, BindingCreate | DifyExternalCreate):
            registered = Registered(await servers.create(body, call, once=once), None)
        else:
            registered = await register(_wanted(body), by=call.principal, once=once)
        made = ProviderMade.of(registered.provider, registered.secret, now=parts.clock.now())
        headers = {"Location": f"{PATH}/{registered.provider.id}"}
        return _answered(made, registered.provider, status=201, headers=headers)


def _add_changing(
    desk: Desk, parts: Parts, change: ChangeProvider, check_address: CheckAddress, servers: ServerProviders
) -> None:
    update = UpdateProvider(
        registry=parts.registry,
        change=change,
        check_address=check_address,
        private_network_available=parts.private_network_available,
    )
    remove = RemoveProvider(registry=parts.registry, change=change)
    providers = ListProviders(registry=parts.registry)

    @desk.route("PATCH", ONE)
    async def update_provider(call: Call, provider_id: str) -> Response[str]:
        generation = required_generation(call.event)
        kind = (await providers.one(provider_id)).source.kind  # it decides what may be sent, and never changes
        body = read_patch(call.event, kind)
        if isinstance(body, BindingPatch | DifyExternalPatch):
            provider = await servers.update(provider_id, body, call, generation=generation)
        else:
            changes = cast("ProviderChanges", body.changes())
            provider = await update(provider_id, changes, expected_generation=generation, by=call.principal)
        return _shown(provider, now=parts.clock.now())

    @desk.route("DELETE", ONE)
    async def delete_provider(call: Call, provider_id: str) -> Response[str]:
        await remove(provider_id, expected_generation=required_generation(call.event), by=call.principal)
        return nothing()


def _add_rotating(desk: Desk, parts: Parts, change: ChangeProvider) -> None:
    rotate = RotateSecret(
        registry=parts.registry,
        change=change,
        sealers=parts.sealers,
        unsealers=parts.unsealers,
        replay=Replay(idempotency=parts.idempotency),
        clock=parts.clock,
    )

    @desk.route("POST", ONE + "/rotate-secret")
    async def rotate_secret(call: Call, provider_id: str) -> Response[str]:
        body = read_body(SecretRotate, call.event, empty=True)
        registered = await rotate(
            provider_id,
            Rotation(window_hours=body.window_hours, replace_pending=body.replace_pending),
            expected_generation=generation_named(call.event),
            by=call.principal,
            once=once_of(call.event, call.principal),
        )
        shown = ContractWithSecret.with_secret(registered.provider, registered.secret, now=parts.clock.now())
        return _answered(shown, registered.provider)


def _wanted(body: ContractCreate | AnyLiveCreate) -> NewProvider | NewLiveProvider:
    if not isinstance(body, ContractCreate):
        return NewLiveProvider(
            name=body.name,
            kind=body.kind,
            exposure_profile=body.exposure_profile,
            config=body.config.known(),
            module=body.module,
            priority=body.priority,
        )
    return NewProvider(
        name=body.name,
        exposure_profile=body.exposure_profile,
        base_url=body.base_url,
        allow_private_network=body.allow_private_network,
        send_conversation_id=body.send_conversation_id,
        module=body.module,
        priority=body.priority,
        capabilities=body.capabilities.known(),
    )


def _shown(provider: Provider, *, now: float) -> Response[str]:
    return _answered(ProviderShown.of(provider, now=now), provider)


def _answered(
    shown: BaseModel, provider: Provider, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[str]:
    every = {"ETag": etag_of(provider.generation), **(headers or {})}
    return answer(shown.model_dump_json(by_alias=True), status=status, headers=every)
