"""Which keys of a collection occur in a text, for the agent lane."""

from __future__ import annotations

from typing import Protocol

from shared.domain.matching import Occurrence


class Vocabularies(Protocol):
    """`occurring` finds every key of the collection that occurs in `text` (normalised already) and is not glued to its
    neighbours there, each once, overlapping ones too. Offsets are not told.

    The keys are those of a strongly consistent read of the collection's content generation: a copy kept in the process
    is used only while its generation is still the current one, and none is kept while an import runs. None when there
    is no such collection, or it is being deleted. Reading the keys anew may take seconds and happens beside the event
    loop; a caller that no longer waits may cancel, and the copy is made all the same. Raises `Unavailable`.
    """

    async def occurring(self, collection_id: str, text: str) -> tuple[Occurrence, ...] | None: ...
