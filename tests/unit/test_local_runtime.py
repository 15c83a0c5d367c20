"""The embedded runtime treats functions as Lambda does, and requests as API Gateway does."""

from __future__ import annotations

import base64
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from infra.functions import FUNCTIONS
from infra.local import frames
from infra.local.dispatch import Dispatcher
from infra.local.functions import environments
from infra.local.pool import Pool
from infra.local.server import Front
from infra.pools import POOL_VARIABLES
from infra.routes import DEFAULT_FUNCTION, ROUTES, Route
from infra.tables import TABLES

_FUNCTION = "tests.support.functions.obliging"
_ROOT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = {"AWS_LAMBDA_FUNCTION_NAME": "kg-obliging", "KG_OWN": "yes"}


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    pool = Pool(_FUNCTION, environment=_ENVIRONMENT, log=tmp_path / "log", cap=3, timeout_s=3.0)
    yield pool
    pool.close()


@pytest.fixture
def front(pool: Pool) -> Iterator[Front]:
    routes = [Route("GET", "/things/{thingId}", "thing"), Route("GET", "/things/first", "thing")]
    dispatcher = Dispatcher(routes, default_function="thing")
    front = Front(0, dispatcher=dispatcher, pools=lambda: {"thing": pool})
    threading.Thread(target=front.serve_forever, args=(0.02,), daemon=True).start()
    yield front
    front.shutdown()
    front.server_close()


def ask(front: Front, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", front.server_address[1], timeout=30)
    connection.request(method, path, body=body, headers={k.replace("_", "-"): v for k, v in headers.items()})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    try:
        return answer.status, json.loads(data or b"null"), answer.headers
    except ValueError:
        return answer.status, data, answer.headers


def raw(front: Front, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", front.server_address[1]), timeout=30) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_function_sees_an_event_of_payload_2(front: Front) -> None:
    status, facts, _ = ask(
        front,
        "POST",
        "/some/path?a=1&a=2&b=",
        b'{"x": "\xc3\xa9"}',
        Content_Type="application/json",
        X_Mixed_Case="Yes",
    )
    event = facts["event"]
    assert status == 200
    assert (event["version"], event["routeKey"]) == ("2.0", "$default")
    assert (event["rawPath"], event["rawQueryString"]) == ("/some/path", "a=1&a=2&b=")
    assert event["queryStringParameters"] == {"a": "1,2", "b": ""}
    assert event["headers"]["x-mixed-case"] == "Yes"
    assert (event["body"], event["isBase64Encoded"]) == ('{"x": "é"}', False)
    assert event["requestContext"]["http"]["method"] == "POST"
    assert event["requestContext"]["http"]["sourceIp"] == "127.0.0.1"
    assert event["requestContext"]["stage"] == "$default"
    assert 0 < facts["remaining_ms"] <= 3000


@pytest.mark.parametrize("kind", ["application/octet-stream", "application/x-www-form-urlencoded"])
def test_a_body_that_is_not_text_comes_as_base64(front: Front, kind: str) -> None:
    _, facts, _ = ask(front, "POST", "/", b"a=1", Content_Type=kind)
    assert facts["event"]["isBase64Encoded"] is True
    assert base64.b64decode(facts["event"]["body"]) == b"a=1"


def test_text_that_is_not_utf8_comes_as_base64(front: Front) -> None:
    _, facts, _ = ask(front, "POST", "/", b"\xff\xfe", Content_Type="application/json")
    assert base64.b64decode(facts["event"]["body"]) == b"\xff\xfe"


def test_no_body_means_no_body_field(front: Front) -> None:
    _, facts, _ = ask(front, "GET", "/")
    assert "body" not in facts["event"]
    assert "queryStringParameters" not in facts["event"]


def test_repeated_headers_are_joined_and_cookies_stand_apart(front: Front) -> None:
    request = b"GET / HTTP/1.1\r\nHost: x\r\nOrigin: a\r\nORIGIN: b\r\nCookie: c=1; d=2\r\nConnection: close\r\n\r\n"
    event = json.loads(raw(front, request).partition(b"\r\n\r\n")[2])["event"]
    assert event["headers"]["origin"] == "a,b"
    assert event["cookies"] == ["c=1", "d=2"]
    assert "cookie" not in event["headers"]
    assert "connection" not in event["headers"]


def test_a_literal_segment_wins_over_a_parameter(front: Front) -> None:
    assert ask(front, "GET", "/things/first")[1]["event"]["routeKey"] == "GET /things/first"
    event = ask(front, "GET", "/things/se%20cond")[1]["event"]
    assert event["routeKey"] == "GET /things/{thingId}"
    assert event["pathParameters"] == {"thingId": "se cond"}


def test_a_path_comes_decoded(front: Front) -> None:
    event = ask(front, "GET", "/things/caf%C3%A9%0A%25")[1]["event"]
    assert event["rawPath"] == event["requestContext"]["http"]["path"] == "/things/café\n%"
    assert event["pathParameters"] == {"thingId": "café\n%"}


@pytest.mark.parametrize("path", ["/things", "/things/", "/things/a/b", "/things/first/", "/Things/first"])
def test_what_fits_no_route_goes_to_the_default_function(front: Front, path: str) -> None:
    assert ask(front, "GET", path)[1]["event"]["routeKey"] == "$default"


def test_another_method_goes_to_the_default_function(front: Front) -> None:
    assert ask(front, "PUT", "/things/first")[1]["event"]["routeKey"] == "$default"


def test_every_route_of_the_table_is_found() -> None:
    dispatcher = Dispatcher()
    for route in ROUTES:
        match = dispatcher.match(route.method, route.path.replace("{", "x").replace("}", "x"))
        assert (match.function, match.route_key) == (route.function, f"{route.method} {route.path}")


def test_a_function_knows_only_its_own_variables(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KG_FOREIGN", "1")
    environment = ask(front, "GET", "/")[1]["environment"]
    assert {name for name in environment if name.startswith("KG_")} == {"KG_OWN"}


def all_environments() -> dict[str, dict[str, str]]:
    names = [table.variable for table in TABLES] + ["KG_KEY_PUBLIC", "KG_KEY_INTERNAL", "KG_ROOT_SECRET"]
    names += POOL_VARIABLES.values()
    store = {name: f"value of {name}" for name in names}
    return environments(store=store, client={"AWS_ENDPOINT_URL": "http://127.0.0.1:1"})


def test_the_widget_is_told_of_nothing_internal() -> None:
    environment = all_environments()["widget"]
    assert {name for name in environment if name.startswith("KG_")} == {
        "KG_TABLE_REGISTRATIONS_PUBLIC",
        "KG_TABLE_LEDGER_PUBLIC",
        "KG_KEY_PUBLIC",
        "KG_ALLOW_LOOPBACK_HTTP",
    }
    assert not [value for value in environment.values() if any(word in value for word in ("INTERNAL", "ROOT", "POOL"))]


def test_the_root_secret_is_named_to_the_admin_function_alone() -> None:
    told = [name for name, environment in all_environments().items() if "KG_ROOT_SECRET" in environment]
    assert told == ["admin"]


def test_the_function_without_data_gets_no_way_to_the_backend() -> None:
    environment = all_environments()["assets"]
    assert not [name for name in environment if name.startswith(("KG_", "AWS_ENDPOINT", "AWS_SECRET"))]


def test_every_function_of_the_routes_and_of_the_clock_has_an_environment() -> None:
    by_the_clock = {function.name for function in FUNCTIONS if function.every_min}
    assert {route.function for route in ROUTES} | {DEFAULT_FUNCTION} | by_the_clock == set(all_environments())


def test_one_process_answers_requests_that_come_one_after_the_other(front: Front) -> None:
    answers = [ask(front, "GET", "/")[1] for _ in range(3)]
    assert len({facts["pid"] for facts in answers}) == 1
    assert [facts["calls"] for facts in answers] == [1, 2, 3]


def test_requests_at_once_get_processes_of_their_own(front: Front) -> None:
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda _: ask(front, "GET", "/sleep?s=2")[1], range(3)))
    assert len({facts["pid"] for facts in answers}) == 3


def test_above_the_cap_requests_wait_for_a_free_process(front: Front, pool: Pool) -> None:
    with ThreadPoolExecutor(7) as threads:
        answers = list(threads.map(lambda _: ask(front, "GET", "/sleep?s=0.2"), range(7)))
    assert [status for status, _, _ in answers] == [200] * 7
    assert len(pool.pids()) <= 3


def test_a_process_that_dies_costs_its_own_request_alone(front: Front) -> None:
    before = ask(front, "GET", "/")[1]["pid"]
    assert ask(front, "GET", "/die")[:2] == (500, {"message": "Internal Server Error"})
    status, facts, _ = ask(front, "GET", "/")
    assert status == 200
    assert facts["pid"] != before


def test_a_process_killed_while_idle_is_replaced_without_a_trace(front: Front, pool: Pool) -> None:
    ask(front, "GET", "/")
    os.kill(pool.pids()[0], signal.SIGKILL)
    wait_until_gone(pool.pids()[0])
    assert ask(front, "GET", "/")[0] == 200


def test_a_handler_that_raises_is_answered_with_500_and_keeps_its_process(front: Front) -> None:
    before = ask(front, "GET", "/")[1]["pid"]
    status, message, _ = ask(front, "GET", "/raise")
    assert (status, message) == (500, {"message": "Internal Server Error"})
    assert ask(front, "GET", "/")[1]["pid"] == before


def test_a_function_that_takes_too_long_is_killed(front: Front, pool: Pool) -> None:
    ask(front, "GET", "/")
    pid = pool.pids()[0]
    assert ask(front, "GET", "/sleep?s=60")[:2] == (504, {"message": "Gateway Timeout"})
    wait_until_gone(pid)
    assert ask(front, "GET", "/")[0] == 200


def test_an_answer_without_a_whole_status_is_an_internal_error(front: Front) -> None:
    assert ask(front, "GET", "/nonsense")[:2] == (500, {"message": "Internal Server Error"})


def test_binary_answers_and_cookies_arrive(front: Front) -> None:
    status, data, headers = ask(front, "GET", "/binary")
    assert (status, data) == (200, b"\x00\x01\xff")
    assert headers.get_all("set-cookie") == ["a=1", "b=2"]


def test_an_answer_without_content_has_no_length(front: Front) -> None:
    status, _, headers = ask(front, "GET", "/empty")
    assert status == 204
    assert headers["content-length"] is None


def test_an_answer_to_head_has_no_body(front: Front) -> None:
    answer = raw(front, b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n")


def test_what_a_function_prints_goes_to_its_log_and_not_into_its_answers(front: Front, tmp_path: Path) -> None:
    assert ask(front, "GET", "/print")[0] == 200
    assert "printed by the function" in (tmp_path / "log").read_text()


def test_the_log_of_an_unhandled_error_has_its_type_and_not_its_words(front: Front, tmp_path: Path) -> None:
    ask(front, "GET", "/raise")
    log = (tmp_path / "log").read_text()
    assert "ValueError" in log
    assert "private words" not in log


def test_a_body_above_ten_mebibytes_is_refused_before_any_function_sees_it(front: Front, pool: Pool) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10485761\r\n\r\n"
    assert raw(front, head).startswith(b"HTTP/1.1 413 ")
    assert pool.pids() == ()


def test_a_chunked_body_is_put_together(front: Front) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n"
    answer = raw(front, head + b"Connection: close\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["event"]["body"] == "abcde"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked",
        b"Content-Length: 3\r\nContent-Length: 3",
        b"Content-Length: -1",
        b"Content-Length: 1e3",
        b"Transfer-Encoding: gzip",
        b"Content-Length: 999",
    ],
)
def test_a_body_with_doubtful_framing_is_refused(front: Front, head: bytes) -> None:
    assert raw(front, b"POST / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\nabc").startswith(b"HTTP/1.1 400 ")


def test_headers_above_ten_kilobytes_are_refused(front: Front) -> None:
    assert ask(front, "GET", "/", X_Long="x" * 10_300)[0] == 431


def test_what_is_not_http_is_refused_without_repeating_it(front: Front) -> None:
    answer = raw(front, b"<script>alert(1)</script> / HTTP/1.1 more\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"script" not in answer


@pytest.mark.parametrize(
    "path", ["//things/first", "///things/first", "//things/se/cond", "http://x//things/first", "/./things/first"]
)
def test_a_path_with_more_slashes_is_another_path(front: Front, path: str) -> None:
    event = ask(front, "GET", path)[1]["event"]
    assert event["routeKey"] == "$default"
    assert event["rawPath"] == path.removeprefix("http://x")


def test_a_whole_url_as_target_is_taken_by_its_path(front: Front) -> None:
    event = ask(front, "GET", "http://x/things/first?a=1")[1]["event"]
    assert (event["routeKey"], event["rawQueryString"]) == ("GET /things/first", "a=1")


@pytest.mark.parametrize("hosts", [b"", b"Host: \r\n", b"Host: x\r\nHost: y\r\n"])
@pytest.mark.parametrize("version", [b"HTTP/1.1", b"HTTP/1.0"])
def test_a_request_without_one_host_is_refused(front: Front, pool: Pool, hosts: bytes, version: bytes) -> None:
    assert raw(front, b"GET / " + version + b"\r\n" + hosts + b"\r\n").startswith(b"HTTP/1.1 400 ")
    assert pool.pids() == ()


@pytest.mark.parametrize("method", [b"get", b"Get", b"pOST", b"G3T", b"_", b"X" * 33])
def test_a_method_that_is_not_in_capitals_is_refused(front: Front, pool: Pool, method: bytes) -> None:
    answer = raw(front, method + b" /things/first HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert pool.pids() == ()


_HEAD = b" HTTP/1.1\r\nHost: x\r\n"
_OWN_ANSWERS = {
    "not http": (400, "Bad Request", b"nonsense\r\n\r\n"),
    "no host": (400, "Bad Request", b"GET / HTTP/1.1\r\n\r\n"),
    "no length": (400, "Bad Request", b"POST /" + _HEAD + b"Content-Length: -1\r\n\r\n"),
    "body": (413, "Request Entity Too Large", b"POST /" + _HEAD + b"Content-Length: 99999999\r\n\r\n"),
    "body to come": (
        413,
        "Request Entity Too Large",
        b"POST /" + _HEAD + b"Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n",
    ),
    "target": (414, "", b"GET /" + b"x" * 70_000 + _HEAD + b"\r\n"),
    "header": (431, "Request Header Fields Too Large", b"GET /" + _HEAD + b"X-Long: " + b"x" * 10_300 + b"\r\n\r\n"),
    "headers": (431, "Request Header Fields Too Large", b"GET /" + _HEAD + b"A: b\r\n" * 200 + b"\r\n"),
    "function": (500, "Internal Server Error", b"GET /raise" + _HEAD + b"Connection: close\r\n\r\n"),
    "version": (505, "HTTP Version Not Supported", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n"),
}


@pytest.mark.parametrize(("status", "message", "request_"), _OWN_ANSWERS.values(), ids=_OWN_ANSWERS.keys())
def test_the_gateways_own_answers_have_one_shape_and_an_id(
    front: Front, status: int, message: str | None, request_: bytes
) -> None:
    head, _, body = raw(front, request_).partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert first.startswith(f"HTTP/1.1 {status} ")
    assert headers["content-type"] == "application/json"
    assert headers["x-request-id"] == headers["apigw-requestid"] != ""
    told = json.loads(body)
    assert set(told) == {"message"}
    assert told["message"] == message or (status == 414 and told["message"])  # worded differently by version of Python


def test_each_request_has_an_id_of_its_own_which_the_function_sees_too(front: Front) -> None:
    answers = [ask(front, "GET", "/") for _ in range(2)]
    told = [headers["apigw-requestid"] for _, _, headers in answers]
    assert told == [facts["event"]["requestContext"]["requestId"] for _, facts, _ in answers]
    assert told[0] != told[1]


def test_a_connection_serves_many_requests(front: Front) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", front.server_address[1], timeout=30)
    for _ in range(5):
        connection.request("GET", "/")
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
    connection.close()


def test_idle_processes_end_and_come_back_on_demand(front: Front, pool: Pool) -> None:
    ask(front, "GET", "/")
    pid = pool.pids()[0]
    pool.end_idle(longer_than_s=3600)
    assert pool.pids() == (pid,)
    pool.end_idle(longer_than_s=0)
    assert pool.pids() == ()
    wait_until_gone(pid)
    assert ask(front, "GET", "/")[0] == 200


def test_a_function_that_cannot_be_imported_is_an_internal_error(tmp_path: Path) -> None:
    pool = Pool("tests.support.functions.absent", environment={}, log=tmp_path / "log", timeout_s=20)
    front = Front(0, dispatcher=Dispatcher([], default_function="x"), pools=lambda: {"x": pool})
    threading.Thread(target=front.serve_forever, args=(0.02,), daemon=True).start()
    assert ask(front, "GET", "/")[:2] == (500, {"message": "Internal Server Error"})
    front.shutdown()
    front.server_close()
    pool.close()


_RUN_AND_REPORT = """
import sys, threading, time
from pathlib import Path
from infra.local.pool import Pool
pool = Pool(sys.argv[1], environment={"AWS_LAMBDA_FUNCTION_NAME": "x"}, log=Path(sys.argv[2]))
event = {"rawPath": "/sleep", "queryStringParameters": {"s": "600"}}
threading.Thread(target=lambda: pool.invoke(event, request_id="r"), daemon=True).start()
while not pool.pids(): time.sleep(0.02)
print(pool.pids()[0], flush=True)
time.sleep(600)
"""


def test_no_process_outlives_a_killed_runtime_not_even_a_busy_one(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _RUN_AND_REPORT, _FUNCTION, str(tmp_path / "log")]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as runtime:
        assert runtime.stdout is not None
        worker = int(runtime.stdout.readline())
        runtime.kill()
    wait_until_gone(worker)


def test_a_worker_that_cannot_confirm_an_invocation_ends() -> None:
    """Who sent it died in between; its input may then still be a moment from its end, or already read to it."""
    command = [sys.executable, "-m", "infra.local.worker", _FUNCTION]
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
    ) as worker:
        assert worker.stdin is not None
        assert worker.stdout is not None
        assert frames.read(worker.stdout.fileno(), timeout_s=60) == {"ready": True}
        worker.stdout.close()
        worker.stdin.write(frames.encoded({"event": {"rawPath": "/"}, "requestId": "r", "timeoutS": 600}))
        try:
            assert worker.wait(timeout=20) == 0
        finally:
            worker.kill()


def wait_until_gone(pid: int) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if not is_running(pid):
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} is still there")


def is_running(pid: int) -> bool:
    """A process that has ended but was not waited for does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
