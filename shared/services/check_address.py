"""Checks what an operator sets: the address of a provider, by its spelling and where its name leads today, and the
hosts of its sources, by their names.
"""

from __future__ import annotations

from shared.domain.registration_rules import check_sources
from shared.domain.registrations import ProviderConfig
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

    def sources(self, config: ProviderConfig | None) -> None:
        """Raises `Invalid` for hosts that this deployment cannot approve."""
        check_sources(config, allow_test_names=self._allow_loopback_http)

    def _spelled(self, text: str, *, allow_private_network: bool) -> str:
        try:
            return checked_base_url(
                text, allow_loopback_http=self._allow_loopback_http, allow_private_network=allow_private_network
            )
        except Invalid as error:
            raise _refused(error.detail, code=error.code) from None


def _refused(detail: str, *, code: str) -> Invalid:
    return Invalid(detail, code=code, violations=(Violation(_POINTER, detail),))
