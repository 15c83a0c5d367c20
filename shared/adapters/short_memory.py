"""Plaintext secrets in memory, each for five minutes at most."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from shared.ports.clock import Clock, Moment

K = TypeVar("K", bound=Hashable)

KEPT_FOR_S: Final = 300.0
_MOST = 1_024


class ShortMemory(Generic[K]):
    """Both clocks have to agree that a secret is young: either may stand still while the process is frozen."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[K, tuple[Moment, str]] = {}  # in the order of arrival

    def get(self, key: K) -> str | None:
        with self._lock:
            self._forget_old()
            kept = self._kept.get(key)
            return kept[1] if kept else None

    def put(self, key: K, secret: str) -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (Moment.of(self._clock), secret)
            if len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]

    def _forget_old(self) -> None:
        while self._kept:
            oldest = next(iter(self._kept))
            if self._kept[oldest][0].is_within(KEPT_FOR_S, clock=self._clock):
                return
            del self._kept[oldest]
