"""Binding knowledge bases on self-hosted servers: a real search comes first, and nothing is half-written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.bindings import Binding, DifyConfig, DifyRerankMode, DifySearchMethod, FastGptConfig, RagflowConfig
from shared.domain.changes import Change
from shared.domain.exposure import Audience
from shared.domain.identifiers import new_provider_id
from shared.domain.passages import Question, Retrieval
from shared.domain.registrations import Provider
from shared.domain.remote_catalogs import NotSearchable, RemoteEntry
from shared.errors import ConnectionFailed, ExchangeError, ExchangeTimeout, Refused
from tests.support.admin_stage import AUDIT, PROVIDERS, REMOTE_ID, AdminStage, Answered, a_bound_provider
from tests.support.builders import a_passage

PUBLIC = {"exposureProfile": "customer_safe", "credentialReachesPublicContentOnly": True}
MODEL: dict[str, Any] = {"searchMethod": "hybrid_search"}
WEIGHTS = {
    "vectorWeight": 0.7,
    "keywordWeight": 0.3,
    "embeddingProviderName": "example/embeddings",
    "embeddingModelName": "small",
}


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    stage.server.entries = (RemoteEntry(id=REMOTE_ID, name="Ferries"),)
    yield stage
    stage.close()


def wanted(stage: AdminStage, **over: Any) -> dict[str, Any]:
    return a_bound_provider(stage.install()) | over


def binding_in(stage: AdminStage, made: Answered) -> Binding:
    config = stage.store.registrations[made.json["id"]].source.config
    assert isinstance(config, Binding)
    return config


def audited(stage: AdminStage, action: str) -> dict[str, Any]:
    entries = stage.call("GET", AUDIT).json["entries"]
    return next(entry for entry in entries if entry["action"] == action)


# --- binding -------------------------------------------------------------------------------------


def test_a_binding_is_active_once_a_real_search_has_succeeded(stage: AdminStage) -> None:
    made = stage.bind(stage.install())
    source, question, credential = stage.server.asked[0]

    assert (made.json["status"], made.json["needsTest"], made.etag) == ("active", False, '"1"')
    assert (made.json["remoteId"], made.json["remoteName"]) == (REMOTE_ID, "Ferries")
    assert (question.query, credential, source.base_url) == ("night ferry", "dataset-demo", made.json["baseUrl"])
    assert made.json == stage.call("GET", made.headers["Location"]).json


def test_a_binding_has_its_instances_exposure_and_names_none(stage: AdminStage) -> None:
    public = stage.bind(stage.install(**PUBLIC))
    instance = stage.install(name="Inner", credential=None)
    refused = stage.call("POST", PROVIDERS, a_bound_provider(instance) | {"exposureProfile": "customer_safe"})

    assert (public.json["exposureProfile"], public.json["id"][:3]) == ("customer_safe", "cs_")
    assert "/exposureProfile" in refused.pointers


def test_defaults_are_shown_and_every_setting_is_kept(stage: AdminStage) -> None:
    made = stage.bind(stage.install())
    common = {"resultLimit": 3, "requestTimeoutMs": 2_000, "maxSnippetCharacters": 500}
    other = stage.bind(stage.install(name="Other"), name="Other", priority=5, module="billing", **common)

    assert {name: made.json[name] for name in common} == {
        "resultLimit": 6,
        "requestTimeoutMs": 15_000,
        "maxSnippetCharacters": 4_000,
    }
    assert {name: other.json[name] for name in common} == common
    assert (other.json["priority"], other.json["module"]) == (5, "billing")
    assert stage.server.asked[-1][1].limit == 3


@pytest.mark.parametrize(
    ("kind", "config", "product"),
    [
        ("dify", {}, DifyConfig()),
        ("fastgpt", {}, FastGptConfig()),
        ("fastgpt", {"usingReRank": True, "tokenLimit": 900}, FastGptConfig(using_rerank=True, token_limit=900)),
        ("ragflow", {}, RagflowConfig()),
        ("ragflow", {"similarityThreshold": 0, "topK": 64}, RagflowConfig(similarity_threshold=0.0, top_k=64)),
    ],
    ids=["dify", "fastgpt", "fastgpt-set", "ragflow", "ragflow-set"],
)
def test_each_product_has_its_own_config(stage: AdminStage, kind: str, config: dict[str, Any], product: object) -> None:
    made = stage.bind(stage.install(kind=kind), config=config)

    assert binding_in(stage, made).product == product
    assert config.items() <= made.json["config"].items()


@pytest.mark.parametrize(
    ("kind", "config", "pointer"),
    [
        ("dify", {"retrievalModel": {}}, "/config/retrievalModel/searchMethod"),
        ("dify", {"retrievalModel": {"topK": 3}}, "/config/retrievalModel/searchMethod"),
        ("dify", {"retrievalModel": {"searchMethod": "vector"}}, "/config/retrievalModel/searchMethod"),
        ("dify", {"retrievalModel": MODEL | {"rerankMode": "reranking_model"}}, "/config/retrievalModel"),
        ("dify", {"retrievalModel": MODEL | {"rerankMode": "weighted_score"}}, "/config/retrievalModel"),
        ("dify", {"retrievalModel": MODEL | {"weights": WEIGHTS}}, "/config/retrievalModel"),
        (
            "dify",
            {"retrievalModel": MODEL | {"rerankMode": "weighted_score", "weights": WEIGHTS | {"keywordWeight": 0.4}}},
            "/config/retrievalModel/weights",
        ),
        ("dify", {"retrievalModel": MODEL | {"scoreThreshold": 1.1}}, "/config/retrievalModel/scoreThreshold"),
        ("dify", {"isEconomy": True}, "/config/isEconomy"),
        ("dify", {"searchMode": "embedding"}, "/config/searchMode"),
        ("fastgpt", {"tokenLimit": 0}, "/config/tokenLimit"),
        ("fastgpt", {"tokenLimit": 20_001}, "/config/tokenLimit"),
        ("fastgpt", {"similarity": -0.1}, "/config/similarity"),
        ("fastgpt", {"searchMode": "all"}, "/config/searchMode"),
        ("fastgpt", {"datasetSearchUsingExtensionQuery": True}, "/config/datasetSearchUsingExtensionQuery"),
        ("ragflow", {"topK": 0}, "/config/topK"),
        ("ragflow", {"topK": 2_049}, "/config/topK"),
        ("ragflow", {"similarityThreshold": "0.2"}, "/config/similarityThreshold"),
        ("ragflow", {"vectorSimilarityWeight": 2}, "/config/vectorSimilarityWeight"),
        ("ragflow", {"hasGraph": True}, "/config/hasGraph"),
        ("ragflow", {"keyword": True}, "/config/keyword"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(stage: AdminStage, kind: str, config: dict[str, Any], pointer: str) -> None:
    instance = stage.install(kind=kind)
    refused = stage.call("POST", PROVIDERS, a_bound_provider(instance) | {"config": config})

    assert (refused.status, pointer in refused.pointers) == (422, True), refused.text
    assert (stage.server.credentials, stage.store.registrations) == ([], {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("resultLimit", 0),
        ("resultLimit", 21),
        ("requestTimeoutMs", 999),
        ("requestTimeoutMs", 25_001),
        ("maxSnippetCharacters", 99),
        ("maxSnippetCharacters", 8_001),
        ("remoteId", ""),
        ("remoteId", " padded"),
        ("remoteId", "x" * 129),
        ("testQuery", ""),
        ("testQuery", "  "),
        ("instanceId", "cs_aaaaaaaaaaaaaaaa"),
        ("baseUrl", "https://elsewhere.example.com"),
        ("credential", {"action": "replace", "value": "k"}),
        ("status", "active"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_a_binding_cannot_be_set_to_is_refused_by_name(stage: AdminStage, field: str, value: object) -> None:
    refused = stage.call("POST", PROVIDERS, wanted(stage, **{field: value}))

    assert (refused.status, refused.pointers) == (422, [f"/{field}"])


def test_a_complete_retrieval_model_is_kept_as_it_is(stage: AdminStage) -> None:
    model = MODEL | {"scoreThreshold": 0.4, "rerankMode": "weighted_score", "rerankModel": None, "weights": WEIGHTS}
    made = stage.bind(stage.install(), config={"retrievalModel": model})
    product = binding_in(stage, made).product

    assert made.json["config"] == {"retrievalModel": model}
    assert isinstance(product, DifyConfig)
    assert product.retrieval_model is not None
    assert product.retrieval_model.search_method is DifySearchMethod.HYBRID
    assert product.retrieval_model.rerank_mode is DifyRerankMode.WEIGHTS


def test_what_the_server_says_of_a_knowledge_base_goes_into_how_it_is_asked(stage: AdminStage) -> None:
    stage.server.entries = (RemoteEntry(id=REMOTE_ID, name="Ferries", is_economy=True, has_graph=True),)
    economy = stage.bind(stage.install())
    graph = stage.bind(stage.install(kind="ragflow", name="Ragflow"), name="Other", config={"useKg": True})

    assert economy.json["isEconomy"] is True
    assert (graph.json["hasGraph"], graph.json["config"]["useKg"]) == (True, True)
    assert stage.server.asked[0][0].config == binding_in(stage, economy)


@pytest.mark.parametrize("has_graph", [None, False])
def test_a_graph_is_not_searched_where_none_was_built(stage: AdminStage, has_graph: bool | None) -> None:
    stage.server.entries = (RemoteEntry(id=REMOTE_ID, name="Ferries", has_graph=has_graph),)
    instance = stage.install(kind="ragflow")
    refused = stage.call("POST", PROVIDERS, a_bound_provider(instance) | {"config": {"useKg": True}})

    assert (refused.status, refused.code) == (409, "graph_not_built")
    assert (stage.server.asked, stage.store.registrations) == ([], {})


@pytest.mark.parametrize("reason", sorted(NotSearchable))
def test_what_cannot_be_searched_cannot_be_bound(stage: AdminStage, reason: NotSearchable) -> None:
    stage.server.entries = (RemoteEntry(id=REMOTE_ID, name="Ferries", not_searchable=reason),)
    refused = stage.call("POST", PROVIDERS, wanted(stage))

    assert (refused.code, refused.json["reason"]) == ("not_searchable", reason)
    assert stage.server.asked == []


@pytest.mark.parametrize("code", ["forbidden", "capability_unavailable"])
def test_where_nothing_may_be_read_an_id_is_taken_as_it_was_typed(stage: AdminStage, code: str) -> None:
    stage.server.failures = {"detail": Refused(code)}
    made = stage.bind(stage.install())

    assert (made.json["remoteName"], made.json["isEconomy"]) == (REMOTE_ID, False)


def test_an_id_is_kept_as_the_server_writes_it(stage: AdminStage) -> None:
    written = REMOTE_ID.upper()

    async def detail(*_: object, **__: object) -> RemoteEntry:
        return RemoteEntry(id=written, name="Ferries")

    stage.server.detail = detail  # type: ignore[method-assign]
    made = stage.bind(stage.install(), remoteId=REMOTE_ID.replace("-", ""))

    assert made.json["remoteId"] == written


def test_a_server_that_describes_something_else_is_not_believed(stage: AdminStage) -> None:
    async def detail(*_: object, **__: object) -> RemoteEntry:
        return RemoteEntry(id="something-else", name="Secrets")

    stage.server.detail = detail  # type: ignore[method-assign]
    refused = stage.call("POST", PROVIDERS, wanted(stage))

    assert (refused.code, refused.json["outcome"]) == ("test_failed", "invalid_response")


@pytest.mark.parametrize("step", ["detail", "retrieve"])
@pytest.mark.parametrize(
    "error", [Refused("unauthorized"), Refused("upstream_error"), ConnectionFailed(), ExchangeTimeout()], ids=str
)
def test_a_failed_test_leaves_nothing_behind(stage: AdminStage, step: str, error: ExchangeError) -> None:
    stage.server.failures = {step: error}
    refused = stage.call("POST", PROVIDERS, wanted(stage), key="bind-1")

    assert (refused.status, refused.code, refused.json["outcome"]) == (409, "test_failed", error.code)
    assert refused.json["explanation"].startswith(("The server", "No connection"))
    assert (stage.store.registrations, len(stage.store.audit)) == ({}, 1)
    stage.server.failures = {}
    assert stage.call("POST", PROVIDERS, wanted_again(stage), key="bind-1").status == 201


def wanted_again(stage: AdminStage) -> dict[str, Any]:
    (instance_id,) = stage.store.instances
    found = stage.call("GET", f"/api/v1/knowledge/instances/{instance_id}")
    return a_bound_provider(found)


def test_a_query_beyond_the_products_limit_is_refused_before_anything_is_sent(stage: AdminStage) -> None:
    refused = stage.call("POST", PROVIDERS, wanted(stage, testQuery="x" * 1_025))

    assert (refused.status, refused.pointers) == (422, ["/testQuery"])
    assert stage.server.credentials == []


def test_the_same_thing_is_bound_once_and_the_server_is_not_asked_again(stage: AdminStage) -> None:
    instance = stage.install()
    stage.bind(instance)
    refused = stage.call("POST", PROVIDERS, a_bound_provider(instance) | {"name": "Other"})

    assert refused.code == "already_bound"
    assert len(stage.server.asked) == 1


def test_a_repeated_request_shows_the_binding_and_asks_the_server_nothing(stage: AdminStage) -> None:
    body = wanted(stage)
    first = stage.call("POST", PROVIDERS, body, key="bind-1")
    stage.server.failures = {"detail": ConnectionFailed()}
    again = stage.call("POST", PROVIDERS, body, key="bind-1")

    assert (again.status, again.json) == (201, first.json)
    assert len(stage.server.asked) == 1


def test_of_two_twin_requests_at_once_one_binds_and_the_other_repeats(stage: AdminStage) -> None:
    create = stage.registry.create

    async def create_after_a_twin(provider: Provider, change: Change, **how: Any) -> None:
        assert change.idempotency is not None
        twin = provider.with_source(id=new_provider_id(provider.exposure_profile))
        made = replace(change, idempotency=replace(change.idempotency, resource_id=twin.id))
        await create(twin, made, **how)
        await create(provider, change, **how)

    stage.registry.create = create_after_a_twin  # type: ignore[method-assign]
    answered = stage.call("POST", PROVIDERS, wanted(stage), key="bind-1")

    assert (answered.status, [answered.json["id"]]) == (201, list(stage.store.registrations))


def change_while_asked(stage: AdminStage) -> None:
    """The instance gets another name while the server is searched."""

    async def act(_question: Question) -> Retrieval:
        (instance_id,) = stage.store.instances
        known = stage.store.instances[instance_id]
        stage.store.instances[instance_id] = replace(known, name="Renamed", generation=known.generation + 1)
        return Retrieval()

    retrieve = stage.server.retrieve

    async def retrieve_meanwhile(source: Any, question: Question, **how: Any) -> Retrieval:
        await act(question)
        return await retrieve(source, question, **how)

    stage.server.retrieve = retrieve_meanwhile  # type: ignore[method-assign]


def test_an_instance_that_changes_during_the_test_refuses_the_binding(stage: AdminStage) -> None:
    body = wanted(stage)
    change_while_asked(stage)
    refused = stage.call("POST", PROVIDERS, body)

    assert (refused.status, refused.code, stage.store.registrations) == (409, "config_changed", {})


def test_an_unknown_instance_and_one_of_another_kind_are_refused_by_name(stage: AdminStage) -> None:
    body = wanted(stage)

    assert stage.call("POST", PROVIDERS, body | {"instanceId": "aoi_" + "a" * 16}).pointers == ["/instanceId"]
    assert stage.call("POST", PROVIDERS, body | {"kind": "ragflow"}).pointers == ["/kind"]


def test_the_audit_says_what_was_bound_to_what(stage: AdminStage) -> None:
    made = stage.bind(stage.install())
    entry = audited(stage, "provider.created")

    assert entry["resource"] == f"provider/{made.json['id']}"
    assert (entry["after"]["instanceId"], entry["after"]["remoteId"]) == (made.json["instanceId"], REMOTE_ID)


# --- changing ------------------------------------------------------------------------------------


def test_another_config_is_tried_before_it_is_saved(stage: AdminStage) -> None:
    path = stage.bind(stage.install()).headers["Location"]
    change = {"config": {"retrievalModel": MODEL}}
    untried = stage.call("PATCH", path, change, if_match='"1"')
    changed = stage.call("PATCH", path, change | {"testQuery": "night bus"}, if_match='"1"')

    assert (untried.status, untried.pointers) == (422, ["/testQuery"])
    assert (changed.etag, changed.json["config"]["retrievalModel"]["searchMethod"]) == ('"2"', "hybrid_search")
    assert stage.server.asked[-1][1].query == "night bus"
    assert stage.server.asked[-1][0].config == binding_in(stage, changed)


def test_a_config_that_fails_its_test_is_not_saved(stage: AdminStage) -> None:
    path = stage.bind(stage.install()).headers["Location"]
    stage.server.failures = {"retrieve": Refused("upstream_error")}
    change = {"config": {"retrievalModel": MODEL}, "testQuery": "night bus"}

    assert stage.call("PATCH", path, change, if_match='"1"').json["outcome"] == "upstream_error"
    assert stage.call("GET", path).etag == '"1"'


def test_what_does_not_change_the_config_needs_no_test(stage: AdminStage) -> None:
    path = stage.bind(stage.install()).headers["Location"]
    change = {"name": "Renamed", "priority": 1, "module": "billing", "resultLimit": 2, "status": "disabled"}
    changed = stage.call("PATCH", path, change, if_match='"1"')
    same = stage.call("PATCH", path, {"config": {"retrievalModel": None}}, if_match='"2"')

    assert {name: changed.json[name] for name in change} == change
    assert (changed.json["maxSnippetCharacters"], same.etag) == (4_000, '"2"')
    assert len(stage.server.asked) == 1


@pytest.mark.parametrize("field", ["instanceId", "remoteId", "exposureProfile", "kind"])
def test_what_a_provider_is_bound_to_is_fixed(stage: AdminStage, field: str) -> None:
    made = stage.bind(stage.install())
    refused = stage.call("PATCH", made.headers["Location"], {field: made.json[field]}, if_match='"1"')

    assert (refused.status, refused.pointers) == (422, [f"/{field}"])


def test_a_change_during_its_own_test_is_refused(stage: AdminStage) -> None:
    path = stage.bind(stage.install()).headers["Location"]
    change_while_asked(stage)
    refused = stage.call("PATCH", path, {"testQuery": "x", "config": {"retrievalModel": MODEL}}, if_match='"1"')

    assert refused.code == "config_changed"


def test_defaults_are_restored_after_a_test(stage: AdminStage) -> None:
    stage.server.entries = (RemoteEntry(id=REMOTE_ID, name="Ferries", is_economy=True),)
    made = stage.bind(stage.install(), config={"retrievalModel": MODEL}, resultLimit=2, priority=7)
    path = f"{made.headers['Location']}/restore-defaults"
    stage.server.failures = {"retrieve": ConnectionFailed()}
    refused = stage.call("POST", path, {"testQuery": "night ferry"})
    stage.server.failures = {}
    restored = stage.call("POST", path, {"testQuery": "night ferry"}, if_match='"1"')

    assert refused.code == "test_failed"
    assert (restored.json["config"], restored.json["resultLimit"]) == ({"retrievalModel": None}, 6)
    assert (restored.json["isEconomy"], restored.json["priority"], restored.json["remoteId"]) == (True, 7, REMOTE_ID)
    assert audited(stage, "provider.defaults_restored")["generationAfter"] == 2
    assert stage.call("POST", path, {"testQuery": "x"}, if_match='"1"').code == "precondition_failed"


def test_only_servers_have_defaults_to_go_back_to(stage: AdminStage) -> None:
    created = stage.register()
    path = f"{created.headers['Location']}/restore-defaults"

    assert stage.call("POST", path, {"testQuery": "x"}).code == "no_defaults"


def test_a_binding_of_another_adapter_is_not_asked_until_it_is_tested_anew(stage: AdminStage) -> None:
    made = stage.bind(stage.install())
    provider = stage.store.registrations[made.json["id"]]
    outdated = replace(binding_in(stage, made), adapter_version=0)
    stage.store.registrations[provider.id] = provider.with_source(config=outdated)
    shown = stage.call("GET", made.headers["Location"])
    tested = stage.call("POST", f"{made.headers['Location']}/test", {"query": "night ferry"})
    mended = stage.call("POST", f"{made.headers['Location']}/restore-defaults", {"testQuery": "night ferry"})

    assert (shown.json["configInvalid"], shown.json["adapterVersion"]) == (True, 0)
    assert (tested.json["errorCode"], "configInvalid" in tested.json["explanation"]) == ("not_configured", True)
    assert (mended.json["configInvalid"], mended.json["adapterVersion"]) == (False, 1)


def test_a_config_of_another_version_is_never_asked_and_is_mended_by_a_test(stage: AdminStage) -> None:
    instance = stage.install()
    for number, mending in enumerate(({"testQuery": "night ferry"}, None)):
        made = stage.bind(instance, name=f"Bound {number}", remoteId=f"{REMOTE_ID[:-1]}{number}")
        path = made.headers["Location"]
        provider = stage.store.registrations[made.json["id"]]
        outdated = replace(binding_in(stage, made), config_version=0)
        stage.store.registrations[provider.id] = provider.with_source(config=outdated)
        asked = len(stage.server.asked)
        tested = stage.call("POST", f"{path}/test", {"query": "night ferry"})
        shown = stage.call("GET", path)
        untried = stage.call("PATCH", path, {"resultLimit": 3}, if_match=shown.etag)

        assert (shown.json["configInvalid"], tested.json["errorCode"]) == (True, "not_configured")
        assert len(stage.server.asked) == asked
        assert untried.pointers == ["/testQuery"]
        if mending is None:
            mended = stage.call("POST", f"{path}/restore-defaults", {"testQuery": "night ferry"})
        else:
            mended = stage.call("PATCH", path, mending, if_match=shown.etag)
        assert (mended.status, mended.json["configInvalid"]) == (200, False)
        assert len(stage.server.asked) == asked + 1


# --- testing -------------------------------------------------------------------------------------


def test_a_test_shows_what_a_search_would_bring(stage: AdminStage) -> None:
    made = stage.bind(stage.install(), resultLimit=3, requestTimeoutMs=4_000)

    async def act(_question: Question) -> Retrieval:
        return Retrieval(passages=(a_passage(title="Ferries at night", audience=Audience.INTERNAL),))

    stage.server.acts[made.json["id"]] = act
    report = stage.call("POST", f"{made.headers['Location']}/test", {"query": "night ferry"})

    assert (report.json["status"], report.json["results"][0]["title"]) == ("success", "Ferries at night")
    assert report.json["warnings"] == ["upstream_may_bill_or_log"]
    assert report.json["effective"] == {
        "baseUrl": "https://dify.fern-desk.test/v1",
        "timeoutMs": 4_000,
        "limit": 3,
        "maxSnippetCharacters": 4_000,
    }


def test_a_test_that_fails_says_what_it_means_at_a_server(stage: AdminStage) -> None:
    made = stage.bind(stage.install())
    stage.server.failures = {"retrieve": Refused("unauthorized")}
    report = stage.call("POST", f"{made.headers['Location']}/test", {"query": "night ferry", "activate": True})

    assert (report.json["status"], report.json["errorCode"]) == ("failed", "unauthorized")
    assert "dataset" in report.json["explanation"]


def test_a_binding_signs_nothing_and_declares_nothing(stage: AdminStage) -> None:
    path = stage.bind(stage.install()).headers["Location"]

    assert stage.call("POST", f"{path}/rotate-secret").code == "no_signing_secret"
    assert stage.call("POST", f"{path}/capabilities").code == "no_capabilities"


def test_a_deleted_binding_frees_its_target(stage: AdminStage) -> None:
    instance = stage.install()
    made = stage.bind(instance)

    assert stage.call("DELETE", made.headers["Location"], if_match='"1"').status == 204
    assert stage.bind(instance).status == 201


def test_nobody_is_told_a_credential(stage: AdminStage) -> None:
    made = stage.bind(stage.install())
    stage.server.failures = {"retrieve": Refused("unauthorized")}
    answers = [
        made,
        stage.call("GET", PROVIDERS),
        stage.call("GET", AUDIT),
        stage.call("POST", f"{made.headers['Location']}/test", {"query": "night ferry"}),
    ]

    assert "dataset-demo" not in "".join(each.text for each in answers) + stage.log.getvalue()
