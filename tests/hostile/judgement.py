"""Whether what came of a behaviour is what it may cost, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from shared.observability import SEARCH_ANSWERED
from tests.e2e.running import Answer, Gateway
from tests.hostile.case import TEXT, WORDS
from tests.hostile.trial import GOOD, QUERY, Finding, Search

_RETRY_WITHIN_S = 60.0  # of what was expected: the searches take their time
_LATE_MS = 3_000  # after the deadline, on a busy machine with two cores; the promise is 50 ms, measured elsewhere
_FIELDS = {"title", "snippet", "url", "locale", "localeFallback"}


def faults(finding: Finding) -> list[str]:
    """What is otherwise than its case says; nothing for one that has cost no more than it may."""
    return [*_faults_for_agents(finding), *_faults_for_customers(finding), *_faults_at_the_provider(finding)]


def faults_of_search(search: Search) -> list[str]:
    """What must be so whoever is asked."""
    agent, customer = search.agent, search.customer
    return [
        *_faults_of_answer("agent", agent, search),
        *_faults_of_answer("customer", customer, search),
        *_faults_of_outcomes(search),
        *_faults_of_fields(customer),
    ]


def words_in_logs(gateway: Gateway) -> set[str]:
    """Which words of questions and answers stand in what the gateway has written."""
    files = [
        path for path in gateway.directory.rglob("*") if path.suffix == ".log" or path.name in ("stdout", "stderr")
    ]
    written = "\n".join(path.read_text(errors="replace") for path in files)
    assert SEARCH_ANSWERED in written, "these are not the logs"
    return {word for word in (WORDS, TEXT, QUERY) if word in written}


def _faults_for_agents(finding: Finding) -> Iterator[str]:
    case, outcome = finding.case, finding.outcome
    if finding.agents_outcome != case.outcome:
        yield f"outcome {finding.agents_outcome}"
    if outcome["resultCount"] != case.found:
        yield f"{outcome['resultCount']} results"
    if set(outcome["warnings"]) != case.warnings:
        yield f"warnings {outcome['warnings']}"
    for name, wanted in case.each.items():
        if len(finding.results) != case.found or any(result[name] != wanted for result in finding.results):
            yield f"{name} is {[result[name] for result in finding.results]}"
    if not _is_retry_right(finding):
        yield f"to be asked again at {outcome['retryAt']}"


def _is_retry_right(finding: Finding) -> bool:
    retry_at, wanted_s = finding.outcome["retryAt"], finding.case.retry_s
    if retry_at is None or wanted_s is None:
        return retry_at is wanted_s
    in_s = (datetime.fromisoformat(retry_at) - datetime.now(UTC)).total_seconds()
    return wanted_s - _RETRY_WITHIN_S < in_s <= wanted_s + 1


def _faults_for_customers(finding: Finding) -> Iterator[str]:
    if len(finding.shown) != finding.case.shown:
        yield f"{len(finding.shown)} shown to customers"


def _faults_at_the_provider(finding: Finding) -> Iterator[str]:
    """Asked once in each search; once more where a kept connection had died. No cookie comes back."""
    lanes = 2 if finding.case.exposure == "customer_safe" else 1
    most = 2 * lanes if finding.case.id.endswith("-used-again") else lanes
    if not 1 <= len(finding.questions) <= most:
        yield f"asked {len(finding.questions)} times"
    if any("cookie" in question.headers for question in finding.questions):
        yield "its cookie came back"


def _faults_of_answer(lane: str, answer: Answer, search: Search) -> Iterator[str]:
    if answer.status != 200:
        yield f"{lane}: {answer.status}"
    if answer.headers["content-type"] != "application/json":
        yield f"{lane}: {answer.headers['content-type']}"
    if WORDS in answer.data.decode() or any(WORDS in value for value in answer.headers.values()):
        yield f"{lane}: words that had to stay where they were"
    titles = [each["title"] for each in answer.json["results"]]
    if [title for title in titles if title.startswith(GOOD)] != [f"{GOOD} {n}" for n in (1, 2, 3)]:
        yield f"{lane}: the good provider's results are not all there"
    if {title.split(" ")[0] for title in titles} - search.ids.keys():
        yield f"{lane}: results of nobody"
    if answer.took_s * 1000 > search.deadline_ms + _LATE_MS:
        yield f"{lane}: {answer.took_s:.1f} s"


def _faults_of_outcomes(search: Search) -> Iterator[str]:
    outcomes = {each["id"]: each["status"] for each in search.agent.json["providers"]}
    if outcomes.keys() != set(search.ids.values()):
        yield "not one outcome for each"
    if outcomes[search.ids[GOOD]] != "success":
        yield "the good provider is no success"


def _faults_of_fields(customer: Answer) -> Iterator[str]:
    if any(set(result) != _FIELDS for result in customer.json["results"]):
        yield "a customer is told other fields than five"
    if customer.json.keys() != {"results"}:
        yield "a customer is told more than results"
