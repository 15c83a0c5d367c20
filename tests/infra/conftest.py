"""Synthesises once, in one worker, what all these tests look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.node import use_bundled_node

use_bundled_node()

from tests.infra.stages import EVERYTHING, STAGING  # noqa: E402
from tests.infra.synthesised import (  # noqa: E402  # importing it starts Node
    Synthesised,
    synthesise,
    synthesise_for_findings,
)

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.stack)


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """The stack as `cdk deploy` would deploy it."""
    return synthesise_for_findings(tmp_path_factory.mktemp("shipped"))


@pytest.fixture(scope="session")
def disposable(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """The same with the switch that lets its data go."""
    return synthesise(tmp_path_factory.mktemp("disposable"), disposable="true")


@pytest.fixture(scope="session")
def staging(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """A second stage, fitted into what an operator has already: a network, a topic, names, a web ACL."""
    return synthesise_for_findings(tmp_path_factory.mktemp("staging"), **STAGING)


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    """A third one, with all that the stack can bring along."""
    return synthesise_for_findings(tmp_path_factory.mktemp("everything"), **EVERYTHING)
