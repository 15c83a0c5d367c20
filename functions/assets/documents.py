"""What is served as it is: a copy as it was written, and a packed one for whoever takes that."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

_KEPT_FOR_S = 300
_QUALITY_OF_NOTHING = re.compile(r"q=0(\.0{0,3})?", re.ASCII)
KEPT_FOR_A_WHILE: Mapping[str, str] = {"Cache-Control": f"public, max-age={_KEPT_FOR_S}"}


@dataclass(frozen=True, slots=True)
class Copy:
    """Bytes as they are sent. `etag` is a strong tag of them, `encoding` empty where there is none."""

    data: bytes = field(repr=False)
    encoding: str
    etag: str

    @classmethod
    def of(cls, data: bytes, *, encoding: str = "") -> Copy:
        return cls(data, encoding, f'"{hashlib.sha256(data).hexdigest()[:32]}"')

    @property
    def body(self) -> str:
        """As an answer's event takes it: packed bytes in base64."""
        return base64.b64encode(self.data).decode() if self.encoding else self.data.decode()


@dataclass(frozen=True)
class Document:
    """UTF-8 text. `headers` go out with it, however it is encoded; nothing in it is any caller's own."""

    data: bytes = field(repr=False)
    media_type: str
    headers: Mapping[str, str] = field(default_factory=lambda: KEPT_FOR_A_WHILE)

    def copy_for(self, accept_encoding: str | None) -> Copy:
        """The packed copy for who says that they take gzip."""
        return self.packed if takes_gzip(accept_encoding) else self.plain

    @cached_property
    def plain(self) -> Copy:
        return Copy.of(self.data)

    @cached_property
    def packed(self) -> Copy:
        """Made when it is first asked for, so that no start waits for it; without a date, so always the same."""
        return Copy.of(gzip.compress(self.data, mtime=0), encoding="gzip")


def takes_gzip(accept_encoding: str | None) -> bool:
    """Whether `Accept-Encoding` names gzip, or anything at all, other than to say no (RFC 9110)."""
    answers: dict[str, bool] = {}
    for part in (accept_encoding or "").lower().split(","):
        name, _, weight = part.partition(";")
        answers[name.strip().removeprefix("x-")] = _QUALITY_OF_NOTHING.fullmatch(weight.strip()) is None
    return answers.get("gzip", answers.get("*", False))
