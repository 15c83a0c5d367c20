"""The probe function is told where cards lie, and nothing else."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from functions.probe.wiring import wired


def test_the_probe_needs_the_table_of_cards_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")

    assert wired({"KG_TABLE_CARDS": "cards"})
    with pytest.raises(ValidationError, match="KG_TABLE_CARDS"):
        wired({})
