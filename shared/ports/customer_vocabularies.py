"""Which keys of a collection occur in a text, for the customer lane. Knows customer_safe collections alone."""

from __future__ import annotations

import asyncio
from typing import Protocol

from shared.domain.deadlines import Deadline
from shared.domain.matching import Occurrence


class CustomerVocabularies(Protocol):
    """`occurring` finds every key of the collection that occurs in `text` (normalised already) and is not glued to its
    neighbours there, each once, overlapping ones too, ascending. Offsets are not told.

    A collection that does not itself say customer_safe does not exist here: None, as for one that is unknown or being
    deleted. A copy of the keys is used only while the collection's content generation, read strongly consistently, is
    the one it was made of. What takes long waits for `turn`; where it would pass its deadline it is done for the next
    caller, and this one gets `Unavailable` (`vocabulary_unavailable`). Raises `Unavailable` also when the store cannot
    be read.
    """

    async def occurring(
        self, collection_id: str, text: str, *, turn: asyncio.Future[Deadline]
    ) -> tuple[Occurrence, ...] | None: ...
