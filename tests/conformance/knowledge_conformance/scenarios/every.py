"""Loads every scenario, so that all checks are registered."""

from __future__ import annotations

from knowledge_conformance.registry import CHECKS as _REGISTERED
from knowledge_conformance.registry import Check
from knowledge_conformance.requirements import requirements
from knowledge_conformance.scenarios import (  # noqa: F401  # loading them registers their checks
    capabilities,
    errors,
    headers,
    hostile,
    languages,
    load,
    memory,
    refusals,
    requests,
    results,
    retrieval,
    signatures,
)

# In the order of the frozen requirements. A requirement without a check stops the suite here.
CHECKS: dict[str, Check] = {id_: _REGISTERED[id_] for id_ in requirements()}
