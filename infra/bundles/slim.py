"""Compiles every module under a directory without docstrings and without columns; lines, names and asserts stay.

Run as a program by a Python of the target's version, which has nothing beside its own library:
`python -I -X no_debug_ranges slim.py <directory> <where it will lie>`. The bytecode is never compared with its source.
"""

from __future__ import annotations

import ast
import importlib.util
import marshal
import sys
from pathlib import Path

_UNCHECKED_HASH = (0b01).to_bytes(4, "little")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def compile_slim(directory: Path, place: str) -> None:
    """Writes `__pycache__` beside every module; in it, `place` stands for `directory`."""
    for module in sorted(directory.rglob("*.py")):
        source = module.read_bytes()
        code = compile(
            without_docstrings(source), f"{place}/{module.relative_to(directory)}", "exec", dont_inherit=True
        )
        target = Path(importlib.util.cache_from_source(str(module)))
        target.parent.mkdir(exist_ok=True)
        mark = importlib.util.source_hash(source)
        target.write_bytes(importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + mark + marshal.dumps(code))


def without_docstrings(source: bytes) -> ast.Module:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.copy_location(ast.Pass(), node.body[0])]
    return tree


if __name__ == "__main__":
    compile_slim(Path(sys.argv[1]), sys.argv[2])
