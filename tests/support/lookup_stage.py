"""The glossary in memory: the real routes and services of both lanes over stand-ins."""

from __future__ import annotations

import json
from typing import Any

from functions.lookup.routes import LookupParts, api_for
from shared.adapters.event_loop import ProcessLoop
from shared.domain.cards import Collection
from shared.domain.exposure import CredentialClass, Grant
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.look_up import LookUp
from shared.services.match import Match
from tests.support.builders import a_credential, a_token
from tests.support.card_fakes import (
    FakeCardReader,
    FakeCustomerCardReader,
    FakeCustomerVocabularies,
    FakeVocabularies,
    Shelf,
)
from tests.support.fakes import FakeClock, FakeCredentials, FakeRateLimits, FakeStore
from tests.support.search_stage import Answered, RecordedLog, event_for

Collected = Collection | str


class LookupStage:
    """`agent` and `assistant` send one request each, to `lookup` or `match`."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = FakeStore(clock=self.clock)
        self.shelf = Shelf(self.store)
        self.log = RecordedLog()
        self.loop = ProcessLoop()
        self.credentials = FakeCredentials(self.store.credentials.values())
        self.readers = FakeCardReader(self.shelf), FakeCustomerCardReader(self.shelf)
        self.vocabularies = FakeVocabularies(self.shelf), FakeCustomerVocabularies(self.shelf)
        self.agent_token = self.add_credential(credential_class=CredentialClass.AGENT)
        self.assistant_token = self.add_credential(
            credential_class=CredentialClass.ASSISTANT, grants=frozenset({Grant.READ_PUBLIC})
        )
        self._api = api_for(self._parts())

    def close(self) -> None:
        self.loop.close()

    def add_credential(self, **over: Any) -> str:
        """The new credential's token."""
        credential = a_credential(**over)
        self.store.credentials[credential.id] = credential
        return a_token(credential)

    def agent(self, verb: str, collection: Collected, **body: Any) -> Answered:
        return self.send(verb, collection, self.agent_token, body)

    def assistant(self, verb: str, collection: Collected, **body: Any) -> Answered:
        return self.send(verb, collection, self.assistant_token, body)

    def send(self, verb: str, collection: Collected, token: str | None, body: Any) -> Answered:
        event = event_for("search_agent", token, body)
        id_ = collection if isinstance(collection, str) else collection.id
        path = f"/api/v1/collections/{id_}/context-cards/{verb}"
        event["rawPath"] = event["requestContext"]["http"]["path"] = path
        response = self._api.handle(event, None)
        return Answered(status=response["statusCode"], headers=response["headers"], text=response.get("body") or "")

    def _parts(self) -> LookupParts:
        rate_limits = FakeRateLimits(clock=self.clock)
        admit = Admit(credentials=self.credentials, rate_limits=rate_limits, clock=self.clock)
        (reader, customer_reader), (words, customer_words) = self.readers, self.vocabularies
        same: dict[str, Any] = {"clock": self.clock, "logger": self.log}
        return LookupParts(
            admit=admit,
            admit_assistant=AdmitAssistant(admit=admit),
            look_up=LookUp(cards=reader, **same),
            look_up_for_customer=LookUp(cards=customer_reader, **same),
            match=Match(vocabularies=words, cards=reader, **same),
            match_for_customer=Match(vocabularies=customer_words, cards=customer_reader, **same),
            loop=self.loop,
            **same,
        )


def problem_of(answered: Answered) -> tuple[int, str]:
    return answered.status, json.loads(answered.text)["code"]
