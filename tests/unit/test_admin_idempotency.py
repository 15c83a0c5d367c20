"""A request that is sent twice with the same idempotency key is carried out once, and its secret shown once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.changes import Change
from shared.domain.credentials import Credential
from shared.domain.identifiers import new_credential_id, new_provider_id
from shared.domain.registrations import Provider
from tests.support.admin_stage import A_PROVIDER, CREDENTIALS, PROVIDERS, AdminStage

A_CREDENTIAL = {"class": "agt", "name": "Ticket tool"}


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


@pytest.mark.parametrize(
    ("path", "body", "secret"), [(PROVIDERS, A_PROVIDER, "secret"), (CREDENTIALS, A_CREDENTIAL, "token")]
)
def test_a_repeated_creation_returns_the_same_thing_without_its_secret(
    stage: AdminStage, path: str, body: dict[str, Any], secret: str
) -> None:
    first = stage.call("POST", path, body, key="order-1")
    second = stage.call("POST", path, body, key="order-1")

    assert (first.status, second.status) == (201, 201)
    assert first.json["warnings"] == []
    assert (second.json[secret], second.json["warnings"]) == (None, ["secret_already_shown"])
    assert second.json["id"] == first.json["id"]
    assert second.headers["Location"] == first.headers["Location"]
    assert len(stage.store.registrations) + len(stage.store.credentials) == 1
    assert len(stage.store.audit) == 1


def test_a_repetition_shows_the_thing_as_it_is_now(stage: AdminStage) -> None:
    created = stage.call("POST", PROVIDERS, A_PROVIDER, key="order-1")
    stage.call("PATCH", created.headers["Location"], {"priority": 5}, if_match='"1"')
    repeated = stage.call("POST", PROVIDERS, A_PROVIDER, key="order-1")

    assert (repeated.json["priority"], repeated.etag) == (5, '"2"')


def test_a_repetition_of_something_deleted_since_is_not_found(stage: AdminStage) -> None:
    created = stage.call("POST", PROVIDERS, A_PROVIDER, key="order-1")
    stage.call("DELETE", created.headers["Location"], if_match='"1"')

    assert stage.call("POST", PROVIDERS, A_PROVIDER, key="order-1").status == 404


@pytest.mark.parametrize(("path", "body"), [(PROVIDERS, A_PROVIDER), (CREDENTIALS, A_CREDENTIAL)])
def test_the_same_key_with_another_body_is_refused(stage: AdminStage, path: str, body: dict[str, Any]) -> None:
    stage.call("POST", path, body, key="order-1")
    refused = stage.call("POST", path, body | {"name": "Other"}, key="order-1")

    assert (refused.status, refused.code) == (422, "idempotency_key_reused")


def test_a_key_ends_after_a_day(stage: AdminStage) -> None:
    first = stage.call("POST", CREDENTIALS, A_CREDENTIAL, key="order-1")
    stage.clock.advance(86_400)
    second = stage.call("POST", CREDENTIALS, A_CREDENTIAL, key="order-1")

    assert second.status == 201
    assert second.json["id"] != first.json["id"]


def test_a_key_belongs_to_one_credential_and_one_path(stage: AdminStage) -> None:
    _, token = stage.an_admin()
    mine = stage.call("POST", PROVIDERS, A_PROVIDER, key="order-1")
    theirs = stage.call("POST", PROVIDERS, A_PROVIDER | {"name": "Other"}, key="order-1", token=token)
    elsewhere = stage.call("POST", CREDENTIALS, A_CREDENTIAL, key="order-1")

    assert [mine.status, theirs.status, elsewhere.status] == [201, 201, 201]


def test_a_refused_request_uses_no_key_up(stage: AdminStage) -> None:
    stage.call("POST", PROVIDERS, A_PROVIDER | {"priority": -1}, key="order-1")
    stage.call("POST", PROVIDERS, A_PROVIDER | {"baseUrl": "ftp://x.test"}, key="order-1")

    assert stage.call("POST", PROVIDERS, A_PROVIDER, key="order-1").json["warnings"] == []


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "naïve", "line\nbreak"])
def test_a_malformed_key_is_refused(stage: AdminStage, key: str) -> None:
    refused = stage.call("POST", PROVIDERS, A_PROVIDER, key=key)

    assert (refused.status, refused.code) == (422, "invalid_idempotency_key")
    assert stage.store.registrations == {}


@pytest.mark.parametrize("key", ["x", "x" * 255, "a b~!"])
def test_a_well_formed_key_is_taken(stage: AdminStage, key: str) -> None:
    assert stage.call("POST", PROVIDERS, A_PROVIDER, key=key).status == 201


def test_neither_the_key_nor_the_body_nor_the_secret_is_kept_in_the_record(stage: AdminStage) -> None:
    created = stage.call("POST", PROVIDERS, A_PROVIDER, key="order-number-1")
    kept = repr(stage.store.idempotency)

    assert "order-number-1" not in kept
    assert "Help centre" not in kept
    assert created.json["secret"] not in kept


def test_a_repeated_rotation_rotates_once(stage: AdminStage) -> None:
    path = f"{stage.register().headers['Location']}/rotate-secret"
    first = stage.call("POST", path, {"windowHours": 1}, key="rotate-1")
    second = stage.call("POST", path, {"windowHours": 1}, key="rotate-1")

    assert first.json["secret"] is not None
    assert (second.status, second.json["secret"], second.json["warnings"]) == (200, None, ["secret_already_shown"])
    assert second.json["secretFingerprint"] == first.json["secretFingerprint"]


def test_a_repeated_new_token_is_made_once(stage: AdminStage) -> None:
    path = f"{stage.issue().headers['Location']}/rotate"
    first = stage.call("POST", path, key="rotate-1", if_match='"1"')
    second = stage.call("POST", path, key="rotate-1", if_match='"1"')

    assert first.json["token"] is not None
    assert (second.status, second.json["token"], second.etag) == (200, None, '"2"')


def under_another_id(thing: Provider | Credential) -> Any:
    if isinstance(thing, Provider):
        return thing.with_source(id=new_provider_id(thing.exposure_profile))
    return replace(thing, id=new_credential_id())


def made_by(change: Change, thing: Provider | Credential) -> Change:
    """The same change as the twin's, whose request made `thing`."""
    assert change.idempotency is not None
    return replace(change, idempotency=replace(change.idempotency, resource_id=thing.id))


@pytest.mark.parametrize("kind", ["provider", "credential"])
def test_of_two_twins_at_once_one_creates_and_the_other_repeats(stage: AdminStage, kind: str) -> None:
    path, body = (PROVIDERS, A_PROVIDER) if kind == "provider" else (CREDENTIALS, A_CREDENTIAL)
    store: Any = stage.registry if kind == "provider" else stage.credential_store
    create = store.create

    async def create_after_a_twin(thing: Any, change: Change, **how: Any) -> None:
        twin = under_another_id(thing)
        await create(twin, made_by(change, twin), **how)
        await create(thing, change, **how)

    store.create = create_after_a_twin
    answered = stage.call("POST", path, body, key="order-1")

    assert (answered.status, answered.json["warnings"]) == (201, ["secret_already_shown"])
    assert answered.json["id"] in {*stage.store.registrations, *stage.store.credentials}
    assert len(stage.store.registrations) + len(stage.store.credentials) == 1


def test_of_two_twin_rotations_at_once_one_rotates_and_the_other_repeats(stage: AdminStage) -> None:
    created = stage.register()
    path = f"{created.headers['Location']}/rotate-secret"
    replace_provider = stage.registry.replace
    raced: list[bool] = []

    async def replace_after_a_twin(provider: Provider, **how: Any) -> None:
        if not raced:
            raced.append(True)
            await replace_provider(provider, **how)
        await replace_provider(provider, **how)

    stage.registry.replace = replace_after_a_twin  # type: ignore[method-assign]
    answered = stage.call("POST", path, key="rotate-1")

    assert (answered.status, answered.json["secret"], answered.etag) == (200, None, '"2"')


def test_a_conflict_without_a_twin_stays_a_conflict(stage: AdminStage) -> None:
    stage.register()
    refused = stage.call("POST", PROVIDERS, A_PROVIDER, key="order-1")

    assert refused.code == "name_taken"


def test_the_same_name_at_the_same_moment_is_taken_by_one(stage: AdminStage) -> None:
    create = stage.registry.create

    async def create_after_another(provider: Provider, change: Change, **how: Any) -> None:
        other = under_another_id(provider).with_source(name="HELP CENTRE")
        await create(other, change, **how)
        await create(provider, change, **how)

    stage.registry.create = create_after_another  # type: ignore[method-assign]
    refused = stage.call("POST", PROVIDERS, A_PROVIDER)

    assert (refused.status, refused.code) == (409, "name_taken")
    assert len(stage.store.registrations) == 1
