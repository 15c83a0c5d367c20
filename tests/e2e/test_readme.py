"""The calls in the README run as they are written, and answer what it shows."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import ROOT, Gateway

pytestmark = [pytest.mark.emulator]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def calls_and_answers() -> tuple[str, list[tuple[str, dict[str, Any] | None]]]:
    """What sets the variables, then each call and the answer that is shown below it, if one is."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## One question")[2].partition("\n## ")[0]
    blocks: list[tuple[str, str]] = _BLOCK.findall(section)
    (_, variables), *rest = blocks
    pairs: list[tuple[str, dict[str, Any] | None]] = []
    for kind, text in rest:
        if kind == "sh":
            pairs.append((text, None))
        else:
            pairs[-1] = (pairs[-1][0], json.loads(text))
    return variables, pairs


def answer_to(gateway: Gateway, script: str) -> dict[str, Any]:
    """What a shell in the gateway's directory gets, in which nothing is set beforehand."""
    shown = subprocess.run(
        ["sh", "-eu", "-c", script], cwd=gateway.directory, capture_output=True, text=True, check=True, timeout=60
    )
    answer: dict[str, Any] = json.loads(shown.stdout)
    return answer


def shape(answer: dict[str, Any]) -> tuple[Any, ...]:
    """What is the same in every run."""
    outcomes = {each["name"]: (each["status"], each["errorCode"]) for each in answer.get("providers", ())}
    return (
        set(answer),
        [(set(each), each["title"], each["snippet"], each["url"]) for each in answer["results"]],
        outcomes,
    )


def test_the_calls_of_the_readme_run_as_written_and_answer_what_it_shows(gateway: Gateway) -> None:
    variables, pairs = calls_and_answers()
    assert len(pairs) == 3
    gateway.put_back(gateway.local["providers"]["broken"]["id"])  # other tests may have asked it three times in vain
    answers = [answer_to(gateway, variables + call) for call, _ in pairs]
    for given, (_, shown) in zip(answers, pairs, strict=True):
        assert given["results"]
        assert shown is None or shape(given) == shape(shown)
    assert [shown is None for _, shown in pairs] == [False, False, True]


def test_the_printed_rotation_can_be_carried_out_as_it_says(gateway: Gateway) -> None:
    printed = (gateway.directory / "stdout").read_text()
    told = re.search(r"Rotate a secret, then write `secret` of the answer to (\S+):\n +(curl .*)", printed)
    assert told is not None
    file, call = told.groups()
    answer = answer_to(gateway, call.replace('"windowHours": 24', '"windowHours": 24, "replacePending": true'))
    Path(file).write_text(answer["secret"] + "\n")
    # Without a window the provider's old secret is worth nothing: it has to hold the new one. And none is left open.
    closing = call.replace('"windowHours": 24', '"windowHours": 0, "replacePending": true')
    Path(file).write_text(answer_to(gateway, closing)["secret"])
    assert gateway.outcomes(query="refund", deadlineMs=1500)["Help centre"]["status"] == "success"
