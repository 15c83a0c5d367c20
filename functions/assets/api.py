"""The routes that read no data: the published documents, the sign of life, and every path that has no route."""

from __future__ import annotations

import json
from collections.abc import Callable

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from functions.assets.documents import Copy, Document
from functions.assets.faces import CONSOLE, FOR_EVERY_SITE, WIDGET
from functions.assets.published import Published
from shared.errors import MethodNotAllowed, NotFound
from shared.web.api import Api, answer, nothing
from shared.web.etags import names_tag


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
        path, method = api.event["rawPath"], api.event["requestContext"]["http"]["method"]
        if method == "GET" and path.endswith(f"{CONSOLE}/"):  # as people write it; relative, whatever stands before
            return nothing(status=308, headers={"Location": f"..{CONSOLE}"})
        methods = published.methods_of(path)
        if methods and method not in methods:
            problem = MethodNotAllowed("See the header Allow for the methods of this path.")
            return api.problem(problem, headers={"Allow": ", ".join(methods)})
        # A page that asks for a script as another site's would else be told of a missing permission, not of the path.
        return api.problem(NotFound("No such path."), headers=dict(FOR_EVERY_SITE) if WIDGET in path else {})

    api.on_unrouted(unrouted)
    return api


def _serving(document: Document, api: Api) -> Callable[[], Response[str]]:
    def serve() -> Response[str]:
        asked = api.event["headers"]
        copy = document.copy_for(asked.get("accept-encoding"))
        headers = {**document.headers, "ETag": copy.etag, "Vary": "Accept-Encoding"}
        if names_tag(asked.get("if-none-match"), copy.etag):
            return nothing(status=304, headers=headers)
        return _sent(copy, media_type=document.media_type, headers=headers)

    return serve


def _sent(copy: Copy, *, media_type: str, headers: dict[str, str]) -> Response[str]:
    if copy.encoding:
        headers["Content-Encoding"] = copy.encoding
    response = answer(copy.body, headers=headers, media_type=media_type)
    response.base64_encoded = bool(copy.encoding)
    return response
