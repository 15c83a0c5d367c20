"""Whatever a gateway, or a file, says: it steers no terminal, begins no line and turns no text around."""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from infra.cli import http as cli_http
from infra.cli import import_cards, profiles
from infra.cli.main import main, whole_parser
from infra.cli.reference import leaves
from infra.openapi.health_examples import HEALTH_ANSWERS
from tests.support.cli_calls import CID, IID, KEY, KID, PID, READS, WRITES, answers_all
from tests.support.scripted_gateway import Answered, ScriptedGateway, scripted_gateway

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    "\x1b[2J\x1b]0;x\x07\x9b31m\x90q\x9c\u202e\u2066\u200f\x0b\x0c\x7f\x00\ud83d"
    "\r\nFORGED\x85FORGED\u2028FORGED\u2029FORGED"
)
# What no request could carry, or no login takes.
SPOILT_BY_TEXTS = {"login", "logout", "cards", "--with-bindings"}
STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"}
IN_A_HEADER = "req\x1b[2J\x9b31m\x7f"
IMPORT = f"/api/v1/collections/{CID}/cards/import"
EXPORT = f"/api/v1/collections/{CID}/cards/export"
HEALTH = "/api/v1/knowledge/health"
TOKEN = f"kg_adm_{KID}_{'a1' * 32}"
REFUSED = {"status": "refused", "code": "invalid", "errors": [{"pointer": "/keys", "detail": "So it is."}]}
ASKING = {
    **{name: arguments for name, (arguments, _, _) in WRITES.items()},
    **READS,
    "status": ["status"],
    "status-one": ["status", PID],
    "import": ["cards", "import", "cards.jsonl", "--collection", CID],
    "export": ["cards", "export", "--collection", CID],
    "login": ["login", "URL", "--token-env", "MY_TOKEN"],
    "logout": ["logout"],
    "profiles": ["profiles"],
}
# They speak to no gateway, or to one of their own.
OTHERS = {"kgw up", "kgw accept", "kgw keys import", "kgw front rotate", "kgw restore"}


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedGateway]:
    with scripted_gateway() as gateway:
        yield gateway


@pytest.fixture
def gateway(server: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedGateway:
    """It answers well; and somebody works with it, in a directory with cards."""
    server.answers.clear()
    answers_all(server)
    server.will(f"GET {HEALTH}", HEALTH_ANSWERS["HealthShown"])
    server.will(f"GET {HEALTH}/{PID}", HEALTH_ANSWERS["OneHealthShown"])
    server.will(f"POST {IMPORT}", {"rows": [REFUSED]})
    server.will(f"GET {EXPORT}", {"id": "crd_1", "body": "x"})
    server.will(f"GET /api/v1/credentials/{KID}", server.answers[f"GET /api/v1/credentials/{KID}"][0])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli_http, "_PAUSE_S", 0.0)
    monkeypatch.setattr(import_cards.time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    (tmp_path / "cards.jsonl").write_text('{"keys": ["ferry"], "body": ""}\n')
    told = {"KGW_URL": server.url, "KGW_TOKEN": "kg_adm_root_x", "SERVER_KEY": KEY, "MY_TOKEN": TOKEN}
    for name, value in {**told, "XDG_CONFIG_HOME": str(tmp_path / "config")}.items():
        monkeypatch.setenv(name, value)
    return server


def is_time(text: str) -> bool:
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False


def with_texts(value: Any) -> Any:
    """With something hostile in every text but times, which are read."""
    if isinstance(value, dict):
        return {name: with_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_texts(each) for each in value]
    return value + HOSTILE if isinstance(value, str) and not is_time(value) else value


def with_all(value: Any) -> Any:
    """With something hostile in the place of everything else."""
    if isinstance(value, dict):
        return {name: with_all(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_all(each) for each in value]
    return value if isinstance(value, bool) or value is None else HOSTILE


def with_names(value: Any) -> Any:
    """With a hostile name beside the others."""
    if isinstance(value, dict):
        return {**{name: with_names(each) for name, each in value.items()}, f"x{HOSTILE}": HOSTILE}
    return [with_names(each) for each in value] if isinstance(value, list) else value


def run(gateway: ScriptedGateway, arguments: list[str]) -> int:
    return main([gateway.url if word == "URL" else word for word in arguments])


def check_every_character(told: str) -> None:
    for line in told.split("\n"):
        assert line.isprintable(), ascii(line)
        assert not line.startswith("FORGED")


every_command = pytest.mark.parametrize("arguments", ASKING.values(), ids=ASKING)


@every_command
def test_a_hostile_gateway_steers_no_terminal(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    well = dict(gateway.answers)
    for spoil in (with_texts, with_all, with_names):
        for request, (answer, *_) in well.items():
            gateway.will(request, Answered(spoil(answer.body), answer.status))
        for more in ([], ["--json"] if "--json" not in arguments else []):
            status = run(gateway, [*arguments, *more])
            told = capsys.readouterr()
            check_every_character(told.out + told.err)
            assert "foreseen" not in told.err
            if spoil is with_texts and not SPOILT_BY_TEXTS & set(arguments):
                assert status in (0, 3), told.err
            if more and status in (0, 3):
                json.loads(told.out)


@every_command
def test_a_hostile_refusal_steers_no_terminal(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    problem = {"code": "x", "detail": "y", "errors": [{"pointer": "/z", "detail": "z"}], "more": ["w"], "n": {}}
    for status in (422, 429, 503):
        answer = Answered(with_texts(problem), status, {"X-Request-Id": IN_A_HEADER, "Retry-After": "1"})
        for request in gateway.answers:
            gateway.will(request, answer)
        run(gateway, arguments)
        told = capsys.readouterr()
        check_every_character(told.out + told.err)
        assert "foreseen" not in told.err


def test_every_command_that_asks_a_gateway_is_among_them() -> None:
    asked = {
        each.prog
        for each in leaves(whole_parser())
        for arguments in ASKING.values()
        if arguments[: len(each.prog.split()) - 1] == each.prog.split()[1:]
    }
    assert asked | OTHERS == {each.prog for each in leaves(whole_parser())}


@pytest.mark.parametrize(
    "arguments",
    [
        ["providers", "delete", PID],
        ["instances", "delete", IID, "--with-bindings"],
        ["credentials", "revoke", KID],
        ["cards", "collections", "delete", CID],
    ],
    ids=["providers", "instances", "credentials", "collections"],
)
def test_a_hostile_name_steers_no_question(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    for spoil in (with_texts, with_all):
        typed = io.StringIO("n\n")
        monkeypatch.setattr(typed, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stdin", typed)
        for request, (answer, *_) in dict(gateway.answers).items():
            gateway.will(request, Answered(spoil(answer.body), answer.status))
        run(gateway, arguments)
        told = capsys.readouterr()
        check_every_character(told.out + told.err)


def spoiled_url(kept: dict[str, Any]) -> None:
    kept["profiles"]["work"]["url"] += HOSTILE.replace("\ud83d", "")


def spoiled_caller(kept: dict[str, Any]) -> None:
    tokens = kept["profiles"]["work"]["tokens"]
    tokens[f"friend{HOSTILE}"] = tokens.pop("admin")


def spoiled_words(kept: dict[str, Any]) -> None:
    held = kept["profiles"]["work"]["tokens"]["admin"]
    held |= {"credential": HOSTILE, "expiresAt": HOSTILE, "origin": HOSTILE}


@pytest.mark.parametrize("spoil", [spoiled_url, spoiled_caller, spoiled_words])
def test_a_file_of_profiles_steers_no_terminal(
    gateway: ScriptedGateway,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[dict[str, Any]], None],
) -> None:
    monkeypatch.delenv("KGW_URL")
    held = {"token": TOKEN, "origin": profiles.origin_of(gateway.url), "credential": KID, "expiresAt": None}
    kept = {"default": "work", "profiles": {"work": {"url": gateway.url, "tokens": {"admin": held}}}}
    spoil(kept)
    file = profiles.file_of_profiles()
    file.parent.mkdir(mode=0o700, parents=True)
    for arguments in (
        ["providers", "list", "--profile", "work"],
        ["status", "--profile", "work"],
        ["profiles"],
        ["logout"],
    ):
        file.write_text(json.dumps(kept))
        file.chmod(0o600)
        main(arguments)
        told = capsys.readouterr()
        check_every_character(told.out + told.err)
        assert told.out + told.err


def test_no_hostile_end_of_a_credential_is_kept(gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]) -> None:
    shown = {"id": KID, "class": "adm"}
    for end in ("2027-01-31\x1b00:00:00Z", "soon", f"2027-01-31T00:00:00Z{HOSTILE}", 7):
        gateway.will(f"GET /api/v1/credentials/{KID}", shown | {"expiresAt": end})
        assert run(gateway, ["login", "URL", "--token-env", "MY_TOKEN"]) == 1
        assert "is not a Knowledge Gateway" in capsys.readouterr().err
    assert not profiles.file_of_profiles().exists()


def test_arguments_that_are_wrong_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["\x1b[2J\nFORGED"], ["status", "x", "\x9b31m\rFORGED"], ["search", "x", "--\x1b[2J"]):
        with pytest.raises(SystemExit):
            main(wrong)
        told = capsys.readouterr()
        check_every_character(told.out + told.err)


def test_what_an_encoding_does_not_have_is_written_in_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    from infra.cli.terminal import say, say_json

    written = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", written)
    say("渡轮é")
    say_json({"name": "渡轮é😀"}, indent=None)
    lines = written.buffer.getvalue().decode("ascii").splitlines()  # type: ignore[attr-defined]
    assert lines[0] == "\\u6e21\\u8f6e\\xe9"
    assert json.loads(lines[1]) == {"name": "渡轮é😀"}


def test_only_the_terminal_is_written_to() -> None:
    """Whoever prints past it prints what others say as it stands."""
    found = []
    for file in sorted((ROOT / "infra" / "cli").rglob("*.py")):
        if file.name == "terminal.py":
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_print = isinstance(node, ast.Name) and node.id in ("print", "input")
            is_stream = isinstance(node, ast.Attribute) and ast.unparse(node) in STREAMS
            is_named = isinstance(node, ast.ImportFrom) and node.module == "sys"
            if is_print or is_stream or is_named:
                found.append(f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}")
    assert found == []
