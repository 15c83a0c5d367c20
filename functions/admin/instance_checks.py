"""The routes that ask a self-hosted server something: a test, and what is on it."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.instances import ONE_INSTANCE
from functions.admin.parts import Parts
from functions.admin.server_services import open_server_of
from shared.services.read_catalog import ReadCatalog
from shared.services.read_remote import ReadRemote
from shared.services.test_instance import Sample, TestInstance
from shared.web.api import answer
from shared.web.catalog_models import CatalogShown, EntryShown, catalog_wish, checked_remote_id
from shared.web.instance_test_models import InstanceTest, InstanceTestShown
from shared.web.wire import read_body


def add_instance_check_routes(desk: Desk, parts: Parts) -> None:
    _add_testing(desk, parts)
    _add_reading(desk, parts)


def _add_testing(desk: Desk, parts: Parts) -> None:
    test = TestInstance(
        instances=parts.server.instances,
        servers=parts.server.servers,
        open_server=open_server_of(parts),
        clock=parts.clock,
    )

    @desk.route("POST", ONE_INSTANCE + "/test", changes=False)
    async def test_instance(call: Call, instance_id: str) -> Response[str]:
        tested = await test(instance_id, _sample(read_body(InstanceTest, call.event, empty=True)))
        shown = InstanceTestShown.of(
            tested.instance, tested.report, result_count=tested.result_count, timeout_ms=tested.timeout_ms
        )
        return answer(shown.model_dump_json(by_alias=True))


def _add_reading(desk: Desk, parts: Parts) -> None:
    instances, servers = parts.server.instances, parts.server.servers
    open_server, clock = open_server_of(parts), parts.clock
    read_catalog = ReadCatalog(instances=instances, servers=servers, open_server=open_server, clock=clock)
    read_remote = ReadRemote(instances=instances, servers=servers, open_server=open_server, clock=clock)

    @desk.route("GET", ONE_INSTANCE + "/catalog")
    async def list_catalog(call: Call, instance_id: str) -> Response[str]:
        page = await read_catalog(instance_id, catalog_wish(call.event))
        return answer(CatalogShown.of(page).model_dump_json(by_alias=True))

    @desk.route("GET", ONE_INSTANCE + "/catalog/{remote_id}")
    async def get_remote(_call: Call, instance_id: str, remote_id: str) -> Response[str]:
        entry = await read_remote(instance_id, checked_remote_id(remote_id))
        return answer(EntryShown.of(entry).model_dump_json(by_alias=True))


def _sample(body: InstanceTest) -> Sample | None:
    if body.query is None or body.remote_id is None:
        return None
    return Sample(query=body.query, remote_id=body.remote_id)
