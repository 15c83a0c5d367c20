"""`knowledge-conformance` as continuous integration and a person use it: options, reports, exit codes, silence."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from knowledge_conformance.command import FAILED, INTERRUPTED, PASSED, UNREACHABLE, USAGE, main
from knowledge_conformance.requirements import requirements
from knowledge_conformance.scenarios import memory

from fixtures.reference_provider.signatures import BadSignature
from tests.e2e.conformance_faults import MAKERS
from tests.support.faulty_provider import PREVIOUS, SECRET, Provider, Request, Response, serving
from tests.support.interrupts import heeds_ctrl_c
from tests.support.tls import TestAuthority

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["--query", "ferry", "--allow-http-loopback"]


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_SECRET", SECRET)
    monkeypatch.setenv("KB_PREVIOUS", PREVIOUS)
    monkeypatch.setenv("KB_SHORT", "kgs_")
    monkeypatch.setenv("KB_SPACED", "kgs_ " + "1" * 20)
    monkeypatch.setattr(memory, "LATER_S", 0.6)


@pytest.fixture(scope="module")
def sound() -> Iterator[str]:
    with serving(Provider()) as url:
        yield url


@pytest.fixture(scope="module")
def forgetful() -> Iterator[str]:
    with serving(MAKERS["sig.replay-refused"]()) as url:
        yield url


BAD_URLS = [
    "http://127.0.0.1:99999",
    "http://127.0.0.1:abc",
    "http://[::1",
    "https://xn--a.example",
    "https://kb..example.com",
    "https://kb example.com",
    "https://bücher.example",
    "127.0.0.1:8000",
    "localhost:8000",
]


def examine(url: str, *options: str) -> int:
    return main([url, "--secret-env", "KB_SECRET", *QUICK, *options])


def test_a_sound_provider_passes(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert examine(sound) == PASSED
    said = capsys.readouterr().out
    assert said.endswith("PASSED: profile full\n")
    assert "Everybody else is refused: 33 of 33 in order" in said


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


class Pausing(Provider):
    """Puts off every third request, for no time at all."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def handle(self, request: Request) -> Response:
        self.count += 1
        is_put_off = self.count % 3 == 2
        return Response(429, headers={"Retry-After": "0"}) if is_put_off else super().handle(request)


class Postponing(Provider):
    """Puts off strangers for an hour."""

    def refuse(self, request: Request, bad: BadSignature) -> Response:
        return Response(429, headers={"Retry-After": "3600"})


class Vanishing(Provider):
    """Closes its door after the twentieth request."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def handle(self, request: Request) -> Response:
        self.count += 1
        if self.count == 20:
            self.leave()
        return super().handle(request)


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
        ["https://kb.example.com", "--secret-env", "KB_SHORT"],
        ["https://kb.example.com", "--secret-env", "KB_SPACED"],
        ["https://kb.example.com", "--secret-env", "KB_SECRET", "--profile", "minimum", "--only", "scoring.ordered"],
        ["https://kb.example.com", "--secret-env", "KB_SECRET", "--json", "nowhere/report.json"],
        ["https://kb.example.com", "--secret-env", "KB_SECRET", "--junit", "."],
        *(["https://kb.example.com", "--secret-env", "KB_SECRET", "--query", query] for query in ("", " ", "\udcff")),
        ["https://kb.example.com", "--secret-env", "KB_SECRET", "--query", "x" * 1025],
        *([url, "--secret-env", "KB_SECRET", "--allow-http-loopback"] for url in BAD_URLS),
    ],
    ids=lambda arguments: ascii(" ".join(arguments))[1:60] or "nothing",
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


def test_a_run_in_which_nothing_could_be_judged_is_no_pass(
    sound: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "report.json"
    assert examine(sound, "--only", "rotation.both", "--json", str(file)) == USAGE
    assert "NOTHING JUDGED" in capsys.readouterr().out
    assert json.loads(file.read_text())["ok"] is False


def test_a_certificate_that_does_not_hold_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Provider(), tls=TestAuthority().server("localhost")) as url:
        assert main([url, "--secret-env", "KB_SECRET"]) == UNREACHABLE
    said = capsys.readouterr().err
    assert "the certificate of the address does not hold: " in said
    assert len(said.splitlines()) == 1


def test_a_port_that_speaks_no_tls_is_named(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = sound.replace("http://", "https://")
    assert main([url, "--secret-env", "KB_SECRET", "--timeout", "2"]) == UNREACHABLE
    assert "No connection could be made" in capsys.readouterr().err


def test_pauses_that_are_asked_for_are_kept_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Pausing()) as url:
        options = ["--only", "transport.keep-alive", "transport.refusal-ends-cleanly", "sig.genuine-accepted"]
        assert examine(url, *options) == PASSED
    assert "It asked for a pause with Retry-After, and the pause was kept" in capsys.readouterr().out


def test_who_never_stops_asking_for_pauses_is_not_judged_and_has_not_passed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving(Postponing()) as url:
        assert examine(url, "--only", "sig.wrong-secret-refused") == FAILED
    assert "NOT RUN  sig.wrong-secret-refused: it was put off with 429" in capsys.readouterr().out


def test_who_goes_away_is_told_so_once_and_the_rest_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Vanishing()) as url:
        assert examine(url, "--profile", "minimum") == FAILED
    said = capsys.readouterr().out
    assert "  FAILED" not in said
    assert "the provider went away during the run" in said


def test_a_base_url_with_retrieve_at_its_end_is_told(sound: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert examine(f"{sound}/retrieve", "--profile", "minimum") == FAILED
    assert "Name the base URL, without it" in capsys.readouterr().out


def test_ctrl_c_ends_in_a_sentence_and_a_partial_report(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    with serving(MAKERS["latency.comfortable"]()) as url:
        command = [sys.executable, "-m", "knowledge_conformance", url, "--secret-env", "KB_SECRET"]
        process = subprocess.Popen(
            [*command, "--allow-http-loopback", "--json", str(file)],
            cwd=ROOT / "tests" / "conformance",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heeds_ctrl_c,  # noqa: PLW1509  # it sets one handler and takes no lock
        )
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (INTERRUPTED, "")
    assert re.fullmatch(r"Interrupted: \d+ of \d+ checks were not run\.\n", err)
    report = json.loads(file.read_text())
    assert report["ok"] is False
    assert report["counts"]["not_run"] > 0


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
