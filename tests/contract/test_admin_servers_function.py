"""The admin function as it is deployed, with self-hosted servers of every version behind real sockets; and what the
widget then finds there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fixtures.stand_ins import dify_external, dify_shelves, fastgpt, ragflow_sets
from fixtures.stand_ins.control import Control
from fixtures.stand_ins.fastgpt_folders import object_id
from fixtures.stand_ins.knowledge import dashed_id
from fixtures.stand_ins.server import StandIns
from fixtures.stand_ins.services import servers
from functions.widget.wiring import wired
from shared.domain.deadlines import Deadline
from shared.domain.passages import Question
from shared.services.search_for_customer import CustomerRequest
from tests.contract.admin_process import Process
from tests.support.admin_stage import AUDIT, INSTANCES, PROVIDERS, Answered

pytestmark = [pytest.mark.emulator]

QUERY = "when does the north quay close"
KEYS = {"dify": dify_shelves.CREW_KEY, "fastgpt": fastgpt.KEY, "ragflow": ragflow_sets.KEY}
HARBOUR = {
    "dify": dashed_id("crew", "harbour"),
    "fastgpt": object_id("harbour"),
    "ragflow": ragflow_sets.data_set_id("harbour"),
}
# name of a stand-in -> the version that the server tells a key
SERVERS = {
    "dify-0.15": "0.15.8",
    "dify-1.8": "1.8.1",
    "dify-1.14": "1.14.2",
    "fastgpt-4.8": None,
    "fastgpt-4.12": None,
    "fastgpt-4.15": None,
    "ragflow-0.17": None,
    "ragflow-0.24": None,
    "ragflow-0.26": "0.26.4",
}


@pytest.fixture(scope="module")
def control() -> Control:
    return Control()


@pytest.fixture(scope="module")
def urls(control: Control) -> Iterator[dict[str, str]]:
    stand_ins = StandIns([], control, servers=servers())
    with stand_ins.running():
        yield stand_ins.servers


@pytest.fixture
def process(aws_environment: dict[str, str]) -> Iterator[Process]:
    process = Process(aws_environment)
    yield process
    process.close()


@pytest.fixture
def trouble(control: Control) -> Iterator[Callable[..., None]]:
    yield lambda server, mode, **how: control.command({"service": server, "mode": mode, **how})
    control.command({"mode": "ok"})


def kind_of(server: str) -> str:
    return server.partition("-")[0]


def install(process: Process, server: str, url: str, *, key: str | None = None, **over: Any) -> Answered:
    kind = kind_of(server)
    body = {
        "name": server,
        "kind": kind,
        "exposureProfile": "agent_only",
        "baseUrl": url,
        "credential": {"action": "replace", "value": key or KEYS[kind]},
    }
    created = process.call("POST", INSTANCES, body | over)
    assert created.status == 201, created.text
    return created


def bind(process: Process, instance: Answered, remote_id: str, **over: Any) -> Answered:
    body = {
        "name": f"Bound to {remote_id}",
        "kind": instance.json["kind"],
        "instanceId": instance.json["id"],
        "remoteId": remote_id,
        "testQuery": QUERY,
    }
    return process.call("POST", PROVIDERS, body | over)


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_of_every_version_is_tested_read_bound_and_deleted(
    process: Process, urls: dict[str, str], server: str
) -> None:
    harbour = HARBOUR[kind_of(server)]
    instance = install(process, server, urls[server])
    path = instance.headers["Location"]
    report = process.call("POST", f"{path}/test", {"query": QUERY, "remoteId": harbour})
    listed = process.call("GET", f"{path}/catalog", query={"search": "harbour"}).json["entries"]
    bound = bind(process, instance, harbour)

    findings = [report.json[name] for name in ("reachable", "authenticated", "listReadable", "retrieval")]
    assert findings == ["passed"] * 4, report.text
    assert report.json["version"] == SERVERS[server]
    assert [entry["notSearchable"] for entry in listed if entry["id"] == harbour] == [None]
    assert (bound.status, bound.json["status"], bound.json["remoteId"]) == (201, "active", harbour), bound.text
    tested = process.call("POST", f"{bound.headers['Location']}/test", {"query": QUERY})
    assert "north quay" in tested.json["results"][0]["snippet"]
    assert {each["audience"] for each in tested.json["results"]} == {"internal"}
    shown = process.call("GET", path)
    assert shown.json["bindings"] == [bound.json["id"]]
    refused = process.call("DELETE", path, if_match=shown.etag)
    assert (refused.code, refused.json["bindings"]) == ("instance_in_use", shown.json["bindings"])


def test_what_cannot_be_searched_cannot_be_bound(process: Process, urls: dict[str, str]) -> None:
    instance = install(process, "fastgpt-4.12", urls["fastgpt-4.12"])
    entries = process.call("GET", f"{instance.headers['Location']}/catalog").json["entries"]
    folder = next(entry for entry in entries if entry["kind"] == "folder")
    refused = bind(process, instance, folder["id"])

    assert (refused.code, refused.json["reason"]) == ("not_searchable", "folder")


def test_a_wrong_credential_is_told_apart_from_a_server_that_is_away(
    process: Process, urls: dict[str, str], trouble: Callable[..., None]
) -> None:
    wrong = install(process, "dify-1.14", urls["dify-1.14"], key="dataset-wrong")
    away = install(process, "ragflow-0.24", "http://127.0.0.1:1")
    rejected = process.call("POST", f"{wrong.headers['Location']}/test").json
    nobody = process.call("POST", f"{away.headers['Location']}/test").json

    assert (rejected["reachable"], rejected["authenticated"], rejected["errorCode"]) == (
        "passed",
        "failed",
        "unauthorized",
    )
    assert (nobody["reachable"], nobody["authenticated"]) == ("failed", "untested")
    refused = bind(process, wrong, HARBOUR["dify"])
    assert (refused.status, refused.json["outcome"]) == (409, "unauthorized")
    assert process.call("GET", PROVIDERS).json["providers"] == []
    listed = process.call("GET", f"{wrong.headers['Location']}/catalog")
    assert (listed.status, listed.json["outcome"]) == (502, "unauthorized")


def test_a_binding_is_written_once_and_switched_off_when_its_instance_moves(
    process: Process, urls: dict[str, str]
) -> None:
    instance = install(process, "dify-1.8", urls["dify-1.8"])
    path = instance.headers["Location"]
    bound = bind(process, instance, HARBOUR["dify"])
    again = bind(process, instance, HARBOUR["dify"], name="Another name")
    shown = process.call("GET", path)
    key = {"action": "replace", "value": dify_shelves.CREW_KEY}
    moved = {"baseUrl": urls["dify-1.14"]}
    kept = process.call("PATCH", path, moved, if_match=shown.etag)
    replaced = process.call("PATCH", path, moved | {"credential": key}, if_match=shown.etag)
    after = process.call("GET", bound.headers["Location"]).json
    tested = process.call("POST", f"{bound.headers['Location']}/test", {"query": QUERY, "activate": True})

    assert (again.code, kept.code, replaced.status) == ("already_bound", "credential_required", 200)
    assert (after["status"], after["needsTest"], after["baseUrl"]) == ("disabled", True, replaced.json["baseUrl"])
    assert (tested.json["activated"], tested.json["provider"]["status"]) == (True, "active")


def test_an_instance_goes_with_exactly_its_bindings(process: Process, urls: dict[str, str]) -> None:
    instance = install(process, "ragflow-0.26", urls["ragflow-0.26"])
    bound = bind(process, instance, HARBOUR["ragflow"])
    path = instance.headers["Location"]
    event = process.call("GET", path)

    assert process.call("DELETE", path, if_match=event.etag).code == "instance_in_use"
    deleted = process.call("DELETE", path, query={"bindings": bound.json["id"]}, if_match=event.etag)
    assert deleted.status == 204
    assert process.call("GET", bound.headers["Location"]).code == "not_found"
    assert bind(process, install(process, "ragflow-0.26", urls["ragflow-0.26"]), HARBOUR["ragflow"]).status == 201


def test_an_external_server_is_bound_at_once(process: Process, urls: dict[str, str]) -> None:
    body = {
        "name": "Harbour, elsewhere",
        "kind": "dify_external",
        "baseUrl": urls["dify_external"],
        "credential": {"action": "replace", "value": dify_external.KEY},
        "config": {"knowledgeId": "harbour"},
        "testQuery": QUERY,
    }
    created = process.call("POST", PROVIDERS, body)
    unknown = process.call("POST", PROVIDERS, body | {"name": "Other", "config": {"knowledgeId": "nothing"}})
    tested = process.call("POST", f"{created.headers['Location']}/test", {"query": QUERY})

    assert (created.json["status"], created.json["exposureProfile"]) == ("active", "agent_only")
    assert (unknown.code, unknown.json["outcome"]) == ("test_failed", "not_found")
    assert "north quay" in tested.json["results"][0]["snippet"]


def test_the_widget_finds_what_is_customer_safe_and_nothing_else(
    process: Process, urls: dict[str, str], aws_environment: dict[str, str]
) -> None:
    safe = {"exposureProfile": "customer_safe", "credentialReachesPublicContentOnly": True}
    url = urls["dify-1.14"]
    public = install(process, "dify-1.14", url, key=dify_shelves.PUBLIC_KEY, **safe)
    inner = install(process, "dify-1.14", url)
    assert bind(process, public, dashed_id("public", "harbour")).status == 201
    assert bind(process, inner, HARBOUR["dify"]).status == 201
    parts = wired(aws_environment | {"KG_ALLOW_LOOPBACK_HTTP": "true"})

    async def search() -> Any:
        deadline = Deadline.after(8.0, now_s=parts.clock.monotonic())
        request = CustomerRequest(question=Question(query=QUERY, limit=10), deadline=deadline, request_id="widget-1")
        return await parts.search_for_customer(request, admission=admitted())

    async def admitted() -> None:
        return None

    answer = parts.loop.run(search())
    parts.loop.close()

    assert answer.results
    assert len({(each.title, each.snippet) for each in answer.results}) == len(answer.results)
    assert any("north quay" in each.snippet for each in answer.results)


def test_no_key_shows_in_any_answer(process: Process, urls: dict[str, str]) -> None:
    instance = install(process, "dify-1.14", urls["dify-1.14"])
    bound = bind(process, instance, HARBOUR["dify"])
    answers = [
        instance,
        bound,
        process.call("GET", INSTANCES),
        process.call("GET", PROVIDERS),
        process.call("POST", f"{instance.headers['Location']}/test"),
        process.call("GET", AUDIT),
    ]

    assert not any(key in "".join(each.text for each in answers) for key in KEYS.values())
