"""The hostile provider as a process: `python -m tests.bench.hostile_process` prints its port. With a seed behind it, it
is the moody provider of that seed.
"""

import sys

from tests.support.hostile_provider import hostile_provider
from tests.support.moody_provider import moody_provider

if __name__ == "__main__":
    with moody_provider(int(sys.argv[1])) if sys.argv[1:] else hostile_provider() as server:
        print(server.port, flush=True)
        sys.stdin.read()
