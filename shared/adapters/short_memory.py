"""Plaintext secrets in memory, each for five minutes at most."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from shared.ports.clock import Clock

K = TypeVar("K", bound=Hashable)

KEPT_FOR_S: Final = 300.0
_MOST = 1_024


class ShortMemory(Generic[K]):
    """Both clocks have to agree that a secret is young: either may stand still while the process is frozen."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[K, tuple[float, float, str]] = {}  # in the order of arrival

    def get(self, key: K) -> str | None:
        with self._lock:
            self._forget_old()
            kept = self._kept.get(key)
            return kept[2] if kept else None

    def put(self, key: K, secret: str) -> None:
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = (self._clock.now(), self._clock.monotonic(), secret)
            if len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]

    def _forget_old(self) -> None:
        now, monotonic = self._clock.now(), self._clock.monotonic()
        while self._kept:
            oldest = next(iter(self._kept))
            at, monotonic_at, _ = self._kept[oldest]
            if 0 <= now - at < KEPT_FOR_S and 0 <= monotonic - monotonic_at < KEPT_FOR_S:
                return
            del self._kept[oldest]
