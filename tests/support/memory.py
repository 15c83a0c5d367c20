"""Measuring what a piece of work needs in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def extra_memory_bytes(work: Callable[[], object]) -> int:
    """The peak of what Python allocated during `work`, beyond what was allocated before."""
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not was_tracing:
            tracemalloc.stop()
