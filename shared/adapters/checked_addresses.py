"""From a destination to the addresses that may be dialled for it."""

from __future__ import annotations

from dataclasses import dataclass

from shared.domain.addresses import AddressPolicy, Reach, judge, reach_of
from shared.domain.urls import Destination
from shared.errors import BlockedAddress, NeverConnected
from shared.ports.resolver import Resolver


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRules:
    """What this process may do at all, whatever a registration says.

    `allow_loopback_http` is the embedded default's alone: loopback addresses, and without TLS those only.
    `private_network_available` says that a private network is attached.
    """

    allow_loopback_http: bool
    private_network_available: bool

    def policy(self, *, allow_private_network: bool, allow_plain_http: bool) -> AddressPolicy:
        return AddressPolicy(
            allow_private_network=allow_private_network and self.private_network_available,
            allow_loopback=self.allow_loopback_http,
            allow_plain_http=allow_plain_http,
        )


async def checked_addresses(destination: Destination, policy: AddressPolicy, *, resolver: Resolver) -> tuple[str, ...]:
    """All addresses of the destination, each of which may be dialled; never an empty tuple.

    One forbidden address refuses them all. Raises `BlockedAddress`, `ConnectionFailed`, `ExchangeTimeout`.
    """
    if destination.is_address:
        addresses: tuple[str, ...] = (destination.host,)
    else:
        addresses = await resolver.resolve(destination.host, destination.port)
    if not addresses:
        raise NeverConnected
    if not all(judge(address, policy) for address in addresses):
        raise BlockedAddress
    if destination.scheme != "https" and not policy.allow_plain_http and not _are_loopback(addresses):
        raise BlockedAddress
    return addresses


def _are_loopback(addresses: tuple[str, ...]) -> bool:
    return all(reach_of(address) is Reach.LOOPBACK for address in addresses)
