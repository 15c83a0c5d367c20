"""Entity tags of things that admins change: the generation, in quotes. Weak tags match nothing here."""

from __future__ import annotations

import re

from shared.errors import Invalid, PreconditionFailed, PreconditionMissing
from shared.web.events import Event

_GENERATION = re.compile(r'"(0|[1-9][0-9]{0,14})"', re.ASCII)
_ENTITY_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"', re.ASCII)


def etag_of(generation: int) -> str:
    return f'"{generation}"'


def generation_named(event: Event) -> int | None:
    """The generation that `If-Match` names, or None without the header.

    Raises `Invalid` (`invalid_if_match`) for what is not one entity tag, `PreconditionFailed` for a tag that no
    generation has, `PreconditionMissing` for `*`: it would change whatever is there.
    """
    header: str | None = event["headers"].get("if-match")
    if header is None:
        return None
    header = header.strip()
    if header == "*":
        raise PreconditionMissing("Name the ETag that you read; `*` is not taken.")
    if match := _GENERATION.fullmatch(header):
        return int(match[1])
    if _ENTITY_TAG.fullmatch(header):
        raise PreconditionFailed("Read it again and repeat the change with the new ETag.")
    raise Invalid('Send one entity tag, as in If-Match: "3".', code="invalid_if_match")


def required_generation(event: Event) -> int:
    """Like `generation_named`; raises `PreconditionMissing` also without the header."""
    generation = generation_named(event)
    if generation is None:
        raise PreconditionMissing("Send If-Match with the ETag that you read.")
    return generation


def names_tag(if_none_match: str | None, etag: str) -> bool:
    """Whether `If-None-Match` names `etag`; compared weakly, as for reading (RFC 9110)."""
    if if_none_match is None:
        return False
    offered = {part.strip().removeprefix("W/") for part in if_none_match.split(",")}
    return "*" in offered or etag in offered
