"""The answers of an operation: its own, and the problems that it can end in."""

from __future__ import annotations

from typing import Any

from infra.openapi.card_examples import TEXTS
from infra.openapi.operation import IfMatch, Operation, OwnError
from infra.openapi.problem_words import PROBLEMS
from infra.openapi.schemas import REFERENCE, reference_to

Json = dict[str, Any]

_ALWAYS = ("internal_error",)
_WITH_TOKEN = ("unauthenticated", "not_through_front", "rate_limited", "store_unavailable", "secrets_unavailable")
# A widget's key is refused with 403 in every case.
_WITH_WIDGET_KEY = ("forbidden", "rate_limited", "store_unavailable", "secrets_unavailable")
_WITH_BODY = ("body_not_json", "body_not_base64", "unsupported_media_type", "body_too_large", "invalid_request")
# What is wrong with a message is told as a fault.
_WITH_MESSAGE = ("body_not_base64", "unsupported_media_type", "body_too_large", "invalid_request")
_WITH_ROWS = ("body_not_csv", "body_not_base64", "unsupported_media_type", "body_too_large", "invalid_request")
_LISTED = ("invalid_request", "invalid_cursor")
_NAMED = ("precondition_failed", "invalid_if_match", "precondition_required")
_ONCE = ("invalid_idempotency_key", "idempotency_key_reused", "idempotency_key_used")
_WRITTEN = ("busy",)
_IDS = ("providerId", "credentialId", "collectionId", "cardId", "instanceId")


def responses_of(method: str, path: str, operation: Operation) -> Json:
    """By status: what the operation answers, then its problems, each with an example."""
    answers = {str(operation.status): _success(path, operation)}
    if operation.documents:
        answers["304"] = {"description": "The copy that `If-None-Match` names is still the right one."}
    if operation.own_errors:
        return answers | _own_errors(operation.own_errors)
    by_status: dict[int, list[str]] = {}
    for code in codes_of(method, path, operation):
        by_status.setdefault(PROBLEMS[code].status, []).append(code)
    answers |= {str(status): _without_body(words) for status, words in operation.also}
    answers |= {str(status): _problems(status, by_status[status]) for status in sorted(by_status)}
    return _with_faults(answers, operation)


def _with_faults(answers: Json, operation: Operation) -> Json:
    """What is wrong with a message stands beside the problems of the same status."""
    for status, fault in _own_errors(operation.faults).items():
        beside = answers.get(status, {"description": "", "content": {}})
        words = f"{fault['description']} {beside['description']}".strip()
        answers[status] = {**fault, "description": words, "content": fault["content"] | beside["content"]}
    return answers


def _without_body(words: str) -> Json:
    return {"description": words, "headers": {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}}


def codes_of(method: str, path: str, operation: Operation) -> list[str]:
    """Every problem code that the operation can end in, in the order of the catalogue."""
    applies: tuple[tuple[bool, tuple[str, ...]], ...] = (
        (True, (*operation.problems, *_ALWAYS)),
        (bool(operation.tokens) and not _is_widgets(operation), _WITH_TOKEN),
        (_is_widgets(operation), _WITH_WIDGET_KEY),
        (operation.id == "preflightWidgetSearch", ("store_unavailable",)),
        (bool(operation.request), _WITH_MESSAGE if operation.faults else _WITH_BODY),
        (bool(operation.request_texts), _WITH_ROWS),
        (operation.is_list or bool(operation.answer_text), _LISTED),
        ("{" in path or operation.is_idempotent_by_key, ("not_found",)),
        (operation.if_match is not None, _NAMED),
        (operation.is_idempotent_by_key, _ONCE),
        (operation.tokens == ("adminToken",) and method != "GET", _WRITTEN),
    )
    codes = {code for condition, those in applies if condition for code in those}
    return [code for code in PROBLEMS if code in codes]


def _is_widgets(operation: Operation) -> bool:
    return "widgetToken" in operation.tokens


def _success(path: str, operation: Operation) -> Json:
    answer: Json = {"description": _description(operation), "headers": _headers(operation)}
    if operation.documents:
        answer["content"] = {kind: {"schema": {"type": _type_of(kind)}} for kind in operation.documents}
    elif path == "/livez":
        answer["content"] = {"application/json": {"schema": {"$ref": REFERENCE + "Liveness"}}}
    elif operation.answer_text:
        answer["content"] = {operation.answer_text: text_content(operation.answer_text)}
    elif operation.answer:
        schemas = [reference_to(model) for model in operation.answer]
        answer["content"] = {
            "application/json": {
                "schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas},
                "examples": {
                    name: {"$ref": f"#/components/examples/{name}"}
                    for name in (*(model.__name__ for model in operation.answer), *operation.answer_examples)
                },
            }
        }
    return answer


def _type_of(media_type: str) -> str:
    return "object" if media_type.endswith("json") else "string"


def _description(operation: Operation) -> str:
    if operation.status == 202:
        return "Begun: for every caller it is done; what is left goes in the background."
    if operation.status == 201:
        return "Made. A repetition by the same idempotency key answers the same, without the secret."
    return "Done." if operation.status == 204 else "The answer."


def _headers(operation: Operation) -> Json:
    headers: Json = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
    if operation.has_etag:
        headers["ETag"] = {"$ref": "#/components/headers/ETag"}
    if operation.status == 201:
        headers["Location"] = {"$ref": "#/components/headers/Location"}
    if operation.answer_text:
        headers["Link"] = {"$ref": "#/components/headers/Link"}
    if operation.id in ("search", "mcp"):
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
        headers["X-Knowledge-Degraded"] = {"$ref": "#/components/headers/X-Knowledge-Degraded"}
    return headers


def text_content(media_type: str) -> Json:
    """A body that is text of its own kind, with an example."""
    return {
        "schema": {"type": "string"},
        "examples": {TEXTS[media_type]: {"$ref": f"#/components/examples/{TEXTS[media_type]}"}},
    }


def _own_errors(errors: tuple[OwnError, ...]) -> Json:
    by_status: dict[int, list[OwnError]] = {}
    for error in errors:
        by_status.setdefault(error.status, []).append(error)
    return {
        str(status): {
            "description": " ".join(error.words for error in those),
            "headers": _headers_of_error(status),
            "content": {
                "application/json": {
                    "schema": reference_to(those[0].model),
                    "examples": {e.example: {"$ref": f"#/components/examples/{e.example}"} for e in those},
                }
            },
        }
        for status, those in by_status.items()
    }


def _headers_of_error(status: int, *, comes_back: bool = False) -> Json:
    headers: Json = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
    if status in (429, 502, 503, 504) or comes_back:
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    if status == 429:
        headers["RateLimit"] = {"$ref": "#/components/headers/RateLimit"}
    if status == 401:
        headers["WWW-Authenticate"] = {"$ref": "#/components/headers/WWW-Authenticate"}
    return headers


def _problems(status: int, codes: list[str]) -> Json:
    return {
        "description": ", ".join(f"`{code}`" for code in codes),
        "headers": _headers_of_error(status, comes_back="busy" in codes),
        "content": {
            "application/problem+json": {
                "schema": {
                    "allOf": [
                        {"$ref": REFERENCE + "Problem"},
                        {"properties": {"status": {"const": status}, "code": {"enum": codes}}},
                    ]
                },
                "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
            }
        },
    }


def parameters_of(path: str, operation: Operation) -> list[Json]:
    """References to the shared parameters that the operation takes."""
    by_operation = {
        "search": ("agentId",),
        "acquire": ("agentId",),
        "mcp": ("mcpRevision", "mcpMethod", "mcpName", "agentId"),
        "deleteInstance": ("bindings",),
        "listCatalog": ("catalogPage", "catalogSearch", "catalogParent"),
    }
    applies: tuple[tuple[bool, tuple[str, ...]], ...] = (
        *((f"{{{name}}}" in path, (name,)) for name in (*_IDS, "remoteId", "pool", "script", "file")),
        (bool(operation.documents), ("ifNoneMatch",)),
        (operation.is_list, ("limit", "cursor")),
        (bool(operation.answer_text), ("exportLimit", "cursor")),
        (operation.if_match is IfMatch.REQUIRED, ("ifMatch",)),
        (operation.if_match is IfMatch.OPTIONAL, ("ifMatchOptional",)),
        (operation.is_idempotent_by_key, ("idempotencyKey",)),
        (operation.tag == "Widget" and not operation.documents, ("origin",)),
        (operation.tag == "Alexandria", ("agentId",)),
        (True, (*by_operation.get(operation.id, ()), "requestId")),
    )
    names = [name for condition, those in applies if condition for name in those]
    return [{"$ref": f"#/components/parameters/{name}"} for name in names]
