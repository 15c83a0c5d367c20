"""All behaviours."""

from __future__ import annotations

from typing import Final

from tests.hostile import bodies, fields, framing, lines, slow, statuses
from tests.hostile.case import Case

_LISTED: Final[tuple[Case, ...]] = (
    *slow.SLOW,
    *lines.ENDS,
    *lines.AGAIN,
    *framing.FRAMING,
    *framing.ODD,
    *statuses.REDIRECTS,
    *statuses.OTHERS,
    *statuses.WAITS,
    *bodies.TYPES,
    *bodies.CODINGS,
    *bodies.JSON,
    *bodies.OUTER,
    *fields.TYPES,
    *fields.DROPPED,
    *fields.LINKS,
    *fields.TEXTS,
    *fields.LABELS,
)
CASES: Final = {case.id: case for case in _LISTED}
if len(CASES) != len(_LISTED):
    raise RuntimeError("two behaviours of one name")
