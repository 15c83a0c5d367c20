"""How a failure's code, which is plain text, becomes one of the documented ones: in one place, for every failure."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import errors, providers
from shared.domain.acquisitions import LEFT_APPROVED_HOSTS, NOT_FRESH
from shared.domain.alexandria import Trouble
from shared.domain.answer_bodies import JsonObject
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.refusals import Meaning, refusal
from shared.domain.trials import trial_code_of
from shared.errors import ExchangeError, KeyRefused

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ("shared", "functions")
NOW = 1_790_000_000.0
DOCUMENTED = {*OutcomeCode, *Trouble, NOT_FRESH, LEFT_APPROVED_HOSTS}
KINDS = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, ExchangeError)]


def rows() -> list[tuple[str, Meaning]]:
    """Every row of every kind's tables, with the module that it stands in."""
    found: dict[Meaning, str] = {}
    for module in pkgutil.iter_modules(providers.__path__, "shared.providers."):
        for table in vars(importlib.import_module(module.name)).values():
            if isinstance(table, tuple):
                found |= {row: module.name.rsplit(".", 1)[1] for row in table if isinstance(row, Meaning)}
    return [(name, row) for row, name in found.items()]


def failures(row: Meaning) -> Iterator[ExchangeError]:
    """What one row can come to: with a plain body, with one that hints at work, with none, and by its status alone."""
    bodies: tuple[JsonObject | None, ...] = ({"error": "words"}, {"success": True}, None)
    for body in bodies:
        for tag in (row.tag, "a tag of tomorrow"):
            yield refusal((row,), status=row.status, headers={}, body=body, tag=tag, now=NOW)


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for room in SHIPPED:
        for path in (ROOT / room).rglob("*.py"):
            nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            yield from ((path.relative_to(ROOT), node) for node in nodes if isinstance(node, ast.Call))


def written_codes() -> Iterator[tuple[str, str]]:
    """Each code that a failure is given as plain text, with the place where it stands."""
    failing = {kind.__name__ for kind in KINDS} - {"KeyRefused"}
    for path, call in calls():
        if not isinstance(call.func, ast.Name) or call.func.id not in failing | {"Meaning"}:
            continue
        given_code = [word.value for word in call.keywords if word.arg == "code"]
        for value in (*(() if call.func.id == "Meaning" else call.args[:1]), *given_code):
            if isinstance(value, ast.Constant):
                yield f"{path}:{call.lineno}", str(value.value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_failure_has_a_documented_code_of_its_own(kind: type[ExchangeError]) -> None:
    error = kind("rate", until=NOW) if issubclass(kind, KeyRefused) else kind()
    assert error.code in set(OutcomeCode)
    assert isinstance(outcome_code_of(error), OutcomeCode)


@pytest.mark.parametrize("code", [*OutcomeCode], ids=str)
def test_a_documented_code_in_plain_text_is_that_code(code: OutcomeCode) -> None:
    for given_as in (code, code.value, str(code)):
        assert outcome_code_of(ExchangeError(given_as)) is code
        assert trial_code_of(ExchangeError(given_as)) is code


@given(st.text() | st.sampled_from(sorted(DOCUMENTED)))
def test_whatever_a_failure_carries_becomes_a_documented_code(code: str) -> None:
    error = ExchangeError(code)
    assert isinstance(outcome_code_of(error), OutcomeCode)
    assert trial_code_of(error) in {*OutcomeCode, LEFT_APPROVED_HOSTS}
    if code and code not in set(OutcomeCode):
        assert outcome_code_of(error) is OutcomeCode.UPSTREAM_ERROR


def test_of_an_acquisitions_own_codes_a_trial_can_end_in_one() -> None:
    assert trial_code_of(ExchangeError(LEFT_APPROVED_HOSTS)) == LEFT_APPROVED_HOSTS
    assert trial_code_of(ExchangeError(NOT_FRESH)) is OutcomeCode.UPSTREAM_ERROR


def test_every_row_of_every_table_comes_to_a_documented_code() -> None:
    found = rows()
    assert {name for name, _ in found} >= {"alexandria", "context7", "exa", "firecrawl", "mcp_client"}
    strange = [f"{name} {row}" for name, row in found for each in failures(row) if each.code not in DOCUMENTED]
    assert strange == []


def test_every_code_that_is_written_out_is_documented() -> None:
    written = list(written_codes())
    assert len(written) > 40
    assert [f"{where} {code}" for where, code in written if code not in DOCUMENTED] == []


def test_words_become_codes_in_one_place() -> None:
    """Anywhere else, a code that is not an outcome's would be a fault of the gateway; but in a row of the store it
    makes the row one that cannot be read.
    """
    found = {str(path) for path, call in calls() if isinstance(call.func, ast.Name) and call.func.id == "OutcomeCode"}
    rows = {f"shared/adapters/{name}_items.py" for name in ("circuit", "health", "journal")}
    assert found == {"shared/domain/outcomes.py"} | rows
