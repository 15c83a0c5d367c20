"""On the real store: of many that execute at once one sends, the dead leave doubt, and rows hold no words."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.domain.alexandria import LEASE_S, QUOTE_LIFE_S, Holder, ReceiptState
from shared.domain.alexandria_requests import Executed
from shared.domain.pools import Pool
from shared.errors import Conflict
from tests.contract.alexandria_worlds import PROVIDER_ID, request_of, stage_over
from tests.contract.worlds import StoreWorld
from tests.support.alexandria_fakes import a_quote
from tests.support.alexandria_stage import AlexandriaStage, priced, ran, refused
from tests.support.fake_exchanges import after, json_answer

pytestmark = pytest.mark.emulator
HOLDER = Holder("aaaaaaaaaaaaaaaa")
CALLERS = 64


@pytest.fixture
def stage(store: StoreWorld) -> Iterator[AlexandriaStage]:
    made = stage_over(store, holder=HOLDER)
    yield made
    made.close()


def quoted(store: StoreWorld) -> str:
    quote = a_quote(source_id=PROVIDER_ID, holder=HOLDER, expires_at=store.clock.now() + QUOTE_LIFE_S)
    asyncio.run(store.quotes().keep(quote))
    return quote.id


def executed_at_once(stage: AlexandriaStage, *requests: Any) -> list[Executed | Conflict]:
    """By as many threads, each with an event loop of its own, as so many instances have."""

    def execute(request: Any) -> Executed | Conflict:
        try:
            return asyncio.run(stage.parts.alexandria.execute(request))
        except Conflict as conflict:
            return conflict

    with ThreadPoolExecutor(len(requests)) as pool:
        return list(pool.map(execute, requests))


def test_sixty_four_executions_of_one_request_id_send_one_request(store: StoreWorld, stage: AlexandriaStage) -> None:
    quote_id = quoted(store)
    stage.answers(after(0.05, ran()))
    answers = executed_at_once(stage, *[request_of(stage, quote_id)] * CALLERS)
    assert len(stage.sent) == 1
    with_result = [one for one in answers if isinstance(one, Executed) and one.result is not None]
    assert len(with_result) == 1
    states = Counter(one.receipt.state for one in answers if isinstance(one, Executed))
    assert states.total() == CALLERS
    assert states.keys() <= {ReceiptState.STARTED, ReceiptState.DONE}
    assert len({one.receipt.claim for one in answers if isinstance(one, Executed)}) == 1


def test_of_different_requests_under_one_id_one_is_sent(store: StoreWorld, stage: AlexandriaStage) -> None:
    quote_id = quoted(store)
    stage.answers(after(0.05, ran()))
    requests = [request_of(stage, quote_id, rows=number) for number in range(16)]
    answers = executed_at_once(stage, *requests)
    assert len(stage.sent) == 1
    assert Counter(getattr(one, "code", "executed") for one in answers) == {"executed": 1, "request_id_reused": 15}


def test_a_refused_request_is_sent_again_by_one_of_many(store: StoreWorld, stage: AlexandriaStage) -> None:
    quote_id = quoted(store)
    stage.answers(refused(401), after(0.05, ran()))
    asyncio.run(stage.parts.alexandria.execute(request_of(stage, quote_id)))
    answers = executed_at_once(stage, *[request_of(stage, quote_id)] * 16)
    assert len(stage.sent) == 2
    assert sum(isinstance(one, Executed) and one.result is not None for one in answers) == 1


def test_other_request_ids_are_not_held_up(store: StoreWorld, stage: AlexandriaStage) -> None:
    quote_id = quoted(store)
    stage.answers(ran())
    answers = executed_at_once(stage, *[request_of(stage, quote_id, f"r-{number}") for number in range(16)])
    assert all(isinstance(one, Executed) and one.receipt.state is ReceiptState.DONE for one in answers)
    assert len(stage.sent) == 16


def test_a_process_that_was_killed_over_an_execution_leaves_it_unknown_for_ever(
    store: StoreWorld, stage: AlexandriaStage, aws_environment: dict[str, str]
) -> None:
    quote_id = quoted(store)
    executor = subprocess.Popen(
        [sys.executable, "-m", "tests.contract.alexandria_executor", HOLDER.credential_id, quote_id],
        env=os.environ | aws_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        if executor.stdout.readline() != "sent\n":
            raise AssertionError(executor.stderr.read())
    finally:
        executor.send_signal(signal.SIGKILL)
        executor.communicate()
    stage.answers(ran())
    again = asyncio.run(stage.parts.alexandria.execute(request_of(stage, quote_id)))
    assert (again.receipt.state, again.result) == (ReceiptState.STARTED, None)
    stage.clock.advance(LEASE_S)
    for _ in range(2):
        again = asyncio.run(stage.parts.alexandria.execute(request_of(stage, quote_id)))
        assert (again.receipt.state, again.receipt.credits) == (ReceiptState.UNKNOWN, None)
        stage.clock.advance(86_400)
    assert stage.sent == []


SENTINELS = {
    "key": "zq-key-7f3c",
    "spare key": "zq-spare-7f3c",
    "query": "zq-query-7f3c",
    "option name": "zq-name-7f3c",
    "option value": "zq-value-7f3c",
    "result": "zq-result-7f3c",
    "words": "zq-words-7f3c",
    "description": "zq-description-7f3c",
}


def all_rows(store: StoreWorld) -> str:
    rows = store.clients.raw.scan(TableName=store.internal_ledger, ConsistentRead=True)["Items"]
    assert rows
    return json.dumps(rows, default=str)


def upstream_said(status: int, **fields: Any) -> Any:
    words = {"error": SENTINELS["words"], "message": SENTINELS["words"], "requiresAction": None}
    return json_answer({"success": False, **words, **fields}, status=status, headers={"x-said": SENTINELS["words"]})


def test_no_key_query_option_or_word_of_the_service_is_kept_or_logged(
    store: StoreWorld, stage: AlexandriaStage
) -> None:
    stage.keys.entries[Pool.FIRECRAWL] = {
        "FIRECRAWL_API_KEY": SENTINELS["key"],
        "FIRECRAWL_API_KEY_1": SENTINELS["spare key"],
    }
    options = {SENTINELS["option name"]: [SENTINELS["option value"]]}
    steps = {
        "done": ran({"text": SENTINELS["result"]}),
        "tool failed": ran(error={"code": SENTINELS["words"], "message": SENTINELS["words"]}),
        "refused": upstream_said(403, code=SENTINELS["words"]),
        "terms": upstream_said(403, code="THIRD_PARTY_DATA_TERMS_REQUIRED"),
        "no credits": upstream_said(402, code="insufficient_credits"),
        "unknown": upstream_said(503, code="request_unresolved", chargeId=SENTINELS["words"]),
        "a fault": KeyError(SENTINELS["words"]),
    }
    texts = []
    stage.answers(upstream_said(500))
    texts.append(stage.post("search", {"query": SENTINELS["query"]}).text)
    for number, step in enumerate(steps.values()):
        stage.ledger.states.clear()
        stage.answers(priced(description=SENTINELS["description"], name=SENTINELS["description"]))
        quote = stage.post("inspect", {"tool": {"provider": "acmestats", "capability": "series/observations"}})
        stage.answers(step)
        for _ in range(2):
            answer = stage.execute(quote.json["quoteId"], f"r-{number}", options=options)
            texts.append(answer.text)
    assert SENTINELS["result"] in texts[1]
    texts[1] = ""  # the one answer that hands the result over
    sent = json.dumps([[list(one.request.headers), one.request.body.decode()] for one in stage.sent])
    for name in ("key", "spare key", "option name", "option value"):
        assert SENTINELS[name] in sent
    rows = all_rows(store)
    assert rows.count("RECEIPT#") == len(steps)
    for name, sentinel in SENTINELS.items():
        assert sentinel not in rows, name
        assert sentinel not in repr(stage.log.lines), name
        assert sentinel not in "".join(texts), name
