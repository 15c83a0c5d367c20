"""A process that executes one tool at a service which never answers, and says so when the request has left."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

from shared.domain.alexandria import Holder
from tests.contract.alexandria_worlds import request_of, stage_over
from tests.contract.worlds import Clients, StoreWorld


class _Reports(list[Any]):
    """What was sent; each entry is announced."""

    def append(self, sent: Any) -> None:
        super().append(sent)
        sys.stdout.write("sent\n")
        sys.stdout.flush()


async def main(credential_id: str, quote_id: str) -> None:
    world = StoreWorld(Clients(), dict(os.environ))
    stage = stage_over(world, holder=Holder(credential_id))
    stage.exchanges.sent = _Reports()
    await stage.parts.alexandria.execute(request_of(stage, quote_id))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
