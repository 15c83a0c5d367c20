"""Every check of the conformance suite passes a sound provider, and fails one that does what it is about wrong."""

from __future__ import annotations

import pytest
from knowledge_conformance.findings import Status
from knowledge_conformance.requirements import requirements
from knowledge_conformance.run import Unreachable, run
from knowledge_conformance.scenarios import retrieval

from tests.e2e.conformance_faults import MAKERS, rotating
from tests.support.faulty_provider import PREVIOUS, SECRET, Provider, serving

QUERIES = ("ferry",)


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
    assert report.ids(Status.PASSED) == {"retrieve.no-redirect", "retrieve.size", "retrieve.encoding"}


def test_what_there_was_no_time_for_is_no_pass() -> None:
    with serving(Provider()) as url:
        report = run(url, SECRET, time_s=0.0)
    assert not report.ok
    assert len(report.ids(Status.NOT_RUN)) > 50
