"""The routes of the glossary. The class that the token claims decides the lane; nothing of the body is told, and
nothing is read, before the token is verified.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from shared.adapters.event_loop import ProcessLoop
from shared.domain.cards import Card, CustomerCard
from shared.domain.credentials import Principal
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import parse_token
from shared.errors import Unauthenticated
from shared.ports.clock import Clock
from shared.ports.front_door import FrontDoor
from shared.services.admit import Admit
from shared.services.admit_assistant import AdmitAssistant
from shared.services.look_up import LookUp, LookUpRequest
from shared.services.match import Match, MatchRequest
from shared.web import card_answers, customer_card_answers
from shared.web.api import Api, answer
from shared.web.card_requests import read_lookup, read_match
from shared.web.events import bearer_of

# Reading the keys of a large collection anew takes some seconds.
DEADLINE_S = 15.0

Admission: TypeAlias = "Coroutine[Any, Any, Principal]"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupParts:
    """Of each verb one for each lane."""

    admit: Admit
    admit_assistant: AdmitAssistant
    look_up: LookUp[Card]
    look_up_for_customer: LookUp[CustomerCard]
    match: Match[Card]
    match_for_customer: Match[CustomerCard]
    clock: Clock
    loop: ProcessLoop
    logger: Logger
    front: FrontDoor | None = None


def api_for(parts: LookupParts) -> Api:
    api = Api(parts.logger, front=parts.front)
    cards = "/api/v1/collections/{collection_id}/context-cards"

    @api.route("POST", cards + "/lookup")
    def look_up(collection_id: str) -> Response[str]:
        request = LookUpRequest(
            collection_id=collection_id,
            terms=read_lookup(api.event),
            deadline=_deadline(parts),
            request_id=api.request_id,
        )
        if lane := _agents(parts, api):
            return answer(card_answers.encoded_lookup(parts.loop.run(parts.look_up(request, admission=lane))))
        work = parts.look_up_for_customer(request, admission=_assistants(parts, api))
        return answer(customer_card_answers.encoded_lookup(parts.loop.run(work)))

    @api.route("POST", cards + "/match")
    def match(collection_id: str) -> Response[str]:
        request = MatchRequest(
            collection_id=collection_id,
            wish=read_match(api.event),
            deadline=_deadline(parts),
            request_id=api.request_id,
        )
        if lane := _agents(parts, api):
            return answer(card_answers.encoded_match(parts.loop.run(parts.match(request, admission=lane))))
        work = parts.match_for_customer(request, admission=_assistants(parts, api))
        return answer(customer_card_answers.encoded_match(parts.loop.run(work)))

    return api


def _deadline(parts: LookupParts) -> Deadline:
    return Deadline.after(DEADLINE_S, now_s=parts.clock.monotonic())


def _agents(parts: LookupParts, api: Api) -> Admission | None:
    """What admits the caller on the agent lane; None for a token that does not claim to be an agent's."""
    token = bearer_of(api.event)
    return parts.admit(token, classes=(CredentialClass.AGENT,)) if _class_of(token) is CredentialClass.AGENT else None


def _assistants(parts: LookupParts, api: Api) -> Admission:
    token = bearer_of(api.event)
    if _class_of(token) is not CredentialClass.ASSISTANT:
        raise Unauthenticated("Send a bearer token of class agt or ast.")
    return parts.admit_assistant(token)


def _class_of(token_text: str | None) -> CredentialClass | None:
    token = parse_token(token_text) if token_text else None
    return token.credential_class if token else None
