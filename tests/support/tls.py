"""Certificates for tests, made on the spot by an authority of the tests' own."""

from __future__ import annotations

import ssl

import trustme


class TestAuthority:
    """`server(*names)` is a TLS server's context with a certificate for those names; `client()` trusts it alone, and
    `pem()` is what others need to trust it.
    """

    __test__ = False

    def __init__(self) -> None:
        self._authority = trustme.CA()

    def server(self, *names: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert(*names).configure_cert(context)
        return context

    def client(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._authority.configure_trust(context)
        return context

    def pem(self) -> str:
        return self._authority.cert_pem.bytes().decode()

    def certificate(self, *names: str) -> tuple[ssl.SSLContext, str]:
        """A server's context, and its own certificate alone."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        issued = self._authority.issue_cert(*names)
        issued.configure_cert(context)
        return context, issued.cert_chain_pems[0].bytes().decode()

    def private_key(self) -> str:
        return self._authority.private_key_pem.bytes().decode()
