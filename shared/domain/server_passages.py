"""From what a self-hosted server found to passages: plain, bounded, with the audience of the registration, since such
servers label nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.domain.bindings import MAX_REMOTE_ID_CHARACTERS
from shared.domain.exposure import Audience, ExposureProfile
from shared.domain.identifiers import exposure_of
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Evidence, NamedScore, Passage, Retrieval, Warning_
from shared.domain.plain_text import cut, plain
from shared.domain.registrations import Source
from shared.domain.strict_json import JsonValue
from shared.errors import Refused

MAX_SHORT_CHARACTERS: Final = 512  # identifiers and titles
MAX_COUNT: Final = 2**53 - 1  # more is no count that every reader of JSON reads alike
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_OTHER_PATHS: Final = frozenset({".", ".."})


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One found text as the server sent it, nothing checked yet. `within` is the id of the knowledge base that was
    searched: it stands for the document where the server names none, so that no identifier is ever made up.
    """

    text: str
    within: str
    title: str | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    score: float | None = None
    scores: tuple[NamedScore, ...] = ()
    evidence: Evidence = Evidence.SOURCE_EXCERPT


@dataclass(frozen=True, slots=True)
class Made:
    """`passage` is None for a piece that is dropped alone: without text, or with an over-long title or document id."""

    passage: Passage | None
    warnings: tuple[Warning_, ...] = ()


def retrieval_of(pieces: Sequence[Piece], *, source: Source, limit: int, max_snippet_characters: int) -> Retrieval:
    """The first `limit` pieces as passages, in the server's order, and what was noticed on the way, each once."""
    surplus = [Warning_.SURPLUS_CUT] if len(pieces) > limit else []
    made = [passage_of(p, source=source, max_snippet_characters=max_snippet_characters) for p in pieces[:limit]]
    warnings = dict.fromkeys([*surplus, *(warning for each in made for warning in each.warnings)])
    return Retrieval(
        passages=tuple(each.passage for each in made if each.passage is not None), warnings=tuple(warnings)
    )


def passage_of(piece: Piece, *, source: Source, max_snippet_characters: int) -> Made:
    """Text and title made plain, the text cut at `max_snippet_characters`. A title that is missing stays empty."""
    whole = plain(piece.text)
    shown = cut(whole, limit=max_snippet_characters)
    passage = Passage(
        document_id=piece.document_id or piece.within,
        title=one_line(piece.title or ""),
        snippet=shown,
        audience=audience_of(source),
        evidence=piece.evidence,
        chunk_id=piece.chunk_id,
        score=piece.score,
        scores=piece.scores,
        truncated=len(shown) < len(whole),
    )
    if not (shown.strip() and is_short(passage.document_id) and len(passage.title) <= MAX_SHORT_CHARACTERS):
        return Made(None, (Warning_.RESULT_DROPPED,))
    warnings = [Warning_.SNIPPET_CUT] if passage.truncated else []
    if passage.chunk_id is not None and not is_short(passage.chunk_id):
        return Made(replace(passage, chunk_id=None), (*warnings, Warning_.FIELD_DROPPED))
    return Made(passage, tuple(warnings))


def audience_of(source: Source) -> Audience:
    """Public from a customer_safe registration alone: for that an operator has stated what the credential reaches."""
    is_public = exposure_of(source.id) is ExposureProfile.CUSTOMER_SAFE
    return Audience.PUBLIC if is_public else Audience.INTERNAL


def score_of(value: JsonValue) -> float | None:
    """A score as it came, on whatever scale; None where there is none. Raises `Refused` (`invalid_response`)."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(OutcomeCode.INVALID_RESPONSE)
    return float(value)  # finite: no reader of JSON here hands over NaN, infinities or numbers of hundreds of digits


def one_line(text: str, *, limit: int | None = None) -> str:
    """A name or a title: plain, on one line, and cut at `limit` characters where one is given."""
    shown = " ".join(plain(text).split())
    return shown if limit is None else cut(shown, limit=limit)


def count_of(value: JsonValue) -> int | None:
    """None for what is no count."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_COUNT else None


def is_remote_id(text: str) -> bool:
    """Whether a knowledge base or a folder of this id can be bound or opened. Not where it would be another path, or
    would be shown as something else than it is.
    """
    is_shown = not any(unicodedata.category(character) in _HIDDEN for character in text)
    is_fitting = 0 < len(text) <= MAX_REMOTE_ID_CHARACTERS and text == text.strip() and is_short(text)
    return is_fitting and is_shown and text not in _OTHER_PATHS


def is_short(text: str) -> bool:
    """Whether this can be an identifier: 1 to 512 characters, none of them a control character."""
    return 0 < len(text) <= MAX_SHORT_CHARACTERS and plain(text) == text and "\n" not in text and "\t" not in text
