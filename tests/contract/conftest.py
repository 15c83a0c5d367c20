"""Every suite here runs on each engine; tests that look into the tables take `store` and run on the real one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moto import mock_aws

from infra.local.provision import client_environment, provision
from tests.contract.pinned_gateway import Gateway
from tests.contract.worlds import Clients, FakeWorld, StoreWorld, World
from tests.support.service_calls import MotoWire, asked_of

_EMULATOR = pytest.mark.emulator


@pytest.fixture(scope="session")
def emulator_clients(emulator: str) -> Clients:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in client_environment(emulator).items():
            patch.setenv(name, value)
        return Clients()


@pytest.fixture(scope="session")
def moto_clients() -> Clients:
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.delenv("AWS_ENDPOINT_URL", raising=False)
        return Clients(MotoWire)


@pytest.fixture
def store(aws_environment: dict[str, str], emulator_clients: Clients) -> StoreWorld:
    """The real adapters on the embedded backend."""
    return StoreWorld(emulator_clients, aws_environment)


@pytest.fixture
def moto_store(moto_clients: Clients) -> Iterator[StoreWorld]:
    with mock_aws():
        yield StoreWorld(moto_clients, provision(None))


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    gateway = Gateway()
    yield gateway
    gateway.close()


@pytest.fixture
def calls(store: StoreWorld) -> Iterator[list[str]]:
    """The names of the operations that the store is asked for, as they are asked."""
    made: list[str] = []
    with store.clients.heard.by(asked_of(made)):
        yield made


def _world(request: pytest.FixtureRequest) -> World:
    if request.param == "fake":
        return FakeWorld()
    fixture = "store" if request.param == "emulator" else "moto_store"
    world: World = request.getfixturevalue(fixture)
    return world


@pytest.fixture(params=["fake", pytest.param("emulator", marks=_EMULATOR), "moto"])
def world(request: pytest.FixtureRequest) -> World:
    return _world(request)


@pytest.fixture(params=["fake", pytest.param("emulator", marks=_EMULATOR)])
def quick_world(request: pytest.FixtureRequest) -> World:
    """Without moto, for suites of many writes: it takes ten times as long for each."""
    return _world(request)
