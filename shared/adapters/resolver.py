"""The system's own name resolution, on a bounded pool of threads."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from shared.domain.registrations import MAX_PROVIDERS
from shared.errors import ExchangeTimeout, NeverConnected

_THREADS = 16
MOST_UNDER_WAY: Final = MAX_PROVIDERS + _THREADS  # for one search, beside those that nobody waits for any longer


class SystemResolver:
    """One object a process. A look-up that nobody waits for any longer keeps its place until the system gives it up."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="resolver")
        self._places = threading.BoundedSemaphore(MOST_UNDER_WAY)

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        if not self._places.acquire(blocking=False):
            raise ExchangeTimeout
        lookup = self._threads.submit(_addresses, host, port)
        lookup.add_done_callback(self._leave)
        try:
            return await asyncio.wrap_future(lookup)
        except (OSError, UnicodeError):
            raise NeverConnected from None

    def _leave(self, _lookup: Future[tuple[str, ...]]) -> None:
        self._places.release()


def _addresses(host: str, port: int) -> tuple[str, ...]:
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers))
