"""Every check of the conformance suite passes a sound provider, and fails one that does what it is about wrong."""

from __future__ import annotations

import pytest
from knowledge_conformance.findings import Status
from knowledge_conformance.requirements import requirements
from knowledge_conformance.run import NothingToJudge, Unreachable, run
from knowledge_conformance.scenarios import memory, retrieval

from tests.e2e.conformance_faults import MAKERS, compares, refusing_with, rotating, takes_one_time
from tests.support.faulty_provider import PREVIOUS, SECRET, Provider, serving

QUERIES = ("ferry",)


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay is tried again after less than the suite's six seconds; the forgetful here forget sooner."""
    monkeypatch.setattr(memory, "LATER_S", 0.6)


def test_a_sound_provider_fails_nothing_and_leaves_nothing_unjudged() -> None:
    with serving(rotating(Provider)) as url:
        report = run(url, SECRET, previous_secret=PREVIOUS)
    seen = {finding.id: finding.saw for finding in report.findings if finding.status is not Status.PASSED}
    assert seen == {}
    assert report.ok
    assert len(report.findings) == len(requirements())


def test_there_is_a_fault_for_every_check() -> None:
    assert MAKERS.keys() == requirements().keys()


@pytest.mark.parametrize("id_", requirements())
def test_each_check_finds_its_fault(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "_COMFORTABLE_S", 0.08)
    timeout_s = 0.3 if id_ == "latency.deadline" else 10.0
    previous = PREVIOUS if id_.startswith("rotation.") else None
    with serving(rotating(MAKERS[id_])) as url:
        report = run(url, SECRET, previous_secret=previous, only=[id_], queries=QUERIES, timeout_s=timeout_s)
    assert report.failed | report.warned == {id_}, [finding.saw for finding in report.findings]
    assert report.ok is (requirements()[id_].level == "SHOULD")


ALONE = [
    "retrieve.answers",
    "retrieve.content-type",
    "retrieve.encoding",
    "json.utf8",
    "json.unique-keys",
    "json.finite-numbers",
    "answer.version",
    "sig.genuine-accepted",
    "sig.second-value-accepted",
    "sig.replay-race-refused",
    "sig.forgery-burns-no-nonce",
    "sig.replay-renamed-refused",
    "sig.replay-later-refused",
    "sig.nonce-other-time-refused",
    "sig.empty-secret-refused",
    "sig.altered-value-refused",
    "sig.odd-values-refused",
    "refusal.has-status",
    "capabilities.stale-refused",
    "transport.refusal-ends-cleanly",
]


@pytest.mark.parametrize("id_", ALONE)
def test_one_fault_fails_one_check_and_what_hangs_on_it_is_left_open(id_: str) -> None:
    with serving(rotating(MAKERS[id_])) as url:
        report = run(url, SECRET, queries=QUERIES)
    expected = {id_, "scoring.labelled"} if id_ == "json.finite-numbers" else {id_}  # NaN is no score
    assert report.failed == expected
    assert not report.ok


def test_a_provider_that_forgets_is_found_by_all_that_is_about_memory() -> None:
    with serving(rotating(MAKERS["sig.replay-refused"])) as url:
        report = run(url, SECRET, queries=QUERIES)
    assert report.failed == {"sig.replay-refused", "sig.nonce-reuse-refused", "sig.replay-race-refused"}


VARIANTS = {
    "remembers-the-last-alone": ("sig.replay-later-refused", MAKERS["sig.replay-after-many-refused"]),
    "all-but-the-last": ("sig.altered-value-refused", compares(lambda value, right: value[:63] == right[:63])),
    "all-but-the-first": ("sig.altered-value-refused", compares(lambda value, right: value[1:] == right[1:])),
    "first-half": ("sig.altered-value-refused", compares(lambda value, right: value[:32] == right[:32])),
    "second-half": ("sig.altered-value-refused", compares(lambda value, right: value[32:] == right[32:])),
    "any-order": ("sig.altered-value-refused", compares(lambda value, right: sorted(value) == sorted(right))),
    "first-time": ("sig.two-times-refused", takes_one_time(0)),
    "last-time": ("sig.two-times-refused", takes_one_time(-1)),
    "redirect-to-a-login": ("refusal.has-status", refusing_with(302)),
    "no-content": ("refusal.has-status", refusing_with(204)),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_other_forms_of_a_fault_are_found_too_and_told_once(name: str) -> None:
    id_, make = VARIANTS[name]
    with serving(rotating(make)) as url:
        report = run(url, SECRET, queries=QUERIES)
    assert report.failed == {id_}
    assert report.warned == frozenset()


@pytest.mark.parametrize("id_", ["sig.upper-case-refused", "sig.nothing-told-encoded", "refusal.is-short"])
def test_what_should_be_is_a_warning_and_all_else_is_in_order(id_: str) -> None:
    with serving(rotating(MAKERS[id_])) as url:
        report = run(url, SECRET, queries=QUERIES)
    assert (report.failed, report.warned) == (frozenset(), {id_})


def test_a_selection_that_is_empty_is_told() -> None:
    with pytest.raises(NothingToJudge, match=r"Not in profile minimum: scoring.ordered"):
        run("http://127.0.0.1:9", SECRET, profile="minimum", only=["scoring.ordered"])


def test_where_nobody_listens_the_run_ends_at_once() -> None:
    with serving(Provider()) as url:
        pass
    with pytest.raises(Unreachable):
        run(url, SECRET)


def test_a_provider_that_never_answers_is_asked_once() -> None:
    with serving(rotating(MAKERS["latency.deadline"])) as url:
        report = run(url, SECRET, timeout_s=0.2)
    assert report.failed == {"latency.deadline"}
    assert report.seconds < 5
    assert report.ids(Status.PASSED) == frozenset()


def test_what_there_was_no_time_for_is_no_pass() -> None:
    with serving(Provider()) as url:
        report = run(url, SECRET, time_s=0.0)
    assert not report.ok
    assert len(report.ids(Status.NOT_RUN)) > 50
