"""Which keys of a collection occur in a text, for the agent lane."""

from __future__ import annotations

import asyncio
from typing import Protocol

from shared.domain.deadlines import Deadline
from shared.domain.matching import Occurrence


class Vocabularies(Protocol):
    """`occurring` finds every key of the collection that occurs in `text` (normalised already) and is not glued to its
    neighbours there, each once, overlapping ones too, ascending. Offsets are not told.

    The keys are those of a strongly consistent read of the collection's content generation: a copy kept in the process
    is used only while its generation is still the current one, and none is kept while an import runs. None when there
    is no such collection, or it is being deleted.

    A copy is read beside the event loop; making a large one ready to match takes turns with everything else. That is
    not begun before `turn` is there. Where it cannot be done by the deadline that `turn` gives it is done for the next
    caller, and this one gets `Unavailable` (`vocabulary_unavailable`). Raises `Unavailable` also when the store cannot
    be read.
    """

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None: ...
