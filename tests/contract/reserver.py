"""A process whose threads reserve units and settle them until none is left. One line for each thing that was done."""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from shared.domain.pools import Pool
from shared.errors import Refused
from tests.contract.worlds import Clients, StoreWorld

_RELEASES_EVERY = 3


async def _reserve_and_settle(world: StoreWorld) -> None:
    allowances = world.allowances()
    for number in range(100_000):
        try:
            reservation = await allowances.reserve(Pool.EXA)
        except Refused:
            return
        _done("reserved")
        if number % _RELEASES_EVERY == 0:
            await allowances.release(reservation)
            _done("released")
        else:
            await allowances.confirm(reservation)
            _done("confirmed")


def _done(what: str) -> None:
    os.write(1, f"{what}\n".encode())  # whole, whoever else writes


def main(threads: int) -> None:
    world = StoreWorld(Clients(), dict(os.environ))
    _done("ready")
    sys.stdin.readline()
    with ThreadPoolExecutor(threads) as pool:
        for finished in [pool.submit(asyncio.run, _reserve_and_settle(world)) for _ in range(threads)]:
            finished.result()


if __name__ == "__main__":
    main(int(sys.argv[1]))
