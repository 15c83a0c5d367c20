"""Looking up a provider's addresses before it is registered, without connecting."""

from __future__ import annotations

from typing import Protocol


class AddressCheck(Protocol):
    """`check` returns nothing when every address behind `base_url` (a checked one) may be dialled now.

    `allow_plain_http` is what an operator has acknowledged for exactly this URL.
    A pass is no promise: the same judgement is made again whenever a connection is opened.
    Raises `BlockedAddress` when any address may not be dialled, `ConnectionFailed` when the name does not resolve,
    `ExchangeTimeout` when the look-up takes too long.
    """

    async def check(self, base_url: str, *, allow_private_network: bool, allow_plain_http: bool = False) -> None: ...
