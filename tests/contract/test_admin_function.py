"""The admin function as it is deployed: its own wiring, the embedded backend, and a provider behind real sockets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.admin_process import Process
from tests.support.admin_stage import A_PROVIDER, AUDIT, CREDENTIALS, PROVIDERS, Answered
from tests.support.hostile_provider import HostileProvider, hostile_provider

pytestmark = [pytest.mark.emulator]


@pytest.fixture
def process(aws_environment: dict[str, str]) -> Iterator[Process]:
    process = Process(aws_environment)
    yield process
    process.close()


@pytest.fixture(scope="module")
def provider() -> Iterator[HostileProvider]:
    with hostile_provider() as running:
        yield running


def register(process: Process, base_url: str, **over: Any) -> Answered:
    created = process.call("POST", PROVIDERS, A_PROVIDER | {"baseUrl": base_url} | over)
    assert created.status == 201, created.text
    return created


def test_a_provider_lives_its_whole_life(process: Process, provider: HostileProvider) -> None:
    created = register(process, provider.url("good"), exposureProfile="agent_only")
    path = created.headers["Location"]

    tested = process.call("POST", f"{path}/test", {"query": "ferry pass", "activate": True})
    assert (tested.json["status"], tested.json["activated"]) == ("success", True), tested.text
    assert tested.json["resultCount"] >= 1
    rotated = process.call("POST", f"{path}/rotate-secret")
    assert rotated.json["secret"] != created.json["secret"]
    again = process.call("POST", f"{path}/test", {"query": "ferry pass"})
    assert again.json["effective"]["signatures"] == 2
    signature = provider.requests[-1].headers["x-helpthread-signature"]
    assert signature.count("v1=") == 2
    changed = process.call("PATCH", path, {"priority": 5}, if_match=again.etag)
    assert changed.json["priority"] == 5
    assert process.call("DELETE", path, if_match=again.etag).status == 412
    assert process.call("DELETE", path, if_match=changed.etag).status == 204
    assert process.call("GET", path).status == 404
    actions = [entry["action"] for entry in process.call("GET", AUDIT).json["entries"]]
    assert actions == [
        "provider.deleted",
        "provider.updated",
        "provider.secret_rotated",
        "provider.activated",
        "provider.created",
    ]


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        ("unauthorized", "unauthorized"),
        ("redirect", "upstream_error"),
        ("too_large", "response_too_large"),
        ("gzip_bomb", "response_too_large"),
        ("reset", "connection_failed"),
        ("error", "upstream_error"),
    ],
)
def test_a_provider_that_misbehaves_is_reported_by_code_alone(
    process: Process, provider: HostileProvider, behaviour: str, code: str
) -> None:
    path = register(process, provider.url(behaviour)).headers["Location"]
    report = process.call("POST", f"{path}/test", {"query": "ferry pass", "activate": True})

    assert (report.status, report.json["errorCode"]) == (200, code)
    assert report.json["provider"]["status"] == "disabled"
    assert "UPSTREAM-WORDS" not in report.text


def test_capabilities_are_read_from_the_provider(process: Process, provider: HostileProvider) -> None:
    path = register(process, provider.url("good")).headers["Location"]
    reading = process.call("POST", f"{path}/capabilities")

    assert (reading.status, reading.json["status"]) == (200, "success")
    assert provider.requests[-1].method == "GET"
    assert reading.json["changed"] == [
        name for name, value in process.call("GET", path).json["capabilities"].items() if value
    ]


def test_a_credential_lives_its_whole_life(process: Process) -> None:
    issued = process.call("POST", CREDENTIALS, {"class": "adm", "name": "Second admin"})
    path = issued.headers["Location"]
    root, process.token = process.token, issued.json["token"]

    off = process.call("PATCH", f"{CREDENTIALS}/root", {"status": "disabled"}, if_match='"1"')
    assert off.json["status"] == "disabled"
    assert process.call("DELETE", path, if_match='"1"').code == "last_admin"
    process.token = root
    assert process.call("GET", CREDENTIALS).status == 401
    process.token = issued.json["token"]
    assert process.call("PATCH", f"{CREDENTIALS}/root", {"status": "active"}, if_match='"1"').status == 412
    on = process.call("PATCH", f"{CREDENTIALS}/root", {"status": "active"}, if_match=off.etag)
    assert (on.status, on.etag) == (200, '"3"')
    assert process.call("PATCH", f"{CREDENTIALS}/root", {"status": "disabled"}, if_match='"1"').status == 412
    rotated = process.call("POST", f"{path}/rotate")
    assert process.call("GET", CREDENTIALS).status == 401
    process.token = rotated.json["token"]
    shown = process.call("GET", CREDENTIALS).json["credentials"]
    assert [each["id"] for each in shown] == ["root", issued.json["id"]]
    assert process.call("DELETE", path, if_match=rotated.etag).status == 204
    assert process.call("GET", CREDENTIALS).status == 401


def test_forty_origins_are_written_and_all_replaced_and_forty_one_are_refused(process: Process) -> None:
    before, after = ([f"https://{letter}{n}.fern-desk.test" for n in range(41)] for letter in "ab")
    widget = {"class": "pub", "name": "Help site"}
    refused = process.call("POST", CREDENTIALS, widget | {"origins": before})
    issued = process.call("POST", CREDENTIALS, widget | {"origins": before[:40]}, idempotency_key="help-site")
    path = issued.headers["Location"]
    too_many = process.call("PATCH", path, {"origins": after}, if_match=issued.etag)
    replaced = process.call("PATCH", path, {"origins": after[:40]}, if_match=issued.etag)

    assert (refused.status, issued.status, too_many.status, replaced.status) == (422, 201, 422, 200)
    assert process.call("GET", path).json["origins"] == after[:40]
    assert process.call("DELETE", path, if_match=replaced.etag).status == 204


def test_of_many_processes_with_one_name_one_wins(aws_environment: dict[str, str], provider: HostileProvider) -> None:
    answers = at_once(aws_environment, count=6, headers=lambda _n: {}, base_url=provider.url("good"))

    assert sorted(each.status for each in answers) == [201, 409, 409, 409, 409, 409]
    assert {each.code for each in answers if each.status == 409} <= {"name_taken", "busy"}


def test_of_many_processes_with_one_idempotency_key_all_show_the_same_thing(
    aws_environment: dict[str, str], provider: HostileProvider
) -> None:
    key = {"idempotency_key": "order-1"}
    answers = at_once(aws_environment, count=6, headers=lambda _n: key, base_url=provider.url("good"))

    made = [each for each in answers if each.status == 201]
    assert len({each.json["id"] for each in made}) == 1
    assert len([each for each in made if each.json["secret"]]) == 1
    assert {each.status for each in answers} <= {201, 409}
    assert {each.code for each in answers if each.status == 409} <= {"busy"}


def at_once(environment: dict[str, str], *, count: int, headers: Any, base_url: str) -> list[Answered]:
    """The same registration from `count` processes' worth of state, at the same moment."""
    processes = [Process(environment) for _ in range(count)]
    barrier, answers = threading.Barrier(count), []

    def run(number: int) -> None:
        barrier.wait(30)
        body = A_PROVIDER | {"baseUrl": base_url}
        answers.append(processes[number].call("POST", PROVIDERS, body, **headers(number)))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for process in processes:
        process.close()
    return answers
