"""How the widget's script and the console reach a browser: encodings, tags, what may be kept, who may load what."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from functions.assets.api import assets_api
from functions.assets.documents import takes_gzip
from functions.assets.faces import STATIC, faces, integrity_of, pinned_name
from functions.assets.published import OPENAPI
from functions.assets.wiring import published
from infra.bundles.keep_widget import keep_widget
from infra.local.events import outgoing_of
from shared.web.api import Api

SCRIPT = "/widget/v1/knowledge-search.js"
PRESENT = (STATIC / "widget/v1/knowledge-search.js").read_bytes()
PINNED = f"/widget/v1/knowledge-search.{hashlib.sha256(PRESENT).hexdigest()[:16]}.js"
TYPES = {
    SCRIPT: "text/javascript; charset=utf-8",
    PINNED: "text/javascript; charset=utf-8",
    "/console": "text/html; charset=utf-8",
    "/console/app.js": "text/javascript; charset=utf-8",
    "/console/app.css": "text/css; charset=utf-8",
}
GZIP = {"Accept-Encoding": "gzip, deflate, br, zstd"}


@pytest.fixture(scope="module")
def api() -> Api:
    return assets_api(published(), logger=Logger(service="faces-test"))


def call(api: Api, path: str, method: str = "GET", **event: Any) -> dict[str, Any]:
    context = {"http": {"method": method, "path": path}}
    return api.handle({"rawPath": path, "headers": {}, "requestContext": context, **event}, None)


def sent(answer: dict[str, Any]) -> bytes:
    """The bytes on the wire."""
    return outgoing_of(answer, request_id="r").body


@pytest.mark.parametrize("path", TYPES)
def test_a_file_is_served_as_it_was_built_and_as_what_it_is(api: Api, path: str) -> None:
    answer = call(api, path)

    name = {PINNED: SCRIPT, "/console": "/console/index.html"}.get(path, path)
    assert answer["statusCode"] == 200
    assert sent(answer) == (STATIC / name[1:]).read_bytes()
    assert answer["headers"]["Content-Type"] == TYPES[path]
    assert answer["headers"]["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", [*TYPES, OPENAPI])
def test_who_takes_gzip_gets_it_under_a_tag_of_its_own(api: Api, path: str) -> None:
    plain, packed = call(api, path), call(api, path, headers=GZIP)

    assert "Content-Encoding" not in plain["headers"]
    assert (packed["headers"]["Content-Encoding"], packed["isBase64Encoded"]) == ("gzip", True)
    assert gzip.decompress(sent(packed)) == sent(plain)
    assert plain["headers"]["Vary"] == packed["headers"]["Vary"] == "Accept-Encoding"
    assert plain["headers"]["ETag"] != packed["headers"]["ETag"]
    assert sent(call(api, path, headers=GZIP)) == sent(packed)


@pytest.mark.parametrize("path", TYPES)
def test_only_the_copy_that_would_be_sent_spares_sending_it(api: Api, path: str) -> None:
    plain, packed = (call(api, path, headers=headers)["headers"]["ETag"] for headers in ({}, GZIP))

    same = call(api, path, headers={**GZIP, "If-None-Match": packed})
    assert (same["statusCode"], same["body"], same["headers"]["ETag"]) == (304, "", packed)
    assert same["headers"]["Cache-Control"] == call(api, path)["headers"]["Cache-Control"]
    assert call(api, path, headers={**GZIP, "If-None-Match": plain})["statusCode"] == 200


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        (None, False),
        ("", False),
        ("identity", False),
        ("br, deflate", False),
        ("gzip", True),
        ("GZip;q=0.5", True),
        ("x-gzip", True),
        ("*", True),
        ("gzip;q=0, *", False),
        ("gzip; q=0.000", False),
        ("*;q=0", False),
        ("br;q=1.0,gzip;q=0.8,*;q=0.1", True),
        ("gzipped", False),
    ],
    ids=repr,
)
def test_gzip_is_sent_to_who_says_so(accepted: str | None, expected: bool) -> None:
    assert takes_gzip(accepted) is expected


def test_the_widget_may_be_loaded_by_every_site_and_the_console_by_none(api: Api) -> None:
    for path in (SCRIPT, PINNED):
        for headers in ({}, GZIP):
            given = call(api, path, headers={**headers, "Origin": "https://www.example.com"})["headers"]
            assert given["Access-Control-Allow-Origin"] == "*"
            assert given["Cross-Origin-Resource-Policy"] == "cross-origin"
    for path in ("/console", "/console/app.js", "/console/app.css"):
        given = call(api, path, headers={"Origin": "https://www.example.com"})["headers"]
        assert "Access-Control-Allow-Origin" not in given
        assert given["Cross-Origin-Resource-Policy"] == "same-origin"
    for path in (OPENAPI, "/livez", "/nowhere", "/widget/v2/other.js", "/widget/v1", "/console/none.js"):
        assert "Access-Control-Allow-Origin" not in call(api, path)["headers"]


@pytest.mark.parametrize("base", ["", "/kb"])
def test_a_page_may_read_that_a_script_is_not_there(api: Api, base: str) -> None:
    answer = call(api, f"{base}/widget/v1/knowledge-search.0123456789abcdef.js", routeKey="GET /widget/v1/{script}")

    assert answer["statusCode"] == 404
    assert answer["headers"]["Access-Control-Allow-Origin"] == "*"
    assert answer["headers"]["Cross-Origin-Resource-Policy"] == "cross-origin"


def test_what_can_change_is_kept_shortly_or_asked_after_and_what_cannot_for_a_year(api: Api) -> None:
    kept = {path: call(api, path)["headers"]["Cache-Control"] for path in TYPES}

    assert kept[SCRIPT] == "public, max-age=300"
    assert kept[PINNED] == "public, max-age=31536000, immutable"
    assert {kept[path] for path in TYPES if path.startswith("/console")} == {"no-cache"}


def test_the_console_runs_nothing_and_asks_nobody_but_what_it_came_with(api: Api) -> None:
    headers = call(api, "/console")["headers"]
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))

    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_the_consoles_page_names_its_files_from_where_it_stands() -> None:
    """So that it works under any address and behind whatever an operator's domain puts before the path."""
    page = (STATIC / "console/index.html").read_text(encoding="utf-8")

    assert "console/app.js" in page
    assert "console/app.css" in page
    for absolute in ('="/', "='/", "://", "<base"):
        assert absolute not in page


@pytest.mark.parametrize("base", ["", "/kb"])
def test_the_console_with_a_slash_at_its_end_is_the_one_without(api: Api, base: str) -> None:
    answer = call(api, f"{base}/console/", routeKey="$default")

    assert (answer["statusCode"], answer["headers"]["Location"]) == (308, "../console")
    assert call(api, "/console/", "POST")["statusCode"] == 404


@pytest.mark.parametrize("path", ["/console/app.js", "/widget/v1/knowledge-search.js", PINNED])
def test_a_mapping_of_the_operators_domain_may_stand_before_the_path(api: Api, path: str) -> None:
    key = {"/console/app.js": "/console/{file}", PINNED: "/widget/v1/{script}"}.get(path, path)
    assert call(api, f"/kb{path}", routeKey=f"GET {key}")["statusCode"] == 200


@pytest.mark.parametrize(
    "path",
    ["/console/index.html", "/console/none.js", "/console/..", "/widget/v1/", "/widget/v1/none.js", "/widget/v1"],
)
def test_what_is_no_file_of_a_face_is_not_found(api: Api, path: str) -> None:
    answer = call(api, path, headers=GZIP)

    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (404, "not_found")
    assert answer["headers"]["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("path", TYPES)
def test_a_file_is_read_and_nothing_else(api: Api, path: str) -> None:
    for method in ("POST", "HEAD", "OPTIONS"):
        answer = call(api, path, method)
        assert (answer["statusCode"], answer["headers"]["Allow"]) == (405, "GET")


def files(directory: Path, scripts: dict[str, bytes]) -> Path:
    for name in ("index.html", "app.js"):
        (directory / "console").mkdir(parents=True, exist_ok=True)
        (directory / "console" / name).write_text(name)
    (directory / "widget/v1").mkdir(parents=True)
    for name, content in scripts.items():
        (directory / "widget/v1" / name).write_bytes(content)
    return directory


def test_a_page_that_pins_a_released_build_still_gets_it_from_the_next(tmp_path: Path) -> None:
    old, new = b"old", "new ü".encode()
    static = files(tmp_path, {"knowledge-search.js": old})
    assert keep_widget(static) == keep_widget(static) == pinned_name(old)
    (static / "widget/v1/knowledge-search.js").write_bytes(new)
    served = faces(static)

    assert served[SCRIPT].data == new
    assert served[f"/widget/v1/{pinned_name(new)}"].data == new
    assert served[f"/widget/v1/{pinned_name(old)}"].data == old
    assert served[f"/widget/v1/{pinned_name(old)}"].headers == served[f"/widget/v1/{pinned_name(new)}"].headers
    assert len([path for path in served if path.startswith("/widget")]) == 3


def test_a_release_that_is_kept_lies_under_the_name_of_its_content() -> None:
    for path in (STATIC / "widget/v1").glob("*.js"):
        assert path.name in ("knowledge-search.js", pinned_name(path.read_bytes()))


def test_the_integrity_is_what_browsers_compute(api: Api) -> None:
    digest = base64.b64decode(integrity_of(PRESENT).removeprefix("sha384-"), validate=True)
    assert digest == hashlib.sha384(sent(call(api, PINNED))).digest()
    assert digest == hashlib.sha384(gzip.decompress(sent(call(api, SCRIPT, headers=GZIP)))).digest()


@pytest.mark.parametrize("missing", ["widget/v1/knowledge-search.js", "console/index.html"])
def test_without_a_face_nothing_is_served_at_all(tmp_path: Path, missing: str) -> None:
    (files(tmp_path, {"knowledge-search.js": b"x"}) / missing).unlink()
    with pytest.raises(FileNotFoundError):
        faces(tmp_path)


def test_the_largest_answer_fits_into_one_of_the_gateways() -> None:
    """Six megabytes with what base64 adds."""
    assert max(len(each.packed.body) for each in published().documents.values()) < 1_000_000
