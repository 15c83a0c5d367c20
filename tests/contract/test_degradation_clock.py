"""A clock that is wrong by ten minutes, or steps within a request: refused where time matters, and bounded."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fixtures.reference_provider import articles
from fixtures.reference_provider.index import Index
from fixtures.reference_provider.nonces import Nonces
from fixtures.reference_provider.secret_files import SecretFiles
from fixtures.reference_provider.server import Faults, Provider, Server
from shared.adapters.clock import SystemClock
from shared.domain.circuits import CLOCKS_DIFFER_S, JITTER, LONGEST_WAIT_S, MAX_FAILURES, Lane
from shared.domain.exposure import CredentialClass, ExposureProfile
from shared.domain.pools import Pool
from tests.contract.degraded import SEARCH, Process, World, a_world, outcomes
from tests.contract.injected import SkippingClock
from tests.contract.test_degradation_table import CALLS, told
from tests.contract.worlds import Clients

pytestmark = [pytest.mark.emulator]

WRONG = pytest.mark.parametrize("off_s", [600.0, -600.0], ids=["ahead", "behind"])


@pytest.fixture(scope="module")
def world(emulator: str, emulator_clients: Clients) -> Iterator[World]:
    with a_world(emulator, emulator_clients, prefix="clock") as world:
        yield world


@pytest.fixture
def process(world: World) -> Iterator[Process]:
    with world.process() as process:
        yield process


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SkippingClock:
    clock = SkippingClock()
    monkeypatch.setattr(SystemClock, "now", clock.now)
    return clock


@pytest.fixture
def strict(world: World, tmp_path: Path) -> Iterator[str]:
    """A provider that takes no signature that is more than five minutes old, or of the future."""
    with reference_provider(tmp_path) as url:
        provider_id = world.provider(url, exposure=ExposureProfile.AGENT_ONLY)
        yield provider_id
    world.remove(provider_id)


@contextmanager
def reference_provider(folder: Path) -> Iterator[str]:
    (folder / "secret").write_text("kgs_" + "51" * 32)
    found = articles.load(Path(articles.__file__).parents[1] / "articles", audience="public")
    secrets = SecretFiles(folder / "secret", folder / "previous")
    provider = Provider(index=Index(found), secrets=secrets, nonces=Nonces(), faults=Faults())
    server = Server(provider, port=0, name="strict")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server.url
    server.shutdown()
    thread.join(10)
    server.server_close()


@WRONG
def test_every_function_answers_with_a_wrong_clock_and_what_it_wrote_keeps_nobody_out(
    world: World, process: Process, clock: SkippingClock, off_s: float
) -> None:
    for at in (off_s, 0.0):
        clock.ahead_s = at
        assert {name: told(call(process), world) for name, call in CALLS.items()} == dict.fromkeys(CALLS, "as always")


def test_a_clock_that_steps_within_a_request_breaks_nothing(
    world: World, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = itertools.cycle([0.0, 600.0, -600.0])
    monkeypatch.setattr(SystemClock, "now", lambda _: time.time() + next(steps))
    for _ in range(2):
        for name, call in CALLS.items():
            assert told(call(process), world) == "as always", name


@WRONG
def test_a_provider_refuses_what_is_signed_at_another_time_and_that_is_shown(
    process: Process, strict: str, clock: SkippingClock, off_s: float
) -> None:
    clock.ahead_s = off_s
    assert outcomes(process.agent(providers=[strict])) == {strict: "unauthorized"}
    clock.ahead_s = 0.0
    assert outcomes(process.agent(providers=[strict])) == {strict: "success"}


@WRONG
def test_a_circuit_that_a_wrong_clock_opened_opens_for_no_longer_than_any_may(
    world: World, process: Process, clock: SkippingClock, off_s: float
) -> None:
    failing = world.provider(world.hostile.url("error", f"{off_s}"), exposure=ExposureProfile.AGENT_ONLY)
    clock.ahead_s = off_s
    for _ in range(MAX_FAILURES):
        process.agent(providers=[failing])
    assert outcomes(process.agent(providers=[failing])) == {failing: "circuit_open"}
    clock.ahead_s = 0.0
    circuit = asyncio.run(world.store.circuits(Lane.AGENT).read()).circuits[failing]
    longest_s = LONGEST_WAIT_S * (1 + JITTER) + CLOCKS_DIFFER_S
    assert circuit.free_at(clock.now()) <= clock.now() + longest_s
    clock.ahead_s = longest_s
    assert outcomes(process.agent(providers=[failing])) == {failing: "upstream_error"}, "it was tried"
    world.remove(failing)


@WRONG
def test_units_that_are_reserved_by_a_wrong_clock_are_confirmed_all_the_same(
    world: World, process: Process, clock: SkippingClock, off_s: float
) -> None:
    def units() -> tuple[int, int, int]:
        found = asyncio.run(world.store.allowance_desk().read(Pool.EXA))
        return found.reserved_at(time.time()), found.confirmed_at(time.time()), found.unknown_at(time.time())

    before = units()
    clock.ahead_s = off_s
    assert process.acquire().status == 200
    assert units() == (before[0], before[1] + 1, before[2])


def test_a_credential_ends_by_the_clock_of_the_process(world: World, process: Process, clock: SkippingClock) -> None:
    token = world.caller(CredentialClass.AGENT, expires_at=time.time() + 300)
    statuses = {}
    for off_s in (0.0, 600.0, -600.0):
        clock.ahead_s = off_s
        statuses[off_s] = process.ask("search", SEARCH, {"query": "ferry pass"}, token=token).status
    assert statuses == {0.0: 200, 600.0: 401, -600.0: 200}
