"""Checks a base URL's addresses by looking them up, as a later call would."""

from __future__ import annotations

import asyncio

from shared.adapters.checked_addresses import NetworkRules, checked_addresses
from shared.domain.urls import destination_of
from shared.errors import ExchangeTimeout
from shared.ports.resolver import Resolver

_LOOKUP_TIMEOUT_S = 5.0


class ResolvingAddressCheck:
    def __init__(self, *, resolver: Resolver, allow_loopback_http: bool, private_network_available: bool) -> None:
        self._resolver = resolver
        self._rules = NetworkRules(
            allow_loopback_http=allow_loopback_http, private_network_available=private_network_available
        )

    async def check(self, base_url: str, *, allow_private_network: bool, allow_plain_http: bool = False) -> None:
        policy = self._rules.policy(allow_private_network=allow_private_network, allow_plain_http=allow_plain_http)
        try:
            async with asyncio.timeout(_LOOKUP_TIMEOUT_S):
                await checked_addresses(destination_of(base_url), policy, resolver=self._resolver)
        except TimeoutError:
            raise ExchangeTimeout from None
