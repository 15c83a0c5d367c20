"""The search function behind the front of `kgw up`, in a process of its own: one worker, as each peer has one.

`python -m tests.bench.peers.ours PORT`; PEER_FUNCTION is JSON, the environment of the function's process. Ends with its
input. Settings: logs at CRITICAL; its measures are written, to nowhere.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

from infra.local.dispatch import Dispatcher
from infra.local.pool import Pool
from infra.local.server import Front


def main(port: int) -> None:
    environment = json.loads(os.environ["PEER_FUNCTION"])
    pool = Pool("functions.search.handler", environment=environment, log=Path(os.devnull), cap=1)
    front = Front(port, dispatcher=Dispatcher(), pools=lambda: {"search": pool})
    pool.warm_up()
    threading.Thread(target=front.serve_forever, daemon=True).start()
    sys.stdin.buffer.read()
    os._exit(0)  # its worker ends with it


if __name__ == "__main__":
    main(int(sys.argv[1]))
