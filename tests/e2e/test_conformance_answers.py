"""Faults in answers, found by the checks that are about them and by no others, in whole runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from knowledge_conformance.findings import Finding, Status
from knowledge_conformance.report import Report
from knowledge_conformance.requirements import requirements
from knowledge_conformance.roots import ROOTS, explained
from knowledge_conformance.run import run

from tests.e2e.conformance_faults import MAKERS, Counting, answers, carries, refuses
from tests.support.faulty_provider import SECRET, Provider, Request, Response, serving

# Signatures have their own tests, and some of them wait.
ABOUT_ANSWERS = [id_ for id_, each in requirements().items() if each.scenario not in ("signatures", "hostile")]


def examined(provider: Provider, *, queries: tuple[str, ...] = ("ferry", "pass")) -> Report:
    with serving(provider) as url:
        return run(url, SECRET, only=ABOUT_ANSWERS, queries=queries)


def asked_with(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[], Provider]:
    """A provider that hears something else than it was asked; what is no object it hears as it is."""

    class Hearing(Provider):
        def retrieve(self, request: Request) -> Response:
            try:
                fields = json.loads(request.body)
            except (ValueError, RecursionError):
                return super().retrieve(request)
            heard = change(fields) if isinstance(fields, dict) else fields
            return super().retrieve(replace(request, body=json.dumps(heard).encode()))

    return Hearing


def finds(change: Callable[[str, str | None, list[dict[str, Any]]], list[dict[str, Any]]]) -> Callable[[], Provider]:
    """A provider that finds something else, by query, locale and what it should find."""

    class Finding_(Provider):
        def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
            return change(query, locale, super().found(query, locale, fallback))

    return Finding_


class Hoarder(Provider):
    """Finds fifteen passages."""

    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        some = super().found(query, locale, fallback)
        more = [self.result(number, "en") for number in range(6, 16)] if some and not locale else []
        return some + [one | {"score": 1 / int(one["documentId"][4:])} for one in more]


class KeepsTheQuestion(Counting):
    """Keeps the question where all requests write it."""

    query = ""

    def answered(self, request: Request, *, at_once: int) -> Response:
        self.query = str(json.loads(request.body).get("query"))
        time.sleep(0.03)
        heard = json.loads(request.body) | {"query": self.query}
        return super().answered(replace(request, body=json.dumps(heard).encode()), at_once=at_once)

    def retrieve(self, request: Request) -> Response:
        with self.lock:
            self.now += 1
        try:
            is_question = request.body.startswith(b'{"query":"') and b'"limit":10' in request.body
            return self.answered(request, at_once=self.now) if is_question else Provider.retrieve(self, request)
        finally:
            with self.lock:
                self.now -= 1


class EmptyWhenBusy(Counting):
    def answered(self, request: Request, *, at_once: int) -> Response:
        return self.answer(self.document([])) if at_once > 5 else super().answered(request, at_once=at_once)


class IgnoresLimitsAboveTen(Hoarder):
    def retrieve(self, request: Request) -> Response:
        return super().retrieve(replace(request, body=request.body.replace(b'"limit":11}', b'"limit":50}')))


class LeaksAtThree(Provider):
    def retrieve(self, request: Request) -> Response:
        response = super().retrieve(request)
        is_three = b'"limit":3' in request.body
        return replace(response, body=response.body.replace(b"public", b"secret")) if is_three else response


def with_body(body: bytes) -> Callable[[], Provider]:
    return answers(lambda response: replace(response, body=body) if response.status == 200 else response)


def one_more(fields: dict[str, Any]) -> dict[str, Any]:
    limit = fields.get("limit")
    return fields | {"limit": limit + 1} if isinstance(limit, int) and 0 < limit < 50 else fields


def nothing_with(name: str) -> Callable[[], Provider]:
    return asked_with(lambda fields: fields | {"query": "zqx"} if name in fields else fields)


def crash_at(words: str) -> Callable[[], Provider]:
    return refuses(lambda _request, fields: words in str(fields.get("query")), 500)


FAULTS: dict[str, tuple[Callable[[], Provider], set[str]]] = {
    "a-list": (MAKERS["answer.object"], {"answer.object"}),
    "null": (with_body(b"null"), {"answer.object"}),
    "text": (with_body(b'"results"'), {"answer.object"}),
    "a-number": (with_body(b"7"), {"answer.object"}),
    "no-json": (with_body(b"<html>"), {"json.valid"}),
    "results-of-numbers": (with_body(b'{"contractVersion":1,"results":[7]}'), {"answer.results"}),
    "nothing-found-is-404": (MAKERS["results.none"], {"results.none"}),
    "deadline-required": (MAKERS["request.deadline-optional"], {"request.deadline-optional"}),
    "one-spelling-of-headers": (MAKERS["request.header-names"], {"request.header-names"}),
    "limit-off-by-one": (asked_with(one_more), {"limit.obeyed"}),
    "limit-3-is-4": (asked_with(lambda f: one_more(f) if f.get("limit") == 3 else f), {"limit.obeyed"}),
    "limit-above-10-ignored": (IgnoresLimitsAboveTen, {"limit.obeyed"}),
    "nothing-at-50": (
        asked_with(lambda f: f | {"query": "zqx"} if f.get("limit") == 50 else f),
        {"limit.highest"},
    ),
    "fewer-at-50": (MAKERS["limit.no-fewer"], {"limit.no-fewer"}),
    "questions-mixed": (KeepsTheQuestion, {"concurrency.not-mixed"}),
    "empty-when-busy": (EmptyWhenBusy, {"concurrency.not-mixed"}),
    "wrong-at-one-limit": (LeaksAtThree, {"result.audience"}),
    "nothing-with-context": (nothing_with("context"), {"request.context-ignored", "request.unknown-fields"}),
    "nothing-with-unknown-fields": (nothing_with("futureField"), {"request.unknown-fields"}),
    "ids-change": (MAKERS["result.ids-stay"], {"result.ids-stay"}),
    "one-language-unheard": (
        finds(lambda _query, locale, some: [one | {"locale": "en"} for one in some] if locale == "de" else some),
        {"locale.obeyed"},
    ),
    "both-languages": (MAKERS["locale-fallback.not-needed"], {"locale-fallback.not-needed"}),
    "any-language": (MAKERS["locale-fallback.nothing-else"], {"locale-fallback.nothing-else"}),
    "30-february": (carries(reviewDueAt="2027-02-30T00:00:00Z"), {"result.review-due-at"}),
    "mark-in-snippet": (carries(snippet="A <mark>pass</mark>"), {"result.snippet-plain"}),
    "entity-in-title": (carries(title="Bed &amp; breakfast"), {"result.title-plain"}),
    "blank-title": (carries(title=""), {"result.title-told"}),
    "asterisk": (refuses(lambda _request, fields: fields.get("query") == "*a", 500), {"query.punctuation"}),
    "dollar": (crash_at("$$"), {"query.punctuation"}),
    "right-to-left": (crash_at("الحجز"), {"query.non-ascii"}),
    "line-feed": (MAKERS["query.line-breaks"], {"query.line-breaks"}),
    "negative-limit": (refuses(lambda _request, fields: fields.get("limit") == -1, 500), {"errors.out-of-range"}),
    "broken-limit": (refuses(lambda _request, fields: fields.get("limit") == 2.5, 500), {"errors.out-of-range"}),
    "locale-is-a-number": (refuses(lambda _request, fields: fields.get("locale") == 7, 500), {"errors.locale-type"}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_by_what_is_about_it_and_by_nothing_else(name: str) -> None:
    make, expected = FAULTS[name]
    report = examined(make())
    assert report.failed | report.warned == expected, [f for f in report.findings if f.status is not Status.PASSED]
    assert report.ids(Status.NOT_RUN) == frozenset()


@pytest.mark.parametrize("name", ["a-list", "null", "text", "no-json", "results-of-numbers"])
def test_what_cannot_be_judged_names_a_check_that_failed(name: str) -> None:
    report = examined(FAULTS[name][0]())
    (root,) = report.failed
    skipped = [finding for finding in report.findings if finding.because]
    assert "result.title" in {finding.id for finding in skipped if finding.status is Status.SKIPPED}
    assert {finding.because for finding in skipped} == {(root,)}
    assert all(finding.saw.endswith(f"; see {root}") for finding in skipped)


def test_one_check_alone_shows_what_it_could_not_be_judged_for() -> None:
    with serving(MAKERS["answer.object"]()) as url:
        report = run(url, SECRET, only=["result.title"])
    assert report.failed == {"answer.object"}
    assert report.skipped == {"result.title"}
    assert not report.ok


def test_a_skip_that_nothing_explains_fails() -> None:
    skipped = Finding("result.title", Status.SKIPPED, "no result was seen", ("json.valid", "results.found"))
    assert explained(skipped, {"results.found"}).saw == "no result was seen; see results.found"
    unexplained = explained(skipped, {"latency.deadline", "result.title"})
    assert (unexplained.status, unexplained.saw) == (Status.FAILED, "no result was seen, and no check says why")


def test_what_others_are_skipped_for_are_checks() -> None:
    assert set(ROOTS) <= requirements().keys()


def test_what_no_result_carries_is_not_judged_and_not_passed() -> None:
    report = examined(carries(revision=..., score=..., reviewDueAt=None)())
    assert {"result.revision", "result.score", "result.review-due-at", "scoring.ordered"} <= report.skipped


def test_scores_that_are_all_the_same_say_nothing_of_their_order() -> None:
    report = examined(carries(score=1)())
    saw = {finding.id: finding.saw for finding in report.findings if finding.status is Status.SKIPPED}
    assert saw == {
        "scoring.ordered": "no two scores of one answer differ; name a question of several words with --query"
    }


def test_who_finds_something_for_every_question_is_not_judged_by_its_empty_answer() -> None:
    report = examined(asked_with(lambda fields: fields | {"query": "ferry"} if "query" in fields else fields)())
    assert "results.none" in report.skipped
    assert not report.failed - {"errors.query-type", "errors.out-of-range"}


def test_a_slow_provider_is_asked_several_things_at_once_and_never_more_than_it_can_take() -> None:
    most = 0

    class Slow(Counting):
        def answered(self, request: Request, *, at_once: int) -> Response:
            nonlocal most
            with self.lock:
                most = max(most, at_once)
            time.sleep(0.4)
            return super().answered(request, at_once=at_once)

    report = examined(Slow())
    assert report.failed == frozenset()
    assert 10 <= most <= 20
