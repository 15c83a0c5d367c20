"""Identifiers that a server has made, on the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from shared.domain.bindings import MAX_REMOTE_ID_CHARACTERS
from shared.domain.server_passages import is_remote_id


def _remote_id(text: str) -> str:
    if not is_remote_id(text):
        raise ValueError("Write the id as the server writes it, on one line, without spaces around it")
    return text


RemoteId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_REMOTE_ID_CHARACTERS,
        description="The knowledge base's id, as the server's catalog shows it.",
        examples=["6f0c2d5e-0000-4000-8000-00000000c0de"],
    ),
    AfterValidator(_remote_id),
]
