"""Checks the address of a provider: its spelling, and where its name leads today."""

from __future__ import annotations

from shared.domain.urls import checked_base_url
from shared.errors import BlockedAddress, ExchangeError, Invalid, Violation
from shared.ports.address_check import AddressCheck

_POINTER = "/baseUrl"


class CheckAddress:
    """An early word to the operator; the same check is made again at every connection."""

    def __init__(self, *, address_check: AddressCheck, allow_loopback_http: bool) -> None:
        self._address_check = address_check
        self._allow_loopback_http = allow_loopback_http

    async def __call__(self, text: str, *, allow_private_network: bool) -> str:
        """The base URL in its stored spelling. Raises `Invalid`: `invalid_base_url`, `blocked_address`,
        `host_not_resolved`.
        """
        base_url = self._spelled(text, allow_private_network=allow_private_network)
        try:
            await self._address_check.check(base_url, allow_private_network=allow_private_network)
        except BlockedAddress:
            raise _refused("This host has an address that may not be dialled.", code="blocked_address") from None
        except ExchangeError:
            raise _refused("This host has no address that could be found.", code="host_not_resolved") from None
        return base_url

    def _spelled(self, text: str, *, allow_private_network: bool) -> str:
        try:
            return checked_base_url(
                text, allow_loopback_http=self._allow_loopback_http, allow_private_network=allow_private_network
            )
        except Invalid as error:
            raise _refused(error.detail, code=error.code) from None


def _refused(detail: str, *, code: str) -> Invalid:
    return Invalid(detail, code=code, violations=(Violation(_POINTER, detail),))
