"""The routes that read no data: the published documents, the sign of life, and every path that has no route."""

from __future__ import annotations

import json
from collections.abc import Callable

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from functions.assets.published import Document, Published
from shared.errors import MethodNotAllowed, NotFound
from shared.web.api import Api, answer, nothing
from shared.web.etags import names_tag

_KEPT_FOR_S = 300


def assets_api(published: Published, *, logger: Logger, release: str = "") -> Api:
    """`release` is what the operator calls the deployment; the sign of life tells it where there is one."""
    api = Api(logger)
    alive = json.dumps({"status": "ok"} | ({"release": release} if release else {}), separators=(",", ":"))

    for path, document in published.documents.items():
        api.route("GET", path)(_serving(document, api))

    @api.route("GET", "/livez")
    def livez() -> Response[str]:
        return answer(alive)

    def unrouted() -> Response[str]:
        methods = published.methods_of(api.event["rawPath"])
        if methods:
            problem = MethodNotAllowed("See the header Allow for the methods of this path.")
            return api.problem(problem, headers={"Allow": ", ".join(methods)})
        return api.problem(NotFound("No such path."))

    api.on_unrouted(unrouted)
    return api


def _serving(document: Document, api: Api) -> Callable[[], Response[str]]:
    headers = {"ETag": document.etag, "Cache-Control": f"public, max-age={_KEPT_FOR_S}"}

    def serve() -> Response[str]:
        if names_tag(api.event["headers"].get("if-none-match"), document.etag):
            return nothing(status=304, headers=headers)
        return answer(document.text, headers=headers, media_type=document.media_type)

    return serve
