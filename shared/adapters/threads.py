"""Where blocking calls to the store run: a small pool of threads of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future as ThreadFuture
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

POOL_SIZE = 12  # a search has about four calls at once, a cold one some more for its secrets

_POOL = ThreadPoolExecutor(POOL_SIZE, thread_name_prefix="store")


def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
    """Starts `work` at once. A future, not a task: awaiting several together leaves no task behind when one fails."""
    return asyncio.wrap_future(_POOL.submit(work, *args, **kwargs))


def start(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> ThreadFuture[T]:
    """Starts `work` at once, for several to wait for."""
    return _POOL.submit(work, *args, **kwargs)
