"""Settings of the live services: which secrets hold keys, and that nothing but loopback can stand in for a service."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from shared.domain.live_configs import ENDPOINTS
from shared.domain.pools import KEYED_POOLS, Pool
from shared.domain.registrations import ProviderKind
from shared.settings.live import LivePools, LocalOrigins

POOLS = {"KG_POOL_CONTEXT7": "secret-one", "KG_POOL_EXA": "secret-two", "KG_POOL_FIRECRAWL": "secret-three"}


def with_origins(origins: object, *, allowed: str | None = "true") -> LocalOrigins:
    text = origins if isinstance(origins, str) else json.dumps(origins)
    environment = {"KG_LOCAL_ORIGINS": text}
    return LocalOrigins.from_environment(
        environment if allowed is None else environment | {"KG_ALLOW_LOOPBACK_HTTP": allowed}
    )


def test_every_keyed_pool_has_its_secret() -> None:
    ids = LivePools.from_environment(POOLS).secret_ids()
    assert ids == {Pool.CONTEXT7: "secret-one", Pool.EXA: "secret-two", Pool.FIRECRAWL: "secret-three"}
    assert tuple(ids) == KEYED_POOLS


@pytest.mark.parametrize("name", sorted(POOLS))
def test_a_pool_that_the_function_may_not_read_is_left_out(name: str) -> None:
    told = {each: value for each, value in POOLS.items() if each != name}
    assert sorted(LivePools.from_environment(told).secret_ids().values()) == sorted(told.values())


@pytest.mark.parametrize("name", sorted(POOLS))
def test_a_variable_without_a_value_stops_the_function(name: str) -> None:
    with pytest.raises(ValidationError, match=name):
        LivePools.from_environment(POOLS | {name: ""})


def test_without_the_variable_every_service_is_where_it_is() -> None:
    assert LocalOrigins.from_environment({}).endpoints() == ENDPOINTS
    assert LocalOrigins.from_environment({"KG_ALLOW_LOOPBACK_HTTP": "true"}).endpoints() == ENDPOINTS


def test_an_origin_takes_the_place_of_the_services_and_keeps_the_path() -> None:
    found = with_origins({"firecrawl": "http://127.0.0.1:4001", "exa": "http://localhost:4002"}).endpoints()
    assert found[ProviderKind.FIRECRAWL] == "http://127.0.0.1:4001/v2"
    assert found[ProviderKind.EXA] == "http://localhost:4002"
    others = set(ENDPOINTS) - {ProviderKind.FIRECRAWL, ProviderKind.EXA}
    assert {kind: found[kind] for kind in others} == {kind: ENDPOINTS[kind] for kind in others}


def test_every_live_kind_can_be_moved_and_ipv6_will_do() -> None:
    moved = with_origins(dict.fromkeys(ENDPOINTS, "http://[::1]:4003")).endpoints()
    assert set(moved) == set(ENDPOINTS)
    assert all(url.startswith("http://[::1]:4003") for url in moved.values())


@pytest.mark.parametrize("allowed", [None, "false"])
@pytest.mark.parametrize("origins", ["{}", '{"exa":"http://127.0.0.1:4001"}'])
def test_where_loopback_is_not_allowed_the_variable_stops_the_function(allowed: str | None, origins: str) -> None:
    with pytest.raises(ValidationError, match="embedded default alone"):
        with_origins(origins, allowed=allowed)


@pytest.mark.parametrize(
    "origin",
    [
        "https://127.0.0.1:4001",
        "http://example.com:4001",
        "http://10.0.0.8:4001",
        "http://169.254.169.254",
        "http://0.0.0.0:4001",
        "http://127.0.0.1:4001/",
        "http://127.0.0.1:4001/api",
        "http://127.0.0.1:4001?x=1",
        "http://127.0.0.1:4001#x",
        "http://user@127.0.0.1:4001",
        "http://127.0.0.1.example.com:4001",
        "http://127.0.0.1:70000",
        "HTTP://127.0.0.1:4001",
        "127.0.0.1:4001",
        "//127.0.0.1:4001",
        "",
    ],
)
def test_what_is_not_a_plain_loopback_origin_is_refused(origin: str) -> None:
    with pytest.raises(ValidationError, match="must be http://, a loopback host and a port"):
        with_origins({"exa": origin})


@pytest.mark.parametrize("kind", ["contract", "Exa", "alexandria", ""])
def test_only_live_kinds_can_be_moved(kind: str) -> None:
    with pytest.raises(ValidationError):
        with_origins({kind: "http://127.0.0.1:4001"})


@pytest.mark.parametrize("text", ["", "null", "[]", '"exa"', '{"exa":', '{"exa":null}', '{"exa":1}', "exa=http://x"])
def test_what_is_not_a_json_object_of_texts_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        with_origins(text)
