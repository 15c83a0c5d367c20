"""The embedded AWS backend for tests, benchmarks and the rehearsal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from infra.local.emulator import start_emulator
from infra.local.provision import client_environment, provision


@contextmanager
def emulator(*, auth: bool = False, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Runs a backend on a free loopback port and gives its endpoint URL."""
    with start_emulator(auth=auth, environment=environment) as running:
        yield running.endpoint_url


def provisioned(endpoint_url: str, *, prefix: str) -> dict[str, str]:
    """Tables, keys and the root secret under `prefix`; the AWS_* and KG_* environment that leads to them."""
    return client_environment(endpoint_url) | provision(endpoint_url, prefix=prefix)
