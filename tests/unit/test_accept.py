"""`kgw accept` against a stand-in of each version: what it finds out, what it sends, and what it never says."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from fixtures.stand_ins import dify_external, dify_shelves, fastgpt, ragflow_sets
from fixtures.stand_ins.control import SERVERS, Control
from fixtures.stand_ins.dify import Dify
from fixtures.stand_ins.fastgpt_folders import entries, object_id
from fixtures.stand_ins.knowledge import dashed_id, shelves
from fixtures.stand_ins.ragflow_sets import data_set_id
from fixtures.stand_ins.server import StandIns
from fixtures.stand_ins.services import servers
from fixtures.stand_ins.web import Reply, Request, json_reply
from infra.cli.accept_line import Ledger, NotAReading
from infra.cli.accept_products import AS_BOUND, Product, other_key, product_of
from infra.cli.accept_report import Found, Limits, Listing, Mishap, Mode, Report, Tried, bucket
from infra.cli.main import main
from shared.domain.registrations import ProviderKind
from shared.ports.exchange import OutboundRequest
from tests.support.fakes import FakeClock

QUERY = "when does the wind gauge close the north quay"
KEYS = {
    "dify": dify_shelves.CREW_KEY,
    "fastgpt": fastgpt.KEY,
    "ragflow": ragflow_sets.KEY,
    "dify_external": dify_external.KEY,
}
# What may be asked of each product, as its stand-in counts it.
READINGS = {
    "dify": {"GET /v1/datasets", "GET /v1/datasets/{id}", "POST /v1/datasets/{id}/retrieve"},
    "fastgpt": {f"{m} /api/core/dataset/{p}" for m, p in (("POST", "list"), ("GET", "detail"), ("POST", "searchTest"))},
    "ragflow": {"GET /api/v1/datasets", "POST /api/v1/retrieval", "GET /api/v1/system/version"},
    "dify_external": {"POST /retrieval"},
}
MALFORMED = {"GET /v1/datasets/not-an-id", "POST /v1/datasets/not-an-id/retrieve"}


@dataclass(frozen=True)
class Run:
    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    def mode(self, name: str = AS_BOUND) -> dict[str, Any]:
        (found,) = [mode for mode in self.report["retrieval"] if mode["mode"] == name]
        return dict(found)

    @property
    def errors(self) -> dict[str, str]:
        return {error["case"]: error["got"] for error in self.report["errors"]}


@dataclass(frozen=True)
class World:
    stand_ins: StandIns
    control: Control
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def accept(self, server: str, *options: str, key: str | None = None, url: str = "") -> Run:
        kind = server.partition("-")[0]
        self.monkeypatch.setenv("KEY_OF_IT", key or KEYS[kind])
        arguments = ["accept", kind, "--base-url", url or self.stand_ins.servers[server], "--key-env", "KEY_OF_IT"]
        if kind == "dify_external" and "--remote-id" not in options:
            arguments += ["--remote-id", "harbour"]
        if "--query" not in options and "--query-env" not in options:
            arguments += ["--query", QUERY]
        status = main([*arguments, "--allow-loopback", *options])
        said = self.capsys.readouterr()
        logged = tuple(f"{name}: " for name in SERVERS)  # by the stand-ins, which run in this process
        err = "".join(line for line in said.err.splitlines(keepends=True) if not line.startswith(logged))
        return Run(status, said.out, err)

    def requests(self, server: str) -> set[str]:
        return set(self.control.shown()["requests"][server])


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[World]:
    control = Control()
    stand_ins = StandIns([], control, servers=servers())
    with stand_ins.running():
        yield World(stand_ins, control, monkeypatch, capsys)


@pytest.mark.parametrize("server", SERVERS)
def test_every_version_of_every_product_is_accepted_by_reading_alone(world: World, server: str) -> None:
    run = world.accept(server, "--json")
    assert (run.status, run.report["accepted"]) == (0, True), run.report
    kind = server.partition("-")[0]
    assert world.requests(server) - MALFORMED <= READINGS[kind]
    offered = "not offered" if kind == "dify_external" else "usable"
    assert run.report["conclusions"] == {
        "list": offered,
        "detail": offered,
        "retrieval": "usable",
        "errors": "usable",
    }
    assert run.mode()["found"] == "passed"
    assert run.report["limits"]["longestQuery"]["found"] == "passed"
    assert run.report["requests"]["sent"] == sum(world.control.shown()["requests"][server].values())


@pytest.mark.parametrize(
    ("server", "version"),
    [
        ("dify-0.15", "0.15.8"),
        ("dify-1.8", "1.8.1"),
        ("dify-1.14", "1.14.2"),
        ("fastgpt-4.12", None),
        ("ragflow-0.24", None),
        ("ragflow-0.26", "0.26.4"),
    ],
)
def test_the_version_is_what_the_server_says_itself(world: World, server: str, version: str | None) -> None:
    assert world.accept(server, "--json").report["version"] == version


def test_every_mistake_comes_to_a_code_of_the_gateways_own(world: World) -> None:
    errors = {
        "wrong_key_list": "unauthorized",
        "wrong_key_search": "unauthorized",
        "no_key_list": "unauthorized",
        "missing_id_search": "not_found",
        "malformed_id_search": "not_found",
        "missing_id_detail": "not_found",
        "malformed_id_detail": "not_found",
    }
    assert {server: world.accept(server, "--json").errors for server in SERVERS[:-1]} == dict.fromkeys(
        SERVERS[:-1], errors
    )


def sentinels() -> Iterator[str]:
    """Everything that lies on the stand-ins, what it is asked with, and where it is."""
    for sets in (*dify_shelves.workspaces(shelves()).values(), *ragflow_sets.tenants(shelves()).values()):
        yield from (part for each in sets for part in (each.id, each.name, each.description or "-------"))
    yield from (part for each in entries(shelves()) for part in (each.id, each.name))
    for shelf in shelves().values():
        yield from (part for text in shelf.texts for part in (text.document, *text.whole.split(". ")))
    yield from KEYS.values()
    yield from (QUERY, "127.0.0.1", "localhost", "KEY_OF_IT", "quay", "harbour")


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("as_json", [True, False], ids=["json", "text"])
def test_no_name_id_query_key_or_content_is_reported(world: World, server: str, as_json: bool, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    run = world.accept(server, "--out", str(out), *(["--json"] if as_json else []))
    told = run.out + run.err + out.read_text()
    assert json.loads(out.read_text())["accepted"] is True
    assert not [word for word in sentinels() if word in told]
    assert not re.search(r"[0-9a-f]{16}", told)
    assert world.stand_ins.servers[server].rpartition(":")[2] not in told


@pytest.mark.parametrize(("server", "repeats"), [("dify-0.15", True), ("dify-1.8", True), ("dify-1.14", False)])
def test_pages_that_repeat_and_lose_data_sets_are_noticed(world: World, server: str, repeats: bool) -> None:
    report = world.accept(server, "--json", key=dify_shelves.BERTHS_KEY).report
    listing = report["list"]
    assert (listing["entries"], listing["pages"], listing["isCut"]) == ("100-499", 2, False)
    assert (listing["repeatedRows"] > 0) is repeats
    assert (report["limits"]["largestPage"], report["limits"]["pageOf101"]) == (100, 100)


@pytest.mark.parametrize(
    ("server", "page"), [("ragflow-0.17", 101), ("ragflow-0.24", 101), ("ragflow-0.26", "refused")]
)
def test_how_long_a_page_may_be_is_found_out(world: World, server: str, page: int | str) -> None:
    report = world.accept(server, "--json", key=ragflow_sets.BERTHS_KEY).report
    assert (report["list"]["entries"], report["limits"]["pageOf101"]) == ("100-499", page)


def test_where_a_description_comes_from_is_told(world: World) -> None:
    assert world.accept("dify-0.15", "--json").report["detail"] == {
        "found": "passed",
        "errorCode": None,
        "fromList": True,
    }
    assert world.accept("dify-1.8", "--json").report["detail"]["fromList"] is False


def test_what_cannot_be_searched_is_counted_by_its_reason(world: World) -> None:
    dify, fast = (world.accept(server, "--json").report["list"] for server in ("dify-1.14", "fastgpt-4.12"))
    assert dify["notSearchable"] == {"api_disabled": "1-9", "external": "1-9"}
    assert fast["notSearchable"] == {"folder": "1-9", "unknown_type": "1-9"}
    assert fast["folders"] == "1-9"


def test_each_mode_is_tried_with_what_it_gives(world: World) -> None:
    dify = world.accept("dify-1.8", "--json", "--remote-id", dashed_id("crew", "harbour"))
    found = {mode["mode"]: (mode["found"], mode["scores"]) for mode in dify.report["retrieval"]}
    assert found == {
        AS_BOUND: ("passed", "numbers"),
        "keyword_search": ("empty", "none"),
        "semantic_search": ("passed", "numbers"),
        "full_text_search": ("passed", "numbers"),
        "hybrid_search": ("passed", "numbers"),
        "semantic_search_above_threshold": ("passed", "numbers"),
    }
    assert dify.mode("semantic_search_above_threshold")["passages"] < dify.mode("semantic_search")["passages"]
    fast = world.accept("fastgpt-4.12", "--json", "--remote-id", object_id("harbour"))
    assert fast.mode("mixedRecall")["scores"] == "several"
    assert fast.mode("one_token")["passages"] == 1
    assert fast.mode("embedding_reranked")["reranked"] is False  # asked for, and silently not done


def test_an_economy_data_set_is_usable_in_part(world: World) -> None:
    run = world.accept("dify-1.14", "--json", "--remote-id", dashed_id("crew", "galley"), "--query", "fish soup")
    assert (run.status, run.report["conclusions"]["retrieval"]) == (0, "usable in part")
    assert run.mode()["found"] == "passed"
    assert run.mode("semantic_search")["errorCode"] == "upstream_error"


@pytest.mark.parametrize(
    ("server", "remote_id", "code"),
    [
        ("dify-1.8", dashed_id("crew", "Kept elsewhere"), "upstream_error"),
        ("dify-1.14", dashed_id("crew", "Shut drawer"), "forbidden"),
        ("dify-1.14", dashed_id("crew", "Empty shelf"), "upstream_error"),
        ("ragflow-0.26", data_set_id("paused"), "upstream_error"),
        ("ragflow-0.24", data_set_id("unread"), "capability_unavailable"),
        ("fastgpt-4.12", object_id("theirs"), "forbidden"),
        ("dify_external", "nowhere", "not_found"),
    ],
)
def test_a_knowledge_base_that_cannot_be_searched_is_not_accepted(
    world: World, server: str, remote_id: str, code: str
) -> None:
    run = world.accept(server, "--json", "--remote-id", remote_id)
    assert (run.status, run.mode()["errorCode"]) == (1, code)
    assert run.report["conclusions"]["retrieval"] == "unusable"


def test_an_id_that_no_list_shows_is_accepted(world: World) -> None:
    run = world.accept("fastgpt-4.12", "--json", "--remote-id", object_id("rescue"), "--query", "boat drill")
    assert (run.status, run.mode()["found"]) == (0, "passed")


@pytest.mark.parametrize("server", SERVERS[:-1])
def test_a_key_that_the_server_does_not_know_is_not_accepted(world: World, server: str) -> None:
    run = world.accept(server, "--json", key=other_key(KEYS[server.partition("-")[0]]))
    assert (run.status, run.report["list"]["errorCode"]) == (1, "unauthorized")
    assert run.report["conclusions"]["retrieval"] == "untested"


@pytest.mark.parametrize(
    ("server", "mode", "code"),
    [
        ("dify-1.8", "fail", "upstream_error"),
        ("dify-1.8", "html", "invalid_response"),
        ("dify-1.14", "refuse_quota", "rate_limited"),
        ("fastgpt-4.8", "refuse_rate", "rate_limited"),
        ("fastgpt-4.8", "fail", "upstream_error"),
        ("ragflow-0.17", "refuse", "unauthorized"),
        ("ragflow-0.24", "fail", "upstream_error"),
    ],
)
def test_a_server_in_trouble_is_not_accepted(world: World, server: str, mode: str, code: str) -> None:
    world.control.command({"service": server, "mode": mode})
    run = world.accept(server, "--json")
    assert (run.status, run.report["list"]["errorCode"]) == (1, code)
    assert world.requests(server) - MALFORMED <= READINGS[server.partition("-")[0]]


@pytest.mark.parametrize("kind", ["dify", "dify_external"])
def test_a_server_that_is_not_there_is_given_up_at_once(world: World, kind: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        run = world.accept(kind, "--json", url=f"http://127.0.0.1:{closed.getsockname()[1]}")
    codes = (run.report["list"]["errorCode"], [mode["errorCode"] for mode in run.report["retrieval"]])
    assert codes == (("connection_failed", []) if kind == "dify" else (None, ["connection_failed"]))
    assert (run.status, run.report["requests"]["sent"], run.report["errors"]) == (1, 1, [])


def test_the_text_says_the_same_for_people(world: World) -> None:
    run = world.accept("dify-1.8", key=dify_shelves.BERTHS_KEY)
    assert run.out.startswith("dify, version 1.8.1: accepted\n")
    assert "100-499 entries" in run.out
    assert "rows came again on a later page" in run.out
    bad = world.accept("dify-1.8", "--remote-id", dashed_id("crew", "Kept elsewhere"))
    assert bad.out.startswith("dify, version 1.8.1: NOT accepted\n")


class Closed(Dify):
    """Whose key may search and describe, and not list."""

    def answer(self, request: Request) -> Reply:
        reply = super().answer(request)
        if request.path == "/v1/datasets" and reply.status == 200:
            return json_reply(403, {"code": "forbidden", "message": "Ask the harbour master.", "status": 403})
        return reply


class Boastful(Dify):
    """Which was built by somebody who says so wherever there is room."""

    def answer(self, request: Request) -> Reply:
        reply = super().answer(request)
        headers = [(name, "1.8.1-harbour.crew" if name == "X-Version" else value) for name, value in reply.headers]
        return replace(reply, headers=tuple(headers))


@contextmanager
def instead(world: World, server: Dify) -> Iterator[World]:
    stand_ins = StandIns([], world.control, servers=[server])
    with stand_ins.running():
        yield replace(world, stand_ins=stand_ins)


def test_a_list_that_is_closed_to_the_key_can_be_done_without(world: World) -> None:
    with instead(world, Closed("dify-1.8", "1.8.1", shelves())) as closed:
        named = closed.accept("dify-1.8", "--json", "--remote-id", dashed_id("crew", "harbour"))
        blind = closed.accept("dify-1.8", "--json")
    assert (named.status, named.report["list"]["errorCode"], named.mode()["found"]) == (0, "forbidden", "passed")
    assert (blind.status, blind.report["conclusions"]["retrieval"]) == (1, "untested")
    assert "master" not in named.out + blind.out


def test_of_a_version_its_numbers_alone_are_reported(world: World) -> None:
    with instead(world, Boastful("dify-1.8", "1.8.1", shelves())) as boastful:
        assert boastful.accept("dify-1.8", "--json").report["version"] == "1.8.1"


# --- what is given ---


def test_the_key_comes_out_of_the_environment_alone(world: World) -> None:
    for option in ("--key", "--key-env", "--query-env"):
        with pytest.raises(SystemExit):
            main(["accept", "dify", "--base-url", "https://dify.example.com", option, "dataset-secret"])
        said = world.capsys.readouterr()
        assert "dataset-secret" not in said.out + said.err
    world.monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    assert main(["accept", "dify", "--base-url", "https://dify.example.com", "--key-env", "NO_SUCH_KEY"]) == 1
    assert world.capsys.readouterr().err == "kgw: The environment variable NO_SUCH_KEY is not set.\n"
    broken = world.accept("dify-1.8", key="dataset-schlüssel")
    assert (broken.status, broken.err) == (1, "kgw: KEY_OF_IT holds something that cannot be a key.\n")


def test_the_query_can_come_out_of_the_environment(world: World) -> None:
    world.monkeypatch.setenv("QUERY_OF_IT", "fish soup")
    galley = dashed_id("crew", "galley")
    assert (
        world.accept("dify-1.8", "--json", "--remote-id", galley, "--query-env", "QUERY_OF_IT").mode()["passages"] == 1
    )
    assert world.accept("dify-1.8", "--query", "x" * 251).err == "kgw: The query has 1 to 250 characters.\n"


@pytest.mark.parametrize(
    ("url", "options", "wanted"),
    [
        ("http://127.0.0.1:1", (), "https"),
        ("http://dify.example.com", (), "https"),
        ("https://user:word@dify.example.com", (), "URL"),
        ("https://192.168.7.7", ("--authority", "/nowhere/ca.pem"), "cannot be read"),
    ],
)
def test_an_address_that_may_not_be_asked_is_refused_before_anything_is_sent(
    world: World, url: str, options: tuple[str, ...], wanted: str
) -> None:
    world.monkeypatch.setenv("KEY_OF_IT", "dataset-x")
    assert main(["accept", "dify", "--base-url", url, "--key-env", "KEY_OF_IT", *options]) == 1
    said = world.capsys.readouterr()
    assert (said.out, wanted in said.err) == ("", True), said.err


def test_a_private_address_needs_its_flag(world: World) -> None:
    world.monkeypatch.setenv("KEY_OF_IT", "dataset-x")
    arguments = ["accept", "dify", "--base-url", "https://10.255.255.1", "--key-env", "KEY_OF_IT", "--json"]
    assert main(arguments) == 1
    assert json.loads(world.capsys.readouterr().out)["list"]["errorCode"] == "blocked_address"


def test_a_server_without_lists_needs_an_id(world: World) -> None:
    world.monkeypatch.setenv("KEY_OF_IT", "x")
    url = world.stand_ins.servers["dify_external"]
    assert main(["accept", "dify_external", "--base-url", url, "--key-env", "KEY_OF_IT", "--allow-loopback"]) == 1
    assert "--remote-id" in world.capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_said(world: World) -> None:
    run = world.accept("dify_external", "--out", "/nowhere/report.json")
    assert (run.status, run.err) == (1, "kgw: /nowhere/report.json cannot be written: No such file or directory.\n")


# --- what is sent, and what is concluded ---

PRODUCTS = ("dify", "fastgpt", "ragflow", "dify_external")


def product(kind: str) -> Product:
    return product_of(ProviderKind(kind), FakeClock(), allow_test_names=True)


@pytest.mark.parametrize("kind", PRODUCTS)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/datasets"),
        ("GET", "/datasets/../apps"),
        ("POST", "/datasets/x/documents"),
        ("POST", "/datasets/x/retrieve/y"),
        ("POST", "/core/dataset/create"),
        ("POST", "/core/dataset/delete?id=x"),
        ("GET", "/system/version/set"),
        ("POST", "/retrieval?x=y"),
        ("GET", "/retrieval"),
    ],
)
def test_what_is_no_reading_is_never_sent(kind: str, method: Any, path: str) -> None:
    ledger = Ledger(base_url="https://kb.test", readings=product(kind).readings, id_name="id")
    with pytest.raises(NotAReading):
        ledger.reading_of(OutboundRequest(method=method, url=f"https://kb.test{path}"))


@pytest.mark.parametrize("kind", PRODUCTS)
def test_another_server_is_never_sent_anything(kind: str) -> None:
    ledger = Ledger(base_url="https://kb.test/v1", readings=product(kind).readings, id_name="id")
    for shape in ("GET /datasets?page=1", "POST /retrieval", "POST /core/dataset/list"):
        method, _, path = shape.partition(" ")
        with pytest.raises(NotAReading):
            ledger.reading_of(OutboundRequest(method=method, url=f"https://other.test/v1{path}"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "key", ["dataset-abcDEF123", "fastgpt-harbour0001", "fastgpt-a1-66f0", "plain", "x", "a-", "1", "key-___", "key-éè"]
)
def test_a_wrong_key_has_the_form_of_the_right_one(key: str) -> None:
    made = other_key(key)
    assert made != key
    assert [len(part) for part in made.split("-")] == [len(part) for part in key.split("-")]


@pytest.mark.parametrize("key", ["-", "___", "é-_"])
def test_a_key_without_a_letter_or_digit_still_has_a_wrong_one(key: str) -> None:
    assert other_key(key)[:-1] == key


def a_report(**over: Any) -> Report:
    usable: dict[str, Any] = {
        "listing": Listing(tried=Tried(Found.PASSED)),
        "detail": Tried(Found.PASSED),
        "modes": [Mode(name=AS_BOUND, tried=Tried(Found.EMPTY))],
        "mishaps": [Mishap(name="wrong_key", got="unauthorized", expected=["unauthorized"])],
    }
    usable |= {"kind": "dify", "gateway": "1", "at": "now", "transport": {}, "has_lists": True, "is_id_given": False}
    return Report(limits=Limits(query_characters=250), **usable | over)


@pytest.mark.parametrize(
    ("over", "is_accepted"),
    [
        ({}, True),
        ({"listing": Listing(tried=Tried(Found.FAILED, "forbidden"))}, False),
        ({"listing": Listing(tried=Tried(Found.FAILED, "forbidden")), "is_id_given": True}, True),
        ({"detail": Tried(Found.FAILED, "upstream_error")}, False),
        ({"modes": []}, False),
        ({"modes": [Mode(name=AS_BOUND, tried=Tried(Found.FAILED, "timeout"))]}, False),
        ({"mishaps": [Mishap(name="wrong_key", got="passed", expected=["unauthorized"])]}, False),
        ({"mishaps": []}, False),
    ],
)
def test_a_server_is_accepted_when_what_is_needed_of_it_works(over: dict[str, Any], is_accepted: bool) -> None:
    assert a_report(**over).is_accepted is is_accepted


def test_counts_are_told_roughly() -> None:
    counts = (0, 1, 9, 10, 99, 100, 499, 500, 9_000)
    assert [bucket(count) for count in counts] == [
        "0",
        *["1-9"] * 2,
        *["10-99"] * 2,
        *["100-499"] * 2,
        *["500 or more"] * 2,
    ]
