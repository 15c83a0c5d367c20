"""One running gateway for all tests that leave it as they found it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.running import Gateway, running


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """`kgw up`, with its demo. Whoever changes something in it puts it back."""
    with running(tmp_path_factory.mktemp("gateway")) as gateway:
        yield gateway
