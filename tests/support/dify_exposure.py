"""The generated worlds and callers of `exposure_cases` on the path of Dify, and the checks that judge its answers."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

from shared.domain.credentials import Credential
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.registrations import Provider, ProviderStatus
from tests.support.exposure_cases import (
    EXTRA,
    INTERNAL,
    SAFE,
    SLIP,
    Case,
    Leak,
    Player,
    a_caller,
    a_change,
    a_world,
    count_kept,
    reachable,
    refuse_marks,
    slips_in,
)
from tests.support.search_stage import Answered, event_for

CUSTOMERS_METADATA = {"document_id", "url", "locale"}
AGENTS_METADATA = CUSTOMERS_METADATA | {"provider_id", "evidence"}
NEVER = (CredentialClass.ADMIN, CredentialClass.PUBLIC)
OF_A_KEY = {(403, 1001), (403, 1002), (429, 4002)}
AGENT, ASSISTANT = "dify by an agent", "dify by an assistant"


def a_dify_case(number: int) -> Case:
    chance = random.Random(f"dify {number}")
    providers, answers, shown = a_world(chance)
    credential, token, is_sound = a_caller(chance, providers)
    while credential.credential_class in NEVER and chance.random() < 0.8:
        credential, token, is_sound = a_caller(chance, providers)
    if credential.credential_class is CredentialClass.AGENT and chance.random() < 0.7:
        credential = replace(credential, grants=frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT}))
    route = AGENT if "_agt_" in (token or "") else ASSISTANT
    limit = chance.choice([1, 2, 10])
    return Case(
        number=number,
        providers=providers,
        answers=answers,
        shown=shown,
        credential=credential,
        is_admitted=is_sound and _may_enter(credential, route),
        route=route,
        event=_a_retrieval(chance, route, token, limit=limit, providers=providers),
        limit=limit,
        allowed_ids=frozenset(reachable(credential, providers)),
        change=a_change(chance, providers, credential),
    )


def _may_enter(credential: Credential, route: str) -> bool:
    if route == AGENT:
        is_agent = credential.credential_class is CredentialClass.AGENT
        return is_agent and Grant.EXTERNAL_KNOWLEDGE_AGENT in credential.grants
    return credential.credential_class is CredentialClass.ASSISTANT and Grant.READ_PUBLIC in credential.grants


def _a_retrieval(
    chance: random.Random, route: str, token: str | None, *, limit: int, providers: tuple[Provider, ...]
) -> dict[str, Any]:
    usual = "all" if route == AGENT else "public"
    one = chance.choice(providers).id
    body: dict[str, Any] = {
        "retrieval_setting": {"top_k": limit, "score_threshold": 0.5},
        "query": 'refund \\"override\\" code',
        "knowledge_id": chance.choices([usual, one, "all", "public", "ao_" + "a" * 16], weights=[8, 4, 1, 1, 1])[0],
        "metadata_condition": None,
    }
    if chance.random() < 0.3:  # fields that are not known are ignored: these must be, too
        body |= {"providers": [p.id for p in providers], "audience": "agent", "exposureProfile": "agent_only"}
    headers = {"x-request-id": "case", "x-audience": "agent", "x-helpthread-agent-id": "kim"}
    event = event_for("dify_retrieval", token, body, headers)
    return {**event, "rawQueryString": "knowledge_id=all", "queryStringParameters": {"knowledge_id": "all"}}


class DifyPlayer(Player):
    """Plays cases of `a_dify_case`."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: dict[int, str] = {}
        self.tally |= {"unknown": 0, "unanswered": 0}

    def play(self, case: Case) -> None:
        """Raises `Leak` for anything seen that may not be seen."""
        answer = self._send(case, case.providers)
        self.tally["slips_sent"] += sum(slips_in(case.answers[sent.source.id]) for sent in self.exchanges.sent)
        asked = {sent.source.id for sent in self.exchanges.sent}
        if not case.is_admitted:
            self._judge_refused(case, answer, asked)
        elif case.route == AGENT:
            self._judge_agent_records(case, answer, asked)
        else:
            self._judge_customer_records(case, answer, asked)
        if case.route != AGENT:
            without = tuple(p for p in case.providers if p.exposure_profile is SAFE)
            if (other := self._send(case, without)) != answer:
                raise Leak(f"case {case.number}: internal providers change the answer: {answer} / {other}")

    def _judge_refused(self, case: Case, answer: Answered, asked: set[str]) -> None:
        code = (answer.status, answer.json.get("error_code"))
        if code not in OF_A_KEY or asked:
            raise Leak(f"case {case.number}: {code} and {len(asked)} questions for a key that is not accepted")
        self._same_bytes(case, answer)
        refuse_marks(case, answer.text, INTERNAL, INTERNAL.lower(), *(p.id for p in case.providers))
        self.tally["refused"] += 1

    def _same_bytes(self, case: Case, answer: Answered) -> None:
        first = self.refusals.setdefault(answer.status * 10_000 + answer.json["error_code"], answer.text)
        if answer.text != first:
            raise Leak(f"case {case.number}: {answer.text} instead of {first}")

    def _judge_customer_records(self, case: Case, answer: Answered, asked: set[str]) -> None:
        seen = answer.text + str(answer.headers) + str(self.stage.log.lines)
        refuse_marks(case, seen, INTERNAL, INTERNAL.lower(), SLIP, SLIP.lower(), EXTRA, EXTRA.lower(), "ao_")
        refuse_marks(case, answer.text + str(answer.headers), *(p.id for p in case.providers), "centre", "agent_only")
        if self.internal_openings or any(not id_.startswith("cs_") for id_ in asked):
            raise Leak(f"case {case.number}: an internal provider was asked or its secret opened")
        if _knowledge_of(case) != "public":
            self._judge_unknown(case, answer, asked)
            return
        found = self._records(case, answer, metadata=CUSTOMERS_METADATA)
        allowed = [pair for pairs in case.shown.values() for pair in pairs[: case.limit]]
        shown = [(record["title"], record["content"]) for record in found]
        if not set(shown) <= set(allowed) or len(shown) != min(case.limit, count_kept(case)):
            raise Leak(f"case {case.number}: {len(shown)} records, of {len(allowed)} that may be seen")
        for record in found:
            if record["metadata"]["document_id"] not in (record["metadata"].get("url"), record["title"]):
                raise Leak(f"case {case.number}: a document is named")
        self.tally["customer_results"] += len(shown)

    def _judge_agent_records(self, case: Case, answer: Answered, asked: set[str]) -> None:
        if not asked <= _askable(case):
            raise Leak(f"case {case.number}: a provider was asked that is not among what was asked for")
        seen = answer.text + str(answer.headers)
        refuse_marks(case, seen, SLIP, SLIP.lower(), EXTRA, EXTRA.lower(), *(p.source.name for p in case.providers))
        knowledge = _knowledge_of(case)
        if knowledge != "all" and not _askable(case):
            self._judge_unknown(case, answer, asked)
            return
        if answer.status == 424 and set(answer.json) == {"error_code", "error_msg"}:
            refuse_marks(case, answer.text, INTERNAL, INTERNAL.lower(), *(p.id for p in case.providers))
            self.tally["unanswered"] += 1
            return
        for record in self._records(case, answer, metadata=AGENTS_METADATA):
            if record["metadata"]["provider_id"] not in asked:
                raise Leak(f"case {case.number}: a record comes from nowhere")
            self.tally["agent_internal"] += INTERNAL in record["title"]

    def _judge_unknown(self, case: Case, answer: Answered, asked: set[str]) -> None:
        if (answer.status, answer.json.get("error_code")) != (404, 2001) or asked:
            raise Leak(f"case {case.number}: {answer.status} for knowledge that is none")
        self._same_bytes(case, answer)
        self.tally["unknown"] += 1

    def _records(self, case: Case, answer: Answered, *, metadata: set[str]) -> list[dict[str, Any]]:
        if answer.status != 200 or set(answer.json) != {"records"}:
            raise Leak(f"case {case.number}: {answer.status}, keys {set(answer.json)}")
        found: list[dict[str, Any]] = answer.json["records"]
        for rank, record in enumerate(found, start=1):
            is_whole = set(record) == {"content", "score", "title", "metadata"}
            if not is_whole or not set(record["metadata"]) <= metadata or record["score"] != 1 / rank:
                raise Leak(f"case {case.number}: a record says too much")
        return found


def _knowledge_of(case: Case) -> str:
    return str(json.loads(case.event["body"])["knowledge_id"])


def _askable(case: Case) -> set[str]:
    knowledge = _knowledge_of(case)
    active = {p.id for p in case.providers if p.status is ProviderStatus.ACTIVE} & case.allowed_ids
    return active if knowledge == "all" else active & {knowledge}
