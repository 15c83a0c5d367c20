"""Fixtures for all tests: the embedded AWS backend, and fresh tables, keys and a root secret on it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.support import emulator as backend


@pytest.fixture(scope="session")
def emulator() -> Iterator[str]:
    """The endpoint URL of a backend that lives as long as the session (one per pytest-xdist worker)."""
    with backend.emulator() as endpoint_url:
        yield endpoint_url


@pytest.fixture
def aws_environment(emulator: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Things nobody else uses, and the environment that leads to them, set in this process too."""
    environment = backend.provisioned(emulator, prefix=f"t{secrets.token_hex(4)}")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment
