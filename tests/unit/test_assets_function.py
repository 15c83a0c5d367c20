"""What everybody may read, and the answer to every path that nobody has."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from functions.assets.api import assets_api
from functions.assets.wiring import published
from infra.routes import ROUTES
from shared.web.api import Api
from tests.support.published import DOCUMENT, faults_of

DOCUMENT_TEXT = DOCUMENT.read_text(encoding="utf-8")


@pytest.fixture
def api() -> Api:
    return assets_api(published(), logger=Logger(service="assets-test"))


def call(api: Api, method: str, path: str, **headers: str) -> dict[str, Any]:
    event = {"rawPath": path, "headers": headers, "requestContext": {"http": {"method": method, "path": path}}}
    response = api.handle(event, None)
    assert not faults_of(method, path, response["statusCode"], response["headers"], response.get("body") or "")
    return response


SCHEMAS = [f"/schemas/knowledge-provider/v1/{name}.schema.json" for name in ("request", "response", "capabilities")]
MEDIA_TYPES = {"/openapi.json": "application/json"} | dict.fromkeys(SCHEMAS, "application/schema+json")


@pytest.mark.parametrize("path", MEDIA_TYPES)
def test_a_document_is_served_as_it_is_published(api: Api, path: str) -> None:
    response = call(api, "GET", path)

    assert response["statusCode"] == 200
    assert response["body"] == (DOCUMENT.parent / path[1:]).read_text(encoding="utf-8")
    assert response["headers"]["Content-Type"] == MEDIA_TYPES[path]
    assert response["headers"]["Cache-Control"] == "public, max-age=300"


@pytest.mark.parametrize("path", MEDIA_TYPES)
def test_a_copy_that_is_still_right_is_not_sent_again(api: Api, path: str) -> None:
    etag = call(api, "GET", path)["headers"]["ETag"]
    for offered in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = call(api, "GET", path, **{"If-None-Match": offered})
        assert (again["statusCode"], again["body"], again["headers"]["ETag"]) == (304, "", etag)

    assert call(api, "GET", path, **{"If-None-Match": '"other"'})["statusCode"] == 200


def test_every_document_has_a_tag_of_its_own() -> None:
    assert len({published().documents[path].plain.etag for path in MEDIA_TYPES}) == len(MEDIA_TYPES)


def copies(directory: Path) -> Path:
    for path in MEDIA_TYPES:
        (directory / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(DOCUMENT.parent / path[1:], directory / path[1:])
    return directory


def test_the_tag_changes_with_the_text(tmp_path: Path) -> None:
    other = copies(tmp_path) / "openapi.json"
    other.write_text(DOCUMENT_TEXT.replace("Knowledge Gateway", "Another Gateway"), encoding="utf-8")

    changed = published((tmp_path,)).documents
    assert changed["/openapi.json"].plain.etag != published().documents["/openapi.json"].plain.etag
    assert changed[SCHEMAS[0]].plain.etag == published().documents[SCHEMAS[0]].plain.etag


def test_a_bundle_serves_the_copies_beside_it(tmp_path: Path) -> None:
    assert published((copies(tmp_path), tmp_path / "nothing")) == published()


@pytest.mark.parametrize("missing", MEDIA_TYPES)
def test_a_function_without_one_of_its_documents_does_not_start(tmp_path: Path, missing: str) -> None:
    (copies(tmp_path) / missing[1:]).unlink()
    with pytest.raises(FileNotFoundError):
        published((tmp_path,))


def test_the_process_says_that_it_lives(api: Api) -> None:
    response = call(api, "GET", "/livez")

    assert (response["statusCode"], json.loads(response["body"])) == (200, {"status": "ok"})
    assert response["headers"]["Cache-Control"] == "private, no-store"


def test_a_deployment_that_has_a_name_says_it_as_well() -> None:
    named = assets_api(published(), logger=Logger(service="assets-test"), release='2026-11 "b"')

    assert json.loads(call(named, "GET", "/livez")["body"]) == {"status": "ok", "release": '2026-11 "b"'}


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/v1/nothing", "/openapi.json/x", "/schemas", "/livez/", "/../etc/passwd"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "BREW"])
def test_an_unknown_path_is_not_found(api: Api, method: str, path: str) -> None:
    response = call(api, method, path)

    assert response["statusCode"] == 404
    assert json.loads(response["body"])["code"] == "not_found"
    assert response["headers"]["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/api/v1/knowledge/providers", "GET, POST"),
        ("PUT", "/api/v1/knowledge/providers/cs_aaaaaaaaaaaaaaaa", "DELETE, GET, PATCH"),
        ("GET", "/api/v1/knowledge/providers/cs_aaaaaaaaaaaaaaaa/test", "POST"),
        ("GET", "/api/v1/knowledge/search", "POST"),
        ("GET", "/api/v1/knowledge/widget/search", "OPTIONS, POST"),
        ("DELETE", "/api/v1/audit", "GET"),
        ("POST", "/livez", "GET"),
        ("HEAD", "/openapi.json", "GET"),
    ],
)
def test_a_known_path_tells_which_methods_it_takes(api: Api, method: str, path: str, allow: str) -> None:
    response = call(api, method, path)

    assert response["statusCode"] == 405
    assert json.loads(response["body"])["code"] == "method_not_allowed"
    assert response["headers"]["Allow"] == allow


def test_every_route_of_the_gateway_is_known_here() -> None:
    document = published()
    for route in ROUTES:
        called = route.path.replace("{providerId}", "cs_x").replace("{credentialId}", "x")
        assert route.method in document.methods_of(called)


@pytest.mark.parametrize("path", ['/console/a"b', "/widget/v1/knowledge-search.0000000000000000.js"])
def test_a_path_that_takes_the_method_and_has_nothing_is_not_found(api: Api, path: str) -> None:
    assert call(api, "GET", path)["statusCode"] == 404
    assert call(api, "PUT", path)["headers"]["Allow"] == "GET"
