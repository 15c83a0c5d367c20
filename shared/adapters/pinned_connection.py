"""One HTTP/1.1 connection over a pinned stream: one exchange at a time, within all size limits."""

from __future__ import annotations

import asyncio
from typing import TypeAlias

import h11

from shared.adapters.bounded_body import ACCEPTED_CODINGS, MAX_BODY_BYTES, BoundedBody
from shared.adapters.pinned_stream import PinnedStream
from shared.domain.urls import Destination
from shared.errors import ConnectionDropped, ConnectionFailed, Refused, ResponseTooLarge
from shared.ports.exchange import OutboundAnswer, OutboundRequest

_READ_BYTES = 16_384  # so that what arrives at once never keeps the event loop for long
_MAX_HEAD_BYTES = 32_768
_MAX_FRAMING_BYTES = 65_536  # chunk sizes, trailers and what is read ahead, beyond the body itself
_CHUNKS_BETWEEN_PAUSES = 32

_Event: TypeAlias = "h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]"


class PinnedConnection:
    """`answer_to` raises the `ExchangeError` family; after any error or cancellation the connection must be aborted.

    `ConnectionDropped` is raised only by a connection that had answered before and died without a byte of this answer.
    """

    def __init__(self, stream: PinnedStream, *, destination: Destination) -> None:
        self._stream = stream
        self._authority = destination.authority
        self._origin_length = len(destination.origin)
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._answers = 0

    async def answer_to(self, request: OutboundRequest) -> OutboundAnswer:
        start = self._stream.bytes_read
        try:
            self._stream.write(self._encoded(request))
            answer = await self._read_answer()
        except h11.RemoteProtocolError:
            raise self._failure(start) from None
        except h11.LocalProtocolError:
            raise Refused("not_configured") from None  # a header that cannot be sent: our own side is at fault
        self._answers += 1
        return answer

    def is_reusable(self) -> bool:
        """Whether another request may be sent: between answers, quiet, and on the event loop that runs now."""
        return (
            self._http.our_state is h11.IDLE
            and self._stream.is_quiet()
            and self._stream.loop is asyncio.get_running_loop()
        )

    def abort(self) -> None:
        self._stream.abort()

    def _encoded(self, request: OutboundRequest) -> bytes:
        """The whole request in one piece."""
        headers = [("Host", self._authority), ("Accept-Encoding", ACCEPTED_CODINGS), *request.headers]
        if request.method == "POST":
            headers.append(("Content-Length", str(len(request.body))))
        target = request.url[self._origin_length :] or "/"
        head = h11.Request(method=request.method, target=target, headers=headers)
        events = [head, h11.Data(data=request.body), h11.EndOfMessage()] if request.body else [head, h11.EndOfMessage()]
        return b"".join(self._http.send(event) or b"" for event in events)

    async def _read_answer(self) -> OutboundAnswer:
        self._stream.limit(_MAX_HEAD_BYTES + _READ_BYTES)
        while not isinstance(head := await self._next_event(), h11.Response):
            pass  # 1xx answers say nothing
        headers = _headers_of(head)
        body = BoundedBody(headers)
        self._stream.limit(MAX_BODY_BYTES + _MAX_FRAMING_BYTES)
        await self._read_body(body)
        if self._http.trailing_data[0]:
            raise Refused("invalid_response")  # more than was announced: where would the next answer begin?
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        return OutboundAnswer(status=head.status_code, headers=headers, body=body.complete())

    async def _read_body(self, body: BoundedBody) -> None:
        chunks, start = 0, self._stream.bytes_read
        while isinstance(event := await self._next_event(), h11.Data):
            body.feed(bytes(event.data))
            chunks += 1
            if chunks % _CHUNKS_BETWEEN_PAUSES == 0:
                await asyncio.sleep(0)
                if self._stream.bytes_read - start - body.wire_bytes > _MAX_FRAMING_BYTES:
                    raise ResponseTooLarge
        if not isinstance(event, h11.EndOfMessage):
            raise Refused("invalid_response")

    async def _next_event(self) -> _Event:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            self._http.receive_data(await self._stream.read(_READ_BYTES))
        return event

    def _failure(self, start: int) -> ConnectionFailed | Refused:
        """What an unreadable answer means: the line ended inside it, or what came is not HTTP."""
        if not self._http.trailing_data[1]:
            return Refused("invalid_response")
        is_unanswered = self._stream.bytes_read == start
        return ConnectionDropped() if is_unanswered and self._answers else ConnectionFailed()


def _headers_of(head: h11.Response) -> dict[str, str]:
    headers: dict[str, str] = {}
    for raw_name, raw_value in head.headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
