"""`knowledge-conformance` as continuous integration and a person use it: options, reports, exit codes, silence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from knowledge_conformance.command import FAILED, PASSED, UNREACHABLE, USAGE, main
from knowledge_conformance.requirements import requirements

from tests.e2e.conformance_faults import MAKERS
from tests.support.faulty_provider import PREVIOUS, SECRET, Provider, serving

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["--query", "ferry", "--allow-http-loopback"]


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_SECRET", SECRET)
    monkeypatch.setenv("KB_PREVIOUS", PREVIOUS)


@pytest.fixture(scope="module")
def sound() -> Iterator[str]:
    with serving(Provider()) as url:
        yield url


@pytest.fixture(scope="module")
def forgetful() -> Iterator[str]:
    with serving(MAKERS["sig.replay-refused"]()) as url:
        yield url


def examine(url: str, *options: str) -> int:
    return main([url, "--secret-env", "KB_SECRET", *QUICK, *options])


def test_a_sound_provider_passes(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert examine(sound) == PASSED
    said = capsys.readouterr().out
    assert said.endswith("PASSED: profile full\n")
    assert "Everybody else is refused: 21 of 21 in order" in said


def test_the_least_profile_says_what_it_leaves_out(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert examine(sound, "--profile", "minimum") == PASSED
    said = capsys.readouterr().out
    assert "Everybody else is refused" not in said
    assert said.endswith("Whether anybody else is refused was not examined: --profile full.\n")


def test_a_failure_is_told_with_what_was_seen_what_to_do_and_where_it_is_written(
    forgetful: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert examine(forgetful, "--only", "sig.replay-refused", "sig.stale-refused") == FAILED
    said = capsys.readouterr().out
    assert "FAILED   sig.replay-refused  The same request a second time is refused (MUST)" in said
    assert "seen: it was accepted: the answer was 200 with 3 results" in said
    assert "do:   Remember every nonce for 600 s" in said
    assert "read: docs/provider-contract.md#checking-the-signature" in said
    assert "1 passed, 1 failed" in said


def test_the_report_for_machines(forgetful: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert examine(forgetful, "--only", "sig.replay-refused", "sig.stale-refused", "--json", str(file)) == FAILED
    report = json.loads(file.read_text())
    assert (report["contractVersion"], report["ok"], report["profile"]) == (1, False, "full")
    assert report["counts"] == {"passed": 1, "failed": 1, "warned": 0, "skipped": 0, "not_run": 0}
    found = {finding["id"]: finding for finding in report["findings"]}
    assert (found["sig.replay-refused"]["status"], found["sig.stale-refused"]["status"]) == ("failed", "passed")
    assert found["sig.replay-refused"]["level"] == "MUST"


def test_the_report_for_continuous_integration(forgetful: str, tmp_path: Path) -> None:
    file = tmp_path / "report.xml"
    examine(forgetful, "--only", "sig.replay-refused", "sig.stale-refused", "rotation.both", "--junit", str(file))
    suite = ElementTree.fromstring(file.read_bytes())[0]  # noqa: S314  # our own file
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    inside = {case.get("name"): [child.tag for child in case] for case in suite}
    assert inside == {"sig.replay-refused": ["failure"], "sig.stale-refused": [], "rotation.both": ["skipped"]}


def baseline(directory: Path, text: str) -> list[str]:
    file = directory / "baseline.txt"
    file.write_text(text)
    return ["--baseline", str(file)]


FORGETS = "sig.replay-refused # no store yet\nsig.nonce-reuse-refused\n\nsig.replay-race-refused\n"


def test_expected_failures_pass(forgetful: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert examine(forgetful, *baseline(tmp_path, FORGETS)) == PASSED
    assert "expected sig.replay-refused" in capsys.readouterr().out


def test_one_that_is_not_expected_fails_all_the_same(forgetful: str, tmp_path: Path) -> None:
    assert examine(forgetful, *baseline(tmp_path, "sig.replay-refused\n")) == FAILED


def test_an_expectation_that_is_no_longer_true_fails(
    sound: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "report.xml"
    options = [*baseline(tmp_path, "sig.replay-refused\n"), "--junit", str(file)]
    assert examine(sound, "--only", "sig.replay-refused", *options) == FAILED
    assert "The baseline expects sig.replay-refused to fail, and it passes" in capsys.readouterr().out
    assert b"<failure" in file.read_bytes()


def test_what_was_not_examined_is_not_stale(sound: str, tmp_path: Path) -> None:
    options = baseline(tmp_path, "sig.replay-refused\nrotation.both\n")
    assert examine(sound, "--only", "sig.stale-refused", "rotation.both", *options) == PASSED


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["https://kb.example.com"],
        ["http://127.0.0.1:9", "--secret-env", "KB_SECRET"],
        ["http://kb.example.com", "--secret-env", "KB_SECRET", "--allow-http-loopback"],
        ["https://user@kb.example.com", "--secret-env", "KB_SECRET"],
        ["https://kb.example.com?x=1", "--secret-env", "KB_SECRET"],
        ["ftp://kb.example.com", "--secret-env", "KB_SECRET"],
        ["https://kb.example.com", "--secret-env", "KB_NOTHING"],
        ["https://kb.example.com", "--secret-env", "KB_SECRET", "--previous-secret-env", "KB_NOTHING"],
        ["https://kb.example.com", "--secret-env", "KB_SECRET", "--only", "sig.nothing"],
        ["https://kb.example.com", "--secret-env", "KB_SECRET", "--baseline", "nowhere.txt"],
    ],
    ids=lambda arguments: " ".join(arguments) or "nothing",
)
def test_a_call_that_makes_no_sense_is_told_so(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(
    "options", [["--profile", "all"], ["--timeout", "0"], ["--timeout", "x"], ["--nonsense"]], ids=str
)
def test_an_option_that_is_none_ends_the_same_way(options: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["https://kb.example.com", "--secret-env", "KB_SECRET", *options])
    assert ended.value.code == USAGE


def test_a_baseline_that_names_no_check_is_told_so(sound: str, tmp_path: Path) -> None:
    assert examine(sound, *baseline(tmp_path, "sig.nothing\n")) == USAGE


def test_where_nobody_listens_it_says_so() -> None:
    with serving(Provider()) as url:
        pass
    assert examine(url) == UNREACHABLE


def test_the_list_names_every_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == PASSED
    said = capsys.readouterr().out
    assert all(f"{id_} " in said for id_ in requirements())
    assert "semanticSearch cannot be proven" in said


@pytest.mark.parametrize("id_", ["sig.genuine-accepted", "sig.nothing-told", "result.audience", "result.snippet-plain"])
def test_no_report_tells_a_secret_or_a_passage(id_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "report.json", tmp_path / "report.xml"]
    with serving(MAKERS[id_]()) as url:
        options = ["--previous-secret-env", "KB_PREVIOUS", "--json", str(files[0]), "--junit", str(files[1])]
        examine(url, *options)
    said = capsys.readouterr()
    for text in (said.out, said.err, *(file.read_text() for file in files)):
        for secret in (SECRET, PREVIOUS, "Ein Pass", "Ferry passes", "help.example.com", 'customer"', "ferry"):
            assert secret not in text


def test_it_runs_as_a_module_of_its_own() -> None:
    command = [sys.executable, "-m", "knowledge_conformance", "--list"]
    done = subprocess.run(command, cwd=ROOT / "tests" / "conformance", capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") > len(requirements())
