"""The sample providers pass the whole conformance suite, run as their READMEs say, and verify the published vectors."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from knowledge_conformance.findings import Status
from knowledge_conformance.run import run

from fixtures.samples.mcp_server import demo as mcp_demo
from fixtures.samples.mcp_server import server as mcp_server
from fixtures.samples.python_stdlib import server as python_stdlib
from fixtures.samples.static_site import server as static_site
from infra.local.provision import client_environment
from infra.node import NODE
from tests.e2e.running import PROVIDERS, Gateway
from tests.e2e.sample_running import (
    PREVIOUS,
    ROOT,
    SAMPLES,
    SECRET,
    VECTORS,
    Signed,
    copied,
    lambda_url,
    reasons,
    serving,
    started,
)
from tests.support.mcp_servers import BadMcpServer, bad_mcp_server, real_mcp_server

SITE = "https://docs.example.com/"
PUBLISHED = {vector["name"]: vector["reason"] for vector in VECTORS}
BOTH_LANGUAGES = frozenset({"locale", "localeFallback", "translationGroups", "chunking", "scoring", "citationUrl"})
Start = Callable[[Path], AbstractContextManager[str]]


@dataclass(frozen=True, slots=True)
class Running:
    url: str
    declared: frozenset[str]


def stdlib(directory: Path) -> AbstractContextManager[str]:
    return started(copied("python_stdlib", directory) / "server.py", cwd=directory)


def node(directory: Path) -> AbstractContextManager[str]:
    return started(NODE, copied("typescript_node", directory) / "server.ts", cwd=directory)


def site(index: str) -> Start:
    def start(directory: Path) -> AbstractContextManager[str]:
        folder = copied("static_site", directory)
        return started(folder / "server.py", "--index", folder / index, "--site", SITE, cwd=directory)

    return start


@contextmanager
def mcp(directory: Path) -> Iterator[str]:
    options = ("--tool", "search", "--audience", "public", "--cites")
    app = mcp_demo.server.streamable_http_app(stateless_http=True)
    with (
        real_mcp_server(app) as upstream,
        started(
            copied("mcp_server", directory) / "server.py",
            "--upstream",
            f"{upstream.origin}/mcp",
            *options,
            cwd=directory,
        ) as url,
    ):
        yield url


ON_A_MACHINE: dict[str, tuple[Start, frozenset[str]]] = {
    "python_stdlib": (stdlib, BOTH_LANGUAGES),
    "typescript_node": (node, BOTH_LANGUAGES),
    "static_site-mkdocs": (site("search_index.json"), BOTH_LANGUAGES - {"translationGroups"}),
    "static_site-array": (site("index.json"), BOTH_LANGUAGES - {"translationGroups"}),
    "mcp_server": (mcp, frozenset({"citationUrl"})),
}


@pytest.fixture(scope="module", params=list(ON_A_MACHINE))
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    start, declared = ON_A_MACHINE[request.param]
    with start(tmp_path_factory.mktemp("sample")) as url:
        yield Running(url, declared)


def passes(url: str, declared: frozenset[str]) -> None:
    """Nothing fails, nothing warns, and nothing is left open but what was not declared, or stands in no result."""
    report = run(url, SECRET, previous_secret=PREVIOUS)
    open_ = {f.id: f.saw for f in report.findings if f.status is not Status.PASSED}
    unseen = ("no result carries ", "results in one language alone were seen")
    assert {saw for saw in open_.values() if not (saw.endswith(" is not declared") or saw.startswith(unseen))} == set()
    assert report.skipped == open_.keys()
    assert report.ok
    assert {saw.removesuffix(" is not declared") for saw in open_.values()} & declared == set()


def test_a_sample_passes_everything_with_the_command_of_its_readme(sample: Running) -> None:
    capabilities = json.loads(Signed.over(b"").to(sample.url, "/capabilities", "GET").body)["capabilities"]
    assert {name for name, is_so in capabilities.items() if is_so} == sample.declared
    passes(sample.url, sample.declared)


def test_what_is_no_question_is_declined_and_breaks_nothing(sample: Running) -> None:
    url = sample.url
    assert Signed.over(b"x" * 70_000).to(url).status == 413
    for method in ("PUT", "DELETE", "OPTIONS", "PROPFIND"):
        assert 400 <= Signed.over(b"{}").to(url, method=method).status < 500
    assert Signed.asking("x", X_Helpthread_Knowledge_Version="2").to(url).status == 400
    assert Signed.asking("x", secret="").to(url).status == 401
    assert Signed.asking("the").to(url).results


@pytest.mark.parametrize("start", [stdlib, node], ids=["python_stdlib", "typescript_node"])
def test_a_restart_forgets_no_nonce(tmp_path: Path, start: Start) -> None:
    asked = Signed.asking("borrowing a book")
    with start(tmp_path) as url:
        assert asked.to(url).results
        assert asked.to(url).status == 401
    with start(tmp_path) as url:
        assert asked.to(url).status == 401
        assert Signed.asking("borrowing a book").to(url).results


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "python_stdlib/server.py"],
        [str(NODE), "typescript_node/server.ts"],
        [sys.executable, "static_site/server.py", "--index", "static_site/index.json", "--site", SITE],
        [sys.executable, "mcp_server/server.py", "--upstream", "http://127.0.0.1:9/mcp", "--tool", "search"],
    ],
    ids=["python_stdlib", "typescript_node", "static_site", "mcp_server"],
)
def test_without_a_secret_no_sample_starts(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KB_")} | {"KB_SECRET": ""}
    done = subprocess.run(
        command, cwd=SAMPLES, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "KB_SECRET is not set" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "sample", [python_stdlib, static_site, mcp_server], ids=["python_stdlib", "static_site", "mcp_server"]
)
def test_a_sample_says_of_each_vector_what_is_published(sample: Any) -> None:
    nonces = sample.Nonces(":memory:")
    assert reasons(sample, lambda nonce, now: nonces.remember(nonce, now=now)) == PUBLISHED
    assert nonces.remember("a", now=0)
    assert not nonces.remember("a", now=599)
    assert nonces.remember("a", now=601)


def test_the_node_sample_says_of_each_vector_what_is_published() -> None:
    done = vectors_in_node(ROOT / "docs" / "vectors" / "signatures-v1.json")
    assert (done.returncode, done.stdout) == (0, f"{len(VECTORS)} of {len(VECTORS)} as published\n")


def test_the_node_samples_check_finds_what_differs(tmp_path: Path) -> None:
    turned = {"accept": "refuse", "refuse": "accept"}
    vectors = [vector | {"verdict": turned[vector["verdict"]]} for vector in VECTORS]
    (tmp_path / "turned.json").write_text(json.dumps({"vectors": vectors}))
    done = vectors_in_node(tmp_path / "turned.json")
    assert done.returncode == 1
    assert done.stdout.endswith(f"0 of {len(VECTORS)} as published\n")


def vectors_in_node(path: Path) -> subprocess.CompletedProcess[str]:
    command = [NODE, SAMPLES / "typescript_node" / "check-vectors.ts", path]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


# --- on Lambda ---
@pytest.fixture(scope="module")
def on_lambda(emulator: str) -> Iterator[Any]:
    """The handler's module, with the table and the kind of secret that its template describes."""
    template = yaml.safe_load((SAMPLES / "python_lambda" / "template.yaml").read_text())["Resources"]
    assert template["Provider"]["Properties"]["Environment"]["Variables"].keys() == {"NONCE_TABLE", "SECRET_ID"}
    table = {name: value for name, value in template["Nonces"]["Properties"].items() if "TimeToLive" not in name}
    with pytest.MonkeyPatch.context() as patch:
        environment = {"NONCE_TABLE": "sample-nonces", "SECRET_ID": "sample-secret"}
        for name, value in (client_environment(emulator) | environment).items():
            patch.setenv(name, value)
        boto3.client("dynamodb").create_table(TableName="sample-nonces", **table)
        boto3.client("secretsmanager").create_secret(Name="sample-secret", SecretString=f"{SECRET} {PREVIOUS}")
        yield importlib.reload(importlib.import_module("fixtures.samples.python_lambda.handler"))


@pytest.fixture
def fresh(on_lambda: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """As in a new instance: no secret was read yet."""
    monkeypatch.setattr(on_lambda, "SECRETS", on_lambda.Secrets())
    return on_lambda


@pytest.mark.emulator
def test_the_lambda_sample_passes_everything(fresh: Any) -> None:
    with lambda_url(fresh.handler) as url:
        passes(url, BOTH_LANGUAGES)


@pytest.mark.emulator
def test_the_lambda_sample_says_of_each_vector_what_is_published(fresh: Any) -> None:
    assert reasons(fresh, lambda nonce, now: fresh.remember(nonce, now=now)) == PUBLISHED


@pytest.mark.emulator
def test_a_nonce_that_has_expired_is_free_before_dynamodb_removes_it(fresh: Any) -> None:
    assert fresh.remember("old", now=1_000.5)
    assert not fresh.remember("old", now=1_600.0)
    assert fresh.remember("old", now=1_601.0)


@pytest.mark.emulator
def test_dynamodb_is_told_when_a_nonce_may_go(fresh: Any) -> None:
    template = yaml.safe_load((SAMPLES / "python_lambda" / "template.yaml").read_text())["Resources"]
    name = template["Nonces"]["Properties"]["TimeToLiveSpecification"]["AttributeName"]
    assert fresh.remember("noted", now=7_000.2)
    kept = boto3.client("dynamodb").get_item(TableName="sample-nonces", Key={"nonce": {"S": "noted"}})["Item"]
    assert kept[name] == {"N": "7601"}


@pytest.mark.emulator
def test_of_many_writes_of_one_nonce_one_succeeds(fresh: Any) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: fresh.remember("raced", now=5_000), range(16)))
    assert taken.count(True) == 1


@pytest.mark.emulator
def test_a_stage_in_the_path_is_no_part_of_it(fresh: Any) -> None:
    with lambda_url(fresh.handler, stage="prod") as url:
        assert Signed.asking("renew a loan").to(url).results[0]["title"] == "Renewing a loan"
        assert Signed.over(b"").to(url, "/prod/capabilities", "GET").status == 404


@pytest.mark.emulator
def test_a_rotated_secret_is_taken_up_within_a_minute(fresh: Any) -> None:
    client = boto3.client("secretsmanager")
    client.create_secret(Name="rotated", SecretString=PREVIOUS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_ID", "rotated")
        assert fresh.SECRETS.read(now=1_000) == (PREVIOUS,)
        client.put_secret_value(SecretId="rotated", SecretString=f"{SECRET}\n{PREVIOUS}")
        assert fresh.SECRETS.read(now=1_059) == (PREVIOUS,)
        assert fresh.SECRETS.read(now=1_060) == (SECRET, PREVIOUS)
        patch.setenv("SECRET_ID", "gone")
        assert fresh.SECRETS.read(now=2_000) == (SECRET, PREVIOUS)


@pytest.mark.emulator
@pytest.mark.parametrize("variable", ["NONCE_TABLE", "SECRET_ID"])
def test_what_cannot_be_told_apart_is_a_pause_and_no_pass(
    fresh: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "gone")
    with lambda_url(fresh.handler) as url:
        reply = Signed.asking("renew a loan").to(url)
    assert (reply.status, reply.headers["Retry-After"]) == (503, "5")


def test_secrets_may_come_from_the_environment_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = importlib.import_module("fixtures.samples.python_lambda.handler")
    monkeypatch.delenv("SECRET_ID", raising=False)
    monkeypatch.setenv("KB_SECRET", SECRET)
    monkeypatch.setenv("KB_SECRET_PREVIOUS", "")
    assert sample.Secrets().read(now=1_000) == (SECRET,)


# --- over a static site ---
def found_in(index: Any, query: str, **options: Any) -> list[dict[str, Any]]:
    passages = static_site.passages(index, site=SITE, audience="public")
    return static_site.Index(passages).search(query, **{"limit": 10, "languages": []} | options)


def test_a_passage_is_cited_by_the_site_and_its_location() -> None:
    (one, *_) = found_in({"docs": [{"location": "restore/#all", "title": "A whole disk", "text": "Wait."}]}, "disk")
    assert one["url"] == "https://docs.example.com/restore/#all"
    assert (one["documentId"], one["chunkId"]) == (SITE + "restore/", SITE + "restore/#all~1")


def test_a_page_that_is_repeated_above_its_sections_is_found_once() -> None:
    docs = [
        {"location": "", "title": "Home", "text": "Welcome to the docs. Frost begins in May. Slugs come at dusk."},
        {"location": "#frost", "title": "Frost", "text": "Frost begins in May."},
        {"location": "#slugs", "title": "Slugs", "text": "Slugs come at dusk."},
        {"location": "about/", "title": "About", "text": "Frost is named here in words of its own."},
        {"location": "about/#more", "title": "More", "text": "Something else."},
    ]
    assert [one["url"] for one in found_in({"docs": docs}, "frost")] == [SITE + "#frost", SITE + "about/"]


def test_what_leads_elsewhere_or_says_nothing_is_left_out() -> None:
    index = [
        {"title": "Frost", "url": "https://elsewhere.example.org/frost", "text": "Frost."},
        {"title": "Frost", "url": "//elsewhere.example.org/frost", "text": "Frost."},
        {"title": "Frost", "url": "/empty/", "text": " "},
        {"title": "Frost", "url": "/kept/", "text": "Frost."},
        {"title": "Frost", "url": "/kept/", "text": "Frost."},
    ]
    assert [one["url"] for one in found_in(index, "frost")] == [SITE + "kept/"]


def test_html_is_taken_out_and_a_lesser_sign_stays() -> None:
    index = [
        {"title": "One", "url": "/1", "text": "<p>Run <code>a &lt; b</code></p><ul><li>word</li><li>ward</li></ul>"},
        {"title": "Two", "url": "/2", "text": "A word < another, as in List<String>"},
    ]
    assert {one["snippet"] for one in found_in(index, "word")} == {
        "Run a < b word ward",
        "A word < another, as in List<String>",
    }


def test_a_rare_word_and_one_in_a_title_count_for_more() -> None:
    index = [
        {"title": "Paths", "url": "/1", "text": "bark frost frost"},
        {"title": "Frost", "url": "/2", "text": "bark and more"},
        {"title": "Bark", "url": "/3", "text": "bark copper"},
    ]
    assert [one["url"][-1] for one in found_in(index, "frost")] == ["2", "1"]
    assert found_in(index, "paths copper")[0]["url"][-1] == "1"
    assert found_in(index, "bark copper")[0]["url"][-1] == "3"


def test_a_long_text_is_cut_into_passages() -> None:
    found = found_in([{"title": "Long", "url": "/long", "content": "frost bark " * 400}], "frost")
    assert [one["chunkId"][-2:] for one in found] == ["~1", "~2", "~3"]
    assert all(len(one["snippet"]) <= 1_500 for one in found)


def test_locale_is_declared_where_every_passage_has_one() -> None:
    def declares(index: Any) -> bool:
        return static_site.Index(static_site.passages(index, site=SITE, audience="public")).capabilities["locale"]

    entry = {"title": "Frost", "url": "/frost", "text": "Frost."}
    assert declares([entry | {"lang": "en"}])
    assert declares({"config": {"lang": ["en"]}, "docs": [entry]})
    assert not declares({"config": {"lang": ["en", "de"]}, "docs": [entry]})
    assert not declares([entry | {"lang": "en"}, {"title": "Slugs", "url": "/slugs", "text": "Slugs."}])


def test_a_site_that_is_built_anew_is_read_again_and_a_broken_file_is_not(tmp_path: Path) -> None:
    path = tmp_path / "index.json"

    def build(text: str, *, at: int) -> list[str]:
        path.write_text(text)
        os.utime(path, (at, at))
        return [one["title"] for one in built.index().search("frost", limit=5, languages=[])]

    path.write_text("[]")
    built = static_site.Site(path, site=SITE, audience="public")
    new = json.dumps([{"title": "New", "url": "/new", "text": "frost"}])
    assert build(new, at=1_000) == ["New"]
    assert build(new[:20], at=2_000) == ["New"]
    assert build("[]", at=3_000) == []


# --- over an MCP server ---
@pytest.fixture(scope="module")
def bad_server() -> Iterator[BadMcpServer]:
    with bad_mcp_server() as server:
        yield server


def upstream(url: str, **options: Any) -> mcp_server.Upstream:
    whole = {"tool": "search", "argument": "query", "audience": "public", "cites": True, "nothing": "", "token": ""}
    return mcp_server.Upstream(url=url, **whole | options)


def result_of(*content: dict[str, Any], is_error: bool = False) -> mcp_server.CallToolResult:
    return mcp_server.CallToolResult.model_validate({"content": list(content), "isError": is_error})


def a_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def a_resource(uri: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "text": "# Frost\nIn May."}}


def passages_of(*content: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    return list(upstream("http://127.0.0.1:9/mcp", **options)._passages(result_of(*content)))


def test_a_text_is_a_passage_without_an_address_a_score_or_a_language() -> None:
    (one,) = passages_of(a_text("\n## Frost\nIn May."), audience="internal")
    assert one.keys() == {"documentId", "title", "snippet", "audience"}
    assert (one["title"], one["snippet"], one["audience"]) == ("Frost", "\n## Frost\nIn May.", "internal")
    assert one == passages_of(a_text("Other."), a_text("\n## Frost\nIn May."), audience="internal")[1]


@pytest.mark.parametrize(
    ("uri", "cites", "is_cited"),
    [
        ("https://garden.example.com/notes/frost", True, True),
        ("https://garden.example.com/notes/frost", False, False),
        ("http://garden.example.com/notes/frost", True, False),
        ("https://me@garden.example.com/", True, False),
        ("https://192.0.2.1/frost", True, False),
        ("https://garden.example.com:8443/", True, False),
        ("https://localhost/frost", True, False),
        ("note://frost", True, False),
    ],
    ids=str,
)
def test_an_address_is_cited_where_people_can_open_it(uri: str, cites: bool, is_cited: bool) -> None:
    (one,) = passages_of(a_resource(uri), cites=cites)
    assert one["documentId"] == uri
    assert one.get("url") == (uri if is_cited else None)


def test_pictures_and_blank_texts_are_no_passages() -> None:
    picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    assert passages_of(picture, a_text(" \n# \n"), a_text("No results for it"), nothing="No results") == []


def test_its_token_goes_to_the_mcp_server_alone(tmp_path: Path) -> None:
    with real_mcp_server(mcp_demo.server.streamable_http_app(stateless_http=True)) as server:
        found = upstream(f"{server.origin}/mcp", token="garden-key").search("frost", limit=1, budget_s=10)
    assert [one["title"] for one in found] == ["Frost"]
    assert {headers["authorization"] for _, _, headers in server.seen} == {"Bearer garden-key"}


def test_a_tool_that_is_not_there_is_no_empty_answer() -> None:
    app = mcp_demo.server.streamable_http_app(stateless_http=True)
    with real_mcp_server(app) as server, pytest.raises(mcp_server.Refused) as no:
        upstream(f"{server.origin}/mcp", tool="lookup").search("frost", limit=1, budget_s=10)
    assert no.value.status == 502


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"status": 503, "text": "", "headers": {"Retry-After": "7"}}, (503, "7")),
        ({"status": 429, "text": "", "headers": {"Retry-After": "30"}}, (503, "30")),
        ({"status": 429, "text": ""}, (502, None)),
        ({"status": 503, "text": "", "headers": {"Retry-After": "soon"}}, (502, None)),
        ({"status": 500, "text": "a wheel came off"}, (502, None)),
        ({"text": "<html>hello</html>", "type": "text/html"}, (502, None)),
        ({"stream": [": waiting"], "keepOpen": True}, (502, None)),
    ],
    ids=["pause", "too-many", "no-pause-named", "no-seconds", "broken", "no-mcp", "silence"],
)
def test_a_failure_of_the_mcp_server_is_told_as_one(
    tmp_path: Path, bad_server: BadMcpServer, step: dict[str, Any], expected: tuple[int, str | None]
) -> None:
    bad_server.play([step])
    nonces = mcp_server.Nonces(":memory:")
    server = mcp_server.Server(("127.0.0.1", 0), upstream=upstream(bad_server.url), nonces=nonces, secrets=(SECRET,))
    began = time.monotonic()
    with serving(server) as url:
        reply = Signed.asking("frost", X_Helpthread_Deadline_Ms="700").to(url)
    assert (reply.status, reply.headers.get("Retry-After")) == expected
    assert b"wheel" not in reply.body
    assert time.monotonic() - began < mcp_server.BUDGET_S


def test_where_no_mcp_server_listens_it_says_so() -> None:
    with pytest.raises(mcp_server.Refused) as no:
        upstream("http://127.0.0.1:9/mcp").search("frost", limit=1, budget_s=5)
    assert no.value.status == 502


@pytest.mark.parametrize(
    ("header", "budget_s"),
    [("", 8.0), ("9900", 8.0), ("1200", 1.0), ("0", 0.1), ("-5", 8.0), ("soon", 8.0)],
    ids=["none", "long", "short", "nothing-left", "negative", "no-number"],
)
def test_the_budget_is_a_little_less_than_the_gateway_will_listen(header: str, budget_s: float) -> None:
    assert mcp_server.budget_in(header) == pytest.approx(budget_s)


# --- in the gateway ---
@pytest.mark.emulator
def test_a_sample_registered_through_the_admin_api_answers_an_agents_search(gateway: Gateway) -> None:
    index = python_stdlib.Index(python_stdlib.passages(SAMPLES / "python_stdlib" / "articles"))
    nonces = python_stdlib.Nonces(":memory:")
    server = python_stdlib.Server(("127.0.0.1", 0), index=index, nonces=nonces, secrets=())
    with ExitStack() as stack:
        url = stack.enter_context(serving(server))
        wanted = {"name": "Library", "exposureProfile": "customer_safe", "baseUrl": url}
        made = gateway.as_admin("POST", PROVIDERS, wanted).found
        stack.callback(gateway.remove_provider, made["id"])
        server.secrets = (made["secret"],)
        path = f"{PROVIDERS}/{made['id']}"
        assert gateway.as_admin("POST", f"{path}/capabilities", {}).status == 200
        report = gateway.as_admin("POST", f"{path}/test", {"query": "Ausweis verloren", "activate": True}).found
        assert (report["status"], report["activated"]) == ("success", True)
        found = gateway.search("agent", query="Ausweis verloren", locale="de", deadlineMs=1000).found["results"]
    ours = [one for one in found if (one["url"] or "").startswith("https://library.example.com/")]
    assert ours[0]["title"] == "Dein Bibliotheksausweis"
    assert {one["locale"] for one in ours} == {"de"}
