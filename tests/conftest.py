"""Fixtures for all tests: the embedded AWS backend, and fresh tables, keys and a root secret on it."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import os
import re
import secrets
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support import emulator as backend

# The same cases in every run, and no test fails for being slow. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile(
    "repeatable", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Tests make and drop so much that looking for garbage at every 700 objects more is a tenth of the time. Those that are
# about memory collect on their own, or ask a process of their own.
gc.set_threshold(200_000, 50, 100)

_OF_A_STAGE = re.compile(r"-\d+$")


@pytest.fixture(scope="session")
def emulator() -> Iterator[str]:
    """The endpoint URL of a backend that lives as long as the session (one per pytest-xdist worker)."""
    with backend.emulator() as endpoint_url:
        yield endpoint_url


@pytest.fixture(scope="session", autouse=True)
def no_profiles_of_whoever_runs_this(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test finds, or changes, what `kgw login` has kept for a person."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-config"))
        for name in ("KGW_PROFILE", "KGW_URL", "KGW_TOKEN"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def aws_environment(emulator: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Things nobody else uses, and the environment that leads to them, set in this process too."""
    environment = backend.provisioned(emulator, prefix=f"t{secrets.token_hex(4)}")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and cases stay to the end: looking through them for garbage, again and again, is a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_runtest_logfinish() -> None:
    """Forgets the loggers that stages made for themselves, by a number.

    The plugin that catches what is logged goes through all that are known, six times for each test: thousands of them
    were a sixth of the time.
    """
    known = logging.root.manager.loggerDict
    for name in [name for name in known if _OF_A_STAGE.search(name)]:
        del known[name]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that is a coroutine function, on an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj) or pyfuncitem.get_closest_marker("anyio"):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
