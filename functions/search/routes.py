"""The search route for agents and assistants. The class that the token claims decides what the body may hold; nothing
of the body is told, and nobody is asked, before the token is verified.
"""

from __future__ import annotations

from typing import Final

from aws_lambda_powertools.event_handler import Response

from functions.search.parts import SearchParts
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import parse_token
from shared.errors import Problem, Unauthenticated
from shared.services.search import AgentRequest
from shared.services.search_for_customer import CustomerRequest
from shared.web import agent_answers, customer_answers
from shared.web.api import Api, answer
from shared.web.customer_requests import read_assistant_search
from shared.web.customer_shown_cards import customer_cards_out
from shared.web.events import bearer_of
from shared.web.search_requests import read_agent_search

DIFY_PATH: Final = "/api/v1/dify/retrieval"


def api_for(parts: SearchParts) -> Api:
    api = Api(parts.logger, front=parts.front)

    @api.route("POST", "/api/v1/knowledge/search")
    def search() -> Response[str]:
        token_text = bearer_of(api.event)
        token = parse_token(token_text) if token_text else None
        if token is not None and token.credential_class is CredentialClass.AGENT:
            return _for_agent(parts, api, token_text)
        if token is not None and token.credential_class is CredentialClass.ASSISTANT:
            return _for_assistant(parts, api, token_text)
        raise Unauthenticated("Send a bearer token of class agt or ast.")

    _add_dify(api, parts)
    return api


def _add_dify(api: Api, parts: SearchParts) -> None:
    """Its modules are loaded when a Dify first asks: most processes never are asked by one."""

    def refused(problem: Problem) -> Response[str]:
        from shared.web.dify_answers import refused

        return refused(problem)

    @api.route("POST", DIFY_PATH)
    def retrieve() -> Response[str]:
        from functions.search.dify import retrieve

        return retrieve(parts, api)

    api.refuse_by(DIFY_PATH, refused)


def _for_agent(parts: SearchParts, api: Api, token: str | None) -> Response[str]:
    received_s = parts.clock.monotonic()
    ask = read_agent_search(api.event)
    request = AgentRequest(
        token=token,
        agent_id=ask.agent_id,
        search=ask.search,
        deadline=Deadline.after(ask.deadline_ms / 1000, now_s=received_s),
        request_id=api.request_id,
    )
    found = parts.loop.run(parts.search(request))
    headers = agent_answers.headers_of(found, now=parts.clock.now())
    return answer(agent_answers.encoded(found, request_id=api.request_id), headers=headers)


def _for_assistant(parts: SearchParts, api: Api, token: str | None) -> Response[str]:
    received_s = parts.clock.monotonic()
    ask = read_assistant_search(api.event)
    request = CustomerRequest(
        question=ask.question,
        deadline=Deadline.after(ask.deadline_ms / 1000, now_s=received_s),
        request_id=api.request_id,
    )
    work = parts.search_for_assistant(request, collections=ask.collections, admission=parts.admit_assistant(token))
    found, found_cards = parts.loop.run(work)
    cards = customer_cards_out(found_cards.cards) if found_cards else None
    return answer(customer_answers.encoded(found, cards=cards))
