"""Processes that do one thing at the same moment."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import Any

from shared.errors import ExchangeError, Problem
from tests.contract.worlds import Clients, StoreWorld

RACERS = 8
_START_TIMEOUT_S = 120

_clients: Clients
_barrier: Barrier


class Race:
    """`RACERS` processes of their own, each with its own clients, waiting for a start."""

    def __init__(self, client_environment: dict[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(
            RACERS, mp_context=context, initializer=_prepare, initargs=(client_environment, context.Barrier(RACERS))
        )

    def run(
        self, environment: dict[str, str], acts: Sequence[tuple[str, str, tuple[Any, ...], dict[str, Any]]]
    ) -> Counter:
        """Each act is (adapter, method, arguments, keyword arguments), one for each racer. Counts the outcomes:
        `done` or the code of the refusal.
        """
        assert len(acts) == RACERS
        return Counter(job.result() for job in [self._pool.submit(_act, environment, *act) for act in acts])

    def close(self) -> None:
        self._pool.shutdown()


def _prepare(environment: dict[str, str], barrier: Barrier) -> None:
    global _clients, _barrier
    os.environ.update(environment)
    _clients, _barrier = Clients(), barrier


def _act(environment: dict[str, str], adapter: str, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    one = getattr(StoreWorld(_clients, environment), adapter)()
    _barrier.wait(_START_TIMEOUT_S)
    try:
        asyncio.run(getattr(one, method)(*args, **kwargs))
    except (Problem, ExchangeError) as refusal:
        return refusal.code
    return "done"
