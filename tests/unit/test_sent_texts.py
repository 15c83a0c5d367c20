"""What a caller writes and a service is sent: a text without control characters, or one visible line."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from shared.errors import Invalid
from shared.web.alexandria_models import ToolSearchBody
from shared.web.customer_requests import AssistantSearchBody, WidgetSearchBody
from shared.web.dify_requests import DifyRetrievalBody
from shared.web.external_provider_models import ExternalConfigModel
from shared.web.live_config_models import Context7ConfigModel, MintlifyConfigModel
from shared.web.live_test_models import Context7Test, DeepWikiTest, MintlifyTest
from shared.web.product_config_models import RerankModelModel
from shared.web.provider_test_models import ProviderTest
from shared.web.search_requests import AgentSearchBody
from shared.web.wire import validated

HOSTS = {"approvedHosts": ["docs.example.com"]}
ASKED = {"query": "x"}
TEXTS = {
    "agent": (AgentSearchBody, {}, "query"),
    "assistant": (AssistantSearchBody, {}, "query"),
    "widget": (WidgetSearchBody, {}, "query"),
    "dify": (DifyRetrievalBody, {"knowledge_id": "public"}, "query"),
    "alexandria": (ToolSearchBody, {}, "query"),
    "test": (ProviderTest, {}, "query"),
}
LINES = {
    "product": (AgentSearchBody, ASKED, "product"),
    "repository": (AgentSearchBody, ASKED, "repository"),
    "version": (AgentSearchBody, ASKED, "version"),
    "conversation": (AgentSearchBody, ASKED, "context/conversationId"),
    "tested_product": (Context7Test, ASKED, "product"),
    "tested_repository": (DeepWikiTest, ASKED, "repository"),
    "tested_version": (Context7Test, ASKED, "version"),
    "product_at_mintlify": (MintlifyTest, ASKED, "product"),
    "configured_product": (MintlifyConfigModel, HOSTS, "product"),
    "knowledge": (ExternalConfigModel, {}, "knowledgeId"),
    "rerank_model": (RerankModelModel, {"providerName": "p"}, "modelName"),
}
CONTROLS = ["\x00", "\x08", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f", "\x80", "\x85", "\x9f"]
NOT_ON_A_LINE = [*CONTROLS, *"\t\n\r\u00ad\u200b\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff"]
GOOD_LINES = ["acme/widgets", "a b", "渡輪", "کتاب‌ها", "👩‍🚀", "e\u0301", "שלום\u200f!"]


def read(place: tuple[Any, dict[str, Any], str], text: str) -> Any:
    model, others, field = place
    outer, _, inner = field.partition("/")
    return validated(model, json.dumps({**others, outer: {inner: text} if inner else text}).encode())


def refusal(place: tuple[Any, dict[str, Any], str], text: str) -> Invalid:
    with pytest.raises(Invalid) as caught:
        read(place, text)
    (violation,) = caught.value.violations
    assert violation.pointer == "/" + place[2]
    assert "SENTINEL" not in violation.detail
    return caught.value


ANY_TEXT = pytest.mark.parametrize("place", TEXTS.values(), ids=TEXTS)
ANY_LINE = pytest.mark.parametrize("place", LINES.values(), ids=LINES)


@ANY_TEXT
@pytest.mark.parametrize("mark", CONTROLS, ids=ascii)
def test_a_query_has_no_control_characters(place: Any, mark: str) -> None:
    assert refusal(place, f"SENTINEL{mark}").violations[0].detail == "Write text without control characters."


@ANY_TEXT
def test_a_query_may_have_several_lines_and_every_script(place: Any) -> None:
    for text in [*GOOD_LINES, "a\tb\nc\r\nd", "\u202aאבג\u202c 1", "a\u2028b"]:
        assert read(place, text).query == text


@ANY_TEXT
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"], ids=ascii)
def test_a_query_asks_something(place: Any, text: str) -> None:
    refusal(place, text)


@ANY_LINE
@pytest.mark.parametrize("mark", NOT_ON_A_LINE, ids=ascii)
def test_a_name_is_one_line_of_visible_characters(place: Any, mark: str) -> None:
    for text in (f"SENTINEL{mark}x", mark):
        detail = refusal(place, text).violations[0].detail
        assert detail == "Write one line without control characters and invisible ones."


@ANY_LINE
def test_a_name_may_be_in_every_script_and_is_never_blank(place: Any) -> None:
    for text in GOOD_LINES:
        assert text in json.dumps(read(place, text).model_dump(), ensure_ascii=False, default=str)
    refusal(place, "   ")


def test_what_is_published_of_a_line_is_what_is_taken() -> None:
    published = AgentSearchBody.model_json_schema(by_alias=True)["properties"]["product"]["anyOf"][0]["pattern"]
    pattern = re.compile(published)
    assert all(pattern.search(text) for text in GOOD_LINES)
    assert not any(pattern.search(f"a{mark}b") for mark in NOT_ON_A_LINE)
    assert not pattern.search("   ")


@pytest.mark.parametrize("library", ["/../..", "/./a", "/a/..", "/acme/.", "/..a/../b", "acme/widgets", "/acme/a\n"])
def test_a_library_is_an_owner_and_a_name(library: str) -> None:
    refusal((Context7ConfigModel, HOSTS, "library"), library)


@pytest.mark.parametrize("library", ["/acme/widgets", "/acme/.github", "/a.b/c..d"])
def test_a_library_may_have_dots_in_its_names(library: str) -> None:
    assert read((Context7ConfigModel, HOSTS, "library"), library).library == library
