"""`kgw accept`: tries a real self-hosted server, only reading, and reports what of it works. A search is not without
traces on the server itself: products log it, and FastGPT counts it as use.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from infra.cli.accept_products import Product, product_of
from infra.cli.accept_report import Limits, Report, as_json, lines_of
from infra.cli.accept_run import AcceptanceRun, Given, Server
from infra.cli.ending import Told
from infra.cli.terminal import say, say_json
from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import new_instance_id, new_provider_id
from shared.domain.private_authorities import checked_authority
from shared.domain.registrations import Link, ProviderKind, Source
from shared.domain.urls import checked_base_url
from shared.errors import Invalid

USUAL_QUERY = "help"


class CannotAccept(Told):
    """The run could not begin, or did not come to its end. The message says why and repeats nothing of the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """`key_env` and `query_env` name environment variables. `authority` is a file of certificates (PEM)."""

    kind: str
    base_url: str
    key_env: str | None
    remote_id: str | None
    query: str | None
    query_env: str | None
    allow_http: bool
    allow_private: bool
    allow_loopback: bool
    authority: Path | None
    as_json: bool
    out: Path | None


def accept(wanted: Acceptance) -> int:
    """Prints the report. Returns 0 for a server that is accepted, 1 for another. Raises `CannotAccept`."""
    kind = ProviderKind(wanted.kind)
    clock = SystemClock()
    product = product_of(kind, clock, allow_test_names=wanted.allow_loopback)
    given = Given(query=_query(wanted, product), remote_id=wanted.remote_id)
    if product.lists is None and wanted.remote_id is None:
        raise CannotAccept("Such a server lists nothing: name its knowledge with --remote-id.")
    source = _source(wanted, kind, product)
    exchanges = PinnedExchanges(
        resolver=SystemResolver(),
        clock=clock,
        allow_loopback_http=wanted.allow_loopback,
        private_network_available=wanted.allow_private,
    )
    server = Server(product=product, source=source, exchanges=exchanges, clock=clock, key=_key(wanted))
    try:
        report = asyncio.run(AcceptanceRun(server, given)(_begun(wanted, product)))
    except Exception as error:  # noqa: BLE001  # whatever it is: its words may be the server's
        raise CannotAccept(f"The run broke off ({type(error).__name__}). That is a fault of this program.") from None
    finally:
        exchanges.close()
    _say(wanted, report)
    return 0 if report.is_accepted else 1


def _query(wanted: Acceptance, product: Product) -> str:
    query = _variable(wanted.query_env) if wanted.query_env else wanted.query or USUAL_QUERY
    most = product.server.limits.query_characters
    if not 0 < len(query.strip()) <= most:
        raise CannotAccept(f"The query has 1 to {most} characters.")
    return query


def _key(wanted: Acceptance) -> str | None:
    key = _variable(wanted.key_env) if wanted.key_env else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise CannotAccept(f"{wanted.key_env} holds something that cannot be a key.")
    return key


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise CannotAccept(f"The environment variable {name} is not set.")
    return value


def _source(wanted: Acceptance, kind: ProviderKind, product: Product) -> Source:
    base_url = _checked(lambda: _base_url(wanted))
    authority = None if wanted.authority is None else _checked(lambda: checked_authority(_text_of(wanted.authority)))
    link = Link(
        owner_id=new_instance_id(ExposureProfile.AGENT_ONLY),
        allow_plain_http=wanted.allow_http,
        private_authority=authority,
    )
    return Source(
        id=new_provider_id(ExposureProfile.AGENT_ONLY),
        name="",
        kind=kind,
        base_url=base_url if product.lists is None else product.lists.at(base_url),
        generation=1,
        allow_private_network=wanted.allow_private,
        link=link,
    )


def _base_url(wanted: Acceptance) -> str:
    return checked_base_url(
        wanted.base_url,
        allow_loopback_http=wanted.allow_loopback,
        allow_private_network=wanted.allow_private,
        allow_plain_http=wanted.allow_http,
    )


def _checked(read: Callable[[], str]) -> str:
    try:
        return read()
    except Invalid as error:
        raise CannotAccept(error.detail) from None


def _text_of(path: Path | None) -> str:
    try:
        return "" if path is None else path.read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise CannotAccept(f"{path} cannot be read: {error.strerror}.") from None


def _begun(wanted: Acceptance, product: Product) -> Report:
    return Report(
        kind=wanted.kind,
        gateway=metadata.version("knowledge-gateway"),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        transport={
            "isHttps": wanted.base_url.lower().startswith("https:"),
            "allowHttp": wanted.allow_http,
            "allowPrivate": wanted.allow_private,
            "allowLoopback": wanted.allow_loopback,
            "ownAuthority": wanted.authority is not None,
            "hasKey": wanted.key_env is not None,
        },
        has_lists=product.lists is not None,
        is_id_given=wanted.remote_id is not None,
        limits=Limits(query_characters=product.server.limits.query_characters),
    )


def _say(wanted: Acceptance, report: Report) -> None:
    told = as_json(report)
    if wanted.out is not None:
        try:
            wanted.out.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise CannotAccept(f"{wanted.out} cannot be written: {error.strerror}.") from None
    if wanted.as_json:
        say_json(told)
    else:
        say(*lines_of(report))
