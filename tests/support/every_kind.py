"""Something to ask of each kind of service, for any answer that it may give."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.acquisitions import Wanted
from shared.domain.alexandria import Call, ToolName, canonical
from shared.domain.exposure import ExposureProfile
from shared.domain.live_configs import (
    Context7Config,
    DeepWikiConfig,
    ExaConfig,
    FirecrawlConfig,
    MintlifyConfig,
)
from shared.domain.passages import Question
from shared.domain.registrations import ProviderKind, SigningSecrets, Source
from shared.domain.remote_catalogs import CatalogWish
from shared.providers import context7, contract, deepwiki, exa, firecrawl, mintlify
from shared.providers.alexandria import AlexandriaCatalogue
from shared.providers.dify import DifyServer
from shared.providers.dify_external import DifyExternalRetriever
from shared.providers.fastgpt import FastGptServer
from shared.providers.ragflow import RagflowServer
from tests.support.builders import SIGNING_SECRET, a_binding, a_source, an_external_provider, an_instance
from tests.support.fakes import FakeClock
from tests.support.hostile_answers import APPROVED, INTERNATIONAL, MOST_BYTES, HostileLine, Shape, json_bytes

HOSTS: Final = (APPROVED, INTERNATIONAL)
WANTED: Final = Wanted(url=f"https://{APPROVED}/ferries")
QUESTION: Final = Question(query="Where may bicycles go?", limit=50)
ID: Final = "3f2a9c0e5b1d11f0a1b20242ac120006"
CLOCK: Final = FakeClock()
KINDS: Final[dict[str, Any]] = {"clock": CLOCK, "allow_test_names": False}
CATALOGUE_TOOL: Final = ToolName("firecrawl", "find-tools")
TOOL: Final = ToolName("tidebook", "predictions")
Ask = Callable[[HostileLine], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Asked:
    """`envelope` is the answer around some entries, `entry` one entry of a shape. `before` are answers that come first.
    `is_mcp` speaks streams too.
    """

    ask: Ask
    entry: Callable[[Shape], Any]
    envelope: Callable[[list[Any]], Any]
    is_mcp: bool = False
    before: tuple[bytes, ...] = ()

    def body(self, shape: Shape) -> bytes:
        """As many entries as fit, and at least one."""
        entry = self.entry(shape)
        if (times := len(json_bytes(entry)) // MOST_BYTES) > 0:
            entry = self.entry(shape.shorter(times + 1))
        each = len(json_bytes(entry)) + 1
        return json_bytes(self.envelope([entry] * max(1, MOST_BYTES // each)))


def live(kind: ProviderKind, config: Any) -> Source:
    return a_source(exposure_profile=ExposureProfile.AGENT_ONLY, kind=kind, signing=None, config=config)


def bound(kind: ProviderKind) -> Source:
    return a_binding(an_instance(kind=kind), remote_id=ID).source


def searching(kind: ProviderKind, retriever: Any, config: Any, **question: Any) -> Ask:
    source, asked = live(kind, config), Question(query=QUESTION.query, limit=50, **question)
    return lambda line: retriever.retrieve(source, asked, meter=line)


def acquiring(kind: ProviderKind, acquirer: Any, config: Any) -> Ask:
    source = live(kind, config)
    return lambda line: acquirer.acquire(source, WANTED, meter=line)


def at_server(kind: ProviderKind, server: Any) -> Ask:
    source = bound(kind)
    return lambda line: server.retrieve(source, QUESTION, credential="k", exchange=line)


def listing(server: Any) -> Ask:
    at = "https://kb.example.com/v1"
    return lambda line: server.catalog(at, CatalogWish(), credential="k", exchange=line)


def describing(server: Any) -> Ask:
    at = "https://kb.example.com/v1"
    return lambda line: server.detail(at, ID, credential="k", exchange=line)


def asked_of_contract(line: HostileLine) -> Awaitable[object]:
    secrets = SigningSecrets(current=SIGNING_SECRET)
    return contract.ContractRetriever(**KINDS).retrieve(a_source(), QUESTION, secrets=secrets, exchange=line)


def asked_of_dify_external(line: HostileLine) -> Awaitable[object]:
    source = an_external_provider().source
    return DifyExternalRetriever(**KINDS).retrieve(source, QUESTION, credential="k", exchange=line)


FIRECRAWL: Final = live(ProviderKind.FIRECRAWL, FirecrawlConfig(approved_hosts=HOSTS))
CATALOGUE: Final = AlexandriaCatalogue(clock=CLOCK)
CONTEXT7: Final = context7.Context7Retriever(**KINDS)
EXA: Final = exa.ExaRetriever(**KINDS)
DIFY: Final = DifyServer(**KINDS)
FASTGPT: Final = FastGptServer(**KINDS)
RAGFLOW: Final = RagflowServer(**KINDS)
EXA_CONFIG: Final = ExaConfig(approved_hosts=HOSTS, results=10)
CALL: Final = Call(tool=TOOL, options=canonical({"harbour": "Lumsund"}), upstream_id="u-1")


def said(texts: list[str]) -> dict[str, Any]:
    result = {"content": [{"type": "text", "text": "".join(texts)}]}
    return {"jsonrpc": "2.0", "id": "$id", "result": result}


def offer(shape: Shape) -> dict[str, Any]:
    properties: dict[str, Any] = {shape.text: {}, "question": {}, shape.title: {}}
    schema = {"properties": properties, "required": [shape.title, shape.text]}
    return {"name": "ask_" + shape.title, "inputSchema": schema}


def block(shape: Shape) -> str:
    return f"### {shape.title}\n\nSource: {shape.address}\n\n{shape.text}\n\n{'-' * 32}\n"


def tool(shape: Shape) -> dict[str, Any]:
    option = {"name": shape.title, "type": "string", "about": shape.text, "choices": [shape.address]}
    named = {"id": shape.title, "name": shape.title, "provider": "tidebook", "capability": "waves"}
    return {**named, "description": shape.text, "creditsCost": 1, "options": [option]}


def one_answer(data: Any, of: ToolName) -> dict[str, Any]:
    item = {"provider": of.provider, "capability": of.capability, "creditsCost": 0, "data": data}
    return {"success": True, "data": {"creditsCost": 0, "alexandria": [item]}}


def page(entries: list[Any]) -> dict[str, Any]:
    metadata = {"sourceURL": WANTED.url, "url": entries[0]["address"], "statusCode": 200}
    metadata["title"] = [entry["title"] for entry in entries]
    return {"success": True, "data": {"markdown": entries[0]["text"], "metadata": metadata}}


def as_is(shape: Shape) -> dict[str, Any]:
    return {"address": shape.address, "text": shape.text, "title": shape.title}


def library(shape: Shape) -> dict[str, Any]:
    versions = [shape.title, shape.text, "v1"]
    return {"id": "/acme/widgets", "title": shape.title, "description": shape.text, "versions": versions}


def data_set(shape: Shape) -> dict[str, Any]:
    return {"id": shape.title, "_id": shape.title, "name": shape.text, "intro": shape.text, "description": shape.text}


ASKED: Final = {
    "context7_search": Asked(
        searching(ProviderKind.CONTEXT7, CONTEXT7, Context7Config(approved_hosts=HOSTS), product="w", version="9"),
        library,
        lambda entries: {"results": entries},
    ),
    "context7_versions": Asked(
        searching(ProviderKind.CONTEXT7, CONTEXT7, Context7Config(approved_hosts=HOSTS), product="w", version="9"),
        lambda shape: shape.title,
        lambda entries: {"results": [{"id": "/acme/widgets", "title": "w", "versions": entries}]},
    ),
    "context7_context": Asked(
        searching(ProviderKind.CONTEXT7, CONTEXT7, Context7Config(approved_hosts=HOSTS, library="/acme/widgets")),
        lambda shape: {"pageId": shape.address, "breadcrumb": shape.title, "content": shape.text},
        lambda entries: {"infoSnippets": entries, "codeSnippets": []},
    ),
    "exa_search": Asked(
        searching(ProviderKind.EXA, EXA, EXA_CONFIG),
        lambda shape: {"url": shape.address, "title": shape.title, "text": shape.text},
        lambda entries: {"results": entries},
    ),
    "exa_contents": Asked(
        acquiring(ProviderKind.EXA, EXA, EXA_CONFIG),
        lambda shape: {"id": WANTED.url, "url": shape.address, "title": shape.title, "text": shape.text},
        lambda entries: {"results": entries[:1], "statuses": [{"id": WANTED.url, "status": "success"}] * len(entries)},
    ),
    "firecrawl": Asked(
        acquiring(ProviderKind.FIRECRAWL, firecrawl.FirecrawlAcquirer(**KINDS), FirecrawlConfig(approved_hosts=HOSTS)),
        as_is,
        page,
    ),
    "mintlify_blocks": Asked(
        searching(ProviderKind.MINTLIFY, mintlify.MintlifyRetriever(**KINDS), MintlifyConfig(approved_hosts=HOSTS)),
        block,
        said,
        is_mcp=True,
    ),
    "mintlify_text": Asked(
        searching(ProviderKind.MINTLIFY, mintlify.MintlifyRetriever(**KINDS), MintlifyConfig(approved_hosts=HOSTS)),
        lambda shape: f"{shape.text}\nSource: {shape.address}\n",
        said,
        is_mcp=True,
    ),
    "deepwiki": Asked(
        searching(
            ProviderKind.DEEPWIKI, deepwiki.DeepWikiRetriever(**KINDS), DeepWikiConfig(repositories=("acme/widgets",))
        ),
        lambda shape: shape.text + shape.title,
        said,
        is_mcp=True,
    ),
    "tools_of_deepwiki": Asked(
        searching(
            ProviderKind.DEEPWIKI, deepwiki.DeepWikiRetriever(**KINDS), DeepWikiConfig(repositories=("acme/widgets",))
        ),
        offer,
        lambda entries: {"jsonrpc": "2.0", "id": "$id", "result": {"tools": entries}},
        is_mcp=True,
        before=(json_bytes({"jsonrpc": "2.0", "id": "$id", "error": {"code": -32601, "message": "a"}}),),
    ),
    "alexandria_search": Asked(
        lambda line: CATALOGUE.search(FIRECRAWL, "tides", limit=24, meter=line),
        tool,
        lambda entries: {"success": True, "data": {"tools": entries}},
    ),
    "alexandria_inspect": Asked(
        lambda line: CATALOGUE.inspect(FIRECRAWL, TOOL, meter=line),
        tool,
        lambda entries: one_answer({"items": entries}, CATALOGUE_TOOL),
    ),
    "alexandria_execute": Asked(
        lambda line: CATALOGUE.execute(FIRECRAWL, CALL, meter=line), as_is, lambda entries: one_answer(entries, TOOL)
    ),
    "contract": Asked(
        asked_of_contract,
        lambda shape: {
            "documentId": shape.title,
            "title": shape.title,
            "snippet": shape.text,
            "audience": "public",
            "url": shape.address,
            "locale": shape.title,
            "reviewDueAt": shape.text,
        },
        lambda entries: {"contractVersion": 1, "results": entries},
    ),
    "dify": Asked(
        at_server(ProviderKind.DIFY, DIFY),
        lambda shape: {
            "segment": {"id": shape.title, "content": shape.text, "document": {"id": shape.title, "name": shape.title}}
        },
        lambda entries: {"records": entries},
    ),
    "dify_list": Asked(listing(DIFY), data_set, lambda entries: {"data": entries}),
    "dify_detail": Asked(describing(DIFY), data_set, lambda entries: entries[0]),
    "dify_external": Asked(
        asked_of_dify_external,
        lambda shape: {"content": shape.text, "title": shape.title, "metadata": {"document_id": shape.title}},
        lambda entries: {"records": entries},
    ),
    "fastgpt": Asked(
        at_server(ProviderKind.FASTGPT, FASTGPT),
        lambda shape: {"q": shape.text, "sourceName": shape.title, "id": shape.title, "collectionId": shape.title},
        lambda entries: {"code": 200, "data": {"list": entries}},
    ),
    "fastgpt_list": Asked(listing(FASTGPT), data_set, lambda entries: {"code": 200, "data": entries}),
    "ragflow": Asked(
        at_server(ProviderKind.RAGFLOW, RAGFLOW),
        lambda shape: {"content": shape.text, "document_keyword": shape.title, "document_id": shape.title},
        lambda entries: {"code": 0, "data": {"chunks": entries}},
    ),
    "ragflow_list": Asked(listing(RAGFLOW), data_set, lambda entries: {"code": 0, "data": entries}),
}
