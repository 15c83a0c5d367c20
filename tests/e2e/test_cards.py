"""Collections and cards in a running gateway: the demo's, and a file of many through the command."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import COLLECTIONS, ROOT, Answer, Gateway, call, kgw
from tests.support.interrupts import heeds_ctrl_c

pytestmark = [pytest.mark.emulator]

FIXTURES = ROOT / "fixtures" / "cards"
_ROWS = 1_000


@pytest.fixture
def collection(gateway: Gateway) -> Iterator[str]:
    """A new, empty collection, which goes afterwards."""
    wanted = {"name": f"Tests {time.monotonic_ns()}", "exposureProfile": "customer_safe"}
    collection_id = str(gateway.as_admin("POST", COLLECTIONS, wanted).found["id"])
    yield collection_id
    answer = gateway.as_admin("GET", f"{COLLECTIONS}/{collection_id}")
    if answer.status == 200:
        gateway.as_admin("DELETE", f"{COLLECTIONS}/{collection_id}", If_Match=answer.headers["etag"])


def look_up(gateway: Gateway, caller: str, collection_id: str, terms: list[str]) -> Answer:
    path = f"{COLLECTIONS}/{collection_id}/context-cards/lookup"
    return call(gateway.url, "POST", path, {"terms": terms}, token=gateway.local[caller])


def command(gateway: Gateway, *arguments: str) -> subprocess.CompletedProcess[str]:
    gateway.as_admin("GET", COLLECTIONS)  # makes the admin whose rate no test exceeds
    return kgw(gateway.directory, "cards", *arguments, KGW_TOKEN=gateway.admin)


def rows_file(path: Path, count: int) -> Path:
    rows = (
        {"id": f"row {number}", "keys": [f"渡轮 {number}", f"Паром {number}"], "body": f"Card {number}"}
        for number in range(count)
    )
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def count_of(gateway: Gateway, collection_id: str) -> int:
    return int(gateway.as_admin("GET", f"{COLLECTIONS}/{collection_id}").found["cardCount"])


def test_the_demo_has_a_glossary_for_customers_and_one_for_agents(gateway: Gateway) -> None:
    shown = {each["id"]: each for each in gateway.as_admin("GET", COLLECTIONS).found["collections"]}
    safe, internal = (gateway.local["collections"][name] for name in ("customer_safe", "agent_only"))

    assert gateway.local["collection"] == safe
    assert shown[safe]["exposureProfile"] == "customer_safe"
    assert shown[internal]["exposureProfile"] == "agent_only"
    for profile, collection_id in gateway.local["collections"].items():
        wanted = len((FIXTURES / f"{profile}.jsonl").read_text(encoding="utf-8").splitlines())
        assert shown[collection_id]["cardCount"] == wanted


def test_every_card_of_the_demo_is_found_under_each_of_its_keys(gateway: Gateway) -> None:
    for profile, collection_id in gateway.local["collections"].items():
        lines = (FIXTURES / f"{profile}.jsonl").read_text(encoding="utf-8").splitlines()
        cards = [json.loads(line) for line in lines]
        terms = sorted({key for card in cards for key in card["keys"]})
        found: dict[str, Any] = {}
        for at in range(0, len(terms), 100):
            found |= look_up(gateway, "agent", collection_id, terms[at : at + 100]).found["results"]
        for card in cards:
            assert all(card["title"] in {each["title"] for each in found[key]} for key in card["keys"])


def test_the_demos_glossary_is_in_three_scripts() -> None:
    keys = " ".join(
        key
        for file in FIXTURES.glob("*.jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
        for key in json.loads(line)["keys"]
    )
    scripts = {unicodedata.name(letter).split()[0] for letter in keys if letter.isalpha()}
    assert {"LATIN", "CJK", "CYRILLIC"} <= scripts


def test_an_assistant_knows_nothing_of_the_words_of_the_service_desk(gateway: Gateway) -> None:
    internal = gateway.local["collections"]["agent_only"]
    unknown = "aoc_aaaaaaaaaaaaaaaa"
    answers = [look_up(gateway, "assistant", each, ["GULL-SHADOW"]) for each in (internal, unknown)]

    assert [answer.status for answer in answers] == [404, 404]
    first, second = ({**answer.json, "requestId": ""} for answer in answers)
    assert first == second
    assert look_up(gateway, "agent", internal, ["GULL-SHADOW"]).found["results"]["GULL-SHADOW"]


def test_the_command_looks_words_up(gateway: Gateway) -> None:
    done = kgw(gateway.directory, "cards", "lookup", "--collection", gateway.local["collection"], "ev", "餐券", "gone")

    assert done.returncode == 0, done.stderr
    assert "Electric car  (EV, electric car" in done.stdout
    assert "Meal voucher" in done.stdout
    assert "gone: no card" in done.stdout


def test_what_was_exported_is_read_back_unchanged(gateway: Gateway, tmp_path: Path) -> None:
    exported = command(gateway, "export", "--collection", gateway.local["collection"])
    assert exported.returncode == 0, exported.stderr
    file = tmp_path / "cards.jsonl"
    file.write_text(exported.stdout, encoding="utf-8")
    again = command(gateway, "import", str(file), "--collection", gateway.local["collection"], "--json")
    summary = json.loads(again.stdout)

    assert again.returncode == 0
    assert summary["unchanged"] == summary["rows"] == exported.stdout.count("\n") >= 25


def test_a_table_is_imported_and_bad_rows_are_told(gateway: Gateway, collection: str, tmp_path: Path) -> None:
    file = tmp_path / "cards.csv"
    file.write_bytes('\ufeffkeys,body\r\nFähre|渡轮,"one,\r\ntwo"\r\n" | ",x\r\n=A1,=B2\r\n'.encode())
    done = command(gateway, "import", str(file), "--collection", collection)

    assert done.returncode == 1
    assert "2 created, 0 updated, 0 unchanged, 1 refused" in done.stdout
    assert "row 2 refused" in done.stderr
    assert count_of(gateway, collection) == 2


def test_a_row_that_repeats_an_earlier_slice_is_refused_and_the_same_file_again_changes_nothing(
    gateway: Gateway, collection: str, tmp_path: Path
) -> None:
    file = rows_file(tmp_path / "cards.jsonl", 230)
    with file.open("a", encoding="utf-8") as out:
        out.write('{"id": "row 0", "keys": ["another"], "body": "Another"}\n')
    first, second = (
        json.loads(command(gateway, "import", str(file), "--collection", collection, "--json").stdout) for _ in "12"
    )

    assert (first["created"], first["updated"], first["refused"]) == (230, 0, 1)
    assert (second["unchanged"], second["updated"], second["refused"]) == (230, 0, 1)
    assert [each["row"] for each in second["refusals"]] == [231]


def calls_of(document: str, heading: str) -> str:
    """What a section of a document tells to type."""
    text = (ROOT / "docs" / document).read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return "\n".join(re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE))


def typed(gateway: Gateway, directory: Path, script: str) -> str:
    """In a directory with the gateway's file, in a shell in which nothing is set."""
    (directory / ".kgw").mkdir()
    (directory / ".kgw" / "local.json").write_text(json.dumps({**gateway.local, "admin": gateway.admin}))
    call = ["sh", "-eu", "-c", script]
    done = subprocess.run(call, cwd=directory, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_calls_for_a_glossary_run_as_they_are_documented(gateway: Gateway, tmp_path: Path) -> None:
    gateway.as_admin("GET", COLLECTIONS)
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    variables = text.partition("```sh\n")[2].partition("```")[0]
    said = typed(gateway, tmp_path, variables + calls_of("api.md", "Keep a glossary"))

    read, at, answers = json.JSONDecoder(), 0, []
    while at < len(said.rstrip()):
        answer, at = read.raw_decode(said, at)
        answers.append(answer)
    _, looked_up, matched, searched, imported = answers
    assert [card["title"] for card in looked_up["results"]["Ferry  PASS"]] == ["Ferry pass"]
    assert matched["cards"] == [
        {"title": "Ferry pass", "body": "**89 euro** a month.", "keys": ["ferry pass", "渡轮卡"]}
    ]
    assert [card["title"] for card in searched["cards"]] == ["Ferry pass"]
    assert searched["results"][0]["title"] == "The ferry pass"
    assert (imported["unchanged"], len(imported["rows"])) == (1, 1)


def test_the_calls_for_one_card_run_as_they_are_documented(gateway: Gateway, tmp_path: Path) -> None:
    gateway.as_admin("GET", COLLECTIONS)
    card = json.loads(typed(gateway, tmp_path, calls_of("cards.md", "One card at a time")))

    assert card["normKeys"] == ["ferry pass", "渡轮卡"]


@pytest.mark.slow
def test_a_large_import_shows_progress_is_interrupted_and_goes_on(
    gateway: Gateway, collection: str, tmp_path: Path
) -> None:
    file = rows_file(tmp_path / "cards.jsonl", _ROWS)
    first = interrupted_import(gateway, collection, file)
    written = count_of(gateway, collection)
    assert first.returncode == 130
    assert "Interrupted." in first.stderr
    assert 200 <= written < _ROWS

    started = time.perf_counter()
    second = command(gateway, "import", str(file), "--collection", collection, "--json")
    took_s = time.perf_counter() - started
    summary = json.loads(second.stdout)
    print(f"\n{summary['created']} cards imported in {took_s:.1f} s, {summary['created'] / took_s:.0f} a second")
    assert (summary["rows"], summary["refused"]) == (_ROWS, 0)
    assert summary["created"] + summary["unchanged"] == _ROWS
    assert summary["unchanged"] >= 200
    assert count_of(gateway, collection) == _ROWS

    third = command(gateway, "import", str(file), "--collection", collection, "--json")
    assert json.loads(third.stdout)["unchanged"] == _ROWS
    delete_and_await(gateway, collection)


def interrupted_import(gateway: Gateway, collection: str, file: Path) -> subprocess.CompletedProcess[str]:
    """Ctrl-C after the first slice, by somebody who sees at a terminal how far it is."""
    gateway.as_admin("GET", COLLECTIONS)
    watching, terminal = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "infra.cli.main", "cards", "import", str(file), "--collection", collection],
        cwd=gateway.directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "KGW_TOKEN": gateway.admin},
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        preexec_fn=heeds_ctrl_c,  # noqa: PLW1509
    )
    os.close(terminal)
    seen = os.read(watching, 4_096)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    with contextlib.suppress(OSError):  # as a terminal ends whose other end is gone
        while more := os.read(watching, 4_096):
            seen += more
    os.close(watching)
    return subprocess.CompletedProcess(process.args, process.returncode, out, seen.decode())


def delete_and_await(gateway: Gateway, collection: str) -> None:
    """It is gone at once, and its rows go in the background, as the probe's log tells."""
    path = f"{COLLECTIONS}/{collection}"
    etag = gateway.as_admin("GET", path).headers["etag"]
    assert gateway.as_admin("DELETE", path, If_Match=etag).status == 202
    for rest in ("", "/cards", "/cards/export"):
        assert gateway.as_admin("GET", path + rest).status == 404
    until = time.monotonic() + 90
    while not cleared(gateway):
        assert time.monotonic() < until
        time.sleep(0.2)


def cleared(gateway: Gateway) -> bool:
    entries: list[dict[str, Any]] = []
    for log in gateway.directory.glob(".kgw/run-*/log/probe.log"):
        entries += [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return any(each.get("message") == "probe.collections_cleared" and each["is_done"] for each in entries)


def test_nobody_reaches_the_clearing_over_http(gateway: Gateway) -> None:
    for path in ("/probe", "/api/v1/probe"):
        assert call(gateway.url, "POST", path, {}, token=gateway.local["admin"]).status == 404
