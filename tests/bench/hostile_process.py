"""The hostile provider as a process: `python -m tests.bench.hostile_process` prints its port."""

import sys

from tests.support.hostile_provider import hostile_provider

if __name__ == "__main__":
    with hostile_provider() as server:
        print(server.port, flush=True)
        sys.stdin.read()
