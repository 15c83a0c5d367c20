"""Synthesises once, in one worker, what all these tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.node import use_bundled_node

use_bundled_node()

from tests.infra.synthesised import Synthesised, synthesise  # noqa: E402  # importing it starts Node

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.stack)


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """The stack as `cdk deploy` would deploy it."""
    return synthesise(tmp_path_factory.mktemp("shipped"))


@pytest.fixture(scope="session")
def disposable(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """The same with the switch that lets its data go."""
    return synthesise(tmp_path_factory.mktemp("disposable"), disposable="true")
