"""The published OpenAPI document, and what can be read off it: which paths there are, and their methods."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass

_METHODS = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
_PARAMETER = re.compile(r"\\{[^{}/]+\\}")


@dataclass(frozen=True, slots=True)
class Published:
    """`etag` is a strong tag of the text. `paths` are patterns with the methods that each takes."""

    text: str
    etag: str
    paths: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]

    @classmethod
    def of(cls, text: str) -> Published:
        paths: dict[str, dict[str, object]] = json.loads(text)["paths"]
        patterns = tuple(
            (_pattern(path), tuple(sorted(method.upper() for method in item if method in _METHODS)))
            for path, item in paths.items()
        )
        digest = hashlib.sha256(text.encode()).hexdigest()
        return cls(text=text, etag=f'"{digest[:32]}"', paths=patterns)

    def methods_of(self, path: str) -> tuple[str, ...]:
        """Every method that some operation has at this path; none for an unknown path."""
        found = {method for pattern, methods in self.paths if pattern.fullmatch(path) for method in methods}
        return tuple(sorted(found))


def _pattern(path: str) -> re.Pattern[str]:
    """`/things/{id}` takes one segment in place of the parameter, as the gateway does."""
    return re.compile(_PARAMETER.sub("[^/]+", re.escape(path)))
