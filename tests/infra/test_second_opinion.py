"""The check against AWS's list of good practice passes, and fails on what nobody gave a reason for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from aws_cdk import App

from infra import second_opinion
from infra.gateway_app import add_stack


def test_the_shipped_stack_passes(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    second_opinion.ask_second_opinion(app, add_stack(app))
    app.synth()
    assert list(tmp_path.glob("*.template.json"))


def test_without_the_reasons_exactly_these_rules_stop_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = set(second_opinion.REASONS)
    monkeypatch.setattr(second_opinion, "REASONS", {})
    app = App(outdir=str(tmp_path))
    second_opinion.ask_second_opinion(app, add_stack(app))
    with pytest.raises(RuntimeError, match="Acknowledge with") as stopped:
        app.synth()
    assert set(re.findall(r"'AwsSolutions::([\w-]+)'", str(stopped.value))) == reasons


def test_every_reason_is_a_sentence() -> None:
    assert all(len(reason) > 40 and reason.endswith(".") for reason in second_opinion.REASONS.values())
