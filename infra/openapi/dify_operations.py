"""The gateway as external knowledge of a Dify: one operation, in Dify's shape, errors included."""

from __future__ import annotations

from typing import Any

from infra.openapi.operation import Operation, OwnError
from shared.web.dify_answers import DifyRecords, DifyRefusal
from shared.web.dify_requests import DifyRetrievalBody

Json = dict[str, Any]

_REFUSALS: tuple[tuple[int, int, str, str], ...] = (
    (400, 4001, "The body is no retrieval; also what the check of a key gets.", "The request is not valid."),
    (403, 1001, "The header Authorization is none.", "Send the header Authorization: Bearer, a space, and the key."),
    (403, 1002, "The key is not accepted: the same bytes for every reason.", "This key is not accepted here."),
    (404, 2001, "There is no such knowledge for this key.", "There is no such knowledge."),
    (424, 5001, "Class agt: of the sources that were asked, not one answered.", "The provider gave nothing usable."),
    (429, 4002, "The key has asked too often within a minute.", "Too many requests. Wait for the next minute."),
    (500, 5003, "The gateway failed in a way nobody expected.", "The gateway failed."),
    (503, 5002, "The gateway's own store cannot be used now.", "The gateway's own store is unavailable."),
)

DIFY_REQUESTS: dict[str, Json] = {
    "DifyRetrievalBody": {
        "retrieval_setting": {"top_k": 5, "score_threshold": 0.0},
        "query": "night ferry pass",
        "knowledge_id": "public",
        "metadata_condition": None,
    },
}
_URL = "https://help.example.com/ferry-passes"
DIFY_ANSWERS: dict[str, Json] = {
    "DifyRecords": {
        "records": [
            {
                "content": "A ferry pass is valid on every night ferry.",
                "score": 1.0,
                "title": "Ferry passes",
                "metadata": {"document_id": _URL, "url": _URL, "locale": "en"},
            },
            {
                "content": "Night ferries leave from pier 4.",
                "score": 0.5,
                "title": "Night ferries",
                "metadata": {
                    "document_id": "night-ferries",
                    "provider_id": "cs_k3j5mq2x7a4bwz6t",
                    "evidence": "source_excerpt",
                },
            },
        ]
    },
    **{f"Dify{code}": {"error_code": code, "error_msg": text} for _, code, _, text in _REFUSALS},
}

DIFY_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "/api/v1/dify/retrieval"): Operation(
        id="retrieveForDify",
        tag="External knowledge",
        summary="Find passages for a Dify that has this gateway as external knowledge",
        description=(
            "Dify's External Knowledge API: the endpoint to type in is the address of the gateway with `/api/v1/dify`. "
            "A token of class ast reaches what an assistant's search reaches (`knowledge_id`: `public`); one of class "
            "agt is taken only with the grant `external_knowledge:agent` (`all`, or the id of one provider). Fields "
            "that are not known are ignored here. The answer comes within four seconds. A body that is missing gets a "
            "400 with a key that works, a 403 with one that does not."
        ),
        tokens=("assistantToken", "agentToken"),
        request=(DifyRetrievalBody,),
        answer=(DifyRecords,),
        own_errors=tuple(
            OwnError(status=status, words=f"`{code}`: {words}", model=DifyRefusal, example=f"Dify{code}")
            for status, code, words, _ in _REFUSALS
        ),
    ),
}
