"""The services of self-hosted servers, out of the function's parts."""

from __future__ import annotations

from dataclasses import dataclass

from functions.admin.parts import Parts
from shared.services.bind import Bind
from shared.services.change_instance import ChangeInstance
from shared.services.change_provider import ChangeProvider
from shared.services.create_provider import CreateProvider
from shared.services.open_server import OpenServer
from shared.services.place_server import PlaceServer
from shared.services.prove_server import ProveServer
from shared.services.register_external import RegisterExternal
from shared.services.register_instance import RegisterInstance
from shared.services.replay import Replay
from shared.services.restore_defaults import RestoreDefaults
from shared.services.seal_credential import SealCredential
from shared.services.try_server import TryServer
from shared.services.update_binding import UpdateBinding
from shared.services.update_external import UpdateExternal
from shared.services.update_instance import UpdateInstance


@dataclass(frozen=True, slots=True)
class InstanceServices:
    register: RegisterInstance
    update: UpdateInstance
    change: ChangeInstance


@dataclass(frozen=True, slots=True)
class BindingServices:
    bind: Bind
    register_external: RegisterExternal
    update_binding: UpdateBinding
    update_external: UpdateExternal
    restore_defaults: RestoreDefaults


def instance_services(parts: Parts) -> InstanceServices:
    server, seal, place = parts.server, _seal(parts), _place(parts)
    change = ChangeInstance(instances=server.instances, clock=parts.clock)
    register = RegisterInstance(
        instances=server.instances,
        servers=server.servers,
        place=place,
        seal=seal,
        change=change,
        replay=Replay(idempotency=parts.idempotency),
        clock=parts.clock,
    )
    update = UpdateInstance(instances=server.instances, servers=server.servers, place=place, seal=seal, change=change)
    return InstanceServices(register, update, change)


def binding_services(parts: Parts) -> BindingServices:
    registry, instances, clock = parts.registry, parts.server.instances, parts.clock
    prove, seal, place = _prove(parts), _seal(parts), _place(parts)
    replay = Replay(idempotency=parts.idempotency)
    create = CreateProvider(registry=registry, replay=replay, clock=clock)
    change = ChangeProvider(registry=registry, put_back=parts.health.put_back, clock=clock)
    update_binding = UpdateBinding(registry=registry, instances=instances, prove=prove, change=change)
    return BindingServices(
        bind=Bind(registry=registry, instances=instances, prove=prove, create=create, replay=replay, clock=clock),
        register_external=RegisterExternal(
            registry=registry, place=place, seal=seal, prove=prove, create=create, replay=replay, clock=clock
        ),
        update_binding=update_binding,
        update_external=UpdateExternal(registry=registry, place=place, seal=seal, prove=prove, change=change),
        restore_defaults=RestoreDefaults(registry=registry, update_binding=update_binding, prove=prove, change=change),
    )


def open_server_of(parts: Parts) -> OpenServer:
    return OpenServer(exchanges=parts.exchanges, unsealers=parts.unsealers, clock=parts.clock)


def try_server_of(parts: Parts) -> TryServer:
    return TryServer(askers=parts.server.askers, unsealers=parts.unsealers, clock=parts.clock)


def _prove(parts: Parts) -> ProveServer:
    return ProveServer(
        servers=parts.server.servers,
        askers=parts.server.askers,
        open_server=open_server_of(parts),
        try_server=try_server_of(parts),
    )


def _seal(parts: Parts) -> SealCredential:
    return SealCredential(sealers=parts.sealers, credential_keys=parts.server.credential_keys)


def _place(parts: Parts) -> PlaceServer:
    return PlaceServer(
        address_check=parts.address_check,
        allow_loopback_http=parts.allow_loopback_http,
        private_network_available=parts.private_network_available,
    )
