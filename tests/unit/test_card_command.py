"""`kgw cards`: which gateway it speaks to, what it says, and how it waits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from infra.cli import import_cards
from infra.cli.main import main

CID = "csc_k3j5mq2x7a4bwz6t"


class Gateway(HTTPServer):
    """Answers what it is told to, in order, and notes what it was asked. The last answer stands for all later ones."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.takes_every_row = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def will_answer(self, status: int, body: Any, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, data))

    def will_take_every_row(self) -> None:
        self.takes_every_row = True

    def answer_to(self, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        if self.takes_every_row:
            header = headers["content-type"] == "text/csv"
            return 200, {}, json.dumps(report(*["created"] * (len(body.splitlines()) - header))).encode()
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class _Handler(BaseHTTPRequestHandler):
    server: Gateway

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.command, self.path, headers, body))
        status, headers, data = self.server.answer_to(headers, body)
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = _serve

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        pass


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """One that runs here, with its tokens where the command looks for them."""
    gateway = Gateway()
    Thread(target=gateway.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KGW_URL", raising=False)
    monkeypatch.delenv("KGW_TOKEN", raising=False)
    (tmp_path / ".kgw").mkdir()
    local = {"url": gateway.url, "admin": "kg_adm_here", "agent": "kg_agt_here"}
    (tmp_path / ".kgw" / "local.json").write_text(json.dumps(local))
    yield gateway
    gateway.shutdown()
    gateway.server_close()


def report(*statuses: str) -> dict[str, Any]:
    rows = [
        {
            "row": number,
            "status": status,
            "id": None if status == "refused" else f"crd_{number}",
            "code": None,
            "errors": [{"pointer": "/keys/0", "detail": "No."}] if status == "refused" else [],
        }
        for number, status in enumerate(statuses, start=1)
    ]
    return {"rows": rows}


def lines_file(tmp_path: Path, count: int) -> str:
    file = tmp_path / "cards.jsonl"
    file.write_text("".join(json.dumps({"keys": [f"k{number}"], "body": ""}) + "\n" for number in range(count)))
    return str(file)


def test_an_import_says_what_became_of_the_rows(
    gateway: Gateway, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.will_answer(200, report("created", "unchanged", "updated"))

    assert main(["cards", "import", lines_file(tmp_path, 3), "--collection", CID]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("3 of 3 rows: 1 created, 1 updated, 1 unchanged (")
    assert said.err == ""  # how far it is, a terminal alone is told
    method, path, headers, body = gateway.asked[0]
    assert (method, path) == ("POST", f"/api/v1/collections/{CID}/cards/import")
    assert (headers["authorization"], headers["content-type"]) == ("Bearer kg_adm_here", "application/x-ndjson")
    assert body.count(b"\n") == 3


def test_refused_rows_are_named_by_their_place_in_the_file_and_end_with_1(
    gateway: Gateway, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.will_answer(200, report(*["created"] * 200))
    gateway.will_answer(200, report("created", "refused"))

    assert main(["cards", "import", lines_file(tmp_path, 202), "--collection", CID]) == 1
    assert "row 202 refused: /keys/0 No." in capsys.readouterr().err


def test_the_summary_is_json_where_it_is_asked_for(
    gateway: Gateway, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.will_answer(200, report("created", "refused"))

    assert main(["cards", "import", lines_file(tmp_path, 2), "--collection", CID, "--json"]) == 1
    summary = json.loads(capsys.readouterr().out)
    assert (summary["rows"], summary["created"], summary["refused"]) == (2, 1, 1)
    assert summary["refusals"] == [{"row": 2, "code": None, "errors": [{"pointer": "/keys/0", "detail": "No."}]}]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"id": "pass", "keys": ["x"], "body": ""}, {"id": "pass", "keys": ["y"], "body": ""}),
        ({"keys": ["Pass", "fee"], "title": "T", "body": ""}, {"keys": ["fee", "PASS"], "title": "t", "body": "other"}),
        (
            {"id": "crd_aaaaaaaaaaaaaaaa", "keys": ["x"], "body": ""},
            {"id": "crd_aaaaaaaaaaaaaaaa", "keys": ["y"], "body": ""},
        ),
    ],
)
@pytest.mark.parametrize("between", [0, 5, 450])
def test_the_second_of_two_rows_about_one_card_is_not_sent_wherever_it_stands(
    gateway: Gateway,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    first: dict[str, Any],
    second: dict[str, Any],
    between: int,
) -> None:
    others = [{"keys": [f"k{number}"], "body": ""} for number in range(between)]
    file = tmp_path / "cards.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in [first, *others, second]))
    gateway.will_take_every_row()

    assert main(["cards", "import", str(file), "--collection", CID, "--json"]) == 1
    summary = json.loads(capsys.readouterr().out)
    assert (summary["created"], summary["refused"]) == (between + 1, 1)
    assert summary["refusals"] == [
        {"row": between + 2, "code": None, "errors": [{"pointer": "", "detail": "Row 1 is about the same card."}]}
    ]
    sent = [json.loads(line) for *_, body in gateway.asked for line in body.splitlines()]
    assert sent == [first, *others]


def test_a_row_that_is_refused_for_what_it_says_is_no_first_row(gateway: Gateway, tmp_path: Path) -> None:
    file = tmp_path / "cards.csv"
    file.write_text("id,keys,body\npass, | ,x\npass,a,x\n")
    gateway.will_take_every_row()

    assert main(["cards", "import", str(file), "--collection", CID]) == 0
    assert gateway.asked[0][3].count(b"pass") == 2


def test_rows_of_which_every_one_is_a_repetition_are_no_request(gateway: Gateway, tmp_path: Path) -> None:
    file = tmp_path / "cards.jsonl"
    file.write_text('{"id":"a","keys":["a"],"body":""}\n' * 401)
    gateway.will_take_every_row()

    assert main(["cards", "import", str(file), "--collection", CID]) == 1
    assert len(gateway.asked) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_an_answer_that_is_no_problem_is_tried_again_some_times(
    gateway: Gateway,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: int,
) -> None:
    monkeypatch.setattr(import_cards.time, "sleep", lambda _seconds: None)
    gateway.will_answer(200, report(*["created"] * 200))
    gateway.will_answer(status, {"message": "Internal Server Error"})
    gateway.will_answer(status, b"<html>")
    gateway.will_answer(409, {"code": "import_running"}, Retry_After="2")
    gateway.will_answer(200, report("unchanged", "created"))
    assert main(["cards", "import", lines_file(tmp_path, 202), "--collection", CID]) == 0
    assert capsys.readouterr().out.startswith("202 of 202 rows: 201 created")


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_when_it_gives_up_it_says_how_far_it_came(
    gateway: Gateway,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    flags: list[str],
) -> None:
    monkeypatch.setattr(import_cards.time, "sleep", lambda _seconds: None)
    gateway.will_answer(200, report(*["created"] * 200))
    gateway.will_answer(500, {"message": "Internal Server Error"})

    assert main(["cards", "import", lines_file(tmp_path, 202), "--collection", CID, *flags]) == 1
    said = capsys.readouterr()
    assert "Broken off. 200 of 202 rows: 200 created" in said.err
    assert "The same command goes on from here." in said.err
    assert "kgw: 500 unknown: Internal Server Error" in said.err
    assert not flags or json.loads(said.out)["created"] == 200
    assert 3 < len(gateway.asked) < 20


def test_a_running_import_is_waited_for_until_its_lease_is_over(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(import_cards.time, "sleep", waited.append)
    for _ in range(20):
        gateway.will_answer(409, {"code": "import_running"}, Retry_After="2")
    gateway.will_answer(200, report("created"))

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 0
    assert sum(waited) == 40


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (429, "rate_limited"),
        (503, "store_unavailable"),
        (409, "import_running"),
        (409, "import_ended"),
        (409, "busy"),
    ],
)
def test_it_waits_as_long_as_it_is_told_and_goes_on(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, code: str
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(import_cards.time, "sleep", waited.append)
    gateway.will_answer(status, {"code": code}, Retry_After="7")
    gateway.will_answer(200, report("created"))

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 0
    assert waited == [7.0]
    assert len(gateway.asked) == 2


def test_it_waits_no_longer_than_two_minutes_at_a_time_and_says_for_what(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(import_cards.time, "sleep", waited.append)
    for _ in range(2):
        gateway.will_answer(503, {"code": "store_unavailable\x1b"}, Retry_After="86400")
    gateway.will_answer(200, report("created"))

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 0
    assert waited == [120.0, 120.0]
    assert capsys.readouterr().err == "kgw: waiting 120 s: 503 store_unavailable \n"


def test_it_does_not_wait_for_ever(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(import_cards.time, "sleep", lambda _seconds: None)
    gateway.will_answer(503, {"code": "store_unavailable"})

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 1
    assert "503 store_unavailable" in capsys.readouterr().err
    assert len(gateway.asked) < 50


def test_rows_for_which_there_was_no_time_are_sent_again(gateway: Gateway, tmp_path: Path) -> None:
    gateway.will_answer(200, report("created", "skipped", "skipped"))
    gateway.will_answer(200, report("created", "unchanged"))

    assert main(["cards", "import", lines_file(tmp_path, 3), "--collection", CID]) == 0
    assert [body.count(b"\n") for *_, body in gateway.asked] == [3, 2]
    assert b'"k0"' not in gateway.asked[1][3]


def test_an_interruption_says_how_far_it_came(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_cards.time, "sleep", interrupted)
    gateway.will_answer(200, report(*["created"] * 200))
    gateway.will_answer(503, {"code": "store_unavailable"})

    assert main(["cards", "import", lines_file(tmp_path, 201), "--collection", CID]) == 130
    assert "Interrupted. 200 of 201 rows" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "code"), [(404, "not_found"), (401, "unauthenticated"), (413, "body_too_large")])
def test_a_refusal_is_told_at_once(
    gateway: Gateway, tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int, code: str
) -> None:
    gateway.will_answer(status, {"code": code, "detail": "So it is."})

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 1
    assert f"kgw: {status} {code}: So it is." in capsys.readouterr().err
    assert len(gateway.asked) == 1


def test_a_row_that_no_request_could_carry_is_refused_without_being_sent(
    gateway: Gateway, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cards.jsonl"
    file.write_text('{"keys":["a"],"body":""}\n' + "x" * 1_100_000 + '\n{"keys":["b"],"body":""}\n')
    gateway.will_answer(200, report("created"))
    gateway.will_answer(200, report("created") | {"rows": [report("created")["rows"][0] | {"id": "crd_2"}]})

    assert main(["cards", "import", str(file), "--collection", CID]) == 1
    said = capsys.readouterr()
    assert "row 2 refused: The row is larger than a request may be." in said.err
    assert said.out.startswith("3 of 3 rows: 2 created")
    assert len(gateway.asked) == 2


def test_an_export_follows_its_pages_to_the_end(gateway: Gateway, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    gateway.will_answer(200, '{"id":"é"}\n'.encode(), Link='<?cursor=abc&limit=1000>; rel="next"')
    gateway.will_answer(200, b'{"id":"2"}\n')

    assert main(["cards", "export", "--collection", CID]) == 0
    assert capfdbinary.readouterr().out == '{"id":"é"}\n{"id":"2"}\n'.encode()
    path = f"/api/v1/collections/{CID}/cards/export"
    assert [asked[1] for asked in gateway.asked] == [path, path + "?cursor=abc&limit=1000"]


def test_a_lookup_asks_as_the_agent_and_shows_no_control_characters(
    gateway: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    card = {"id": "crd_1", "keys": ["EV", "electric car"], "title": "", "body": "Charged\x1b[2J on deck 3."}
    gateway.will_answer(200, {"results": {"ev": [card], "gone": []}})

    assert main(["cards", "lookup", "--collection", CID, "ev", "gone"]) == 0
    said = capsys.readouterr().out
    assert "EV" in said
    assert "gone: no card" in said
    assert "\x1b" not in said
    assert gateway.asked[0][2]["authorization"] == "Bearer kg_agt_here"
    assert json.loads(gateway.asked[0][3]) == {"terms": ["ev", "gone"]}


def test_a_token_of_the_environment_wins_over_the_file(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KGW_TOKEN", "kg_adm_other")
    gateway.will_answer(200, report("created"))

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 0
    assert gateway.asked[0][2]["authorization"] == "Bearer kg_adm_other"


def test_the_token_of_the_gateway_here_goes_to_no_other(
    gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KGW_URL", gateway.url)

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 1
    assert gateway.asked == []
    assert "KGW_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("KGW_TOKEN", "kg_adm_other")
    gateway.will_answer(200, report("created"))
    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 0


def test_without_a_gateway_it_says_how_to_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KGW_URL", raising=False)

    assert main(["cards", "import", lines_file(tmp_path, 1), "--collection", CID]) == 1
    assert "kgw up" in capsys.readouterr().err


def test_a_token_cannot_be_given_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["cards", "export", "--collection", CID, "--token", "kg_adm_x"])
    assert "unrecognized" in capsys.readouterr().err
