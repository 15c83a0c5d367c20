"""Self-hosted servers on loopback, as indiscreet as the hosted services beside them: errors in each product's own words
repeat what was asked, of which knowledge base and with which credential, and successes say more than was asked for.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.support.indiscreet_services import CHALLENGES, Asked, Json, Said, Services, on_loopback, said
from tests.support.telltale import HIDDEN, NAMED, REMOTE, SHOWN

KINDS: Final = ("dify", "dify_external", "fastgpt", "ragflow")
OURS_NEVER: Final = ("unauthorized", "forbidden", "proxy", "rate")  # statuses that speak of the gateway's credential
# `enveloped`: a refusal of the credential under 200. `missing`: of the knowledge base. `garbled`: no known form.
MODES: Final = (
    *(*OURS_NEVER, "timeout", "broken"),
    *("enveloped", "missing", "garbled", "talkative", "page", "redirect", "cut"),
)


class Servers(Services):
    def refusal(self, asked: Asked, status: int) -> Said:
        body = _REFUSALS[asked.kind](asked, status)
        return Said(status, json.dumps(body).encode(), headers=CHALLENGES)

    def in_its_own_way(self, asked: Asked, mode: str) -> Said:
        if mode == "enveloped":
            return Said(200, json.dumps(_REFUSALS[asked.kind](asked, 401)).encode(), headers=CHALLENGES)
        if mode == "missing":
            return self.refusal(asked, 404) if asked.kind == "dify" else said(_REFUSALS[asked.kind](asked, 404))
        if mode == "garbled":
            return said({"code": 0, "data": HIDDEN, "records": HIDDEN, "message": _words(asked)})
        return _found(asked, is_talkative=mode == "talkative")


@contextlib.contextmanager
def indiscreet_servers() -> Iterator[Servers]:
    servers = Servers()
    with on_loopback(servers, KINDS):
        yield servers


def _words(asked: Asked) -> str:
    return f"{HIDDEN}: {asked.text}"


# --- refusals, each in the product's own way ------------------------------------------------------


def _dify(asked: Asked, status: int) -> Json:
    code = {401: "unauthorized", 404: "not_found", 429: "too_many_requests"}.get(status, HIDDEN)
    return {"code": code, "message": _words(asked), "status": status, "params": asked.text}


def _dify_external(asked: Asked, status: int) -> Json:
    code: Any = {401: 1002, 404: 2001}.get(status, HIDDEN)
    return {"error_code": code, "error_msg": _words(asked), "detail": [asked.text]}


def _fastgpt(asked: Asked, status: int) -> Json:
    word = {401: "unAuthApiKey", 403: "unAuthDataset", 404: "unExistDataset"}.get(status, HIDDEN)
    return {"code": status, "statusText": word, "message": _words(asked), "data": {"error": asked.text}}


def _ragflow(asked: Asked, status: int) -> Json:
    code = {401: 109, 403: 108, 404: 102}.get(status, 100)
    named = f"You don't own the dataset {REMOTE}. " if status == 404 else ""
    return {"code": code, "message": f"{named}{_words(asked)}", "data": False}


_REFUSALS: Final[dict[str, Callable[[Asked, int], Json]]] = {
    "dify": _dify,
    "dify_external": _dify_external,
    "fastgpt": _fastgpt,
    "ragflow": _ragflow,
}


# --- successes ------------------------------------------------------------------------------------


def _found(asked: Asked, *, is_talkative: bool) -> Said:
    """A talkative server says versions, warnings and errors beside what was asked for."""
    document = _ANSWERS[asked.kind](asked)
    if is_talkative:
        document |= {"error": _words(asked), "warning": _words(asked), "trace": asked.headers}
    return said(document, **{"X-Version": f"{HIDDEN} 1.14", "X-Env": HIDDEN})


def _of_dify(asked: Asked) -> Json:
    entry = {
        "id": f"{REMOTE}-dify",
        "name": NAMED,
        "description": SHOWN,
        "provider": "vendor",
        "indexing_technique": "high_quality",
        "created_by": HIDDEN,
        "embedding_model": HIDDEN,
        "external_knowledge_info": {"external_knowledge_api_endpoint": HIDDEN},
    }
    if asked.path.endswith("/retrieve"):
        document = {"id": SHOWN, "name": SHOWN, "doc_metadata": {HIDDEN: HIDDEN}, "data_source_type": HIDDEN}
        segment = {"id": SHOWN, "content": SHOWN, "document": document, "keywords": [HIDDEN], "index_node_hash": HIDDEN}
        return {"query": {"content": asked.text}, "records": [{"segment": segment, "score": 0.5, "files": [HIDDEN]}]}
    if "?" in asked.path:
        return {"data": [entry], "has_more": False, "total": 1, "page": 1, "limit": 100}
    return entry


def _of_fastgpt(asked: Asked) -> Json:
    entry = {"_id": f"{REMOTE}-fastgpt", "name": NAMED, "intro": SHOWN, "type": "dataset", "tmbId": HIDDEN}
    more = {"avatar": HIDDEN, "vectorModel": {"name": HIDDEN}, "permission": {"owner": HIDDEN}}
    if asked.path.endswith("/list"):
        return {"code": 200, "statusText": HIDDEN, "message": HIDDEN, "data": [{**entry, **more}]}
    if asked.path.endswith("/searchTest"):
        row = {"id": SHOWN, "q": SHOWN, "a": "", "sourceName": SHOWN, "collectionId": SHOWN, "sourceId": HIDDEN}
        row |= {"score": [{"type": "embedding", "value": 0.5, "index": 0}], "datasetId": HIDDEN, "indexes": [HIDDEN]}
        return {"code": 200, "data": {"list": [row], "duration": HIDDEN, "queryExtensionModel": _words(asked)}}
    return {"code": 200, "message": HIDDEN, "data": {**entry, **more}}


def _of_ragflow(asked: Asked) -> Json:
    entry = {"id": f"{REMOTE}-ragflow", "name": NAMED, "description": SHOWN, "embedding_model": HIDDEN}
    if asked.path.endswith("/retrieval"):
        chunk = {"id": SHOWN, "content": SHOWN, "document_id": SHOWN, "document_keyword": SHOWN, "similarity": 0.5}
        more = {"highlight": HIDDEN, "important_keywords": [HIDDEN], "image_id": HIDDEN, "positions": [HIDDEN]}
        return {"code": 0, "data": {"chunks": [{**chunk, **more}], "doc_aggs": [HIDDEN], "total": 1}}
    if asked.path.endswith("/version"):
        return {"code": 0, "data": HIDDEN}
    return {"code": 0, "data": [{**entry, "tenant_id": HIDDEN, "created_by": HIDDEN}], "total_datasets": 1}


def _of_dify_external(asked: Asked) -> Json:
    metadata = {"document_id": SHOWN, "path": HIDDEN, "url": f"https://{HIDDEN}.example.org", "asked": asked.text}
    record = {"content": SHOWN, "title": SHOWN, "score": 0.5, "metadata": metadata}
    return {"records": [record], "query": asked.text}


_ANSWERS: Final[dict[str, Callable[[Asked], Json]]] = {
    "dify": _of_dify,
    "dify_external": _of_dify_external,
    "fastgpt": _of_fastgpt,
    "ragflow": _of_ragflow,
}
