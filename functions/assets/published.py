"""The published documents, and what can be read off the OpenAPI one: which paths there are, and their methods."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from functions.assets.documents import Document

OPENAPI = "/openapi.json"
_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
_PARAMETER = re.compile(r"\\{[^{}/]+\\}")


@dataclass(frozen=True, slots=True)
class Published:
    """`documents` are served by their paths. `paths` are patterns with the methods that each takes."""

    documents: Mapping[str, Document]
    paths: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]

    @classmethod
    def of(cls, documents: Mapping[str, Document]) -> Published:
        paths: dict[str, dict[str, object]] = json.loads(documents[OPENAPI].data)["paths"]
        patterns = tuple(
            (_pattern(path), tuple(sorted(method.upper() for method in item if method in _METHODS)))
            for path, item in paths.items()
        )
        return cls(documents=documents, paths=patterns)

    def methods_of(self, path: str) -> tuple[str, ...]:
        """Every method that some operation has at this path; none for an unknown path."""
        found = {method for pattern, methods in self.paths if pattern.fullmatch(path) for method in methods}
        return tuple(sorted(found))


def _pattern(path: str) -> re.Pattern[str]:
    """`/things/{id}` takes one segment in place of the parameter, as the gateway does."""
    return re.compile(_PARAMETER.sub("[^/]+", re.escape(path)))
