"""The way back: Dify's External Knowledge API, answered from this gateway's own search, so that a Dify can add it as a
knowledge base.

An assistant's key reaches what an assistant's search reaches. An agent's key is taken only with a grant of its own:
what Dify makes of the records may reach anybody. Nothing of the body is told, and nobody is asked, before the key is
verified.
"""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response

from functions.search.parts import SearchParts
from shared.domain.deadlines import Deadline
from shared.domain.exposure import CredentialClass, Grant
from shared.domain.external_knowledge import check_agent_answer
from shared.domain.identifiers import parse_token
from shared.errors import Unauthenticated
from shared.services.search import AgentRequest
from shared.services.search_for_customer import CustomerRequest
from shared.web import dify_answers
from shared.web.agent_answers import degraded_of
from shared.web.api import Api, answer
from shared.web.dify_requests import DEADLINE_MS, read_for_agent, read_for_assistant
from shared.web.events import bearer_of


def retrieve(parts: SearchParts, api: Api) -> Response[str]:
    """Raises Problems; `dify_answers.refused` says them in Dify's way."""
    token_text = bearer_of(api.event)
    if token_text is None:
        return dify_answers.malformed_authorization()
    token = parse_token(token_text)
    if token is not None and token.credential_class is CredentialClass.AGENT:
        return _for_agent(parts, api, token_text)
    if token is not None and token.credential_class is CredentialClass.ASSISTANT:
        return _for_assistant(parts, api, token_text)
    raise Unauthenticated


def _for_agent(parts: SearchParts, api: Api, token: str) -> Response[str]:
    deadline = _deadline(parts)
    request = AgentRequest(
        token=token,
        agent_id=None,
        search=read_for_agent(api.event),
        deadline=deadline,
        request_id=api.request_id,
        needs=Grant.EXTERNAL_KNOWLEDGE_AGENT,
    )
    found = parts.loop.run(parts.search(request))
    check_agent_answer(found)
    return answer(dify_answers.agent_records(found), headers=degraded_of(found))


def _for_assistant(parts: SearchParts, api: Api, token: str) -> Response[str]:
    deadline = _deadline(parts)
    request = CustomerRequest(question=read_for_assistant(api.event), deadline=deadline, request_id=api.request_id)
    admission = parts.admit_assistant(token)
    found, _ = parts.loop.run(parts.search_for_assistant(request, collections=(), admission=admission))
    return answer(dify_answers.customer_records(found))


def _deadline(parts: SearchParts) -> Deadline:
    return Deadline.after(DEADLINE_MS / 1000, now_s=parts.clock.monotonic())
