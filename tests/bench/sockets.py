"""The calls of a search with nothing around them: what no client can be quicker than, on this machine.

The bytes of the request were made before, connections are kept, and of an answer its length is looked for and its JSON
read. Before them there is one read of the store, with the gateway's own client. Nothing is signed, checked or merged.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from shared.adapters import aws
from shared.adapters.event_loop import ProcessLoop
from tests.bench.instances import A_ROW, QUESTION, Ask

_LIMIT = 2**20
_LENGTH = b"content-length: "


class Sockets:
    """Connections to one provider, as many as are ever asked at once."""

    def __init__(self, url: str, environment: Mapping[str, str]) -> None:
        place = urlsplit(url)
        self._host, self._port = str(place.hostname), place.port
        self._loop = ProcessLoop()
        self._dynamodb = aws.dynamodb()
        self._table = environment["KG_TABLE_REGISTRATIONS_INTERNAL"]
        self._kept: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        head = f"POST /retrieve HTTP/1.1\r\nhost: {place.netloc}\r\ncontent-type: application/json\r\n"
        self._request = f"{head}content-length: {len(QUESTION)}\r\n\r\n".encode() + QUESTION

    def asking(self, count: int) -> Ask:
        return lambda: self._loop.run(self._all(count))

    async def _all(self, count: int) -> list[Any]:
        self._dynamodb.get_item(TableName=self._table, Key=A_ROW)
        while len(self._kept) < count:
            self._kept.append(await asyncio.open_connection(self._host, self._port, limit=_LIMIT))
        return await asyncio.gather(*(self._answer(*kept) for kept in self._kept[:count]))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Any:
        writer.write(self._request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(_LENGTH)[2].partition(b"\r\n")[0])
        return json.loads(await reader.readexactly(length))
