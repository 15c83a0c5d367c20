"""Whose certificates are believed: the public authorities, and for single sources one more."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, partial
from typing import Final

import certifi

from shared.adapters.threads import start
from shared.errors import NeverConnected, Refused

SPOKEN: Final = ["http/1.1"]
_MOST_PRIVATE = 32
_making = threading.Lock()


def public_authorities() -> ssl.SSLContext:
    """TLS that trusts the public certificate authorities and always verifies; no environment variable changes it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(SPOKEN)  # now: later somebody may be connecting with it, in another thread
    context.load_verify_locations(certifi.where())
    return context


def shared_public_authorities() -> ssl.SSLContext:
    """One for all clients of this process, made when it is first needed."""
    with _making:
        return _shared()


@cache
def _shared() -> ssl.SSLContext:
    return public_authorities()


class Authorities:
    """One context for all sources that need no more than the public ones, and one for each private authority beside
    them, of which the 32 that were used last are kept. `public` replaces the public certificate authorities.
    """

    def __init__(self, public: ssl.SSLContext | None) -> None:
        if public:
            public.set_alpn_protocols(SPOKEN)
        self._public = public or shared_public_authorities()
        self._anew: Callable[[], ssl.SSLContext] = partial(_copy_of, public) if public else public_authorities
        self._private: OrderedDict[str, Future[ssl.SSLContext]] = OrderedDict()

    async def trusting(self, private: str | None) -> ssl.SSLContext:
        """`private` are certificates (PEM) that are believed as well, each one as it is. Reading the public ones again
        takes a tenth of a second, so it happens once, and beside the event loop.

        Raises `Refused` (`not_configured`) for what is no certificate, and `NeverConnected` where no file can be read
        just now: the next one who asks tries again.
        """
        if private is None:
            return self._public
        try:
            return await asyncio.shield(asyncio.wrap_future(self._made(private)))
        except (ssl.SSLError, ValueError):
            raise Refused("not_configured") from None
        except OSError:
            self._private.pop(private, None)
            raise NeverConnected from None

    def _made(self, private: str) -> Future[ssl.SSLContext]:
        made = self._private.get(private)
        if made is None:
            made = self._private[private] = start(_beside, self._anew, private)
        self._private.move_to_end(private)
        if len(self._private) > _MOST_PRIVATE:
            self._private.popitem(last=False)
        return made


def _beside(anew: Callable[[], ssl.SSLContext], private: str) -> ssl.SSLContext:
    context = anew()
    context.load_verify_locations(cadata=private)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # an intermediate, or the server's own, is believed too
    return context


def _copy_of(public: ssl.SSLContext) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(SPOKEN)
    context.load_verify_locations(cadata=b"".join(public.get_ca_certs(binary_form=True)))
    return context
