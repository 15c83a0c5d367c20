"""How every command ends: with a sentence, and never with a traceback, which may show a token."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import boto3
import pytest

from infra.cli import ending, main
from infra.cli.http import BrokenOff, Client, Unsendable
from infra.openapi.health_examples import HEALTH_ANSWERS
from tests.support.interrupts import heeds_ctrl_c

ROOT = Path(__file__).resolve().parents[2]
SECRET = "kg_adm_root_5ecretw0rd"
CID = "csc_k3j5mq2x7a4bwz6t"


class Elsewhere(HTTPServer):
    """Answers everything with `body`, under 200 until another `status` is set."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.body = b"{}"
        self.status = 200
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Elsewhere

    def _serve(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked += 1
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_POST = _serve

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Elsewhere]:
    monkeypatch.chdir(tmp_path)
    server = Elsewhere()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("KGW_URL", server.url)
    monkeypatch.setenv("KGW_TOKEN", SECRET)
    (tmp_path / "cards.jsonl").write_text('{"keys": ["ferry"], "body": ""}\n')
    yield server
    server.shutdown()
    server.server_close()


ASKING = {
    "status": ["status"],
    "status-one": ["status", "cs_x", "--json"],
    "status-watch": ["status", "--watch", "1"],
    "keys": ["keys", "status"],
    "keys-json": ["keys", "status", "--json"],
    "import": ["cards", "import", "cards.jsonl", "--collection", CID],
    "export": ["cards", "export", "--collection", CID],
    "lookup": ["cards", "lookup", "ferry", "--collection", CID],
}
HERE = {
    **ASKING,
    "search": ["search", "ferry"],
    "search-widget": ["search", "ferry", "--as", "widget"],
}
commands = pytest.mark.parametrize("command", ASKING.values(), ids=ASKING)
commands_here = pytest.mark.parametrize("command", HERE.values(), ids=HERE)


def said_in_one_line(capsys: pytest.CaptureFixture[str]) -> str:
    told = capsys.readouterr()
    last = told.err.splitlines()[-1]
    assert last.startswith("kgw: ")
    assert "Traceback" not in told.out + told.err
    assert "foreseen" not in told.err
    assert SECRET[-8:] not in told.out + told.err
    return last


# --- what cannot be sent -------------------------------------------------------------------------

BAD_TOKENS = {
    "line-break": f"{SECRET}\r\n",
    "carriage-return": f"{SECRET}\r",
    "header": f"{SECRET}\nX-Other: 1",
    "blank": f" {SECRET}",
    "quotes": f"“{SECRET}”",
    "surrogate": f"{SECRET}\udcff",
    "delete": f"{SECRET}\x7f",
}
BAD_URLS = {
    "userinfo": f"https://me:{SECRET}@gateway.example.com",
    "no-scheme": f"gateway.example.com/{SECRET}",
    "file": f"file:///{SECRET}",
    "ftp": f"ftp://{SECRET}",
    "no-host": f"https:///{SECRET}",
    "line-break": f"https://gateway.example.com/{SECRET}\r\n",
    "tab": f"https://gateway.\texample.com/{SECRET}",
    "escape": f"https://gateway.example.com/\x1b[2J{SECRET}",
    "port": f"https://gateway.example.com:{SECRET}",
    "port-too-high": f"https://gateway.example.com:99999/{SECRET}",
    "bracket": f"https://[{SECRET}",
    "backslash": f"https://gateway.example.com\\{SECRET}",
    "query": f"https://gateway.example.com/?token={SECRET}",
    "fragment": f"https://gateway.example.com/#{SECRET}",
    "not-ascii": f"https://gätewäy.example.com/{SECRET}",
}


@commands
@pytest.mark.parametrize("token", BAD_TOKENS.values(), ids=BAD_TOKENS)
def test_a_token_of_the_environment_that_cannot_be_sent_is_named_and_not_shown(
    elsewhere: Elsewhere,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    token: str,
) -> None:
    monkeypatch.setenv("KGW_TOKEN", token)

    assert main.main(command) == 1
    assert said_in_one_line(capsys).startswith("kgw: KGW_TOKEN holds something that no token is")
    assert elsewhere.asked == 0


@commands
@pytest.mark.parametrize("url", BAD_URLS.values(), ids=BAD_URLS)
def test_a_url_that_is_none_is_named_and_not_shown(
    elsewhere: Elsewhere,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    url: str,
) -> None:
    monkeypatch.setenv("KGW_URL", url)

    assert main.main(command) == 1
    assert said_in_one_line(capsys).startswith("kgw: KGW_URL wants an http:// or https:// URL")
    assert elsewhere.asked == 0


LOCAL: dict[str, Any] = {**dict.fromkeys(("admin", "agent", "widget"), SECRET), "origin": "https://www.lumsund.example"}
BAD_LOCAL: dict[str, Callable[[str], Any]] = {
    "tokens": lambda url: {"url": url, **{name: f"{value}\r" for name, value in LOCAL.items()}},
    "no-text": lambda url: {"url": url, **{name: [value, None] for name, value in LOCAL.items()}},
    "no-url": lambda _: LOCAL,
    "url": lambda _: LOCAL | {"url": f"http://me:{SECRET}@127.0.0.1"},
    "a-list": lambda _: [SECRET],
    "nested": lambda _: f"{'[' * 100_000}",
}


@commands_here
@pytest.mark.parametrize("content", BAD_LOCAL.values(), ids=BAD_LOCAL)
def test_a_local_file_that_cannot_be_used_is_named_and_not_shown(
    elsewhere: Elsewhere,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: list[str],
    content: Callable[[str], Any],
) -> None:
    monkeypatch.delenv("KGW_URL")
    monkeypatch.delenv("KGW_TOKEN")
    (tmp_path / ".kgw").mkdir()
    wanted = content(elsewhere.url)
    (tmp_path / ".kgw" / "local.json").write_text(wanted if isinstance(wanted, str) else json.dumps(wanted))

    assert main.main(command) == 1
    assert ".kgw/local.json" in said_in_one_line(capsys)
    assert elsewhere.asked == 0


@pytest.mark.parametrize(
    "aws",
    [SECRET, {}, {"endpointUrl": SECRET, "poolSecrets": {}}, {"endpointUrl": "http://127.0.0.1:1", "poolSecrets": [1]}],
    ids=["text", "empty", "no-url", "no-names"],
)
def test_a_store_here_that_cannot_be_used_is_named_and_not_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aws: object
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".kgw").mkdir()
    (tmp_path / ".kgw" / "local.json").write_text(json.dumps({"aws": aws}))
    (tmp_path / "keys.env").write_text("EXA_API_KEY=k\n")

    assert main.main(["keys", "import", "keys.env"]) == 1
    assert ".kgw/local.json" in said_in_one_line(capsys)


def test_an_origin_that_cannot_be_sent_is_named_and_not_shown(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("KGW_URL")
    (tmp_path / ".kgw").mkdir()
    local = LOCAL | {"url": elsewhere.url, "origin": f"https://x.example\r\n{SECRET}"}
    (tmp_path / ".kgw" / "local.json").write_text(json.dumps(local))

    assert main.main(["search", "ferry", "--as", "widget"]) == 1
    assert said_in_one_line(capsys) == "kgw: There is no origin in .kgw/local.json that can be sent."


@pytest.mark.parametrize("url", BAD_URLS.values(), ids=BAD_URLS)
def test_no_client_is_made_of_them(url: str) -> None:
    with pytest.raises(Unsendable) as refused:
        Client(url, SECRET)
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(Client("https://gateway.example.com", SECRET))


@pytest.mark.parametrize(
    "command",
    [
        ["keys", "import", "keys.env", "--stack", "S"],
        ["front", "rotate", "--stack", "S"],
        ["restore", "--stack", "S", "--table", "cards", "--from", "copy"],
    ],
    ids=["keys", "front", "restore"],
)
@pytest.mark.parametrize(
    "name",
    [
        "AWS_REGION",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "AWS_ENDPOINT_URL",
    ],
)
def test_what_the_environment_says_of_aws_is_not_shown_either(
    elsewhere: Elsewhere,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: list[str],
    name: str,
) -> None:
    (tmp_path / "keys.env").write_text("EXA_API_KEY=k\n")
    usual = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL": elsewhere.url}
    hostile = {"AWS_REGION": "eu-central-1", "AWS_MAX_ATTEMPTS": "1", **usual, name: f"{SECRET}\r\nX: 1"}
    for each, value in hostile.items():
        monkeypatch.setenv(each, value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", hostile["AWS_REGION"])
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # which would be kept for other tests, with all this in it

    assert main.main(command) == 1
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == 1
    assert SECRET[-8:] not in told.out + told.err


# --- what answers is no gateway ------------------------------------------------------------------

FOREIGN = {
    "empty-object": b"{}",
    "object": b'{"ok": true}',
    "list": b"[1]",
    "number": b"7",
    "null": b"null",
    "page": b"<html>welcome</html>",
    "nothing": b"",
    "nested": b"[" * 100_000,
    "other-types": b'{"status": 1, "providers": 2, "provider": 3, "pools": 4, "results": 5, "rows": 6}',
    "other-rows": b'{"status": "x", "providers": [{}], "provider": {}, "pools": [[]], "results": [0], "rows": [{}]}',
    "other-times": json.dumps(HEALTH_ANSWERS["HealthShown"] | {"checkedAt": "once", "provider": []}).encode(),
}


@pytest.mark.parametrize(
    ("command", "body"),
    [
        pytest.param(command, body, id=f"{name}-{what}")
        for name, command in ASKING.items()
        for what, body in FOREIGN.items()
        if (name, what) != ("export", "nothing")  # of an empty collection
    ],
)
def test_what_is_no_gateway_is_told_in_a_sentence(
    elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str], command: list[str], body: bytes
) -> None:
    elsewhere.body = body

    assert main.main(command) == 1
    told = f"kgw: What answers at {elsewhere.url} is not a Knowledge Gateway, or one of another version."
    assert said_in_one_line(capsys) == told


@pytest.mark.parametrize("body", FOREIGN.values(), ids=FOREIGN)
def test_a_search_of_what_is_no_gateway_is_told_in_a_sentence(
    elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str], tmp_path: Path, body: bytes
) -> None:
    (tmp_path / ".kgw").mkdir()
    (tmp_path / ".kgw" / "local.json").write_text(json.dumps(LOCAL | {"url": elsewhere.url}))
    elsewhere.body = body

    assert main.main(["search", "ferry", "--json"]) == 1
    assert "is not a Knowledge Gateway" in said_in_one_line(capsys)


# --- what nobody has foreseen --------------------------------------------------------------------


def test_of_what_nobody_has_foreseen_kind_and_place_are_told_and_no_word_of_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> int:
        raise RuntimeError(SECRET)

    assert ending.ended(fail, name="kgw") == 1
    line = capsys.readouterr().err
    assert line.startswith("kgw: Something went wrong that nobody has foreseen: RuntimeError at tests/unit/")
    assert SECRET not in line


def test_an_interruption_is_no_failure_to_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert ending.ended(interrupted, name="kgw") == 130
    assert capsys.readouterr() == ("", "")


def test_what_is_known_of_an_interrupted_change_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise BrokenOff("Interrupted. Whether it was done is not known.")

    assert ending.ended(interrupted, name="kgw") == 130
    assert capsys.readouterr().err == "kgw: Interrupted. Whether it was done is not known.\n"


# --- failures for programs -----------------------------------------------------------------------


def error_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The one document, in which nothing but an error is."""
    told = capsys.readouterr()
    assert told.err
    document = json.loads(told.out)
    assert list(document) == ["error"]
    error: dict[str, Any] = document["error"]
    assert isinstance(error["detail"], str)
    return error


@commands_here
def test_with_json_a_failure_is_one_document_too(
    elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    elsewhere.body = b"<html>"
    wanted = command if "--json" in command else [*command, "--json"]
    if "import" in command:  # what became of the rows is said, and no more
        assert main.main(wanted) == 1
        assert json.loads(capsys.readouterr().out)["rows"] == 1
        return
    if "widget" in command:
        assert main.main(wanted) == 2
        assert error_of(capsys)["code"] == "wrong_use"
        return
    assert main.main(wanted) == 1
    assert error_of(capsys)["code"] == "not_a_gateway"


def test_with_json_a_problem_is_told_as_the_gateway_has_it(
    elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = {"code": "invalid", "detail": "So it is.", "errors": [{"pointer": "/x", "detail": "y"}], "requestId": "r"}
    elsewhere.body, elsewhere.status = json.dumps(problem).encode(), 422

    assert main.main(["keys", "status", "--json"]) == 1
    assert error_of(capsys) == {"status": 422, "retryAfterS": None, **problem}


def test_with_json_what_is_wrong_in_the_arguments_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(["search", "x", "--json", "--limit", "many"])
    assert ended.value.code == 2
    assert error_of(capsys)["code"] == "wrong_use"
    assert main.main(["search", SECRET + "a" * 20, "--json"]) == 2
    assert error_of(capsys)["code"] == "wrong_use"


def test_with_json_an_interruption_is_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise BrokenOff("Interrupted. Whether it was done is not known.")

    assert ending.ended(interrupted, name="kgw", is_json=True) == 130
    assert error_of(capsys)["code"] == "interrupted"


def test_what_comes_after_the_options_asks_for_no_json(
    elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["search", "--", "--json"]) == 1
    assert capsys.readouterr().out == ""


def test_an_interruption_while_it_is_loaded_shows_nothing(tmp_path: Path) -> None:
    """Whatever is loaded first interrupts it."""
    script = (
        "import os, signal, sys\n"
        "class Slow:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'infra.cli.grammar': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "from infra.cli.start import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=heeds_ctrl_c,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


# --- what a shell may do -------------------------------------------------------------------------

WITHOUT_INPUT = {
    "login": (["login", "http://127.0.0.1:9"], 1, "Standard input is empty."),
    "key": (["instances", "update", "csi_x", "--key-stdin"], 1, "Standard input is empty."),
    "question": (["credentials", "revoke", "x"], 2, "say --yes"),
}


@pytest.mark.parametrize(("command", "status", "words"), WITHOUT_INPUT.values(), ids=WITHOUT_INPUT)
def test_a_closed_standard_input_is_told(
    elsewhere: Elsewhere,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    status: int,
    words: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    elsewhere.body = b'{"id": "x", "name": "y", "class": "agt"}'

    assert main.main(command) == status
    assert words in said_in_one_line(capsys)


def test_a_closed_standard_output_loses_no_secret(elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", None)
        for more in ([], ["--json"]):
            assert main.main(["credentials", "create", "agt", "--name", "x", *more]) == 2
    assert elsewhere.asked == 0


@pytest.mark.parametrize("key", ["", "a\r\nX: y", "two words", "é", "x" * 256])
def test_an_idempotency_key_that_cannot_be_sent_is_wrong_use(
    elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    for command in (["credentials", "create", "agt"], ["cards", "collections", "create", "--exposure", "agent_only"]):
        with pytest.raises(SystemExit) as ended:
            main.main([*command, "--name", "x", "--json", f"--idempotency-key={key}"])
        assert ended.value.code == 2
        assert "a key is 1 to 255" in capsys.readouterr().err
    assert elsewhere.asked == 0


@pytest.mark.parametrize("command", [["search", "\udcff"], ["providers", "show", "\udcff"], ["status", "\udcff"]])
def test_an_argument_that_is_no_text_is_wrong_use(
    elsewhere: Elsewhere, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main.main(command) == 2
    assert said_in_one_line(capsys).endswith("is no text in UTF-8. Nothing was done.")
    assert elsewhere.asked == 0


# --- nobody reads, or nothing can be written -----------------------------------------------------

PRINTING = {
    "status": ["infra.cli.main", "status"],
    "status-watch": ["infra.cli.main", "status", "--watch", "1"],
    "help": ["infra.cli.main", "--help"],
    "costs": ["infra.costs"],
}


def run(module: list[str], elsewhere: Elsewhere, output: Any) -> subprocess.CompletedProcess[str]:
    elsewhere.body = json.dumps(HEALTH_ANSWERS["HealthShown"]).encode()
    return subprocess.run(
        [sys.executable, "-m", *module],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},  # what waits is written at the end
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("module", PRINTING.values(), ids=PRINTING)
def test_a_reader_that_has_gone_ends_it_without_a_word(elsewhere: Elsewhere, module: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(module, elsewhere, writing)
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("module", PRINTING.values(), ids=PRINTING)
def test_a_full_disk_is_told_in_a_sentence(elsewhere: Elsewhere, module: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(module, elsewhere, full)

    name = "costs" if module == ["infra.costs"] else "kgw"
    assert (done.returncode, done.stderr) == (1, f"{name}: It cannot be written: No space left on device.\n")
