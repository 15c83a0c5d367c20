"""The check against AWS's list of good practice passes, and fails on what nobody gave a reason for."""

from __future__ import annotations

from pathlib import Path

import pytest
from aws_cdk import App

from infra import second_opinion
from infra.gateway_app import add_stack
from infra.switches import Switches
from tests.infra.stages import EVERYTHING
from tests.infra.synthesised import Synthesised


@pytest.mark.parametrize("stage", ["shipped", "staging", "everything"])
def test_everything_it_finds_has_a_reason_and_every_reason_is_for_something(
    request: pytest.FixtureRequest, stage: str
) -> None:
    synthesised: Synthesised = request.getfixturevalue(stage)
    assert set(synthesised.findings) == set(second_opinion.reasons(synthesised.switches))


def test_with_its_reasons_a_stack_passes(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path), context=EVERYTHING)
    second_opinion.ask_second_opinion(app, add_stack(app))
    app.synth()
    assert list(tmp_path.glob("*.template.json"))


@pytest.mark.parametrize("context", [{}, EVERYTHING], ids=["shipped", "everything"])
def test_every_reason_is_a_sentence(context: dict[str, str]) -> None:
    reasons = second_opinion.reasons(Switches.read(context)).values()
    assert all(len(reason) > 40 and reason.endswith(".") for reason in reasons)
