"""How providers of each kind are looked at by the clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from shared.assembly.knowledge_servers import knowledge_servers
from shared.domain.exposure import ExposureProfile
from shared.domain.pools import POOL_OF
from shared.domain.registrations import ProviderKind
from shared.ports.allowances import AllowanceReader
from shared.ports.check import Check
from shared.ports.clock import Clock
from shared.ports.exchange import Exchanges
from shared.ports.pool_ledger import PoolLedger
from shared.ports.secret_box import Unsealer
from shared.providers.contract import ContractRetriever
from shared.providers.deepwiki import DeepWikiRetriever
from shared.providers.mintlify import MintlifyRetriever
from shared.services.check_nothing import CheckNothing
from shared.services.check_server import CheckServer
from shared.services.check_signed import CheckSigned
from shared.services.check_tools import CheckTools, Offers

Unsealers: TypeAlias = "Mapping[ExposureProfile, Unsealer]"


def checks(
    *,
    ledger: PoolLedger,
    allowances: AllowanceReader,
    exchanges: Exchanges,
    unsealers: Unsealers,
    endpoints: Mapping[ProviderKind, str],
    allow_test_names: bool,
    clock: Clock,
) -> Mapping[ProviderKind, Check]:
    """Of every kind. `endpoints`: where each hosted service is."""
    servers = knowledge_servers(clock=clock, allow_test_names=allow_test_names)
    offers: dict[ProviderKind, Offers] = {
        ProviderKind.DEEPWIKI: DeepWikiRetriever(clock=clock, allow_test_names=allow_test_names).offers_as_usual,
        ProviderKind.MINTLIFY: MintlifyRetriever(clock=clock, allow_test_names=allow_test_names).offers_as_usual,
    }
    found: dict[ProviderKind, Check] = dict.fromkeys(ProviderKind, CheckNothing())
    found[ProviderKind.CONTRACT] = CheckSigned(
        retriever=ContractRetriever(clock=clock, allow_test_names=allow_test_names),
        exchanges=exchanges,
        unsealers=unsealers,
        clock=clock,
    )
    found |= dict.fromkeys(servers, CheckServer(servers=servers, exchanges=exchanges, unsealers=unsealers, clock=clock))
    found |= {
        kind: CheckTools(
            offers=offers_as_usual,
            pool=POOL_OF[kind],
            endpoint=endpoints[kind],
            ledger=ledger,
            allowances=allowances,
            exchanges=exchanges,
            clock=clock,
        )
        for kind, offers_as_usual in offers.items()
    }
    return found
