"""The published schemas and the hand-written reader say the same: what a schema takes is read without any loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from infra.contract_schemas.published import PLACES, schema_texts
from infra.contract_schemas.schemas import schemas
from shared.domain.passages import Question
from shared.domain.registrations import Capabilities
from shared.errors import ExchangeError
from shared.providers.contract import _body
from shared.providers.contract_answers import read_declaration, read_retrieval

FIXTURES = Path(__file__).parents[2] / "fixtures"
PLAIN = {"documentId": "doc-1", "title": "Ferry passes", "snippet": "Valid for a day.", "audience": "public"}
BOUNDED = settings(max_examples=400)

# For each field what is in order and what is not; the reader and the schema say which, each by itself.
ODD: list[Any] = [None, True, False, 0, 1, 1.5, "", " ", "a\n", "\x00", "é", "💡", [], {}, ["a"], {"a": 1}, "\u0085"]
FIELDS: dict[str, list[Any]] = {
    "documentId": ["a", "x" * 512, "x" * 513, "💡" * 512, "tab\t"],
    "title": ["t", "t" * 512, "t" * 513, "line\nline"],
    "snippet": ["s", "s" * 8000, "s" * 8001, "\n\t ", "a\nb", "\u200b"],
    "audience": ["public", "internal", "Public", "public ", "customer"],
    "revision": ["r7", "r" * 513],
    "chunkId": ["doc#3", "c" * 512],
    "url": [
        "https://help.example.com/a",
        "http://help.example.com/",
        "https://u:p@help.example.com/",
        "ftp://a.example",
    ],
    "locale": ["de", "zh-Hant-TW", "de_DE", "x-house", "x", "de\n", "a" * 9, "de-" + "a" * 33],
    "score": [0, -3, 1e300, 10**20, "0.8"],
    "freshness": ["current", "stale", "unknown", "fresh", "current "],
    "reviewDueAt": [
        "2027-02-28T00:00:00Z",
        "2027-02-28t10:11:12.5+01:30",
        "2027-02-28",
        "2027-13-01T00:00:00Z",
        "soon",
    ],
    "translationGroupId": ["g", "g" * 513],
    "unknown": ["anything"],
}


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas()[name])


def reads_without_loss(answer: Any) -> bool:
    """Whether the reader takes it whole: nothing refused, nothing dropped, nothing cut, nothing taken for internal."""
    try:
        retrieval = read_retrieval(json.dumps(answer).encode(), limit=50, allow_test_names=False)
    except ExchangeError:
        return False
    return not retrieval.warnings


def declares(answer: Any) -> bool:
    try:
        read_declaration(json.dumps(answer).encode())
    except ExchangeError:
        return False
    return True


@st.composite
def results(draw: st.DrawFn) -> Any:
    """A sound result in which a few fields were given other values or taken away."""
    result: dict[str, Any] = dict(PLAIN)
    for name in draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=3)):
        if draw(st.integers(0, 9)) == 0:
            result.pop(name, None)
        else:
            result[name] = draw(st.sampled_from(FIELDS[name] + ODD))
    return draw(st.sampled_from([result] * 19 + [None, "text", [], 3]))


ANSWERS = st.builds(
    lambda version, found, more: {"contractVersion": version, "results": found} | more,
    st.sampled_from([1, 1, 1, 1, 1, 1, 1.0, 2, "1", None, True]),
    st.lists(results(), max_size=3) | st.sampled_from([None, {}, "none"]),
    st.sampled_from([{}, {}, {"more": 1}]),
)


@given(ANSWERS)
@BOUNDED
@example({"results": []})
@example({"contractVersion": 1})
@example([])
@example("text")
def test_the_schema_takes_an_answer_if_and_only_if_it_is_read_without_loss(answer: Any) -> None:
    assert validator("response").is_valid(answer) is reads_without_loss(answer)


@pytest.mark.parametrize("name", FIELDS)
def test_schema_and_reader_agree_on_every_value_of_a_field(name: str) -> None:
    seen = set()
    for value in FIELDS[name] + ODD:
        answer = {"contractVersion": 1, "results": [PLAIN | {name: value}]}
        is_sound = reads_without_loss(answer)
        assert validator("response").is_valid(answer) is is_sound, value
        seen.add(is_sound)
    assert seen == ({True} if name == "unknown" else {True, False})


@pytest.mark.parametrize("name", FIELDS)
def test_schema_and_reader_agree_on_which_fields_may_be_absent(name: str) -> None:
    answer = {"contractVersion": 1, "results": [{key: value for key, value in PLAIN.items() if key != name}]}
    assert validator("response").is_valid(answer) is reads_without_loss(answer) is (name not in PLAIN)


@given(st.text(max_size=40))
@BOUNDED
def test_schema_and_reader_agree_on_any_text_as_an_identifier(text: str) -> None:
    answer = {"contractVersion": 1, "results": [PLAIN | {"documentId": text, "chunkId": text}]}
    assert validator("response").is_valid(answer) is reads_without_loss(answer)


@given(st.from_regex(r"[A-Za-z0-9-]{0,12}", fullmatch=True))
@BOUNDED
def test_schema_and_reader_agree_on_language_tags(tag: str) -> None:
    answer = {"contractVersion": 1, "results": [PLAIN | {"locale": tag}]}
    assert validator("response").is_valid(answer) is reads_without_loss(answer)


def citations() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((FIXTURES / "addresses" / "citations.json").read_text())
    return cases


def test_no_url_that_is_shown_is_refused_by_the_schema() -> None:
    shown = [case["url"] for case in citations() if case["shown"] is not None]
    assert len(shown) > 5
    for url in shown:
        assert validator("response").is_valid({"contractVersion": 1, "results": [PLAIN | {"url": url}]}), url


def test_what_of_urls_the_schema_leaves_to_a_reader_is_the_host_and_the_encoding() -> None:
    for case in citations():
        answer = {"contractVersion": 1, "results": [PLAIN | {"url": case["url"]}]}
        if case["shown"] is None and validator("response").is_valid(answer):
            assert case["url"].lower().startswith("https://")
            assert "@" not in case["url"].split("/")[2]


def test_a_day_that_is_in_no_calendar_is_left_to_a_reader() -> None:
    answer = {"contractVersion": 1, "results": [PLAIN | {"reviewDueAt": "2027-02-30T00:00:00Z"}]}
    assert validator("response").is_valid(answer)
    assert not reads_without_loss(answer)


@pytest.mark.parametrize("name", ["readable", "unreadable"])
def test_schema_and_reader_agree_on_the_recorded_answers(name: str) -> None:
    judged = 0
    for case in json.loads((FIXTURES / "providers" / "contract" / f"{name}.json").read_text()):
        if "answer" not in case:
            continue  # bytes that are no JSON of ours to judge
        judged += 1
        answer = case["answer"]
        if reads_without_loss(answer):
            assert validator("response").is_valid(answer), case["name"]
        elif not set(case.get("warnings", ())) <= {"url_dropped", "surplus_cut"}:
            assert not validator("response").is_valid(answer), case["name"]
    assert judged > 10


FLAGS = st.sampled_from([True, False, None, 0, 1, "true", [], {}])
DECLARED = (
    st.dictionaries(st.sampled_from([*schemas()["capabilities"]["properties"]["capabilities"]["properties"]]), FLAGS)
    | FLAGS
)


@given(st.sampled_from([1, 1, 1, 1.0, 2, None, "1", True]), DECLARED)
@BOUNDED
def test_schema_and_reader_agree_on_declarations(version: Any, declared: Any) -> None:
    answer = {"contractVersion": version, "capabilities": declared}
    assert validator("capabilities").is_valid(answer) is declares(answer)


@given(
    st.text(min_size=1, max_size=1024),
    st.integers(1, 50),
    st.sampled_from([None, "de", "zh-Hant"]),
    st.sampled_from([None, "en"]),
    st.sampled_from([None, "conv-1"]),
)
def test_what_the_gateway_asks_is_what_the_schema_says(
    query: str, limit: int, locale: str | None, fallback: str | None, conversation: str | None
) -> None:
    question = Question(query=query, limit=limit, locale=locale, locale_fallback=fallback, conversation_id=conversation)
    body = _body(question, limit=limit, capabilities=Capabilities(locale=True, locale_fallback=True))
    assert validator("request").is_valid(json.loads(body))


NEVER_ASKED: dict[str, dict[str, Any]] = {
    "an empty query": {"query": ""},
    "a query that is too long": {"query": "x" * 1025},
    "no query": {"query": None},
    "no limit": {"limit": 0},
    "too high a limit": {"limit": 51},
    "a limit in text": {"limit": "10"},
    "a locale with an underscore": {"locale": "de_DE"},
    "an empty fallback": {"localeFallback": ""},
    "a context that is a list": {"context": []},
    "a conversation with a number": {"context": {"conversationId": 1}},
}


@pytest.mark.parametrize("name", NEVER_ASKED)
def test_what_the_gateway_never_asks_the_schema_refuses(name: str) -> None:
    sound = {"query": "ferry", "limit": 10}
    assert validator("request").is_valid(sound)
    assert not validator("request").is_valid(sound | NEVER_ASKED[name])


@pytest.mark.parametrize("name", ["request", "response", "capabilities"])
def test_a_schema_is_one_of_its_dialect_and_has_a_name_that_stays(name: str) -> None:
    schema = schemas()[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:knowledge-gateway:schema:knowledge-provider:v1:{name}"


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.parts[-4 if place.parts[-4] == "docs" else -2])
def test_what_is_published_is_what_the_code_makes(place: Path) -> None:
    written = {file.name: file.read_text(encoding="utf-8") for file in place.glob("*.schema.json")}
    assert written == schema_texts(), "run `make openapi`"
