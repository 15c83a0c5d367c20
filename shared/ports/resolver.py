"""Looking up the addresses of a host name."""

from __future__ import annotations

from typing import Protocol


class Resolver(Protocol):
    """`resolve` returns every address that the name has, as text, in order of preference, without repeats.

    Nothing is judged here. An empty answer is possible and is no permission for anything.
    Raises `ConnectionFailed` when the name does not resolve, now or ever, and `ExchangeTimeout` when so many look-ups
    are under way already that this one would not be started.
    """

    async def resolve(self, host: str, port: int) -> tuple[str, ...]: ...
