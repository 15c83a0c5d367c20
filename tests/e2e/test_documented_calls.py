"""The calls that the documents show for live services run as they are written, and answer what is shown."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest

from tests.e2e.running import ROOT, Gateway

pytestmark = [pytest.mark.emulator]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_OF_ITS_RUN = ("quoteId", "startedAt", "settledAt", "expiresAt")


def blocks_of(heading: str) -> tuple[list[str], list[dict[str, Any]]]:
    """What a section of the API's document tells to type, and the answers that it shows."""
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    variables = text.partition("```sh\n")[2].partition("```")[0]
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = _BLOCK.findall(section)
    calls = [variables, *(block for kind, block in blocks if kind == "sh")]
    return calls, [json.loads(block) for kind, block in blocks if kind == "json"]


def typed(gateway: Gateway, script: str) -> list[dict[str, Any]]:
    """What a shell in the gateway's directory gets, in which nothing is set beforehand: one answer after the other."""
    done = subprocess.run(
        ["sh", "-eu", "-c", script], cwd=gateway.directory, capture_output=True, text=True, check=True, timeout=60
    )
    reader, at, answers = json.JSONDecoder(), 0, []
    while at < len(done.stdout.rstrip()):
        answer, at = reader.raw_decode(done.stdout, at)
        answers.append(answer)
    return answers


def always(receipt: dict[str, Any]) -> dict[str, Any]:
    """What is the same in every run."""
    assert all(receipt[name] for name in _OF_ITS_RUN)
    return {name: value for name, value in receipt.items() if name not in _OF_ITS_RUN}


def test_the_calls_of_alexandria_answer_what_is_shown(gateway: Gateway) -> None:
    calls, (shown,) = blocks_of("Alexandria")
    found, executed, receipt = typed(gateway, "\n".join(calls))

    assert [tool["tool"] for tool in found["tools"]] == [shown["receipt"]["tool"]]
    assert executed.keys() == shown.keys()
    assert always(executed["receipt"]) == always(shown["receipt"])
    assert (executed["result"], executed["warnings"]) == (shown["result"], shown["warnings"])
    assert receipt == executed["receipt"]
