"""The reference provider as a caller meets it: over HTTP, with its real articles."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fixtures.reference_provider import articles
from fixtures.reference_provider.contract import CAPABILITIES
from fixtures.reference_provider.index import Index, in_range, widening
from fixtures.reference_provider.nonces import Nonces
from fixtures.reference_provider.secret_files import SecretFiles
from fixtures.reference_provider.server import Faults, Provider, Server

SECRET = "kgs_" + "a" * 64
_ROOT = Path(__file__).resolve().parents[2]
_ARTICLES = _ROOT / "fixtures" / "articles"

Serve = Callable[..., Server]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    running: list[Server] = []
    (tmp_path / "secret").write_text(SECRET)

    def start(audience: str = "public", **faults: Any) -> Server:
        provider = Provider(
            index=Index(articles.load(_ARTICLES, audience=audience)),
            secrets=SecretFiles(tmp_path / "secret", tmp_path / "previous"),
            nonces=Nonces(),
            faults=Faults(**faults),
        )
        server = Server(provider, port=0, name="test")
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def signed(body: bytes, *, secret: str = SECRET, nonce: str | None = None, now: float | None = None) -> dict[str, str]:
    nonce = nonce or secrets.token_hex(16)
    stamp = int(time.time() if now is None else now)
    mac = hmac.new(secret.encode(), f"{stamp}.{nonce}.".encode() + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "X-Helpthread-Knowledge-Version": "1",
        "X-Helpthread-Request": nonce,
        "X-Helpthread-Signature": f"t={stamp},n={nonce},v1={mac}",
    }


def send(server: Server, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    try:
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def retrieve(server: Server, **request: Any) -> list[dict[str, Any]]:
    body = json.dumps(request, ensure_ascii=False).encode()
    status, answer = send(server, "POST", "/retrieve", body, signed(body))
    assert status == 200, answer
    assert answer["contractVersion"] == 1
    results: list[dict[str, Any]] = answer["results"]
    return results


def test_there_are_at_least_forty_articles_in_three_languages_for_both_audiences() -> None:
    public, internal = (articles.load(_ARTICLES, audience=audience) for audience in articles.AUDIENCES)
    assert len(public) + len(internal) >= 40
    for corpus in (public, internal):
        assert {article.locale for article in corpus} == {"en", "de", "zh-Hans"}
    ids = [article.id for article in (*public, *internal)]
    assert len(set(ids)) == len(ids)


def test_each_article_has_its_translations() -> None:
    groups: dict[str, set[str]] = {}
    for audience in articles.AUDIENCES:
        for article in articles.load(_ARTICLES, audience=audience):
            groups.setdefault(f"{audience}/{article.translation_group_id}", set()).add(article.locale)
    assert {frozenset(locales) for locales in groups.values()} == {frozenset({"en", "de", "zh-Hans"})}


def test_no_internal_sentence_stands_in_a_public_article() -> None:
    public = " ".join(s.text for a in articles.load(_ARTICLES, audience="public") for s in a.sections)
    for mark in ("LANTERN-7", "HARBOUR-RED", "GULL-SHADOW", "ANCHOR-DOWN", "EMBER-THREE"):
        internal = " ".join(s.text for a in articles.load(_ARTICLES, audience="internal") for s in a.sections)
        assert mark in internal
        assert mark not in public


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("how do I get a refund?", "hc-refunds-en"),
        ("Wann bekomme ich eine Erstattung?", "hc-refunds-de"),
        ("怎么申请退款", "hc-refunds-zh"),
        ("lost my ferry pass", "hc-ferry-pass-en"),
        ("Fährpass verloren", "hc-ferry-pass-de"),
        ("FAHRPASS VERLOREN", "hc-ferry-pass-de"),
        ("渡轮卡丢了", "hc-ferry-pass-zh"),
        ("charging an electric car", "hc-electric-cars-en"),
        ("Elektroauto laden", "hc-electric-cars-de"),
        ("电动车充电", "hc-electric-cars-zh"),
        ("can my dog come along", "hc-pets-en"),
        ("wheelchair", "hc-accessibility-en"),
        ("风暴取消", "hc-delays-zh"),
        ("宠", "hc-pets-zh"),
    ],
)
def test_a_question_finds_its_article_first(serve: Serve, query: str, found: str) -> None:
    documents = [result["documentId"] for result in retrieve(serve(), query=query)]
    assert found in documents[:3]


def test_what_is_not_there_is_not_found(serve: Serve) -> None:
    server = serve()
    assert retrieve(server, query="quantum chromodynamics") == []
    assert retrieve(server, query="!!! ???") == []
    assert retrieve(server, query='" OR body:x* ^ (') == []


def test_a_public_corpus_holds_no_internal_article_and_the_other_way_round(serve: Serve) -> None:
    for audience in ("public", "internal"):
        results = retrieve(serve(audience), query="refund override code LANTERN-7 ferry pass", limit=50)
        assert results
        assert {result["audience"] for result in results} == {audience}


def test_a_passage_carries_everything_that_the_provider_declares(serve: Serve) -> None:
    result = retrieve(serve(), query="ferry pass", limit=1, locale="en")[0]
    assert result["documentId"] == "hc-ferry-pass-en"
    assert result["chunkId"].startswith("hc-ferry-pass-en#")
    assert result["url"] == "https://help.lumsund.example/en/articles/ferry-pass"
    assert result["revision"] == "r4"
    assert result["locale"] == "en"
    assert result["freshness"] == "current"
    assert result["translationGroupId"] == "ferry-pass"
    assert result["reviewDueAt"] == "2027-06-30T00:00:00Z"
    assert result["score"] > 0
    assert result["snippet"]


def test_stale_articles_say_so(serve: Serve) -> None:
    result = retrieve(serve(), query="rabies vaccination", limit=1, locale="en")[0]
    assert result["freshness"] == "stale"


def test_scores_descend_and_the_limit_is_honoured(serve: Serve) -> None:
    server = serve()
    for limit in (1, 3, 50):
        results = retrieve(server, query="refund ticket card", limit=limit)
        scores = [result["score"] for result in results]
        assert 0 < len(results) <= limit
        assert scores == sorted(scores, reverse=True)
    assert len(retrieve(server, query="ticket")) == 10


@pytest.mark.parametrize(("asked", "given"), [("de", "de"), ("zh", "zh-Hans"), ("ZH-hans", "zh-Hans"), ("en", "en")])
def test_a_locale_is_honoured(serve: Serve, asked: str, given: str) -> None:
    query = {"de": "Fährpass", "en": "ferry pass", "zh-Hans": "渡轮卡"}[given]
    assert {result["locale"] for result in retrieve(serve(), query=query, locale=asked)} == {given}


def test_without_a_passage_in_the_locale_the_fallback_is_used(serve: Serve) -> None:
    server = serve()
    assert retrieve(server, query="ferry pass", locale="fr") == []
    assert {r["locale"] for r in retrieve(server, query="ferry pass", locale="fr", localeFallback="en")} == {"en"}


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("en-US", "en"),
        ("en-GB", "en"),
        ("EN-us", "en"),
        ("de-DE", "de"),
        ("de-AT", "de"),
        ("de-CH-1996", "de"),
        ("zh-CN", "zh-Hans"),
        ("zh-Hans-CN", "zh-Hans"),
        ("zh", "zh-Hans"),
        ("en-u-ca-gregory", "en"),
    ],
)
def test_a_browsers_locale_finds_what_there_is_in_its_language(serve: Serve, asked: str, given: str) -> None:
    query = {"en": "ferry pass", "de": "Fährpass", "zh-Hans": "渡轮卡"}[given]
    server = serve()
    assert {result["locale"] for result in retrieve(server, query=query, locale=asked)} == {given}
    assert {r["locale"] for r in retrieve(server, query=query, locale="fr-CA", localeFallback=asked)} == {given}


def test_its_own_language_comes_before_the_fallback(serve: Serve) -> None:
    results = retrieve(serve(), query="Fährpass ferry pass", locale="de-AT", localeFallback="en")
    assert {result["locale"] for result in results} == {"de"}


@pytest.mark.parametrize(
    ("wanted", "ranges"),
    [
        (None, []),
        ("*", ["*"]),
        ("en", ["en"]),
        ("zh-Hant-TW", ["zh-Hant-TW", "zh-Hant", "zh"]),
        ("de-AT-u-co-phonebk", ["de-AT-u-co-phonebk", "de-AT-u-co", "de-AT", "de"]),
        ("x-private", ["x-private"]),
    ],
)
def test_a_locale_is_widened_one_subtag_at_a_time(wanted: str | None, ranges: list[str]) -> None:
    assert list(widening(wanted)) == ranges


@pytest.mark.parametrize(("locale", "wanted"), [("en", "en-GB"), ("de", "d"), ("en", "de")])
def test_a_range_does_not_take_in_what_is_wider_or_other(locale: str, wanted: str) -> None:
    assert not in_range(locale, wanted)


def test_capabilities_are_signed_over_an_empty_body(serve: Serve) -> None:
    server = serve()
    status, answer = send(server, "GET", "/capabilities", b"", signed(b""))
    assert (status, answer) == (200, {"contractVersion": 1, "capabilities": CAPABILITIES})
    assert send(server, "GET", "/capabilities", b"", signed(b"{}"))[0] == 401


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b"\xff",
        b'{"query": ""}',
        b'{"query": 5}',
        b"{}",
        b'{"query": "a", "query": "b"}',
        b'{"query": "a", "limit": 0}',
        b'{"query": "a", "limit": 51}',
        b'{"query": "a", "limit": "5"}',
        b'{"query": "a", "limit": 5.0}',
        b'{"query": "a", "limit": true}',
        b'{"query": "a", "locale": 7}',
        b'{"query": "a", "localeFallback": ""}',
        b'{"query": "a", "context": "c"}',
        b'{"query": "\\ud800"}',
        json.dumps({"query": "x" * 1025}).encode(),
        b"[" * 20_000 + b"]" * 20_000,
    ],
)
def test_a_bad_request_is_refused_with_400_and_the_server_lives_on(serve: Serve, body: bytes) -> None:
    server = serve()
    status, answer = send(server, "POST", "/retrieve", body, signed(body))
    assert status == 400
    assert answer["error"]["code"] == "bad_request"
    assert retrieve(server, query="refund")


def test_unknown_fields_are_ignored(serve: Serve) -> None:
    assert retrieve(serve(), query="refund", audience="internal", context={"conversationId": "c", "x": 1})


def test_an_unsigned_or_wrongly_signed_request_is_refused(serve: Serve) -> None:
    server, body = serve(), b'{"query": "refund"}'
    headers = signed(body)
    del headers["X-Helpthread-Signature"]
    assert send(server, "POST", "/retrieve", body, headers)[0] == 401
    assert send(server, "POST", "/retrieve", body, signed(body, secret="kgs_" + "b" * 64))[0] == 401
    assert send(server, "POST", "/retrieve", body, signed(body, now=time.time() - 400))[0] == 401
    assert send(server, "POST", "/retrieve", body, signed(body) | {"X-Helpthread-Request": "other"})[0] == 401


def test_the_same_request_is_accepted_once(serve: Serve) -> None:
    server, body = serve(), b'{"query": "refund"}'
    headers = signed(body)
    assert send(server, "POST", "/retrieve", body, headers)[0] == 200
    status, answer = send(server, "POST", "/retrieve", body, headers)
    assert (status, answer["error"]["code"]) == (401, "replayed")


def test_a_forged_request_does_not_burn_the_nonce_of_a_genuine_one(serve: Serve) -> None:
    server, body = serve(), b'{"query": "refund"}'
    assert send(server, "POST", "/retrieve", body, signed(body, secret="kgs_" + "b" * 64, nonce="abc"))[0] == 401
    assert send(server, "POST", "/retrieve", body, signed(body, nonce="abc"))[0] == 200


def test_without_a_nonce_store_requests_are_refused_and_not_waved_through(serve: Serve) -> None:
    server, body = serve(), b'{"query": "refund"}'
    server.provider.nonces._database.execute("DROP TABLE nonces")
    assert send(server, "POST", "/retrieve", body, signed(body))[0] == 503


def test_two_signature_headers_are_refused(serve: Serve) -> None:
    server, body = serve(), b'{"query": "refund"}'
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.putrequest("POST", "/retrieve")
    headers = signed(body)
    for name, value in [*headers.items(), ("X-Helpthread-Signature", headers["X-Helpthread-Signature"])]:
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    assert connection.getresponse().status == 401
    connection.close()


@pytest.mark.parametrize("version", ["0", "2", "1.0", "", "one"])
def test_another_contract_version_is_refused(serve: Serve, version: str) -> None:
    body = b'{"query": "refund"}'
    headers = signed(body) | {"X-Helpthread-Knowledge-Version": version}
    status, answer = send(serve(), "POST", "/retrieve", body, headers)
    assert (status, answer["error"]["code"]) == (400, "unsupported_version")


def test_another_path_is_not_found(serve: Serve) -> None:
    assert send(serve(), "GET", "/admin", b"", signed(b""))[0] == 404


def test_a_body_that_is_too_large_is_refused(serve: Serve) -> None:
    body = b" " * 65_537
    assert send(serve(), "POST", "/retrieve", body, signed(body))[0] == 413


def test_a_rotation_needs_no_restart(serve: Serve, tmp_path: Path) -> None:
    server, body, new = serve(), b'{"query": "refund"}', "kgs_" + "b" * 64
    (tmp_path / "previous").write_text(SECRET)
    (tmp_path / "secret").write_text(new)
    assert send(server, "POST", "/retrieve", body, signed(body))[0] == 200
    assert send(server, "POST", "/retrieve", body, signed(body, secret=new))[0] == 200
    (tmp_path / "previous").unlink()
    assert send(server, "POST", "/retrieve", body, signed(body))[0] == 401
    assert send(server, "POST", "/retrieve", body, signed(body, secret=new))[0] == 200


def test_without_any_secret_nothing_is_answered(serve: Serve, tmp_path: Path) -> None:
    server, body = serve(), b'{"query": "refund"}'
    (tmp_path / "secret").unlink()
    assert send(server, "POST", "/retrieve", body, signed(body))[0] == 503


def test_a_provider_told_to_fail_does_so_after_its_healthy_answers(serve: Serve) -> None:
    server, body = serve(fail=True, healthy_for=1), b'{"query": "refund"}'
    assert [send(server, "POST", "/retrieve", body, signed(body))[0] for _ in range(3)] == [200, 500, 500]
    assert send(server, "GET", "/capabilities", b"", signed(b""))[0] == 200


def test_a_provider_told_to_be_slow_is_slow(serve: Serve) -> None:
    server = serve(slow_s=0.4, healthy_for=0)
    started = time.monotonic()
    assert retrieve(server, query="refund")
    assert time.monotonic() - started >= 0.4


def test_it_runs_as_a_command_and_prints_its_url(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    command = [sys.executable, "-m", "fixtures.reference_provider", "--audience", "internal", "--port", "0"]
    command += ["--secret-file", str(tmp_path / "secret")]
    environment = {"PATH": os.environ["PATH"]}
    with subprocess.Popen(
        command, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
            body = '{"query": "退款特批码"}'.encode()
            connection.request("POST", "/retrieve", body, signed(body))
            assert "LANTERN-7" in connection.getresponse().read().decode()
            connection.close()
        finally:
            process.terminate()
        _, log = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "POST /retrieve" in log
    assert "退款" not in log


def test_it_imports_nothing_of_the_product() -> None:
    code = (
        "import sys, fixtures.reference_provider.__main__\n"
        "foreign = {name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)\n"
        "print(sorted(foreign - {'__main__', 'fixtures', '__mp_main__'}))"
    )
    shown = subprocess.run([sys.executable, "-S", "-c", code], cwd=_ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\nid: a\n---\n## h\ntext",
        "---\nid: a\ntitle: b\nlocale: en\naudience: secret\nrevision: r1\nurl: https://x.example/\n"
        "translationGroupId: a\nreviewDueAt: 2027-01-01T00:00:00Z\nfreshness: current\n---\n## h\ntext\n",
        "---\nid: a\ntitle: b\nlocale: en\naudience: public\nrevision: r1\nurl: https://x.example/\n"
        "translationGroupId: a\nreviewDueAt: 2027-01-01T00:00:00Z\nfreshness: current\n---\nno passage\n",
    ],
)
def test_a_file_that_is_not_an_article_stops_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.md").write_text(text)
    with pytest.raises(articles.BadArticle, match=r"bad\.md"):
        articles.load(tmp_path, audience="public")
