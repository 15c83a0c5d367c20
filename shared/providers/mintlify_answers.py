"""Reading the text that Mintlify assembles.

Blocks, with a line of many dashes after each: `### title`, `Source: URL`, then the text. A shorter line of dashes
belongs to the text. What comes from a source that is not approved is left out, text and citation alike.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from shared.domain.exposure import Audience
from shared.domain.live_configs import SourcePolicy
from shared.domain.passages import Discovery, Evidence, Passage, Retrieval, Warning_
from shared.domain.plain_text import cut, plain
from shared.domain.source_policy import approved_url
from shared.errors import Refused
from shared.providers.mcp_tools import ToolResult

MAX_SNIPPET_CHARACTERS: Final = 8_000
_MAX_SHORT_CHARACTERS: Final = 512
_MOST_BLOCKS: Final = 100
_MOST_SOURCES: Final = 100  # that a text without blocks may name
_BETWEEN_BLOCKS = re.compile(r"^-{10,}[ \t]*$(?=\s*(?:^### |\Z))", re.MULTILINE)
_BLOCK = re.compile(r"### ([^\n]+)\n+Source:[ \t]*(\S+)[ \t]*(?:\n|\Z)")
_SOURCE = re.compile(r"^Source:[ \t]*(\S+)", re.MULTILINE)
_FAILURE = re.compile(r"(?:MCP )?error(?: -?[0-9]+)?:", re.IGNORECASE)  # how a text begins that is no documentation
_UNTITLED: Final = "Documentation context"


@dataclass(frozen=True, slots=True)
class _Block:
    """`source` is as the service wrote it; None for text that names none."""

    title: str
    source: str | None
    text: str


def read_context(
    result: ToolResult,
    *,
    limit: int,
    policy: SourcePolicy,
    allow_test_names: bool,
    warnings: tuple[Warning_, ...] = (),
) -> Retrieval:
    """At most `limit` passages, and a discovery for each approved source. Raises `Refused` (`upstream_error`) for a
    tool that failed, whether it says so or only its text does.
    """
    text = plain(result.text).strip()
    if result.is_error or _FAILURE.match(text):
        raise Refused("upstream_error")
    reader = _Reader(policy=policy, allow_test_names=allow_test_names, warnings=dict.fromkeys(warnings))
    blocks = _blocks(text)
    for block in blocks:
        reader.take(block, alone=len(blocks) == 1)
    if len(reader.passages) > limit:
        reader.note(Warning_.SURPLUS_CUT)
    return Retrieval(
        passages=tuple(reader.passages[:limit]),
        discoveries=tuple(reader.discoveries.values()),
        warnings=tuple(reader.warnings),
    )


def _blocks(text: str) -> list[_Block]:
    """One block without a source for a text that is none of blocks."""
    parts = (part.strip() for part in _BETWEEN_BLOCKS.split(text, maxsplit=_MOST_BLOCKS)[:_MOST_BLOCKS])
    blocks = [_block(part) for part in parts if part]
    return blocks if any(block.source for block in blocks) else [_Block(_UNTITLED, None, text)]


def _block(part: str) -> _Block:
    match = _BLOCK.match(part)
    if match is None:
        return _Block(_UNTITLED, None, part)
    return _Block(match[1], match[2], part[match.end() :].strip())


@dataclass(slots=True, kw_only=True)
class _Reader:
    policy: SourcePolicy
    allow_test_names: bool
    warnings: dict[Warning_, None]
    passages: list[Passage] = field(default_factory=list)
    discoveries: dict[str, Discovery] = field(default_factory=dict)

    def note(self, warning: Warning_) -> None:
        self.warnings[warning] = None

    def take(self, block: _Block, *, alone: bool) -> None:
        """`alone`: there is no other block. Beside some that name their sources, one that does not is anybody's."""
        url = self._approved(block.source) if block.source is not None else None
        if url is None and not (alone and self._names_no_strangers(block)):
            self.note(Warning_.SOURCE_NOT_APPROVED)
            return
        title = cut(" ".join(block.title.split()), limit=_MAX_SHORT_CHARACTERS)
        if url is not None:
            self.discoveries.setdefault(url, Discovery(url=url, title=title))
        if block.text:
            self._add(block.text, title=title, url=url)

    def _add(self, text: str, *, title: str, url: str | None) -> None:
        shown = cut(text, limit=MAX_SNIPPET_CHARACTERS)
        is_cut = len(shown) < len(text)
        if is_cut:
            self.note(Warning_.SNIPPET_CUT)
        self.passages.append(
            Passage(
                document_id=_document_id(url, text),
                title=title,
                snippet=shown,
                audience=Audience.INTERNAL,
                evidence=Evidence.DERIVED_CONTEXT,
                url=url,
                truncated=is_cut,
            )
        )

    def _names_no_strangers(self, block: _Block) -> bool:
        """Of more sources than anybody would name, some are strangers for all that is known."""
        if block.source is not None:
            return False
        named = [match[1] for match in islice(_SOURCE.finditer(block.text), _MOST_SOURCES + 1)]
        return len(named) <= _MOST_SOURCES and all(map(self._approved, named))

    def _approved(self, source: str) -> str | None:
        return approved_url(source, self.policy, allow_test_names=self.allow_test_names)


def _document_id(url: str | None, text: str) -> str:
    if url is not None and len(url) <= _MAX_SHORT_CHARACTERS:
        return url
    return "sha256:" + hashlib.sha256((url or text).encode()).hexdigest()
