"""A context manager that is called and not entered does nothing, and looks as if it did."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
ROOMS: Final = ("functions", "infra", "shared", "tests")
DECORATORS: Final = {"contextmanager", "asynccontextmanager"}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def _trees() -> Iterator[tuple[Path, ast.Module]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if "node_modules" not in path.parts:
                yield path.relative_to(ROOT), ast.parse(path.read_text("utf-8"))


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _managers(*trees: ast.AST) -> set[str]:
    """Of those names that mean nothing else anywhere."""
    functions = [each for tree in trees for each in ast.walk(tree) if isinstance(each, _FUNCTIONS)]
    made = {each.name for each in functions if _is_manager(each)}
    return made - {each.name for each in functions if not _is_manager(each)}


def _is_manager(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return bool(DECORATORS & {_name(one) for one in function.decorator_list})


def _thrown_away(tree: ast.AST, names: Iterable[str]) -> Iterator[int]:
    """The lines in which one is called, and nothing is done with what comes of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _name(node.value.func) in names:
            yield node.lineno


def test_no_context_manager_is_called_and_not_entered() -> None:
    trees = list(_trees())
    names = _managers(*(tree for _, tree in trees))
    assert len(names) > 20
    assert [f"{path}:{line}" for path, tree in trees for line in _thrown_away(tree, names)] == []


@pytest.mark.parametrize(
    ("use", "lines"), [("ready()", [4]), ("shared.ready()", [4]), ("with ready(): pass", []), ("x = ready()", [])]
)
def test_one_that_is_only_called_is_found(use: str, lines: list[int]) -> None:
    tree = ast.parse(f"@contextlib.contextmanager\ndef ready():\n    yield\n{use}\n")
    assert list(_thrown_away(tree, _managers(tree))) == lines
