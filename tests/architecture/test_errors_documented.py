"""Every code that can leave the gateway is explained, and every explained code can leave it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.openapi.errors_page import errors_text
from infra.openapi.problem_words import PROBLEMS
from shared import errors
from shared.domain.outcomes import OutcomeCode
from shared.web.live_outcome_words import LIVE_WORDS
from shared.web.mcp.fault_words import FAULT_WORDS
from shared.web.mcp.faults import FaultCode
from shared.web.outcome_words import OUTCOME_WORDS
from shared.web.problems import TYPE_PREFIX
from shared.web.server_outcome_words import SERVER_WORDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "fixtures" / "problems"


def problem_classes() -> dict[str, type[errors.Problem]]:
    found = {"Problem": errors.Problem}
    waiting = [errors.Problem]
    while waiting:
        for each in waiting.pop().__subclasses__():
            found[each.__name__] = each
            waiting.append(each)
    return found


def calls() -> Iterator[ast.Call]:
    for room in ("shared", "functions"):
        for path in sorted((ROOT / room).rglob("*.py")):
            yield from (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))


def raised_codes() -> set[str]:
    """Every literal `code=` of a call, and the own code of every problem class. A `Meaning` is no problem: its code is
    that of an outcome.
    """
    literal = {
        keyword.value.value
        for call in calls()
        if not (isinstance(call.func, ast.Name) and call.func.id == "Meaning")
        for keyword in call.keywords
        if keyword.arg == "code" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }
    return literal | {each.code for each in problem_classes().values()}


def sections(heading: str) -> list[str]:
    part = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^### `([a-z0-9_-]+)`$", part, re.MULTILINE)


def test_the_page_is_the_one_that_the_words_make() -> None:
    assert errors_text() == PAGE, "run `make openapi`"


def test_every_problem_that_is_raised_is_explained() -> None:
    assert raised_codes() - PROBLEMS.keys() == set()


def test_every_problem_that_is_explained_is_raised() -> None:
    assert PROBLEMS.keys() - raised_codes() == set()


def test_no_code_is_put_together_when_the_program_runs() -> None:
    """Or the two tests above would not see it. A code that is passed on was literal somewhere."""
    classes = problem_classes()
    for call in calls():
        if isinstance(call.func, ast.Name) and call.func.id in classes:
            codes = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
            assert all(isinstance(code, ast.Constant | ast.Name | ast.Attribute) for code in codes), ast.dump(call)


def test_every_problem_has_its_section() -> None:
    assert sections("Problems") == list(PROBLEMS)


def test_every_outcome_has_its_section() -> None:
    assert sections("Outcome codes") == [code.value for code in OUTCOME_WORDS]
    assert set(OUTCOME_WORDS) == set(OutcomeCode)


def test_every_fault_of_a_message_has_its_section() -> None:
    assert sections("Faults of MCP messages") == [str(int(code)) for code in FAULT_WORDS]
    assert set(FAULT_WORDS) == set(FaultCode)
    assert all(words.example.code is code for code, words in FAULT_WORDS.items())


def test_there_is_one_example_for_each_problem_and_none_besides() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.json")} == set(PROBLEMS)


@pytest.mark.parametrize("code", PROBLEMS)
def test_an_example_looks_like_the_problem(code: str) -> None:
    example = json.loads((EXAMPLES / f"{code}.json").read_text(encoding="utf-8"))
    titles = {(each.status, each.title) for each in problem_classes().values()}

    assert example["code"] == code
    assert example["type"] == TYPE_PREFIX + code
    assert example["status"] == PROBLEMS[code].status
    assert (example["status"], example["title"]) in titles


def test_a_literal_code_stands_under_the_status_of_its_class() -> None:
    classes = problem_classes()
    for call in calls():
        if not (isinstance(call.func, ast.Name) and call.func.id in classes):
            continue
        for keyword in call.keywords:
            if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                assert PROBLEMS[str(keyword.value.value)].status == classes[call.func.id].status


def test_what_a_code_means_at_a_service_or_a_server_stands_in_its_section() -> None:
    for where, known in (("At a live service", LIVE_WORDS), ("At a self-hosted server", SERVER_WORDS)):
        for code in OutcomeCode:
            section = PAGE.rsplit(f"### `{code.value}`\n", 1)[1].split("\n### ", 1)[0]
            line = f"**{where}:** {' '.join(known[code])}\n" if code in known else ""
            assert (where in section) is (code in known)
            assert line in section


def test_every_section_says_what_happened_and_what_to_do() -> None:
    for words in (
        *PROBLEMS.values(),
        *OUTCOME_WORDS.values(),
        *LIVE_WORDS.values(),
        *SERVER_WORDS.values(),
        *FAULT_WORDS.values(),
    ):
        assert words.happened.endswith(".")
        assert words.advice.endswith((".", '"3"`.'))
