"""Generated requests against the running gateway: what it answers is what its published document says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from infra.cli.demo_servers import INSTANCES, SERVER_DEMOS
from tests.e2e.running import COLLECTIONS, CREDENTIALS, PROVIDERS, ROOT, Gateway, call, running

pytestmark = [pytest.mark.emulator, pytest.mark.slow]

CONFORMS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
# These look at the operation and not at what a case holds, with requests of their own where one has succeeded.
METHODS: list[CheckFunction] = [unsupported_method, allow_header_conformance, ignored_auth]
BOUNDED = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
# The file, so that each operation is a test of its own; below it is compared with what is served.
SCHEMA = schemathesis.openapi.from_path(ROOT / "docs" / "openapi.json")
OPERATIONS = [result.ok() for result in SCHEMA.get_all_operations()]
NO_IDS = ("{pool}", "{script}", "{file}")  # these are there or not; no request makes one
# A message that asks for no answer is taken as it is, whatever its `params` are.
JUDGED = [operation for operation in OPERATIONS if operation.body and operation.path != "/mcp"]
WITH_ID = [each for each in OPERATIONS if "{" in each.path and not any(name in each.path for name in NO_IDS)]


def label(operation: APIOperation) -> str:
    return operation.label.replace("/", " ")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One of its own: the generated requests leave much behind. Without the provider that is slow on purpose."""
    with running(tmp_path_factory.mktemp("document")) as gateway:
        path = f"{PROVIDERS}/{gateway.local['providers']['slow']['id']}"
        etag = gateway.as_admin("GET", path).headers["etag"]
        assert gateway.as_admin("PATCH", path, {"status": "disabled"}, If_Match=etag).status == 200
        yield gateway


@pytest.fixture(scope="module")
def tokens(gateway: Gateway) -> dict[str, str]:
    """A credential for each security scheme of the document, with rates that no generated request exceeds."""
    widget = {"class": "pub", "origins": [gateway.local["origin"]], "addressRatePerMinute": 10_000}
    return {
        "agentToken": gateway.credential(**{"class": "agt"}, ratePerMinute=100_000),
        "assistantToken": gateway.credential(
            **{"class": "ast"}, grants=["knowledge:read_public"], ratePerMinute=100_000
        ),
        "widgetToken": gateway.credential(**widget, ratePerMinute=100_000),
        "adminToken": gateway.credential(**{"class": "adm"}, ratePerMinute=100_000),
    }


def for_each(operation: APIOperation, mode: GenerationMode, check: Callable[[Case], object]) -> None:
    """Checks requests made from the operation's own schema, or against it."""

    @given(case=operation.as_strategy(generation_mode=mode))
    @BOUNDED
    def run(case: Case) -> None:
        check(case)

    run()


@pytest.mark.parametrize("operation", OPERATIONS, ids=label)
def test_a_valid_request_is_answered_as_the_document_says(
    operation: APIOperation, gateway: Gateway, tokens: dict[str, str]
) -> None:
    to_check = [*CONFORMS, *METHODS]

    def check(case: Case) -> None:
        is_contract = isinstance(case.body, dict) and case.body.get("kind", "contract") == "contract"
        if case.operation.label == f"POST {PROVIDERS}" and is_contract:  # few generated addresses are good ones
            case.body = {**case.body, "baseUrl": gateway.local["providers"]["public"]["url"]}
        if case.operation.label.startswith("PUT /api/v1/knowledge/allowances/"):  # a closed pool answers 503 afterwards
            case.body = {**case.body, "limit": 100_000}
        headers = headers_for(case, gateway, tokens)
        answer = case.call_and_validate(base_url=gateway.url, headers=headers, checks=to_check)
        if answer.status_code < 300:
            to_check[:] = CONFORMS

    for_each(operation, GenerationMode.POSITIVE, check)


@pytest.mark.parametrize("operation", JUDGED, ids=label)
def test_an_invalid_request_is_refused_as_the_document_says(
    operation: APIOperation, gateway: Gateway, tokens: dict[str, str]
) -> None:
    def check(case: Case) -> None:
        headers = headers_for(case, gateway, tokens)
        case.call_and_validate(base_url=gateway.url, headers=headers, checks=[*CONFORMS, negative_data_rejection])

    for_each(operation, GenerationMode.NEGATIVE, check)


@pytest.mark.parametrize("operation", WITH_ID, ids=label)
def test_so_it_is_for_things_that_exist(operation: APIOperation, gateway: Gateway, tokens: dict[str, str]) -> None:
    def check(case: Case) -> None:
        with one_that_exists(case, gateway) as etag:
            headers = {**headers_for(case, gateway, tokens), "If-Match": etag}
            case.call_and_validate(base_url=gateway.url, headers=headers, checks=CONFORMS)

    for_each(operation, GenerationMode.POSITIVE, check)


def headers_for(case: Case, gateway: Gateway, tokens: dict[str, str]) -> dict[str, str]:
    security: list[dict[str, list[str]]] = case.operation.definition.raw.get("security", [])
    token = next((tokens[name] for each in security for name in each if name in tokens), None)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return headers | ({"Origin": gateway.local["origin"]} if "widget" in case.path else {})


@contextmanager
def one_that_exists(case: Case, gateway: Gateway) -> Iterator[str]:
    """Points the case at a new thing, gives its ETag, and removes the thing if it is still there."""
    make = next(make for name, make in MAKERS.items() if name in case.path_parameters)
    path = make(case, gateway)
    yield gateway.as_admin("GET", path).headers["etag"]
    after = gateway.as_admin("GET", path)
    if after.status == 200:
        assert gateway.as_admin("DELETE", path, If_Match=after.headers["etag"]).status in (202, 204)


def new_provider(case: Case, gateway: Gateway) -> str:
    url = gateway.local["providers"]["public"]["url"]
    made = gateway.provider(f"generated {case.id}", url, activate=False)
    case.path_parameters = {"providerId": made}
    return f"{PROVIDERS}/{made}"


def new_credential(case: Case, gateway: Gateway) -> str:
    made = gateway.credential(**{"class": "agt"}).split("_")[2]
    case.path_parameters = {"credentialId": made}
    return f"{CREDENTIALS}/{made}"


def new_collection(case: Case, gateway: Gateway) -> str:
    wanted = {"name": f"generated {case.id}", "exposureProfile": "agent_only"}
    made = gateway.as_admin("POST", COLLECTIONS, wanted).found["id"]
    case.path_parameters = {"collectionId": made}
    return f"{COLLECTIONS}/{made}"


def new_card(case: Case, gateway: Gateway) -> str:
    """In the demo's collection, which is there for all of them."""
    cards = f"{COLLECTIONS}/{gateway.local['collection']}/cards"
    made = gateway.as_admin("POST", cards, {"keys": [f"generated {case.id}"], "body": ""}).found["id"]
    case.path_parameters = {"collectionId": gateway.local["collection"], "cardId": made}
    return f"{cards}/{made}"


def new_instance(case: Case, gateway: Gateway) -> str:
    """Of a stand-in; where a knowledge base of it is asked for, that is the one of the demo."""
    fastgpt = next(demo for demo in SERVER_DEMOS if demo.kind == "fastgpt")
    wanted = {
        "name": f"generated {case.id}",
        "kind": fastgpt.kind,
        "exposureProfile": "agent_only",
        "baseUrl": gateway.local["standIns"]["servers"][fastgpt.server],
        **fastgpt.credential,
    }
    made = gateway.as_admin("POST", INSTANCES, wanted).found["id"]
    remote = {"remoteId": fastgpt.remote_id} if "remoteId" in case.path_parameters else {}
    case.path_parameters = {"instanceId": made, **remote}
    return f"{INSTANCES}/{made}"


# By the parameter that names the thing; the first that a path has counts.
MAKERS = {
    "providerId": new_provider,
    "credentialId": new_credential,
    "cardId": new_card,
    "collectionId": new_collection,
    "instanceId": new_instance,
}


def test_the_served_document_is_the_one_in_the_source_tree(gateway: Gateway) -> None:
    answer = call(gateway.url, "GET", "/openapi.json")
    assert answer.status == 200
    assert json.loads(answer.data) == json.loads((ROOT / "docs" / "openapi.json").read_text())


def test_it_is_not_sent_again_to_whoever_has_it(gateway: Gateway) -> None:
    etag = call(gateway.url, "GET", "/openapi.json").headers["etag"]
    again = call(gateway.url, "GET", "/openapi.json", If_None_Match=etag)
    assert (again.status, again.data) == (304, b"")
