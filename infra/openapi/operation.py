"""What is said of one operation: in words, and by its wire models."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pydantic import BaseModel

Models = tuple[type[BaseModel], ...]


class IfMatch(Enum):
    """Whether a change has to name the version that it is meant for."""

    REQUIRED = "required"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnError:
    """One error of an operation whose callers know another shape than a problem's."""

    status: int
    words: str
    model: type[BaseModel]
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`request` and `answer` name wire models; several are alternatives. `tokens` are names of security schemes.

    `request_examples` and `answer_examples` name further examples, beside the one of each model.
    `request_texts` and `answer_text` are media types of bodies that are no JSON. `problems` are the codes beyond those
    that every operation of its kind has; where there are `own_errors`, there are no problems; `faults` are errors in a
    shape of their own beside them. `also`: further statuses without a body, and when. `has_etag`: the answer carries
    one. `documents` are the media types of what is served as it is, to whoever asks.
    """

    id: str
    tag: str
    summary: str
    description: str = ""
    tokens: tuple[str, ...] = ()
    request: Models = ()
    request_examples: tuple[str, ...] = ()
    request_texts: tuple[str, ...] = ()
    body_required: bool = True
    status: int = 200
    answer: Models = ()
    answer_examples: tuple[str, ...] = ()
    answer_text: str = ""
    problems: tuple[str, ...] = ()
    own_errors: tuple[OwnError, ...] = ()
    faults: tuple[OwnError, ...] = ()
    also: tuple[tuple[int, str], ...] = ()
    is_list: bool = False
    if_match: IfMatch | None = None
    is_idempotent_by_key: bool = False
    has_etag: bool = False
    documents: tuple[str, ...] = ()
