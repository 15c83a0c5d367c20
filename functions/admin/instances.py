"""The routes of instances: self-hosted servers as they are registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from functions.admin.server_services import InstanceServices, instance_services
from shared.domain.instances import Instance
from shared.services.delete_instance import DeleteInstance
from shared.services.list_instances import ListInstances
from shared.services.register_instance import NewInstance
from shared.services.update_instance import InstanceChanges
from shared.web.api import answer, nothing
from shared.web.cursors import List, cursor_of
from shared.web.etags import etag_of, required_generation
from shared.web.idempotency_keys import once_of
from shared.web.instance_models import InstanceCreate, InstancePage, InstancePatch, InstanceShown
from shared.web.instance_queries import bindings_named
from shared.web.page_queries import page_query
from shared.web.server_fields import created_credential
from shared.web.wire import read_body

INSTANCES: Final = "/api/v1/knowledge/instances"
ONE_INSTANCE: Final = INSTANCES + "/{instance_id}"


def add_instance_routes(desk: Desk, parts: Parts) -> None:
    services = instance_services(parts)
    _add_reading(desk, parts)
    _add_registering(desk, services)
    _add_changing(desk, parts, services)


def _add_reading(desk: Desk, parts: Parts) -> None:
    instances = ListInstances(instances=parts.server.instances)

    @desk.route("GET", INSTANCES)
    async def list_instances(call: Call) -> Response[str]:
        query = page_query(call.event, List.INSTANCES)
        page = await instances.page(limit=query.limit, after=query.after)
        shown = InstancePage(
            instances=tuple(InstanceShown.of(each) for each in page.items),
            next_cursor=cursor_of(List.INSTANCES, page.next_after) if page.next_after else None,
        )
        return answer(shown.model_dump_json(by_alias=True))

    @desk.route("GET", ONE_INSTANCE)
    async def get_instance(_call: Call, instance_id: str) -> Response[str]:
        return _shown(await instances.one(instance_id))


def _add_registering(desk: Desk, services: InstanceServices) -> None:
    @desk.route("POST", INSTANCES)
    async def create_instance(call: Call) -> Response[str]:
        wanted = _wanted(read_body(InstanceCreate, call.event))
        instance = await services.register(wanted, by=call.principal, once=once_of(call.event, call.principal))
        return _shown(instance, status=201, headers={"Location": f"{INSTANCES}/{instance.id}"})


def _add_changing(desk: Desk, parts: Parts, services: InstanceServices) -> None:
    delete = DeleteInstance(instances=parts.server.instances, change=services.change)

    @desk.route("PATCH", ONE_INSTANCE)
    async def update_instance(call: Call, instance_id: str) -> Response[str]:
        generation = required_generation(call.event)
        changes = cast("InstanceChanges", read_body(InstancePatch, call.event).changes())
        instance = await services.update(instance_id, changes, expected_generation=generation, by=call.principal)
        return _shown(instance)

    @desk.route("DELETE", ONE_INSTANCE)
    async def delete_instance(call: Call, instance_id: str) -> Response[str]:
        await delete(
            instance_id,
            with_bindings=bindings_named(call.event),
            expected_generation=required_generation(call.event),
            by=call.principal,
        )
        return nothing()


def _wanted(body: InstanceCreate) -> NewInstance:
    return NewInstance(
        name=body.name,
        kind=body.kind,
        exposure_profile=body.exposure_profile,
        base_url=body.base_url,
        credential=created_credential(body.credential),
        acknowledge=None if body.acknowledge is None else body.acknowledge.known(),
        reaches_public_only=body.credential_reaches_public_content_only,
        private_authority=body.private_authority,
    )


def _shown(instance: Instance, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[str]:
    every = {"ETag": etag_of(instance.generation), **(headers or {})}
    return answer(InstanceShown.of(instance).model_dump_json(by_alias=True), status=status, headers=every)
