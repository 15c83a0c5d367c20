"""What is told of each tool: written down beside this file when the project is built, the same in every process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from shared.domain.exposure import CredentialClass

_WRITTEN = Path(__file__).resolve().parent / "static" / "tools.json"


def description_of(name: str) -> Callable[[CredentialClass], str]:
    """What one class of callers is told of the tool, as JSON text. Raises `KeyError` for one it is not offered to."""
    return partial(_description, name)


def _description(name: str, caller: CredentialClass) -> str:
    return json.dumps(_written()[caller][name], ensure_ascii=False, separators=(",", ":"))


@cache
def _written() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """By class, then by name; read when it is first asked for."""
    written: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads(_WRITTEN.read_text(encoding="utf-8"))
    return written
