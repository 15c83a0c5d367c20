"""Processes that are to be interrupted. A shell that runs something in the background makes it ignore Ctrl-C, and what
is started from there inherits that: what a test sends SIGINT to has to be started so that it heeds it.
"""

from __future__ import annotations

import signal


def heeds_ctrl_c() -> None:
    """For `preexec_fn`."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
