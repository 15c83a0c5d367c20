"""Generated cases for the promise that nothing internal leaves on a customer path, and the checks that judge them.

A case is a world (providers of both exposure profiles, each with the answer that it will give), a caller (a credential
with its class, grants and flaws), a request (route, body, headers) and a change of state that happens between the
request and the answer. The same number always makes the same case. Everything that must not be seen carries a mark:

    INTERNAL   every text of an agent_only provider: its registration, and what it answers, however it is labelled
    SLIP       every text of a result that a customer_safe provider did not label public
    EXTRA      every key and value that the contract does not know
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from shared.domain.credentials import Credential, CredentialStatus
from shared.domain.exposure import CredentialClass, ExposureProfile, Grant
from shared.domain.registrations import Capabilities, Provider, ProviderStatus, Source
from shared.errors import ConnectionFailed, ExchangeTimeout
from shared.ports.exchange import Exchange, OutboundAnswer
from shared.providers.contract import ContractRetriever
from tests.support.builders import NOW, SECRET, a_credential, a_provider, a_token
from tests.support.card_builders import a_card, a_collection
from tests.support.fake_exchanges import FakeExchanges, json_answer
from tests.support.fakes import FakeClock
from tests.support.search_stage import ORIGIN, Answered, Stage, event_for, sealed_for

SAFE, INTERNAL_ONLY = ExposureProfile.CUSTOMER_SAFE, ExposureProfile.AGENT_ONLY
INTERNAL, SLIP, EXTRA = "zqInternalqz", "zqSlipqz", "zqExtraqz"
FIVE = {"title", "snippet", "url", "locale", "localeFallback"}
AGENT_RESULT = FIVE | {
    *("provider", "locator", "documentId", "audience", "evidence", "revision", "chunkId", "providerScore"),
    *("freshness", "reviewDueAt", "translationGroupId", "truncated"),
}
OUTCOME = {
    *("id", "name", "status", "errorCode", "durationMs", "resultCount", "truncated", "retryAt", "warnings"),
}
NOT_PUBLIC: tuple[Any, ...] = (
    *("internal", "PUBLIC", "Public", "public ", " public", "", "customer_safe", "publіc"),
    *(None, True, 1, 0, ["public"], {"public": True}),
)
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
# Every case has the same two glossaries; the query mentions a card of each.
SAFE_GLOSSARY = a_collection(id="csc_" + "b" * 16, name="open")
INTERNAL_GLOSSARY = a_collection(id="aoc_" + "b" * 16, name=INTERNAL, exposure_profile=INTERNAL_ONLY)
SAFE_CARD = a_card(SAFE_GLOSSARY, "refund", "override", title="", body="open")
INTERNAL_CARD = a_card(INTERNAL_GLOSSARY, "refund", INTERNAL, title=INTERNAL, body=INTERNAL)
CUSTOMERS_CARD = {"title": "refund", "body": "open", "keys": ["refund", "override"]}
AGENT_CARD = {"id", "collectionId", "keys", "title", "body", "normKeys", "generation", "createdAt", "updatedAt"}


class Leak(AssertionError):
    """Something was seen that the caller may not see."""


@dataclass(frozen=True)
class Case:
    number: int
    providers: tuple[Provider, ...]
    answers: dict[str, OutboundAnswer | Exception]
    shown: dict[str, list[tuple[str, str]]]  # by customer_safe provider: (title, snippet) of each public result
    credential: Credential
    is_admitted: bool
    route: str  # by what the caller claims to be: agent, assistant or widget
    event: dict[str, Any]
    limit: int
    allowed_ids: frozenset[str]  # what the caller may reach as an agent
    change: Callable[[Stage], None]


# --- generating ----------------------------------------------------------------------------------


def a_case(number: int) -> Case:
    chance = random.Random(number)
    providers, answers, shown = a_world(chance)
    credential, token, is_sound = a_caller(chance, providers)
    at_the_widgets_door = chance.random() < (0.9 if credential.credential_class is CredentialClass.PUBLIC else 0.1)
    route = "widget" if at_the_widgets_door else "agent" if "_agt_" in (token or "") else "assistant"
    limit = chance.choice([1, 2, 10])
    event = _a_request(chance, route, token, limit=limit, providers=providers)
    return Case(
        number=number,
        providers=providers,
        answers=answers,
        shown=shown,
        credential=credential,
        is_admitted=is_sound and _may_enter(credential, route, event["headers"].get("origin")),
        route=route,
        event=event,
        limit=limit,
        allowed_ids=frozenset(reachable(credential, providers)),
        change=a_change(chance, providers, credential),
    )


def a_world(chance: random.Random) -> tuple[Any, Any, Any]:
    providers, answers, shown = [], {}, {}
    for place in range(chance.randint(1, 5)):
        provider = _a_registration(chance, place)
        answer, public = _an_answer(chance, provider)
        providers.append(provider)
        answers[provider.id] = answer
        if provider.exposure_profile is SAFE and provider.status is ProviderStatus.ACTIVE:
            shown[provider.id] = public
    return tuple(providers), answers, shown


def _a_registration(chance: random.Random, place: int) -> Provider:
    exposure = chance.choice([SAFE, INTERNAL_ONLY])
    mark = INTERNAL if exposure is INTERNAL_ONLY else "centre"
    id_ = ("ao_" if exposure is INTERNAL_ONLY else "cs_") + "".join(chance.choices(_BASE32, k=16))
    active = chance.random() < 0.8
    return a_provider(
        exposure_profile=exposure,
        id=id_,
        name=f"{mark} {place} {id_}",
        module=mark.lower(),
        base_url=f"https://{mark.lower()}{place}.fern-desk.test/v1",
        status=ProviderStatus.ACTIVE
        if active
        else chance.choice([ProviderStatus.DISABLED, ProviderStatus.AUTO_DISABLED]),
        priority=chance.choice([0, 100, 100]),
        send_conversation_id=chance.random() < 0.5,
        capabilities=Capabilities(scoring=chance.random() < 0.5, locale=chance.random() < 0.5),
        created_at=NOW + place,
        signing=sealed_for(id_, f"kgs_{mark}", exposure=exposure),
    )


def _an_answer(chance: random.Random, provider: Provider) -> tuple[OutboundAnswer | Exception, list[tuple[str, str]]]:
    kind = chance.random()
    if kind < 0.05:
        return chance.choice([ConnectionFailed(), ExchangeTimeout(), KeyError(INTERNAL)]), []
    results = [_a_result(chance, provider, place) for place in range(chance.randint(0, 4))]
    document = {"contractVersion": 1, "results": results, **_extras(chance), "returnedLocale": EXTRA}
    if kind < 0.10:
        return json_answer(document, status=chance.choice([401, 403, 429, 500]), headers={"retry-after": "41"}), []
    if kind < 0.15:
        twice = json.dumps(document).replace('"audience"', '"audience": "public", "audience"')
        answer = OutboundAnswer(status=200, headers={"content-type": "application/json"}, body=twice.encode())
        return answer, [] if results and any("audience" in one for one in results) else _public(results)
    return json_answer(document), _public(results)


def _public(results: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["title"], one["snippet"]) for one in results if one.get("audience") == "public"]


def _a_result(chance: random.Random, provider: Provider, place: int) -> dict[str, Any]:
    labelled = chance.random() < 0.6
    mark = INTERNAL if provider.exposure_profile is INTERNAL_ONLY else "open" if labelled else SLIP
    text = f"{mark} {provider.id[3:9]} {place}"
    result: dict[str, Any] = {
        "documentId": f"{mark}-d{place}",
        "title": f"title {text}",
        "snippet": f"snippet {text} " + "word " * chance.choice([0, 3, 400]),
        "audience": "public" if labelled else chance.choice(NOT_PUBLIC),
        "revision": f"{mark}-r",
        "chunkId": f"{mark}-c",
        "url": f"https://{mark.lower()}.fern-desk.example/{place}",
        "locale": chance.choice(["en", "de-AT", f"x-{mark.lower()[2:10]}"]),
        "score": chance.choice([0.125, 0.5, 9.75]),
        "translationGroupId": f"{mark}-g",
        **_extras(chance),
    }
    result["snippet"] = result["snippet"].strip()
    if not labelled and chance.random() < 0.3:
        del result["audience"]
    for name in ("revision", "chunkId", "url", "locale", "score", "translationGroupId"):
        if chance.random() < 0.2:
            del result[name]
    return result


def _extras(chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.5:
        return {}
    return {
        "internal_note": EXTRA,
        "source_path": f"/srv/kb/{EXTRA}",
        "debug": {EXTRA: [EXTRA]},
        "meta": {"owner_email": f"{EXTRA}@fern-desk.test", "audience": "public"},
        "locale_fallback": EXTRA,
        "Audience": "public",
        EXTRA: 1,
    }


def a_caller(chance: random.Random, providers: tuple[Provider, ...]) -> tuple[Credential, str | None, bool]:
    """A credential, the token that is sent, and whether the two are sound: same secret and class, active, in rate."""
    credential_class = chance.choices(list(CredentialClass), weights=[1, 2, 4, 4])[0]
    grants = chance.choices([(Grant.READ_PUBLIC,), (), tuple(Grant), (Grant.READ_INTERNAL,)], weights=[5, 1, 1, 1])[0]
    flaw = chance.random()
    some = tuple(p.id for p in providers if chance.random() < 0.5)
    credential = a_credential(
        credential_class=credential_class,
        id="".join(chance.choices(_BASE32, k=16)),
        grants=frozenset(grants),
        origins=(ORIGIN,) if credential_class is CredentialClass.PUBLIC else (),
        allowed_providers=some if chance.random() < 0.3 else None,
        status=CredentialStatus.DISABLED if flaw < 0.03 else CredentialStatus.ACTIVE,
        expires_at=NOW if 0.03 <= flaw < 0.06 else None,
        rate_per_minute=0 if 0.06 <= flaw < 0.08 else 1_000_000,
        address_rate_per_minute=1_000_000,
    )
    token = a_token(credential, secret="00" * 32 if 0.08 <= flaw < 0.11 else SECRET)
    if 0.11 <= flaw < 0.13:
        return credential, None, False
    if 0.13 <= flaw < 0.16:
        claimed = chance.choice([one for one in CredentialClass if one is not credential_class])
        return credential, token.replace(f"_{credential_class}_", f"_{claimed}_"), False
    return credential, token, flaw >= 0.11


def _may_enter(credential: Credential, route: str, origin: str | None) -> bool:
    if route == "widget":
        return credential.credential_class is CredentialClass.PUBLIC and origin == ORIGIN
    if route == "agent":
        return credential.credential_class is CredentialClass.AGENT
    return credential.credential_class is CredentialClass.ASSISTANT and Grant.READ_PUBLIC in credential.grants


def _a_request(
    chance: random.Random, route: str, token: str | None, *, limit: int, providers: tuple[Provider, ...]
) -> dict[str, Any]:
    body: dict[str, Any] = {"query": "refund override code", "limit": limit}
    headers: dict[str, Any] = {"x-request-id": "case", "x-audience": "agent", "x-forwarded-host": INTERNAL_ONLY}
    if chance.random() < 0.4:
        body["locale"] = chance.choice(["en", "de"])
    if chance.random() < (0.5 if route == "agent" else 0.1):
        body["providers"] = [p.id for p in providers if chance.random() < 0.7] + ["ao_" + "a" * 16, "who?"]
    if route != "agent" and chance.random() < 0.05:
        body |= chance.choice([{"audience": "agent"}, {"exposureProfile": "agent_only"}, {"context": {}}])
    if route != "widget" and chance.random() < 0.3:
        body["collections"] = chance.sample([SAFE_GLOSSARY.id, INTERNAL_GLOSSARY.id, "glossary"], chance.randint(1, 3))
    if route == "widget":
        headers["origin"] = ORIGIN if chance.random() < 0.9 else chance.choice(["https://evil.test", "null", None])
    name = {"agent": "search_agent", "assistant": "search_assistant", "widget": "widget_search"}[route]
    event = event_for(name, token, body, headers)
    return {**event, "rawQueryString": "profile=agent_only", "queryStringParameters": {"profile": "agent_only"}}


def reachable(credential: Credential, providers: tuple[Provider, ...]) -> set[str]:
    if credential.credential_class is not CredentialClass.AGENT:
        return set()
    allowed = credential.allowed_providers
    return {p.id for p in providers if allowed is None or p.id in allowed}


def a_change(chance: random.Random, providers: tuple[Provider, ...], credential: Credential) -> Callable[[Stage], None]:
    """What happens in the store after the providers were asked and before they answer."""
    provider, kind = chance.choice(providers), chance.choice(["none", "disable", "delete", "rotate", "revoke", "add"])

    def change(stage: Stage) -> None:
        registrations = stage.store.registrations
        if kind == "disable":
            registrations[provider.id] = replace(provider, status=ProviderStatus.DISABLED).with_source(
                generation=provider.generation + 1
            )
        elif kind == "delete":
            registrations.pop(provider.id, None)
        elif kind == "rotate":
            sealed = sealed_for(provider.id, "kgs_rotated", exposure=provider.exposure_profile)
            registrations[provider.id] = provider.with_source(signing=sealed, generation=provider.generation + 1)
        elif kind == "revoke":
            stage.store.credentials.pop(credential.id, None)
        elif kind == "add":
            added = a_provider(exposure_profile=INTERNAL_ONLY, name=INTERNAL)
            registrations[added.id] = added

    return change


# --- playing -------------------------------------------------------------------------------------


class ChangingExchanges(FakeExchanges):
    """Lets the state change when the first provider is asked, before any has answered."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        super().__init__(clock=self.clock, answer=json_answer({"contractVersion": 1, "results": []}))
        self.change: Callable[[], None] = _nothing

    def open(self, source: Source, *, deadline: Any) -> Exchange:
        change, self.change = self.change, _nothing
        change()
        return super().open(source, deadline=deadline)


def _nothing() -> None:
    """No change."""


class Player:
    """One gateway in memory that plays case after case, with the real parser of contract answers."""

    def __init__(self) -> None:
        self.exchanges = ChangingExchanges()
        retriever = ContractRetriever(clock=self.exchanges.clock, allow_test_names=False)
        self.stage = Stage(retriever=retriever, exchanges=self.exchanges)
        self.internal_openings = 0
        self._count_internal_openings()
        self.tally = {"customer_results": 0, "agent_internal": 0, "slips_sent": 0, "refused": 0}
        self.tally |= {"customer_cards": 0, "internal_cards": 0}

    def close(self) -> None:
        self.stage.close()

    def play(self, case: Case) -> None:
        """Raises `Leak` for anything seen that may not be seen."""
        answer = self._send(case, case.providers)
        self.tally["slips_sent"] += sum(slips_in(case.answers[sent.source.id]) for sent in self.exchanges.sent)
        if case.route == "agent":
            self._judge_agent(case, answer)
            return
        self._judge_customer(case, answer)
        # The same request to a world without internal providers: not one byte may differ.
        without = tuple(p for p in case.providers if p.exposure_profile is SAFE)
        if (other := self._send(case, without)) != answer:
            raise Leak(f"case {case.number}: internal providers change the answer: {answer} / {other}")

    def _send(self, case: Case, providers: tuple[Provider, ...]) -> Answered:
        stage = self.stage
        for store in (stage.store.registrations, stage.store.credentials, stage.rate_limits.counts):
            store.clear()
        stage.log.lines.clear()
        self.exchanges.sent.clear()
        self.internal_openings = 0
        stage.store.registrations |= {p.id: p for p in providers}
        self._set_out_cards(with_internal=providers is case.providers)
        stage.store.credentials[case.credential.id] = case.credential
        for id_, step in case.answers.items():
            self.exchanges.script(id_, step)
        self.exchanges.change = lambda: case.change(stage)
        return stage.send_widget(case.event) if case.route == "widget" else stage.send_search(case.event)

    def _set_out_cards(self, *, with_internal: bool) -> None:
        self.stage.shelf.clear()
        self.stage.shelf.add(SAFE_GLOSSARY, SAFE_CARD)
        if with_internal:
            self.stage.shelf.add(INTERNAL_GLOSSARY, INTERNAL_CARD)

    def _judge_customer(self, case: Case, answer: Answered) -> None:
        seen = answer.text + str(answer.headers) + str(self.stage.log.lines)
        refuse_marks(case, seen, INTERNAL, INTERNAL.lower(), SLIP, SLIP.lower(), EXTRA, EXTRA.lower(), "ao_", "aoc_")
        refuse_marks(case, answer.text + str(answer.headers), *(p.id for p in case.providers), "centre", "agent_only")
        asked = [sent.source.id for sent in self.exchanges.sent if not sent.source.id.startswith("cs_")]
        if asked or self.internal_openings:
            raise Leak(f"case {case.number}: an internal provider was asked or its secret opened")
        if self._is_refused(case, answer):
            return
        self._judge_customer_results(case, answer.json)

    def _judge_customer_results(self, case: Case, answer: dict[str, Any]) -> None:
        named = json.loads(case.event["body"]).get("collections")
        expected = {"results"} | ({"cards"} if named else set())
        if set(answer) != expected:
            raise Leak(f"case {case.number}: keys {set(answer)}")
        cards = [CUSTOMERS_CARD] if named and SAFE_GLOSSARY.id in named else []
        if answer.get("cards", []) != cards:
            raise Leak(f"case {case.number}: {len(answer['cards'])} cards")
        self.tally["customer_cards"] += len(cards)
        if any(set(result) != FIVE for result in answer["results"]):
            raise Leak(f"case {case.number}: a result has other fields")
        allowed = [pair for pairs in case.shown.values() for pair in pairs[: case.limit]]
        shown = [(result["title"], result["snippet"]) for result in answer["results"]]
        if not set(shown) <= set(allowed) or len(shown) != min(case.limit, count_kept(case)):
            raise Leak(f"case {case.number}: {len(shown)} results, of {len(allowed)} that may be seen")
        self.tally["customer_results"] += len(shown)

    def _judge_agent(self, case: Case, answer: Answered) -> None:
        asked = {sent.source.id for sent in self.exchanges.sent}
        if not asked <= case.allowed_ids:
            raise Leak(f"case {case.number}: a provider beyond the credential was asked")
        refuse_marks(case, answer.text + str(answer.headers), SLIP, SLIP.lower(), EXTRA, EXTRA.lower())
        if self._is_refused(case, answer):
            refuse_marks(case, answer.text, INTERNAL, INTERNAL.lower(), *(p.id for p in case.providers))
            return
        document = answer.json
        beyond = [p for p in case.providers if p.id not in case.allowed_ids]
        refuse_marks(case, answer.text, *(p.source.name for p in beyond))
        if any(
            set(one) != OUTCOME or (one["id"] not in case.allowed_ids and one["name"]) for one in document["providers"]
        ):
            raise Leak(f"case {case.number}: an outcome says too much")
        named = json.loads(case.event["body"]).get("collections", [])
        for card in document["cards"]:
            if set(card) != AGENT_CARD or card["collectionId"] not in named:
                raise Leak(f"case {case.number}: a card says too much or comes from nowhere")
            self.tally["internal_cards"] += card["title"] == INTERNAL
        for result in document["results"]:
            if set(result) != AGENT_RESULT or result["provider"]["id"] not in asked:
                raise Leak(f"case {case.number}: a result says too much or comes from nowhere")
            self.tally["agent_internal"] += INTERNAL in result["title"]

    def _is_refused(self, case: Case, answer: Answered) -> bool:
        if answer.status == 200 and case.is_admitted:
            return False
        if answer.status == 200 or self.exchanges.sent:
            raise Leak(f"case {case.number}: a caller without admission was answered or caused questions")
        if answer.status not in (401, 403, 422, 429) or (case.is_admitted and answer.status != 422):
            raise Leak(f"case {case.number}: status {answer.status}")
        self.tally["refused"] += 1
        return True

    def _count_internal_openings(self) -> None:
        unsealer = self.stage.unsealers[INTERNAL_ONLY]
        unseal = unsealer.unseal

        async def counted(*args: Any, **named: Any) -> str:
            self.internal_openings += 1
            return await unseal(*args, **named)

        unsealer.unseal = counted  # type: ignore[method-assign]


def count_kept(case: Case) -> int:
    """How many results may be seen: of each provider, the public ones among the first `limit` that it returned."""
    total = 0
    for id_, pairs in case.shown.items():
        answer = case.answers[id_]
        if not pairs or not isinstance(answer, OutboundAnswer):
            continue
        results = json.loads(answer.body)["results"][: case.limit]
        total += sum(one.get("audience") == "public" for one in results)
    return total


def slips_in(answer: OutboundAnswer | Exception) -> bool:
    return isinstance(answer, OutboundAnswer) and SLIP.encode() in answer.body


def refuse_marks(case: Case, seen: str, *marks: str) -> None:
    for mark in marks:
        if mark in seen:
            raise Leak(f"case {case.number}: {mark} was seen on the {case.route} path")
