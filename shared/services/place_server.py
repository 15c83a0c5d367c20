"""Decides under which base URL a self-hosted server is asked, and what has to be acknowledged for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shared.domain.instance_rules import Acknowledgement, apparent_risks, check_acknowledged
from shared.domain.instances import Risk
from shared.domain.registration_rules import check_private_network
from shared.domain.urls import checked_base_url
from shared.errors import BlockedAddress, ExchangeError, Invalid, Violation
from shared.ports.address_check import AddressCheck

_POINTER = "/baseUrl"


@dataclass(frozen=True, slots=True)
class Place:
    """A normalised base URL, and the risks that were acknowledged for exactly it."""

    base_url: str
    risks: frozenset[Risk]


class PlaceServer:
    """Nothing is sent to the server: its name is looked up and no more. The addresses are judged again at every
    connection.
    """

    def __init__(
        self, *, address_check: AddressCheck, allow_loopback_http: bool, private_network_available: bool
    ) -> None:
        self._address_check = address_check
        self._allow_loopback_http = allow_loopback_http
        self._private_network_available = private_network_available

    async def __call__(self, text: str, *, form: Callable[[str], str], given: Acknowledgement | None) -> Place:
        """`form` puts a base URL into the product's own form.

        Raises `Invalid` (`invalid_base_url`, `blocked_address`, `host_not_resolved`), `Conflict`
        (`risk_not_acknowledged`, `private_network_unavailable`).
        """
        base_url = self._spelled(text, form)
        risks = apparent_risks(base_url)
        check_private_network(wanted=Risk.PRIVATE_NETWORK in risks, available=self._private_network_available)
        risks |= await self._hidden_risks(base_url, known=risks)
        check_acknowledged(base_url, risks, given)
        return Place(base_url, risks)

    def _spelled(self, text: str, form: Callable[[str], str]) -> str:
        try:
            return form(self._checked(text))
        except Invalid as error:
            raise _refused(error.detail, code=error.code) from None

    def _checked(self, text: str) -> str:
        """Whether the risks are acknowledged is asked once it is known which ones there are."""
        return checked_base_url(
            text,
            allow_loopback_http=self._allow_loopback_http,
            allow_private_network=True,
            allow_plain_http=True,
        )

    async def _hidden_risks(self, base_url: str, *, known: frozenset[Risk]) -> frozenset[Risk]:
        """A name may lead into a private network without looking like it."""
        is_private = Risk.PRIVATE_NETWORK in known
        if await self._may_dial(base_url, allow_private_network=is_private):
            return frozenset()
        if not is_private and await self._may_dial(base_url, allow_private_network=True):
            return frozenset({Risk.PRIVATE_NETWORK})
        raise _refused("This host has an address that may not be dialled.", code="blocked_address")

    async def _may_dial(self, base_url: str, *, allow_private_network: bool) -> bool:
        try:
            await self._address_check.check(
                base_url, allow_private_network=allow_private_network, allow_plain_http=True
            )
        except BlockedAddress:
            return False
        except ExchangeError:
            raise _refused("This host has no address that could be found.", code="host_not_resolved") from None
        return True


def _refused(detail: str, *, code: str) -> Invalid:
    return Invalid(detail, code=code, violations=(Violation(_POINTER, detail),))
