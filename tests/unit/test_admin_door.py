"""Who is let in to the admin API, and what it makes of strange requests."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from shared.domain.exposure import CredentialClass
from shared.domain.identifiers import format_token
from shared.errors import Unavailable
from tests.support.admin_stage import A_PROVIDER, AUDIT, CREDENTIALS, PROVIDERS, ROOT_SECRET, AdminStage, event_of
from tests.support.builders import NOW, SECRET, a_credential, a_token

ONE = f"{PROVIDERS}/cs_aaaaaaaaaaaaaaaa"
EVERY_ROUTE = [
    ("POST", PROVIDERS),
    ("GET", PROVIDERS),
    ("GET", ONE),
    ("PATCH", ONE),
    ("DELETE", ONE),
    ("POST", f"{ONE}/rotate-secret"),
    ("POST", f"{ONE}/test"),
    ("POST", f"{ONE}/capabilities"),
    ("POST", CREDENTIALS),
    ("GET", CREDENTIALS),
    ("GET", f"{CREDENTIALS}/aaaaaaaaaaaaaaaa"),
    ("PATCH", f"{CREDENTIALS}/aaaaaaaaaaaaaaaa"),
    ("DELETE", f"{CREDENTIALS}/aaaaaaaaaaaaaaaa"),
    ("POST", f"{CREDENTIALS}/aaaaaaaaaaaaaaaa/rotate"),
    ("GET", AUDIT),
]


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


# --- who is let in -------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
def test_no_route_opens_without_a_credential(stage: AdminStage, method: str, path: str) -> None:
    refused = stage.call(method, path, "{", token=None)

    assert (refused.status, refused.code) == (401, "unauthenticated")
    assert refused.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
@pytest.mark.parametrize("credential_class", [CredentialClass.AGENT, CredentialClass.ASSISTANT, CredentialClass.PUBLIC])
def test_no_route_opens_for_another_class(
    stage: AdminStage, method: str, path: str, credential_class: CredentialClass
) -> None:
    credential = a_credential(credential_class=credential_class)
    stage.store.credentials[credential.id] = credential

    assert stage.call(method, path, token=a_token(credential)).status == 401


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
def test_every_route_opens_for_an_admin(stage: AdminStage, method: str, path: str) -> None:
    _, token = stage.an_admin()

    assert stage.call(method, path, token=token).status not in (401, 403, 405, 500)


@pytest.mark.parametrize(
    "token",
    [
        "",
        " ",
        "kg_adm_root_",
        format_token(CredentialClass.ADMIN, "root", "0b" * 32),
        format_token(CredentialClass.AGENT, "root", ROOT_SECRET),
        format_token(CredentialClass.ADMIN, "aaaaaaaaaaaaaaaa", SECRET),
        format_token(CredentialClass.ADMIN, "root", ROOT_SECRET.upper()),
        format_token(CredentialClass.ADMIN, "root", ROOT_SECRET) + "\n",
        "x" * 10_000,
    ],
)
def test_a_wrong_token_is_refused_and_logged_without_it(stage: AdminStage, token: str) -> None:
    refused = stage.call("GET", PROVIDERS, headers={"authorization": f"Bearer {token}"})

    assert refused.status == 401
    failures = [line for line in stage.log_lines if line["message"] == "admin.authentication_failed"]
    assert len(failures) == 1
    assert not token.strip() or token.strip() not in stage.log.getvalue()
    assert ROOT_SECRET not in stage.log.getvalue()


def test_a_token_of_one_class_does_not_open_another_ones_credential(stage: AdminStage) -> None:
    agent = a_credential(credential_class=CredentialClass.AGENT)
    stage.store.credentials[agent.id] = agent

    assert stage.call("GET", PROVIDERS, token=format_token(CredentialClass.ADMIN, agent.id, SECRET)).status == 401


def test_an_expired_admin_is_refused(stage: AdminStage) -> None:
    _, token = stage.an_admin(expires_at=NOW + 60)
    assert stage.call("GET", PROVIDERS, token=token).status == 200
    stage.clock.advance(60)

    assert stage.call("GET", PROVIDERS, token=token).status == 401


@pytest.mark.parametrize("who", ["root", "admin"])
def test_the_121st_request_of_a_minute_has_to_wait(stage: AdminStage, who: str) -> None:
    token = stage.root_token if who == "root" else stage.an_admin()[1]
    for _ in range(120):
        assert stage.call("GET", AUDIT, token=token).status == 200
    refused = stage.call("GET", AUDIT, token=token)

    assert (refused.status, refused.code) == (429, "rate_limited")
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert "RateLimit" in refused.headers
    stage.clock.advance(60)
    assert stage.call("GET", AUDIT, token=token).status == 200


def test_an_unreadable_root_secret_is_a_503_and_no_refusal(stage: AdminStage) -> None:
    stage.root_secret.failure = Unavailable(code="secrets_unavailable", retry_after_s=5)

    assert stage.call("GET", PROVIDERS).code == "secrets_unavailable"
    assert stage.call("GET", PROVIDERS, token=stage.an_admin()[1]).status == 200


def test_a_malformed_token_costs_no_read(stage: AdminStage) -> None:
    stage.root_secret.failure = Unavailable()
    stage.credentials.failure = Unavailable()

    assert stage.call("GET", PROVIDERS, token="kg_adm_short_x").status == 401


# --- strange requests ----------------------------------------------------------------------------


@pytest.mark.parametrize("body", [None, "", "null", "[]", '"x"', "{", "5", "\ufeff", "[" * 20_000, "NaN"])
def test_a_body_that_is_no_object_is_a_bad_request(stage: AdminStage, body: str | None) -> None:
    refused = stage.call("POST", PROVIDERS, body)

    assert (refused.status, refused.code) == (400, "body_not_json")


def test_a_body_of_another_type_is_a_bad_request(stage: AdminStage) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER, headers={"content-type": "text/plain"})

    assert (refused.status, refused.code) == (400, "unsupported_media_type")


def test_a_missing_content_type_is_taken_for_json(stage: AdminStage) -> None:
    event = event_of("admin_create_provider")
    del event["headers"]["content-type"]

    assert stage.send(event).status == 201


def test_a_body_in_base64_is_read_as_the_bytes_that_were_sent(stage: AdminStage) -> None:
    event = event_of("admin_create_provider")
    text = json.dumps(A_PROVIDER | {"name": "渡轮卡 – Fährpass"}, ensure_ascii=False)
    event["body"] = base64.b64encode(b"\xef\xbb\xbf" + text.encode()).decode()
    event["isBase64Encoded"] = True
    created = stage.send(event)

    assert (created.status, created.json["name"]) == (201, "渡轮卡 – Fährpass")


@pytest.mark.parametrize("body", ["not base64!", "abc", "é"])
def test_bad_base64_is_a_bad_request(stage: AdminStage, body: str) -> None:
    event = event_of("admin_create_provider") | {"body": body, "isBase64Encoded": True}

    assert stage.send(event).code == "body_not_base64"


def test_an_empty_body_in_base64_is_empty(stage: AdminStage) -> None:
    event = event_of("admin_create_provider") | {"body": None, "isBase64Encoded": True}

    assert stage.send(event).code == "body_not_json"


def test_a_body_over_a_mebibyte_is_too_large(stage: AdminStage) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER | {"name": "x" * 1_048_576})

    assert (refused.status, refused.code) == (413, "body_too_large")


def test_a_body_of_nothing_but_mistakes_gets_a_short_answer(stage: AdminStage) -> None:
    body = {f"field{n}" + "x" * 500: n for n in range(1500)}
    refused = stage.call("POST", PROVIDERS, body)

    assert refused.status == 422
    assert len(refused.text) < 20_000


def test_an_event_with_next_to_nothing_in_it_is_a_401(stage: AdminStage) -> None:
    assert stage.send(event_of("admin_minimal")).status == 401
    assert stage.send({}).status in (401, 404)


@pytest.mark.parametrize(
    ("absent", "status"),
    [
        ("headers", 401),
        ("body", 400),
        ("requestContext", 200),  # no method: a list
        ("queryStringParameters", 201),
        ("cookies", 201),
        ("rawPath", 201),
        ("isBase64Encoded", 201),
    ],
)
def test_no_part_of_an_event_has_to_be_there(stage: AdminStage, absent: str, status: int) -> None:
    event = event_of("admin_create_provider")
    event.pop(absent, None)

    assert stage.send(event).status == status


@pytest.mark.parametrize(
    ("headers", "query"),
    [
        ({"x-audience": "agent", "x-forwarded-host": "evil.test"}, None),
        ({"x-kg-class": "adm", "x-http-method-override": "DELETE"}, None),
        (None, {"profile": "agent_only"}),
    ],
)
def test_no_header_or_parameter_makes_an_agent_an_admin(
    stage: AdminStage, headers: dict[str, str] | None, query: dict[str, str] | None
) -> None:
    agent = a_credential(credential_class=CredentialClass.AGENT)
    stage.store.credentials[agent.id] = agent

    assert stage.call("GET", PROVIDERS, token=a_token(agent), headers=headers, query=query).status == 401


@pytest.mark.parametrize("path", ["/api/v1/knowledge/provider", f"{ONE}/test/x", "/api/v1", "/", f"{PROVIDERS}//"])
def test_an_unknown_path_is_not_found(stage: AdminStage, path: str) -> None:
    assert stage.call("GET", path).status == 404


def test_a_fault_of_our_own_says_nothing_of_itself(stage: AdminStage) -> None:
    stage.registry.failure = RuntimeError("the words of the store: s3cret")  # type: ignore[assignment]
    fault = stage.call("GET", PROVIDERS)

    assert (fault.status, fault.code) == (500, "internal_error")
    assert "s3cret" not in fault.text + stage.log.getvalue()


def test_an_answer_is_never_kept_by_anybody(stage: AdminStage) -> None:
    answered = stage.call("GET", PROVIDERS, headers={"x-request-id": "abc-1"})

    assert answered.headers["Cache-Control"] == "private, no-store"
    assert answered.headers["X-Content-Type-Options"] == "nosniff"
    assert answered.headers["X-Request-Id"] == "abc-1"


def test_fifty_warm_invocations_work_like_the_first(stage: AdminStage) -> None:
    for n in range(50):
        assert stage.register(name=f"Help centre {n}").status == 201
