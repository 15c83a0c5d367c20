"""Server-sent events as a stream of MCP messages carries them: the data of each event, and nothing else of it.

Comments, event names, ids and reconnection times are passed over, and so is an event without data: servers prime their
streams with one.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

MEDIA_TYPE = "text/event-stream"
MOST_LINES: Final = 20_000  # of one stream
_LINE_END = re.compile("\r\n|\r|\n")


class EventStream:
    """Fed with the pieces of a body as they come, cut anywhere, even inside a character.

    Raises `ValueError` for what is not UTF-8, and for more than `MOST_LINES` lines.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("strict")
        self._line: list[str] = []  # pieces of the line that has not ended yet
        self._data: list[str] = []
        self._lines = 0
        self._has_just_returned = False  # the last character was a carriage return: a line feed may belong to it

    def feed(self, piece: bytes) -> list[str]:
        """The data of each event that this piece completes."""
        return self._events(self._decoder.decode(piece))

    def end(self) -> list[str]:
        """The data of a last event that no blank line followed."""
        return self._events(self._decoder.decode(b"", final=True) + "\n\n")

    def _events(self, text: str) -> list[str]:
        if not text:
            return []
        if self._has_just_returned:
            text = text.removeprefix("\n")
        self._has_just_returned = text.endswith("\r")
        *ended, rest = _LINE_END.split(text)
        self._lines += len(ended)
        if self._lines > MOST_LINES:
            raise ValueError("too many lines")
        events = [data for part in ended if (data := self._after_line(part))]
        if rest:
            self._line.append(rest)
        return events

    def _after_line(self, last_part: str) -> str | None:
        """The data of the event that a line ends, if it ends one that has any."""
        line = "".join((*self._line, last_part))
        self._line.clear()
        if not line:
            return self._taken()
        field, _, value = line.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
        return None

    def _taken(self) -> str | None:
        data = "\n".join(self._data)
        self._data.clear()
        return data if data.strip() else None
