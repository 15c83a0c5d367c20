"""The routes that read no data: the published document, the sign of life, and every path that has no route."""

from __future__ import annotations

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import Response

from functions.assets.published import Published
from shared.errors import MethodNotAllowed, NotFound
from shared.web.api import Api, answer, nothing
from shared.web.etags import names_tag

_KEPT_FOR_S = 300


def assets_api(published: Published, *, logger: Logger) -> Api:
    api = Api(logger)

    @api.route("GET", "/openapi.json")
    def openapi() -> Response[str]:
        headers = {"ETag": published.etag, "Cache-Control": f"public, max-age={_KEPT_FOR_S}"}
        if names_tag(api.event["headers"].get("if-none-match"), published.etag):
            return nothing(status=304, headers=headers)
        return answer(published.text, headers=headers)

    @api.route("GET", "/livez")
    def livez() -> Response[str]:
        return answer('{"status":"ok"}')

    def unrouted() -> Response[str]:
        methods = published.methods_of(api.event["rawPath"])
        if methods:
            problem = MethodNotAllowed("See the header Allow for the methods of this path.")
            return api.problem(problem, headers={"Allow": ", ".join(methods)})
        return api.problem(NotFound("No such path."))

    api.on_unrouted(unrouted)
    return api
