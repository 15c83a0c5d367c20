"""Where `kgw` begins: Ctrl-C ends it without a word also while the rest of it is loaded."""

from __future__ import annotations

import signal


def main() -> int:
    """Returns the exit status, as `kgw --help` explains it."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not where somebody has it ignored
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from infra.cli.main import main as kgw

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return kgw()
