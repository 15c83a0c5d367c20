"""`kgw providers`, `instances`, `credentials` and the rest: what they ask, what they show, and what they never do."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.cli import http as cli_http
from infra.cli.main import main
from infra.cli.tables import plain, width
from tests.support.cli_calls import (
    CID,
    COLLECTION,
    IID,
    INSTANCE,
    KEY,
    KID,
    KNOWLEDGE,
    PID,
    PROVIDER,
    READS,
    SECRET,
    TOKEN,
    WRITES,
    answers_all,
    example,
)
from tests.support.scripted_gateway import Answered, ScriptedGateway, scripted_gateway


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ScriptedGateway]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli_http, "_PAUSE_S", 0.0)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with scripted_gateway() as gateway:
        answers_all(gateway)
        monkeypatch.setenv("KGW_URL", gateway.url)
        monkeypatch.setenv("KGW_TOKEN", "kg_adm_root_x")
        yield gateway


@pytest.fixture
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Somebody who types an answer, and sees what is printed."""

    def sits(types: str = "") -> None:
        typed = io.StringIO(types)
        monkeypatch.setattr(typed, "isatty", lambda: True)
        monkeypatch.setattr(sys, "stdin", typed)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    return sits


# --- what is asked -------------------------------------------------------------------------------

MADE = ("create", "rotate", "bind")


@pytest.mark.parametrize(("arguments", "request_line", "body"), WRITES.values(), ids=WRITES)
def test_what_is_said_is_what_is_sent(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, arguments: list[str], request_line: str, body: Any
) -> None:
    monkeypatch.setenv("SERVER_KEY", KEY)

    assert main(arguments) in (0, 3)
    sent = gateway.asked[-1]
    assert (f"{sent.method} {sent.path}", sent.body) == (request_line, body)
    is_change = sent.method in ("PATCH", "PUT", "DELETE")
    assert sent.headers.get("if-match") == ('"7"' if is_change else None)
    is_made = any(word in arguments for word in MADE)
    assert ("idempotency-key" in sent.headers) is is_made


@pytest.mark.parametrize(
    "arguments", [*(each for each, _, _ in WRITES.values()), *READS.values()], ids=[*WRITES, *READS]
)
def test_as_json_every_command_prints_one_document(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.setenv("SERVER_KEY", KEY)
    wanted = arguments if "--json" in arguments else [*arguments, "--json"]

    assert main(wanted) in (0, 3)
    told = capsys.readouterr()
    assert isinstance(json.loads(told.out), dict)
    assert told.err == ""
    assert KEY not in told.out


@pytest.mark.parametrize("arguments", READS.values(), ids=READS)
def test_for_people_there_are_no_colours_and_no_braces(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.strip()
    assert not set("\x1b{}") & set(told.out)


FOREIGN = [b"{}", b"[1]", b"", b'{"providers": 1, "entries": [{}], "pools": 2}', b'{"id": [], "status": {}}']


ANSWERED = {name: each for name, (each, _, _) in WRITES.items() if each[-1] != "--yes"} | READS


@pytest.mark.parametrize("arguments", ANSWERED.values(), ids=ANSWERED)
def test_what_is_no_gateway_is_told_in_a_sentence(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    monkeypatch.setenv("SERVER_KEY", KEY)
    for body in FOREIGN[:3]:
        gateway.answers = {request: [Answered(body)] for request in gateway.answers}
        main(arguments)
        told = capsys.readouterr()
        assert "foreseen" not in told.err
        if body == b"{}":
            assert told.err.endswith("is not a Knowledge Gateway, or one of another version.\n")


def test_every_page_is_asked_for(gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]) -> None:
    page = example("ProviderPage")["providers"][:1]
    base = f"GET {KNOWLEDGE}/providers?limit=100"
    gateway.will(base, {"providers": page, "nextCursor": "a&b"})
    gateway.will(f"{base}&cursor=a%26b", {"providers": page * 2, "nextCursor": None})

    assert main(["providers", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["providers"]) == 3
    assert main(["providers", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_pages_that_come_to_no_end_are_not_asked_for_ever(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    base = f"GET {KNOWLEDGE}/providers?limit=100"
    gateway.will(base, {"providers": [], "nextCursor": "a"})
    gateway.will(f"{base}&cursor=a", {"providers": [], "nextCursor": "a"})

    assert main(["providers", "list"]) == 1
    assert capsys.readouterr().err == f"kgw: What answers at {gateway.url} comes to no last page.\n"
    assert len(gateway.asked) == 2


def test_no_more_of_the_audit_is_asked_for_than_is_shown(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = example("AuditPage")["entries"][0]
    gateway.will("GET /api/v1/audit?limit=2", {"entries": [entry] * 2, "nextCursor": "more"})

    assert main(["audit", "list", "--limit", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("status: disabled > active")
    assert len(gateway.asked) == 1


# --- changes and losses --------------------------------------------------------------------------


def test_a_change_by_somebody_else_is_explained(gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]) -> None:
    problem = {"code": "precondition_failed", "detail": "It is in another version.", "requestId": "req-1"}
    gateway.will(f"PATCH {PROVIDER}", Answered(problem, 412))

    assert main(["providers", "update", PID, "--priority", "5"]) == 1
    first, advice, last = capsys.readouterr().err.splitlines()
    assert first == "kgw: 412 precondition_failed: It is in another version."
    assert advice.strip().startswith("Somebody else changed it in between, and nothing was changed now.")
    assert last == "     request req-1"


def test_a_problem_says_where_and_what_to_do(gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]) -> None:
    problem = {
        "code": "test_failed",
        "detail": "It was not saved.\x1b[2J",
        "errors": [{"pointer": "/testQuery", "detail": "Too\u202e long."}],
        "outcome": "unauthorized",
        "explanation": "The server did not take the key.",
    }
    answer = Answered(problem, 409, {"X-Request-Id": "req-2", "Retry-After": "30"})
    gateway.will(f"POST {KNOWLEDGE}/providers", answer)

    assert main(["instances", "bind", IID, "kb", "--name", "x", "--test-query", "y"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "kgw: 409 test_failed: It was not saved. [2J"
    assert "     /testQuery: Too  long." in lines
    assert "     outcome: unauthorized" in lines
    assert "     explanation: The server did not take the key." in lines
    assert lines[-2:] == ["     It may be tried again in 30 s.", "     request req-2"]


def test_what_was_asked_and_not_answered_is_asked_again_under_the_same_key(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    shown_before = example("CredentialWithToken", token=None, warnings=["secret_already_shown"])
    gateway.will("POST /api/v1/credentials", Answered(is_lost=True), shown_before)

    assert main(["credentials", "create", "agt", "--name", "x", "--json"]) == 0
    first, second = gateway.asked
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    told = capsys.readouterr()
    assert json.loads(told.out)["token"] is None
    assert f"did not come: kgw credentials rotate {KID} makes another" in told.err


def test_where_no_answer_comes_at_all_the_key_to_repeat_it_with_is_said(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.will("POST /api/v1/credentials", Answered(is_lost=True))

    assert main(["credentials", "create", "agt", "--name", "x", "--json"]) == 1
    told = capsys.readouterr().err
    (key,) = {each.headers["idempotency-key"] for each in gateway.asked}
    assert f"Whether it was done is not known. With --idempotency-key {key} the same command does it once." in told
    gateway.will("POST /api/v1/credentials", example("CredentialWithToken"))
    assert main(["credentials", "create", "agt", "--name", "x", "--json", "--idempotency-key", key]) == 0
    assert gateway.asked[-1].headers["idempotency-key"] == key


def test_a_change_that_is_not_answered_is_not_repeated(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.will(f"PATCH {PROVIDER}", Answered(is_lost=True))

    assert main(["providers", "enable", PID]) == 1
    assert gateway.requests == [f"GET {PROVIDER}", f"PATCH {PROVIDER}"]
    assert (
        capsys.readouterr().err
        == f"kgw: {gateway.url} was asked and no answer came. Whether it was done is not known.\n"
    )


@pytest.mark.parametrize(
    "arguments", [["providers", "update", PID], ["instances", "update", IID], ["credentials", "update", KID]]
)
def test_a_change_of_nothing_is_wrong_use(gateway: ScriptedGateway, arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert [each for each in gateway.asked if each.method != "GET"] == []


# --- what cannot be undone -----------------------------------------------------------------------

ENDINGS = {
    "providers": ["providers", "delete", PID],
    "instances": ["instances", "delete", IID, "--with-bindings"],
    "credentials": ["credentials", "revoke", KID],
    "collections": ["cards", "collections", "delete", CID],
}


@pytest.mark.parametrize("arguments", ENDINGS.values(), ids=ENDINGS)
def test_what_cannot_be_undone_is_confirmed_or_not_done(
    gateway: ScriptedGateway,
    at_a_terminal: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
) -> None:
    assert main(arguments) == 2
    assert "say --yes" in capsys.readouterr().err
    for typed in ("n\n", "\n", "", "yess\n"):
        at_a_terminal(typed)
        assert main(arguments) == 1
        assert capsys.readouterr().err.endswith("? [y/N] kgw: Nothing was done.\n".removeprefix("? "))
    assert {each.method for each in gateway.asked} == {"GET"}
    at_a_terminal("y\n")
    assert main(arguments) == 0
    assert gateway.asked[-1].method == "DELETE"


def test_what_is_bound_is_not_deleted_unseen(gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["instances", "delete", IID, "--yes"]) == 1
    assert capsys.readouterr().err == f"kgw: Bound to it: {PID}. --with-bindings deletes them too. Nothing was done.\n"
    assert gateway.requests == [f"GET {INSTANCE}"]


# --- secrets -------------------------------------------------------------------------------------

SHOWING = {
    "providers-create": (["providers", "create", "--name", "x", "--exposure", "agent_only"], SECRET),
    "providers-rotate": (["providers", "rotate", PID], SECRET),
    "credentials-create": (["credentials", "create", "agt", "--name", "x"], TOKEN),
    "credentials-rotate": (["credentials", "rotate", KID], TOKEN),
}
showing = pytest.mark.parametrize(("arguments", "secret"), SHOWING.values(), ids=SHOWING)


@showing
def test_a_secret_goes_into_a_file_for_its_owner_alone(
    gateway: ScriptedGateway, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], secret: str
) -> None:
    file = tmp_path / "secret"
    file.write_text("the one before")
    file.chmod(0o644)
    for more in ([], ["--json"]):
        assert main([*arguments, "--secret-to", str(file), *more]) == 0
        assert file.read_text() == secret + "\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        told = capsys.readouterr()
        assert secret not in told.out + told.err
        assert str(file) in told.out


@showing
def test_a_secret_is_not_made_where_it_would_go_astray(
    gateway: ScriptedGateway, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], secret: str
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "unread")
    places = [tmp_path / "none" / "x", tmp_path, tmp_path / "link", tmp_path / "unread", Path("/dev/null")]
    for more in ([], *(["--secret-to", str(place)] for place in places)):
        assert main([*arguments, *more]) == 2
        assert capsys.readouterr().err.endswith("Nothing was done.\n")
    assert gateway.asked == []


@showing
def test_a_secret_goes_into_a_pipe_that_is_read(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str], arguments: list[str], secret: str
) -> None:
    reading, writing = os.pipe()
    with open(reading, encoding="ascii") as pipe:  # it has no path
        assert main([*arguments, "--secret-to", f"/dev/fd/{writing}"]) == 0
        os.close(writing)
        assert pipe.read() == secret + "\n"
    told = capsys.readouterr()
    assert secret not in told.out + told.err


@showing
def test_there_is_room_for_a_secret_before_it_is_made(
    gateway: ScriptedGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], secret: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    assert main([*arguments, "--secret-to", str(tmp_path / "secret")]) == 2
    assert (gateway.asked, list(tmp_path.iterdir())) == ([], [])


@showing
def test_a_file_that_fails_in_the_end_loses_no_secret_unsaid(
    gateway: ScriptedGateway,
    at_a_terminal: Callable[[str], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    secret: str,
) -> None:
    reading, writing = os.pipe()
    gateway.before_answering = lambda: os.close(reading)  # whoever reads goes while it is made
    group = arguments[0]
    assert main([*arguments, "--secret-to", f"/dev/fd/{writing}"]) == 1
    told = capsys.readouterr()
    assert "cannot be written: Broken pipe. The secret is lost: " in told.err
    assert f"kgw {group} rotate {KID if group == 'credentials' else PID} makes another" in told.err
    assert secret not in told.out + told.err
    os.close(writing)

    reading, writing = os.pipe()
    at_a_terminal("")
    assert main([*arguments, "--secret-to", f"/dev/fd/{writing}"]) == 1
    told = capsys.readouterr()
    assert "is shown here instead, this once" in told.err
    assert told.out.count(secret) == 1
    os.close(writing)


@showing
def test_a_secret_that_was_shown_before_is_no_success_for_a_file(
    gateway: ScriptedGateway, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], secret: str
) -> None:
    for request, (answer, *_) in dict(gateway.answers).items():
        if isinstance(answer.body, dict) and secret in answer.body.values():
            gateway.will(request, answer.body | {"secret": None, "token": None})
    assert main([*arguments, "--idempotency-key", "again", "--secret-to", str(tmp_path / "secret")]) == 1
    assert "kgw: The secret was shown before, or " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@showing
def test_what_is_refused_leaves_a_file_as_it_was(
    gateway: ScriptedGateway, tmp_path: Path, arguments: list[str], secret: str
) -> None:
    for request in gateway.answers:
        gateway.will(request, Answered({"code": "forbidden"}, 403))
    (tmp_path / "secret").write_text("the one before")
    assert main([*arguments, "--secret-to", str(tmp_path / "secret")]) == 1
    assert [each.read_text() for each in tmp_path.iterdir()] == ["the one before"]


@showing
def test_on_a_terminal_a_secret_is_shown_once_with_a_warning(
    gateway: ScriptedGateway,
    at_a_terminal: Callable[[str], None],
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    secret: str,
) -> None:
    at_a_terminal("")
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert told.out.count(secret) == 1
    assert secret not in told.err
    assert "shown this once" in told.err


@pytest.mark.parametrize("value", ["", "  ", "two words", "clé", "x\ny\x00z", "\x1b[2J"])
def test_a_key_that_cannot_be_one_is_named_and_not_shown(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    if "\x00" not in value:
        monkeypatch.setenv("SERVER_KEY", value)
        assert main(["instances", "update", IID, "--key-env", "SERVER_KEY"]) == 1
        told = capsys.readouterr().err
        assert told.startswith("kgw: The environment variable SERVER_KEY ")
        assert not value.strip() or value not in told
    monkeypatch.setattr(sys, "stdin", io.StringIO(value.replace("\n", " ")))
    assert main(["instances", "update", IID, "--key-stdin"]) == 1
    assert capsys.readouterr().err.startswith("kgw: Standard input ")
    assert {each.method for each in gateway.asked} == {"GET"}


def test_a_key_comes_off_standard_input(gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(KEY + "\n"))
    assert main(["instances", "update", IID, "--key-stdin"]) == 0
    assert gateway.asked[-1].body == {"credential": {"action": "replace", "value": KEY}}


# --- what is shown -------------------------------------------------------------------------------


def test_a_test_that_failed_ends_with_3(gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]) -> None:
    failed = example(
        "ProviderTestShown",
        status="failed",
        errorCode="unauthorized",
        explanation="Mend it.",
        results=[],
        activated=False,
    )
    failed["provider"]["status"] = "disabled"
    gateway.will(f"POST {PROVIDER}/test", failed)
    assert main(["providers", "test", PID, "--query", "x"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["failed: unauthorized after 48 ms", "  Mend it."]
    assert lines[-1] == "It is not switched on."


def test_a_test_that_passed_and_switched_nothing_on_ends_with_3(gateway: ScriptedGateway) -> None:
    gateway.will(f"POST {PROVIDER}/test", example("ProviderTestShown", activated=False, warnings=["activation_lost"]))
    assert main(["providers", "test", PID, "--query", "x", "--activate"]) == 3
    assert main(["providers", "test", PID, "--query", "x"]) == 0


def test_a_server_of_which_something_fails_ends_with_3(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["instances", "test", IID]) == 3  # its list cannot be read
    assert capsys.readouterr().out.splitlines() == [
        "reached        passed",
        "takes the key  passed",
        "lists          failed",
        "finds          passed",
        "4 passages; version 1.14.2; 731 ms",
        "  warnings: upstream_may_bill_or_log, list_forbidden",
    ]


def test_names_steer_no_terminal_and_columns_stand_under_each_other(
    gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    one = example("ProviderPage")["providers"][0]
    names = ["渡轮手册", "Help\x1b[31m\r\n", "e\u0301te\u0301", "x" * 200]
    page = {"providers": [one | {"name": name} for name in names], "nextCursor": None}
    gateway.will(f"GET {KNOWLEDGE}/providers?limit=100", page)

    assert main(["providers", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert all(plain(line) == line for line in lines)
    column = width(lines[0].partition("KIND")[0])
    assert {width(line.partition("contract")[0]) for line in lines[1:]} == {column}
    assert "…" in lines[4]


def test_cards_are_exported_as_lines_or_as_one_document(
    gateway: ScriptedGateway, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = f"GET {COLLECTION}/cards/export"
    gateway.will(path, Answered(b'{"id": "a"}\n{"id": "b"}\n', headers={"Link": '<?cursor=x>; rel="next"'}))
    gateway.will(f"{path}?cursor=x", Answered(b'{"id": "c"}\n'))
    wanted = ["cards", "export", "--collection", CID]

    assert main(wanted) == 0
    assert capsysbinary.readouterr().out == b'{"id": "a"}\n{"id": "b"}\n{"id": "c"}\n'
    assert main([*wanted, "--json"]) == 0
    assert [each["id"] for each in json.loads(capsysbinary.readouterr().out)["cards"]] == ["a", "b", "c"]
    gateway.will(path, Answered(b""))
    assert main([*wanted, "--json"]) == 0
    assert json.loads(capsysbinary.readouterr().out) == {"cards": []}


def test_how_far_it_is_a_terminal_alone_is_told(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["providers", "test", PID, "--query", "x"]
    main(arguments)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    main(arguments)
    told = capsys.readouterr().err
    assert "Testing it …" in told
    assert told.endswith("\r\x1b[K")
