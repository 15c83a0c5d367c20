"""Tries a self-hosted server for an operator, each thing apart. It touches no binding, no circuit and no cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from shared.domain.bindings import PRODUCT_OF, Binding
from shared.domain.bound_facts import with_facts
from shared.domain.instance_findings import after_listing, after_retrieval
from shared.domain.instances import Finding, Instance, InstanceReport
from shared.domain.outcomes import OutcomeCode, outcome_code_of
from shared.domain.passages import Question, Retrieval
from shared.domain.preconditions import existing
from shared.domain.registrations import ProviderKind
from shared.domain.remote_catalogs import CatalogWish
from shared.domain.trials import TRIAL_LIMIT
from shared.errors import ExchangeError, Refused
from shared.ports.clock import Clock
from shared.ports.instances import Instances
from shared.ports.knowledge_server import KnowledgeServer
from shared.services.describe_remote import described
from shared.services.open_line import CEILING_S
from shared.services.open_server import LISTING_S, OpenServer, ServerLine

_UNREACHABLE: Final = frozenset(
    {OutcomeCode.CONNECTION_FAILED, OutcomeCode.BLOCKED_ADDRESS, OutcomeCode.NOT_CONFIGURED}
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One real search in one knowledge base."""

    query: str
    remote_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceTested:
    """`result_count` is None where nothing was searched or the search failed."""

    instance: Instance
    report: InstanceReport
    result_count: int | None = None
    timeout_ms: int = round(CEILING_S * 1000)


class TestInstance:
    __test__ = False  # not a test case, whatever its name looks like

    def __init__(
        self,
        *,
        instances: Instances,
        servers: Mapping[ProviderKind, KnowledgeServer],
        open_server: OpenServer,
        clock: Clock,
    ) -> None:
        self._instances = instances
        self._servers = servers
        self._open_server = open_server
        self._clock = clock

    async def __call__(self, instance_id: str, sample: Sample | None) -> InstanceTested:
        """A server that fails is a report, not an error. Without a `sample` retrieval stays untested.

        Raises `NotFound`, `Unavailable`.
        """
        instance = existing(await self._instances.get(instance_id))
        server, started = self._servers[instance.kind], self._clock.monotonic()
        line = await self._open_server(instance)
        report = await self._listed(InstanceReport(), server, line)
        tested = InstanceTested(instance=instance, report=report)
        if sample is not None and line.has_time and report.error_code not in _UNREACHABLE:
            tested = await self._searched(tested, sample, server, line)
        # Servers tell it in a list: one that came too late is not waited for twice.
        is_slow = report.error_code is OutcomeCode.TIMEOUT
        version = None if is_slow else await self._version(tested.report, server, line)
        duration_ms = round((self._clock.monotonic() - started) * 1000)
        return replace(tested, report=replace(tested.report, version=version, duration_ms=duration_ms))

    async def _listed(self, report: InstanceReport, server: KnowledgeServer, line: ServerLine) -> InstanceReport:
        exchange = line.exchange(timeout_s=LISTING_S)
        error_code = None
        try:
            await server.catalog(line.base_url, CatalogWish(), credential=line.credential, exchange=exchange)
        except ExchangeError as error:
            error_code = outcome_code_of(error)
        return after_listing(report, error_code, has_credential=line.credential is not None)

    async def _searched(
        self, tested: InstanceTested, sample: Sample, server: KnowledgeServer, line: ServerLine
    ) -> InstanceTested:
        error_code, count = None, None
        try:
            count = len((await _retrieved(sample, server, line)).passages)
        except ExchangeError as error:
            error_code = outcome_code_of(error)
        report = after_retrieval(tested.report, error_code, has_credential=line.credential is not None)
        return replace(tested, report=report, result_count=count)

    async def _version(self, report: InstanceReport, server: KnowledgeServer, line: ServerLine) -> str | None:
        if report.reachable is not Finding.PASSED or not line.has_time:
            return None
        try:
            return await server.version(line.base_url, credential=line.credential, exchange=line.exchange())
        except ExchangeError:
            return None


async def _retrieved(sample: Sample, server: KnowledgeServer, line: ServerLine) -> Retrieval:
    if len(sample.query) > server.limits.query_characters:
        raise Refused(OutcomeCode.QUERY_TOO_LONG)
    entry = await described(server, sample.remote_id, line=line)
    if entry.not_searchable is not None:
        raise Refused(OutcomeCode.CAPABILITY_UNAVAILABLE)
    product = with_facts(PRODUCT_OF[line.source.kind](), entry)
    binding = Binding(instance_id=line.source.id, remote_id=entry.id, remote_name=entry.name, product=product)
    question = Question(query=sample.query, limit=min(TRIAL_LIMIT, server.limits.results))
    return await server.retrieve(
        replace(line.source, config=binding), question, credential=line.credential, exchange=line.exchange()
    )
