from __future__ import annotations

import pytest

from functions.search import wiring
from shared.domain.live_configs import SEARCHING_KINDS
from shared.domain.registrations import ProviderKind
from shared.services.askers_on_demand import AskersOnDemand
from tests.support.live_fakes import ScriptedLiveRetriever


def test_what_is_there_at_once_makes_nothing_else() -> None:
    askers = AskersOnDemand({ProviderKind.CONTRACT: _asker()}, later=SEARCHING_KINDS, make=_never)
    assert askers.get(ProviderKind.CONTRACT) is not None
    assert askers.get(ProviderKind.FIRECRAWL) is None
    assert set(askers) == {ProviderKind.CONTRACT, *SEARCHING_KINDS}
    assert len(askers) == len(set(askers))


def test_the_others_are_made_once_for_all_of_them() -> None:
    made = {kind: _asker() for kind in SEARCHING_KINDS}
    calls: list[int] = []

    def make() -> dict[ProviderKind, object]:
        calls.append(1)
        return dict(made)

    askers = AskersOnDemand({}, later=SEARCHING_KINDS, make=make)  # type: ignore[arg-type]
    assert [askers[kind] for kind in made] == list(made.values())
    assert calls == [1]


def test_a_search_function_can_make_every_kind_that_answers_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    names = ("TABLE_REGISTRATIONS_PUBLIC", "TABLE_LEDGER_PUBLIC", "KEY_PUBLIC", "TABLE_CARDS")
    names += ("TABLE_REGISTRATIONS_INTERNAL", "TABLE_LEDGER_INTERNAL", "KEY_INTERNAL", "POOL_CONTEXT7", "POOL_EXA")
    parts = wiring.wired({f"KG_{name}": "x" for name in names})
    askers = parts.search._asking._fan_out._askers
    assert {kind for kind in ProviderKind if askers.get(kind)} >= {ProviderKind.CONTRACT, *SEARCHING_KINDS}
    customer = parts.search_for_assistant._search._asking._fan_out._askers
    assert not {kind for kind in customer if kind in SEARCHING_KINDS}


def _asker() -> object:
    return ScriptedLiveRetriever()


def _never() -> dict[ProviderKind, object]:
    raise AssertionError("nothing was asked for")
