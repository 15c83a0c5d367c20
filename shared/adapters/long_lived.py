"""What a process is made of stays until its end, and need not be looked through for garbage again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def set_up() -> Iterator[None]:
    """Around all that is imported and wired in a process.

    Modules and their classes are some 100,000 objects. While they come about, the collector would look through them
    again and again and find next to nothing. Later a full collection would look at each of them, which takes 45 ms and
    more, in the middle of a request. Those set aside here are passed over.
    """
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_collecting:
            gc.enable()
