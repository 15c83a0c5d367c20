"""The operator command: what it accepts, what it keeps and where, and what it says."""

from __future__ import annotations

import json
import os
import shlex
import stat
from pathlib import Path
from typing import Any

import pytest

from infra.cli import state, texts
from infra.cli.main import main
from infra.cli.seed import Seeded

RESULT = {"title": "The ferry pass", "snippet": "x" * 400, "url": "https://help.lumsund.example/a"}


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["up", "--port", "seven"],
        ["up", "--port", "-1"],
        ["up", "--port", "65536"],
        ["up", "--port", "８７８７"],
        ["up", "--nonsense"],
        ["search"],
        ["search", "x", "--as", "admin"],
        ["down"],
    ],
)
def test_wrong_arguments_end_with_status_2_and_a_usage_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: kgw")


@pytest.mark.parametrize("arguments", [["--help"], ["up", "--help"], ["search", "--help"]])
def test_every_command_explains_itself(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    assert "usage: kgw" in capsys.readouterr().out


def test_no_option_takes_a_secret(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("up", "search"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
    shown = capsys.readouterr().out.lower()
    assert "--token" not in shown
    assert "--secret" not in shown


def test_searching_without_a_running_gateway_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "x"]) == 1
    told = "kgw: There is no agent in .kgw/local.json. Start the demo here first (kgw up), or log in to one elsewhere"
    assert capsys.readouterr().err == told + ": kgw login URL\n"


def test_a_local_file_that_is_broken_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    Path(".kgw").mkdir()
    Path(".kgw/local.json").write_text("{")
    assert main(["search", "x"]) == 1
    assert capsys.readouterr().err == "kgw: .kgw/local.json cannot be read.\n"


def test_a_gateway_that_has_gone_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    state.write_private(state.LOCAL, {"url": "http://127.0.0.1:9", "agent": "kg_agt_x"})
    assert main(["search", "x"]) == 1
    assert "Nothing answers at http://127.0.0.1:9." in capsys.readouterr().err


def test_what_is_private_is_for_its_owner_alone_and_replaced_at_once(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.json"
    state.write_private(path, {"a": 1})
    state.write_private(path, {"a": 2})
    assert json.loads(path.read_text()) == {"a": 2}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == ["file.json"]


def test_a_failed_write_leaves_the_old_content_and_no_remains(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    state.write_private_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        state.write_private_text(path, "\ud800")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.json"]


def test_only_its_own_local_file_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "local.json"
    state.write_private(path, {"url": "another"})
    state.remove_if_own(path, {"url": "mine"})
    assert path.exists()
    state.remove_if_own(path, {"url": "another"})
    assert not path.exists()
    state.remove_if_own(path, {"url": "another"})


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_passing_state_ends_with_the_command_and_a_named_one_stays(tmp_path: Path) -> None:
    with state.only_one_here(), state.state_directory(None) as passing:
        (passing / "file").write_text("x")
    assert not passing.exists()
    with state.state_directory(tmp_path / "kept") as kept:
        (kept / "file").write_text("x")
    assert (kept / "file").exists()


def test_a_state_directory_has_one_user_at_a_time(tmp_path: Path) -> None:
    with state.state_directory(tmp_path / "kept"):
        with pytest.raises(state.AlreadyRunning, match="give this one another directory"):
            state.state_directory(tmp_path / "kept").__enter__()
        with state.state_directory(tmp_path / "other"):
            pass
    with state.state_directory(tmp_path / "kept"):
        pass


def test_a_directory_runs_one_gateway_and_the_second_is_told_which(tmp_path: Path) -> None:
    with state.only_one_here():
        with pytest.raises(state.AlreadyRunning) as starting:
            state.only_one_here().__enter__()
        state.write_private(state.LOCAL, {"url": "http://127.0.0.1:8787"})
        with pytest.raises(state.AlreadyRunning) as serving:
            state.only_one_here().__enter__()
    way_out = f"End it (kill {os.getpid()}), or start this one from another directory."
    assert str(starting.value) == f"Another kgw, which is starting or ending, uses .kgw already. {way_out}"
    assert str(serving.value) == f"The gateway at http://127.0.0.1:8787 uses .kgw already. {way_out}"
    with state.only_one_here():
        pass


def test_kgw_itself_may_be_the_state_directory() -> None:
    with state.only_one_here(), state.state_directory(state.HOME) as kept:
        assert kept == state.HOME.resolve()


def test_what_a_killed_command_left_is_removed() -> None:
    abandoned = Path(".kgw/run-abandoned")
    abandoned.mkdir(parents=True)
    (abandoned / "file").write_text("x")
    state.write_private(state.LOCAL, {"url": "http://127.0.0.1:9"})
    with state.only_one_here():
        assert not abandoned.exists()
        assert not state.LOCAL.exists()


def test_what_an_earlier_run_left_open_to_others_is_closed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    files = [kept / name for name in ("aws/kms.json", "log/deep/admin.log", "secrets/public", "nonces-public.sqlite")]
    for file in files:
        file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        file.write_text("x")
        file.chmod(0o644)
    foreign = kept / "notes.txt"
    foreign.write_text("not the gateway's")
    foreign.chmod(0o644)
    with state.state_directory(kept):
        assert [mode_of(file) for file in files] == [0o600] * len(files)
        assert {mode_of(kept / name) for name in ("aws", "log", "log/deep", "secrets")} == {0o700}
        assert mode_of(foreign) == 0o644


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o1777])
def test_a_directory_into_which_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    with pytest.raises(state.Unusable, match="others may write there"):
        state.state_directory(shared).__enter__()
    assert mode_of(shared) == mode


def test_another_users_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: (tmp_path / "theirs").stat().st_uid + 1)
    with pytest.raises(state.Unusable, match="belongs to another user"):
        state.state_directory(tmp_path / "theirs").__enter__()


def test_what_is_no_directory_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "aws").write_text("x")
    for name in ("file", "file/below", "loop", "half", "x" * 300):
        with pytest.raises(state.Unusable, match=r"^Cannot keep anything in [^\n]+: [^\n]+\.$"):
            state.state_directory(tmp_path / name).__enter__()


def test_what_was_seeded_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "demo.json"
    assert Seeded.read(path) == Seeded()
    seeded = Seeded(tokens={"agent": "t"}, ids={"public": "cs_1"}, ports={"public": 7})
    seeded.write(path)
    assert Seeded.read(path) == seeded
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_printed_call_survives_the_shell() -> None:
    body = {"query": 'it\'s "quoted" $HOME `x` 渡轮'}
    words = shlex.split(texts.curl("http://127.0.0.1:1/x", "kg_agt_a_b", body, "Origin: https://a.example"))
    assert words[:3] == ["curl", "-s", "http://127.0.0.1:1/x"]
    assert json.loads(words[-1]) == body
    assert [words[n + 1] for n, word in enumerate(words) if word == "-H"] == [
        "Authorization: Bearer kg_agt_a_b",
        "Content-Type: application/json",
        "Origin: https://a.example",
    ]


def test_an_agents_answer_shows_passages_sources_and_outcomes() -> None:
    outcome: dict[str, Any] = {"id": "cs_1", "name": "Help centre", "status": "success", "errorCode": None}
    failed = {"id": "ao_1", "name": None, "status": "skipped", "errorCode": "not_found"}
    counts = {"resultCount": 1, "durationMs": 12}
    answer = {
        "status": "partial",
        "results": [{**RESULT, "provider": {"name": "Help centre"}}],
        "providers": [{**outcome, **counts}, {**failed, **counts}],
    }
    shown = "\n".join(map(str, texts.answer_text(answer)))
    assert "1. The ferry pass  (Help centre)" in shown
    assert "https://help.lumsund.example/a" in shown
    assert "x" * 400 not in shown
    assert "status partial" in shown
    assert "ao_1" in shown
    assert "not_found" in shown


def test_a_customers_answer_shows_passages_alone() -> None:
    shown = "\n".join(map(str, texts.answer_text({"results": [{**RESULT, "url": None}]})))
    assert "The ferry pass" in shown
    assert "status" not in shown
    assert texts.answer_text({"results": []}) == ["  no passages"]
