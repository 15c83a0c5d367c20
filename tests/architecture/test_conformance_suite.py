"""The conformance suite stands alone, and what it asks for is what is frozen and what the contract says."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from knowledge_conformance.readings import MAX_DEPTH
from knowledge_conformance.registry import CHECKS as REGISTERED
from knowledge_conformance.requirements import PROFILES, requirements
from knowledge_conformance.scenarios.every import CHECKS
from knowledge_conformance.signing import TOLERANCE_S

from shared.domain import strict_json

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "tests" / "conformance"
PACKAGE = SUITE / "knowledge_conformance"
ALLOWED = {"knowledge_conformance", "httpx", "jsonschema"}
# The requirements of version 1 as they were published. Whoever changes what passes today makes a new version.
FROZEN = "7afe676c6ceab421"


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            yield str(node.module).split(".")[0]


def test_it_imports_nothing_of_ours_and_little_of_others() -> None:
    modules = sorted(PACKAGE.rglob("*.py"))
    assert len(modules) > 20
    foreign = {(path.name, name) for path in modules for name in imported(path) if name not in sys.stdlib_module_names}
    assert {name for _, name in foreign} == ALLOWED


def test_its_project_asks_for_no_more() -> None:
    project = tomllib.loads((SUITE / "pyproject.toml").read_text(encoding="utf-8"))
    names = {re.split(r"[^a-z-]", dependency)[0] for dependency in project["project"]["dependencies"]}
    assert names == ALLOWED - {"knowledge_conformance"}
    assert project["project"]["requires-python"] == ">=3.11"
    packages = {str(path.parent.relative_to(SUITE)).replace("/", ".") for path in PACKAGE.rglob("__init__.py")}
    assert set(project["tool"]["setuptools"]["packages"]) == packages


def test_every_requirement_has_a_check_and_every_check_a_requirement() -> None:
    assert CHECKS.keys() == REGISTERED.keys() == requirements().keys()


def test_the_requirements_of_version_1_are_frozen() -> None:
    entries = json.loads((PACKAGE / "v1" / "requirements-v1.json").read_text(encoding="utf-8"))["requirements"]
    frozen = "\n".join(sorted(f"{entry['id']} {entry['level']} {entry['profile']}" for entry in entries))
    assert hashlib.sha256(frozen.encode()).hexdigest()[:16] == FROZEN
    assert len({entry["id"] for entry in entries}) == len(entries)


def test_every_requirement_leads_to_a_heading_of_the_contract() -> None:
    text = (ROOT / "docs" / "provider-contract.md").read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {requirement.section for requirement in requirements().values()} <= anchors


@pytest.mark.parametrize("id_", requirements())
def test_a_check_says_what_it_is_about_and_what_to_do(id_: str) -> None:
    each = CHECKS[id_]
    assert re.fullmatch(r"[a-z-]+\.[a-z0-9-]+", id_)
    assert each.requirement.level in ("MUST", "SHOULD")
    assert each.requirement.profile in PROFILES
    assert each.title[0].isupper() or each.title[0] == "`"
    assert not each.title.endswith(".")
    assert each.fix.endswith((".", "'", "`"))


def test_it_measures_by_the_same_numbers() -> None:
    assert MAX_DEPTH == strict_json.MAX_DEPTH
    assert TOLERANCE_S == 300
