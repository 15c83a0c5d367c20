"""Looks at providers over real connections: the checks of every kind as they are put together, and secrets that open.

stage = CheckStage(endpoints)
provider = stage.contract(base_url)               # or stage.bound(kind, base_url, ...), stage.live(kind)
finding = stage.look(provider)
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from shared.adapters.clock import SystemClock
from shared.adapters.exchanges import PinnedExchanges
from shared.adapters.resolver import SystemResolver
from shared.assembly.checks import checks
from shared.domain.deadlines import Deadline
from shared.domain.exposure import ExposureProfile
from shared.domain.health import Finding
from shared.domain.live_configs import DeepWikiConfig, MintlifyConfig, SourcePolicy
from shared.domain.registrations import Provider, ProviderConfig, ProviderKind, Purpose, SealedSecret
from shared.ports.exchange import Exchanges
from tests.support.builders import a_binding, a_provider, an_instance, an_internal_provider
from tests.support.fakes import FakeSealer, FakeStore, FakeUnsealer
from tests.support.live_fakes import FakeAllowanceDesk, FakeAllowances, FakePoolLedger

PUBLIC, INTERNAL = ExposureProfile.CUSTOMER_SAFE, ExposureProfile.AGENT_ONLY
HOSTS = ("docs.fern-desk.example",)
CONFIGS: dict[ProviderKind, ProviderConfig] = {
    ProviderKind.DEEPWIKI: DeepWikiConfig(repositories=("fern-desk/ferry",)),
    ProviderKind.MINTLIFY: MintlifyConfig(approved_hosts=HOSTS),
}


class CheckStage:
    """`ledger` and `allowances` are of the pools; `unsealers` can be made to fail."""

    def __init__(self, endpoints: Mapping[str, str] | None = None, *, exchanges: Exchanges | None = None) -> None:
        self.clock = SystemClock()
        self.ledger = FakePoolLedger(clock=self.clock)
        self.allowances = FakeAllowances(clock=self.clock)
        self.unsealers = {exposure: FakeUnsealer(exposure=exposure) for exposure in ExposureProfile}
        nowhere = dict.fromkeys(ProviderKind, "https://nowhere.example")
        self.checks = checks(
            ledger=self.ledger,
            allowances=FakeAllowanceDesk(self.allowances, FakeStore()),
            exchanges=exchanges or self._exchanges(),
            unsealers=self.unsealers,
            endpoints=nowhere | {ProviderKind(kind): url for kind, url in (endpoints or {}).items()},
            allow_test_names=True,
            clock=self.clock,
        )

    def _exchanges(self) -> PinnedExchanges:
        return PinnedExchanges(
            resolver=SystemResolver(), clock=self.clock, allow_loopback_http=True, private_network_available=False
        )

    def look(self, provider: Provider, *, within_s: float = 4.0) -> Finding:
        return asyncio.run(self.looked(provider, within_s=within_s))

    async def looked(self, provider: Provider, *, within_s: float = 4.0) -> Finding:
        deadline = Deadline.after(within_s, now_s=self.clock.monotonic())
        return await self.checks[provider.source.kind](provider, deadline=deadline)

    def contract(self, base_url: str, *, secret: str, previous: str | None = None, **over: Any) -> Provider:
        provider = a_provider(base_url=base_url, **over)
        secrets = {"signing": _sealed(secret, provider.id, "signing", provider.exposure_profile)}
        if previous is not None:
            secrets["signing_previous"] = _sealed(previous, provider.id, "signing_previous", provider.exposure_profile)
            return provider.with_source(**secrets, signing_previous_until=self.clock.now() + 3_600)
        return provider.with_source(**secrets)

    def bound(self, kind: ProviderKind, base_url: str, *, key: str, remote_id: str, **over: Any) -> Provider:
        instance = an_instance(kind=kind, base_url=base_url)
        sealed = _sealed(key, instance.id, "instance", instance.exposure_profile)
        return a_binding(replace(instance, credential=sealed), remote_id=remote_id, **over)

    def live(self, kind: ProviderKind, **over: Any) -> Provider:
        config = CONFIGS.get(kind, SourcePolicy(approved_hosts=HOSTS))
        return an_internal_provider(**{"kind": kind, "signing": None, "base_url": "", "config": config} | over)


def _sealed(text: str, owner_id: str, purpose: Purpose, exposure: ExposureProfile) -> SealedSecret:
    return asyncio.run(FakeSealer(exposure=exposure).seal(text, owner_id=owner_id, purpose=purpose))
