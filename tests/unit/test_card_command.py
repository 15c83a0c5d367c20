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

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def will_answer(self, status: int, body: Any, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, data))


class _Handler(BaseHTTPRequestHandler):
    server: Gateway

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.command, self.path, headers, body))
        answers = self.server.answers
        status, headers, data = answers.pop(0) if len(answers) > 1 else answers[0]
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
    assert "3 of 3 rows" in said.err
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


def test_rows_about_one_card_in_two_slices_are_told(
    gateway: Gateway, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.will_answer(200, report(*["created"] * 200))
    gateway.will_answer(200, report("updated"))

    assert main(["cards", "import", lines_file(tmp_path, 201), "--collection", CID]) == 0
    assert "row 201 is about the same card as row 1" in capsys.readouterr().err


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
