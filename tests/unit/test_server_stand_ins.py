"""The local stand-ins of self-hosted servers: each as odd as the version that it stands for, and counting what it is
asked.
"""

from __future__ import annotations

import http.client
import json
import math
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from fixtures.stand_ins import dify_external, dify_shelves, fastgpt, ragflow_sets
from fixtures.stand_ins.control import SERVERS, BadCommand, Control
from fixtures.stand_ins.fastgpt_folders import object_id
from fixtures.stand_ins.knowledge import dashed_id
from fixtures.stand_ins.server import StandIns
from fixtures.stand_ins.services import servers

DIFY = ("dify-0.15", "dify-1.8", "dify-1.14")
FASTGPT = ("fastgpt-4.8", "fastgpt-4.12", "fastgpt-4.15")
RAGFLOW = ("ragflow-0.17", "ragflow-0.24", "ragflow-0.26")
QUERY = "when does the north quay close"
NOWHERE = "00000000-0000-4000-8000-000000000000"
LEAST = {"search_method": "keyword_search", "reranking_enable": False, "score_threshold_enabled": False, "top_k": 3}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class World:
    stand_ins: StandIns

    def ask(self, server: str, method: str, path: str, body: object = None, **headers: str) -> Answer:
        url = self.stand_ins.control_url if server == "control" else self.stand_ins.servers[server]
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
        try:
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, {"Content-Type": "application/json", **headers})
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def control(self, **command: object) -> Any:
        answer = self.ask("control", "POST" if command else "GET", "/control", command or None)
        assert answer.status == 200, answer.body
        return answer.json

    def dify(
        self, server: str, method: str, path: str, body: object = None, key: str = dify_shelves.CREW_KEY
    ) -> Answer:
        return self.ask(server, method, f"/v1/datasets{path}", body, Authorization=f"Bearer {key}")

    def dify_search(self, server: str, name: str, model: object = None, query: object = QUERY) -> Answer:
        body = {"query": query} | ({} if model is None else {"retrieval_model": model})
        return self.dify(server, "POST", f"/{dashed_id('crew', name)}/retrieve", body)

    def fastgpt(self, server: str, path: str, body: object = None, key: str = fastgpt.KEY) -> Answer:
        method = "GET" if body is None else "POST"
        return self.ask(server, method, f"/api/core/dataset/{path}", body, Authorization=f"Bearer {key}")

    def fastgpt_search(self, server: str, name: str = "harbour", **fields: object) -> Answer:
        return self.fastgpt(server, "searchTest", {"datasetId": object_id(name), "text": QUERY, **fields})

    def ragflow(self, server: str, query: str = "", key: str = ragflow_sets.KEY) -> Answer:
        return self.ask(server, "GET", f"/api/v1/datasets{query}", Authorization=f"Bearer {key}")

    def ragflow_search(self, server: str, *names: str, **fields: object) -> Answer:
        ids = [ragflow_sets.data_set_id(name) for name in names]
        body = {"question": QUERY, "dataset_ids": ids, **fields}
        return self.ask(server, "POST", "/api/v1/retrieval", body, Authorization=f"Bearer {ragflow_sets.KEY}")

    def external(self, knowledge_id: str, key: str = dify_external.KEY) -> Answer:
        setting = {"top_k": 2, "score_threshold": 0.1}
        body = {"query": QUERY, "knowledge_id": knowledge_id, "retrieval_setting": setting, "metadata_condition": None}
        return self.ask("dify_external", "POST", "/retrieval", body, Authorization=f"Bearer {key}")


@pytest.fixture(scope="module")
def running() -> Iterator[World]:
    stand_ins = StandIns([], Control(), servers=servers())
    with stand_ins.running():
        yield World(stand_ins)


@pytest.fixture
def world(running: World) -> World:
    """All servers well."""
    running.control(mode="ok")
    return running


def told(answer: Answer) -> tuple[int, str]:
    """Status and word of a refusal of Dify's."""
    assert answer.json["status"] == answer.status
    return answer.status, answer.json["code"]


# --- Dify ---


@pytest.mark.parametrize(
    ("server", "version"), [("dify-0.15", "0.15.8"), ("dify-1.8", "1.8.1"), ("dify-1.14", "1.14.2")]
)
def test_dify_tells_its_version_with_every_answer_refusals_too(world: World, server: str, version: str) -> None:
    answers = [
        world.dify(server, "GET", ""),
        world.dify(server, "GET", "", key="dataset-wrong"),
        world.dify(server, "GET", "/not-an-id"),
        world.ask(server, "GET", "/v1/"),
    ]
    assert {answer.headers["x-version"] for answer in answers} == {version}
    assert [answer.status for answer in answers] == [200, 401, 404, 200 if version == "0.15.8" else 404]


@pytest.mark.parametrize("server", DIFY)
def test_dify_needs_a_key_of_one_workspace(world: World, server: str) -> None:
    assert told(world.dify(server, "GET", "", key="app-harbour")) == (401, "unauthorized")
    assert told(world.ask(server, "GET", "/v1/datasets")) == (401, "unauthorized")
    basic = world.ask(server, "GET", "/v1/datasets", Authorization="Basic abc")
    assert told(basic) == (401, "unauthorized")
    assert ("www-authenticate" in basic.headers) is (server != "dify-0.15")
    assert world.ask(server, "GET", "/v1/datasets", Authorization=f"bearer {dify_shelves.CREW_KEY}").status == 200


@pytest.mark.parametrize("server", DIFY)
def test_dify_has_html_for_what_is_no_id_and_for_a_slash_too_many(world: World, server: str) -> None:
    for method, path in (("GET", "/not-an-id"), ("POST", "/not-an-id/retrieve"), ("GET", "/")):
        answer = world.dify(server, method, path, {} if method == "POST" else None)
        assert answer.status == 404
        assert answer.headers["content-type"].startswith("text/html")


def test_dify_describes_single_data_sets_from_1_2_on(world: World) -> None:
    for data_set_id in (dashed_id("crew", "harbour"), NOWHERE):
        answer = world.dify("dify-0.15", "GET", f"/{data_set_id}")
        assert told(answer) == (405, "method_not_allowed")
        assert answer.headers["allow"] == "OPTIONS, DELETE"
    for server in DIFY[1:]:
        assert world.dify(server, "GET", f"/{dashed_id('crew', 'harbour')}").json["name"] == "Harbour notes"
        assert told(world.dify(server, "GET", f"/{NOWHERE}")) == (404, "not_found")


def test_dify_refuses_another_workspaces_data_set_and_later_does_not_know_it(world: World) -> None:
    theirs = f"/{dashed_id('public', 'harbour')}"
    assert told(world.dify("dify-1.8", "GET", theirs)) == (403, "forbidden")
    assert told(world.dify("dify-1.14", "GET", theirs)) == (404, "not_found")


@pytest.mark.parametrize("server", DIFY)
def test_a_page_of_dify_is_cut_at_a_hundred_and_then_there_is_no_more(world: World, server: str) -> None:
    pages = {
        query: world.dify(server, "GET", f"?{query}", key=dify_shelves.BERTHS_KEY).json
        for query in ("page=1&limit=100", "page=2&limit=100", "page=1&limit=101", "page=1&limit=500", "page=9&limit=20")
    }
    shown = {
        query: (len(page["data"]), page["has_more"], page["limit"], page["total"]) for query, page in pages.items()
    }
    assert shown == {
        "page=1&limit=100": (100, True, 100, 130),
        "page=2&limit=100": (30, False, 100, 130),
        "page=1&limit=101": (100, False, 101, 130),
        "page=1&limit=500": (100, False, 500, 130),
        "page=9&limit=20": (0, False, 20, 130),
    }


@pytest.mark.parametrize(("server", "unique"), [("dify-0.15", 121), ("dify-1.8", 121), ("dify-1.14", 130)])
def test_before_1_9_pages_of_equal_times_repeat_some_and_lose_others(world: World, server: str, unique: int) -> None:
    rows = [
        row["id"]
        for number in range(1, 8)
        for row in world.dify(server, "GET", f"?page={number}&limit=20", key=dify_shelves.BERTHS_KEY).json["data"]
    ]
    assert (len(rows), len(set(rows))) == (130, unique)


@pytest.mark.parametrize("server", DIFY)
def test_a_full_last_page_of_dify_promises_another_that_is_empty(world: World, server: str) -> None:
    limit = world.dify(server, "GET", "").json["total"]
    first, second = (world.dify(server, "GET", f"?page={number}&limit={limit}").json for number in (1, 2))
    assert (len(first["data"]), first["has_more"]) == (limit, True)
    assert (second["data"], second["has_more"], second["total"]) == ([], False, limit)


def test_numbers_that_are_none_are_ignored_until_1_12(world: World) -> None:
    assert [world.dify(server, "GET", "?page=abc").status for server in DIFY] == [200, 200, 400]
    zero = world.dify("dify-1.8", "GET", "?page=0&limit=0").json
    assert (zero["limit"], zero["page"], bool(zero["data"])) == (0, 0, True)


@pytest.mark.parametrize("server", DIFY)
def test_what_a_colleague_keeps_is_listed_only_when_asked_for(world: World, server: str) -> None:
    def names(query: str) -> set[str]:
        return {row["name"] for row in world.dify(server, "GET", query).json["data"]}

    assert names("?include_all=true") - names("") == {"Drafts of a colleague"}
    assert names("?keyword=SHELF") == {"Empty shelf"}


def test_dify_lists_more_of_a_data_set_from_version_to_version(world: World) -> None:
    keys = [set(world.dify(server, "GET", "").json["data"][0]) for server in DIFY]
    assert len(keys[0]) == 22
    assert keys[1] - keys[0] == {"doc_metadata", "built_in_field_enabled"}
    assert {"enable_api", "is_multimodal", "summary_index_setting"} <= keys[2] - keys[1]
    galley = f"/{dashed_id('crew', 'galley')}"
    method = [
        world.dify(server, "GET", galley).json["retrieval_model_dict"]["search_method"]
        for server in ("dify-1.8", "dify-1.14")
    ]
    assert method == ["semantic_search", "keyword_search"]


@pytest.mark.parametrize(
    ("server", "status", "code"),
    [
        ("dify-0.15", 500, "internal_server_error"),
        ("dify-1.8", 500, "internal_server_error"),
        ("dify-1.14", 400, "invalid_param"),
    ],
)
def test_a_model_that_is_not_complete_breaks_dify(world: World, server: str, status: int, code: str) -> None:
    assert told(world.dify_search(server, "galley", {"top_k": 1})) == (status, code)
    assert world.dify_search(server, "galley", LEAST).status == 200


@pytest.mark.parametrize("server", DIFY)
def test_an_economy_data_set_of_dify_is_searched_for_keywords_alone(world: World, server: str) -> None:
    assert told(world.dify_search(server, "galley", query="fish soup")) == (400, "invalid_param")
    (record,) = world.dify_search(server, "galley", LEAST, query="when is fish soup served").json["records"]
    assert record["segment"]["content"].startswith("Fish soup")
    assert record["score"] == (0.0 if server == "dify-1.14" else None)
    assert world.dify_search(server, "harbour", LEAST).json["records"] == []


def test_dify_echoes_the_query_as_an_object_and_later_as_text(world: World) -> None:
    echoes = [world.dify_search(server, "harbour").json["query"] for server in DIFY]
    assert echoes == [{"content": QUERY}, {"content": QUERY}, QUERY]


@pytest.mark.parametrize("server", DIFY)
def test_dify_finds_something_for_every_question_unless_a_threshold_is_set(world: World, server: str) -> None:
    model = LEAST | {"search_method": "semantic_search", "score_threshold": 0.3}
    assert len(world.dify_search(server, "harbour", model, query="xylophone").json["records"]) == 3
    cut = world.dify_search(server, "harbour", model | {"score_threshold_enabled": True}).json["records"]
    assert [record["segment"]["document"]["name"] for record in cut] == ["north-quay.md"]
    assert cut[0]["score"] > 0.3


def test_empty_data_sets_of_dify_are_a_fault_from_1_0_on(world: World) -> None:
    assert world.dify_search("dify-0.15", "Empty shelf").json["records"] == []
    for server in DIFY[1:]:
        assert told(world.dify_search(server, "Empty shelf")) == (400, "invalid_param")


@pytest.mark.parametrize("server", DIFY)
def test_external_data_sets_of_dify_fail_in_the_words_of_a_data_base(world: World, server: str) -> None:
    answer = world.dify_search(server, "Kept elsewhere")
    assert told(answer) == (400, "invalid_param")
    assert "does not exist" in answer.json["message"]


def test_a_data_set_shut_to_the_api_is_listed_and_refused(world: World) -> None:
    shut = f"/{dashed_id('crew', 'Shut drawer')}"
    assert told(world.dify("dify-1.14", "GET", shut)) == (403, "forbidden")
    assert world.dify("dify-1.8", "GET", shut).status == 200


@pytest.mark.parametrize("server", DIFY)
def test_dify_answers_questions_with_their_answers_and_children_with_their_parents(world: World, server: str) -> None:
    model = LEAST | {"search_method": "semantic_search", "top_k": 1}
    (pair,) = world.dify_search(server, "passes", model, query="season pass bicycles").json["records"]
    assert pair["segment"]["answer"].startswith("One bicycle")
    assert pair["child_chunks"] == ([] if server == "dify-1.14" else None)
    (parent,) = world.dify_search(server, "rescue", model, query="lowered first slowest winch").json["records"]
    scores = [child["score"] for child in parent["child_chunks"]]
    assert parent["score"] == scores[0] == max(scores) > 0
    assert parent["segment"]["content"].startswith("Lifeboat drill")


@pytest.mark.parametrize("server", DIFY)
def test_dify_takes_queries_of_250_characters(world: World, server: str) -> None:
    assert world.dify_search(server, "galley", LEAST, query="渡" * 250).status == 200
    assert told(world.dify_search(server, "galley", LEAST, query="渡" * 251)) == (400, "invalid_param")
    assert told(world.dify_search(server, "galley", LEAST, query="")) == (400, "invalid_param")
    echo = world.dify_search(server, "galley", LEAST, query="zeppelin " * 40).json["message"]
    assert ("zeppelin" in echo) is (server == "dify-1.14")


def test_methods_and_numbers_are_checked_by_some_versions_of_dify(world: World) -> None:
    unknown = LEAST | {"search_method": "telepathy"}
    assert [world.dify_search(server, "harbour", unknown).status for server in DIFY] == [200, 200, 400]
    assert [world.dify_search(server, "galley", LEAST | {"top_k": "3"}).status for server in DIFY] == [400, 400, 200]
    assert [world.dify_search(server, "galley", LEAST | {"top_k": 0}).json["records"] for server in DIFY] == [[]] * 3


def test_bodies_that_are_none_are_told_apart_by_some_versions_of_dify(world: World) -> None:
    path = f"/v1/datasets/{dashed_id('crew', 'galley')}/retrieve"
    key = f"Bearer {dify_shelves.CREW_KEY}"

    def status(server: str, media_type: str) -> int:
        headers = {"Authorization": key, "Content-Type": media_type}
        return world.ask(server, "POST", path, b"{not json", **headers).status

    assert [status(server, "application/json") for server in DIFY] == [400, 400, 400]
    assert [status(server, "text/plain") for server in DIFY] == [415, 400, 415]


@pytest.mark.parametrize(("server", "status"), [("dify-0.15", 500), ("dify-1.8", 400), ("dify-1.14", 400)])
def test_a_broken_dify_blames_the_request_from_1_0_on(world: World, server: str, status: int) -> None:
    world.control(service=server, mode="fail")
    assert world.dify(server, "GET", "").status == world.dify_search(server, "harbour").status == status
    assert ("plugin daemon" in world.dify(server, "GET", "").json["message"]) is (status == 400)


# --- FastGPT ---


def words(answer: Answer) -> tuple[int, int, str]:
    """Status, number and word of a refusal."""
    return answer.status, answer.json["code"], answer.json["statusText"]


def test_fastgpt_refuses_under_200_and_later_under_500(world: World) -> None:
    wrong = [words(world.fastgpt(server, "list", {}, key="fastgpt-wrong")) for server in FASTGPT]
    assert wrong == [(status, 514, "unAuthApiKey") for status in (200, 500, 500)]
    dashes = [words(world.fastgpt(server, "list", {}, key="fastgpt-a-b-c")) for server in FASTGPT]
    assert dashes == [(status, 403, "unAuthorization") for status in (200, 500, 500)]
    assert world.fastgpt("fastgpt-4.12", "list", {}, key=fastgpt.KEY + "-66f0c0ffee").status == 200


def test_the_number_of_a_refusal_of_fastgpt_changes_and_its_word_stays(world: World) -> None:
    def refusals(name: str) -> list[tuple[int, int, str]]:
        return [words(world.fastgpt(server, f"detail?id={object_id(name)}")) for server in FASTGPT]

    unknown = [(200, 501000), (500, 501002), (500, 501002)]
    assert refusals("nowhere") == [(*each, "unExistDataset") for each in unknown]
    hidden = [(200, 501001), (500, 501004), (500, 501004)]
    assert refusals("theirs") == [(*each, "unAuthDataset") for each in hidden]
    assert words(world.fastgpt("fastgpt-4.12", "detail"))[2] == "missingParams"


def test_what_is_no_id_of_fastgpt_is_a_fault_or_said_to_be_wrong(world: World) -> None:
    answers = [world.fastgpt(server, "detail?id=not-an-id") for server in FASTGPT]
    assert [answer.status for answer in answers] == [500, 500, 400]
    assert answers[1].json["message"].startswith("Cast to ObjectId failed")
    assert answers[2].json["zodError"][0]["path"] == ["id"]


@pytest.mark.parametrize("server", FASTGPT)
def test_a_folder_of_fastgpt_is_given_or_everything_is_listed(world: World, server: str) -> None:
    def names(**body: object) -> set[str]:
        return {row["name"] for row in world.fastgpt(server, "list", body).json["data"]}

    top = {"Quays", "Season passes", "Galley menu", "Ledger"}
    assert names(parentId=None) == names(parentId="") == top
    assert names(parentId=object_id("quays")) == {"Harbour notes", "Before 2020"}
    everything = top | {"Harbour notes", "Before 2020", "Old sailings"}
    assert names() == names(parentId="not-an-id") == everything
    assert names(parentId=object_id("quays"), type="folder") == {"Before 2020"}
    assert names(parentId=None, searchKey="sailings") == {"Old sailings"}


@pytest.mark.parametrize("server", FASTGPT)
def test_what_somebody_made_who_has_left_fastgpt_is_found_by_its_id_alone(world: World, server: str) -> None:
    listed = {row["_id"] for row in world.fastgpt(server, "list", {}).json["data"]}
    assert object_id("rescue") not in listed
    assert world.fastgpt(server, f"detail?id={object_id('rescue')}").json["data"]["name"] == "Rescue drills"
    assert world.fastgpt_search(server, "rescue").json["data"]["list"]


@pytest.mark.parametrize("server", FASTGPT)
def test_fastgpt_counts_tokens_and_takes_the_row_that_passes(world: World, server: str) -> None:
    counts = {n: len(world.fastgpt_search(server, limit=n).json["data"]["list"]) for n in (1, 31, 20_000)}
    assert counts == {1: 1, 31: 2, 20_000: 6}
    assert world.fastgpt_search(server, limit=90_000).json["data"]["limit"] == 20_000
    usual = 1_500 if server == "fastgpt-4.8" else 5_000
    assert world.fastgpt_search(server).json["data"]["limit"] == usual


@pytest.mark.parametrize("server", FASTGPT)
def test_fastgpt_scores_a_row_in_several_ways_at_once(world: World, server: str) -> None:
    rows = world.fastgpt_search(server, searchMode="mixedRecall").json["data"]["list"]
    kinds = [[score["type"] for score in row["score"]] for row in rows]
    assert {"embedding", "rrf"} <= set(kinds[-1])
    assert {"embedding", "fullText", "rrf"} == set(kinds[0])
    text = world.fastgpt_search(server, searchMode="fullTextRecall").json["data"]["list"]
    assert max(row["score"][0]["value"] for row in text) > 1
    assert ("indexes" in text[0]) is (server != "fastgpt-4.15")
    assert ("a" in text[0]) is (server != "fastgpt-4.15")


@pytest.mark.parametrize("server", FASTGPT)
def test_fastgpt_filters_and_orders_only_where_it_says_so(world: World, server: str) -> None:
    filtered = world.fastgpt_search(server, similarity=0.4, usingReRank=True).json["data"]
    assert (len(filtered["list"]), filtered["usingSimilarityFilter"], filtered["usingReRank"]) == (1, True, False)
    mixed = world.fastgpt_search(server, similarity=0.4, searchMode="mixedRecall").json["data"]
    assert (len(mixed["list"]), mixed["usingSimilarityFilter"]) == (6, False)


def test_a_mode_that_fastgpt_does_not_know_is_taken_for_another_or_refused(world: World) -> None:
    answers = [world.fastgpt_search(server, searchMode="telepathy") for server in FASTGPT]
    assert [answer.status for answer in answers] == [200, 200, 400]
    assert answers[1].json["data"]["searchMode"] == "embedding"


@pytest.mark.parametrize("server", FASTGPT)
def test_a_folder_of_fastgpt_can_be_searched_and_holds_nothing(world: World, server: str) -> None:
    assert world.fastgpt_search(server, "quays").json["data"]["list"] == []
    assert words(world.fastgpt_search(server, text=""))[2] == "missingParams"


# --- RAGFlow ---


def code(answer: Answer) -> tuple[int, int, object]:
    """Status, code and data of an answer."""
    return answer.status, answer.json["code"], answer.json["data"]


def test_a_key_is_refused_by_ragflow_in_three_ways_one_of_them_a_success(world: World) -> None:
    missing = [world.ask(server, "GET", "/api/v1/datasets") for server in RAGFLOW]
    assert [code(answer) for answer in missing] == [(200, 0, False), (200, 0, False), (401, 401, None)]
    wrong = [world.ragflow(server, key="ragflow-wrong") for server in RAGFLOW]
    assert [code(answer) for answer in wrong] == [(200, 109, False), (200, 109, False), (401, 401, None)]


def test_a_success_of_ragflow_says_no_message_and_later_a_total(world: World) -> None:
    keys = [set(world.ragflow(server).json) for server in RAGFLOW]
    assert keys == [{"code", "data"}, {"code", "data", "total_datasets"}, {"code", "data", "total_datasets"}]


def test_ragflow_refuses_what_it_does_not_know_or_finds_too_long(world: World) -> None:
    assert [world.ragflow(server, "?colour=red").json["code"] for server in RAGFLOW] == [0, 101, 101]
    key = ragflow_sets.BERTHS_KEY
    pages = [world.ragflow(server, "?page=1&page_size=500", key=key).json for server in RAGFLOW]
    assert [(page["code"], len(page.get("data") or [])) for page in pages] == [(0, 130), (0, 130), (101, 0)]
    assert world.ragflow("ragflow-0.26", "?page=2&page_size=100", key=key).json["total_datasets"] == 130
    assert [world.ragflow(server, "?page=0").json["code"] for server in RAGFLOW] == [101] * 3


def test_an_id_or_a_name_that_ragflow_does_not_have_is_a_failure(world: World) -> None:
    unknown = [world.ragflow(server, f"?id={'0' * 32}").json["code"] for server in RAGFLOW]
    assert unknown == [102, 108, 102]
    assert [world.ragflow(server, "?id=not-an-id").json["code"] for server in RAGFLOW] == [102, 101, 101]
    assert [world.ragflow(server, "?name=nowhere").json["code"] for server in RAGFLOW] == unknown
    (found,) = world.ragflow("ragflow-0.26", f"?id={ragflow_sets.data_set_id('harbour')}").json["data"]
    assert found["name"] == "Harbour notes"


@pytest.mark.parametrize("server", RAGFLOW)
def test_ragflow_searches_all_or_nothing(world: World, server: str) -> None:
    assert world.ragflow_search(server, "harbour").json["data"]["chunks"]
    assert world.ragflow_search(server, "harbour", "nowhere").json["code"] == 102
    mixed = world.ragflow_search(server, "harbour", "passes").json
    assert mixed["code"] == 102
    assert mixed["message"].endswith('"') is (server != "ragflow-0.26")
    assert world.ragflow_search(server).json["code"] == 102


@pytest.mark.parametrize("server", RAGFLOW)
def test_a_model_that_refuses_looks_like_a_wrong_key_of_ragflow(world: World, server: str) -> None:
    assert code(world.ragflow_search(server, "paused")) == (401, 401, None)
    assert world.ragflow(server).json["code"] == 0


def test_no_candidates_are_a_wrong_key_or_a_wrong_number(world: World) -> None:
    assert [code(world.ragflow_search(server, "harbour", top_k=-1))[:2] for server in RAGFLOW] == [
        (401, 401),
        (401, 401),
        (200, 102),
    ]
    assert [world.ragflow_search(server, "harbour", page_size=101).json["code"] for server in RAGFLOW] == [0, 0, 100]


@pytest.mark.parametrize("server", RAGFLOW)
def test_similarities_of_ragflow_can_be_no_numbers(world: World, server: str) -> None:
    answer = world.ragflow_search(server, "galley", question="fish soup")
    assert b"NaN" in answer.body
    assert math.isnan(answer.json["data"]["chunks"][0]["similarity"])


@pytest.mark.parametrize("server", RAGFLOW)
def test_an_empty_question_has_no_documents_of_either_type(world: World, server: str) -> None:
    data = world.ragflow_search(server, "harbour", question=" ").json["data"]
    assert data == {"total": 0, "chunks": [], "doc_aggs": [] if server == "ragflow-0.17" else {}}


def test_ragflow_lights_words_up_unless_words_forbid_it(world: World) -> None:
    def is_lit(server: str, **fields: object) -> bool:
        return "highlight" in world.ragflow_search(server, "harbour", **fields).json["data"]["chunks"][0]

    assert [is_lit(server) for server in RAGFLOW] == [True, False, False]
    assert [is_lit(server, highlight=False) for server in RAGFLOW] == [True, False, False]
    assert [is_lit(server, highlight="false") for server in RAGFLOW] == [False, False, False]


@pytest.mark.parametrize("server", RAGFLOW)
def test_a_graph_of_ragflow_adds_a_chunk_of_no_document(world: World, server: str) -> None:
    plain = world.ragflow_search(server, "rescue", question="boat drill", page_size=1).json["data"]["chunks"]
    made = world.ragflow_search(server, "rescue", question="boat drill", page_size=1, use_kg=True).json["data"][
        "chunks"
    ]
    assert len(made) == len(plain) + 1
    assert (made[0]["document_id"], made[0]["dataset_id"]) == ("", [ragflow_sets.data_set_id("rescue")])
    again = world.ragflow_search(server, "rescue", question="boat drill", use_kg=True).json["data"]["chunks"]
    assert again[0]["id"] != made[0]["id"]


def test_the_names_of_ragflow_changed_and_its_total_says_less(world: World) -> None:
    found = [world.ragflow_search(server, "harbour").json["data"] for server in RAGFLOW]
    assert [("kb_id" in data["chunks"][0], "dataset_id" in data["chunks"][0]) for data in found] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    assert found[0]["total"] > len(found[0]["chunks"]) == found[1]["total"]


def test_ragflow_tells_its_version_from_0_25_on(world: World) -> None:
    answers = [world.ask(server, "GET", "/api/v1/system/version") for server in RAGFLOW]
    assert [answer.status for answer in answers] == [404, 404, 200]
    assert answers[2].json["data"] == "v0.26.4"


@pytest.mark.parametrize("server", RAGFLOW)
def test_what_ragflow_has_not_read_in_is_an_exception(world: World, server: str) -> None:
    assert code(world.ragflow_search(server, "unread")) == (200, 100, None)


# --- Dify's External Knowledge API ---


def test_external_knowledge_is_answered_in_the_agreed_form(world: World) -> None:
    first, *_ = world.external("harbour").json["records"]
    assert set(first) == {"content", "score", "title", "metadata"}
    assert first["title"] == "north-quay.md"
    assert world.external(dify_external.WITHOUT_METADATA).json["records"][0]["metadata"] is None
    assert world.external(dify_external.WITHOUT_RECORDS).json == {}


def test_external_knowledge_refuses_with_agreed_numbers(world: World) -> None:
    refusals = [
        world.ask("dify_external", "POST", "/retrieval", {}),
        world.external("harbour", key="wrong"),
        world.external("nowhere"),
    ]
    assert [answer.json["error_code"] for answer in refusals] == [1001, 1002, 2001]


def test_a_registration_at_external_knowledge_is_a_call_without_a_body(world: World) -> None:
    answer = world.ask("dify_external", "POST", "/retrieval", Authorization=f"Bearer {dify_external.KEY}")
    assert answer.status == 400


# --- commands and counts ---

READINGS = {
    **dict.fromkeys(DIFY, ("GET", "/v1/datasets", dify_shelves.CREW_KEY)),
    **dict.fromkeys(FASTGPT, ("POST", "/api/core/dataset/list", fastgpt.KEY)),
    **dict.fromkeys(RAGFLOW, ("GET", "/api/v1/datasets", ragflow_sets.KEY)),
    "dify_external": ("POST", "/retrieval", dify_external.KEY),
}


def read(world: World, server: str) -> Answer:
    method, path, key = READINGS[server]
    setting = {"top_k": 2, "score_threshold": 0.1}
    body = {"query": QUERY, "knowledge_id": "harbour", "retrieval_setting": setting} if method == "POST" else None
    return world.ask(server, method, path, body, Authorization=f"Bearer {key}")


@pytest.mark.parametrize("server", SERVERS)
def test_every_server_fails_on_command_and_is_well_again(world: World, server: str) -> None:
    well = read(world, server).body
    faults = {}
    for mode in ("fail", "refuse", "refuse_rate", "refuse_quota", "html"):
        world.control(service=server, mode=mode, for_calls=1)
        faults[mode] = read(world, server)
    assert len({(answer.status, answer.body) for answer in faults.values()} | {(200, well)}) == 6
    assert faults["refuse_rate"].status == 429
    assert (faults["html"].status, faults["html"].headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert read(world, server).body == well


@pytest.mark.parametrize("server", SERVERS)
def test_a_wait_is_told_where_the_product_tells_it(world: World, server: str) -> None:
    world.control(service=server, mode="refuse_rate", retry_after_s=40, for_calls=1)
    answer = read(world, server)
    told_in_words = b"in 40 seconds" in answer.body or b"in 39 seconds" in answer.body
    assert told_in_words is (server == "fastgpt-4.15")
    assert ("retry-after" in answer.headers) is (not server.startswith("fastgpt"))


def test_requests_are_counted_by_method_and_path_without_ids(world: World) -> None:
    before = world.control()["requests"]["dify-1.8"]
    world.dify_search("dify-1.8", "harbour")
    world.dify("dify-1.8", "GET", f"/{NOWHERE}?limit=3")
    world.control(service="dify-1.8", mode="fail", for_calls=1)
    world.dify("dify-1.8", "DELETE", f"/{NOWHERE}")
    after = world.control()["requests"]["dify-1.8"]
    new = {shape: count - before.get(shape, 0) for shape, count in after.items() if count != before.get(shape, 0)}
    assert new == {
        "POST /v1/datasets/{id}/retrieve": 1,
        "GET /v1/datasets/{id}": 1,
        "DELETE /v1/datasets/{id}": 1,
    }


@pytest.mark.parametrize(
    ("server", "method", "path"),
    [
        *((server, "POST", "/v1/datasets") for server in DIFY),
        *((server, "DELETE", f"/v1/datasets/{dashed_id('crew', 'harbour')}") for server in DIFY),
        *((server, "POST", "/api/core/dataset/create") for server in FASTGPT),
        *((server, "POST", "/api/v1/datasets") for server in RAGFLOW),
        *((server, "DELETE", "/api/v1/datasets") for server in RAGFLOW),
        ("dify_external", "PUT", "/retrieval"),
    ],
)
def test_nothing_on_a_stand_in_can_be_changed(world: World, server: str, method: str, path: str) -> None:
    key = READINGS[server][2]
    assert world.ask(server, method, path, {"name": "new"}, Authorization=f"Bearer {key}").status >= 400


def test_a_hosted_service_cannot_be_told_to_refuse_as_a_server_does() -> None:
    with pytest.raises(BadCommand, match="refuse is for"):
        Control().command({"service": "exa", "mode": "refuse"})


def test_a_server_keeps_its_port_while_that_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = socket.create_server(("127.0.0.1", 0))
        ports = {"dify-1.8": free.getsockname()[1], "dify-1.14": taken.getsockname()[1]}
        free.close()
        stand_ins = StandIns([], Control(), servers=servers(), kept=ports)
        with stand_ins.running():
            found = {name: urlsplit(stand_ins.servers[name]).port for name in ports}
    assert found["dify-1.8"] == ports["dify-1.8"]
    assert found["dify-1.14"] != ports["dify-1.14"]
