"""How providers on self-hosted servers are registered and changed, behind the routes of all providers, and the one
route that is theirs alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias, cast

from aws_lambda_powertools.event_handler import Response

from functions.admin.desk import Call, Desk
from functions.admin.parts import Parts
from functions.admin.server_services import binding_services
from shared.domain.bindings import DifyExternalConfig
from shared.domain.once import Once
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider
from shared.errors import Conflict
from shared.services.bind import NewBinding
from shared.services.register_external import NewExternal
from shared.services.update_binding import BindingChanges
from shared.services.update_external import ExternalChanges
from shared.web.api import answer
from shared.web.binding_models import (
    AnyBindingCreate,
    BindingPatch,
    DefaultsRestore,
    common_known,
)
from shared.web.etags import etag_of, generation_named
from shared.web.external_provider_models import DifyExternalCreate, DifyExternalPatch
from shared.web.provider_models import ProviderShown
from shared.web.server_fields import created_credential
from shared.web.server_outcome_words import server_explanation_of
from shared.web.wire import read_body

AnyServerCreate: TypeAlias = AnyBindingCreate | DifyExternalCreate
AnyServerPatch: TypeAlias = BindingPatch | DifyExternalPatch
_RESTORE = "/api/v1/knowledge/providers/{provider_id}/restore-defaults"


class ServerProviders:
    """What the routes of providers hand on for the kinds of self-hosted servers."""

    def __init__(self, parts: Parts) -> None:
        self._services = binding_services(parts)

    async def create(self, body: AnyServerCreate, call: Call, *, once: Once | None) -> Provider:
        with told_in_words():
            if isinstance(body, DifyExternalCreate):
                return await self._services.register_external(_external(body), by=call.principal, once=once)
            return await self._services.bind(_binding(body), by=call.principal, once=once)

    async def update(self, provider_id: str, body: AnyServerPatch, call: Call, *, generation: int) -> Provider:
        changes, services = body.changes(), self._services
        with told_in_words():
            if isinstance(body, DifyExternalPatch):
                return await services.update_external(
                    provider_id, cast("ExternalChanges", changes), expected_generation=generation, by=call.principal
                )
            return await services.update_binding(
                provider_id, cast("BindingChanges", changes), expected_generation=generation, by=call.principal
            )

    async def restore(self, provider_id: str, body: DefaultsRestore, call: Call) -> Provider:
        with told_in_words():
            return await self._services.restore_defaults(
                provider_id,
                body.test_query,
                expected_generation=generation_named(call.event),
                by=call.principal,
            )


def add_binding_routes(desk: Desk, parts: Parts) -> None:
    providers = ServerProviders(parts)

    @desk.route("POST", _RESTORE)
    async def restore_defaults(call: Call, provider_id: str) -> Response[str]:
        provider = await providers.restore(provider_id, read_body(DefaultsRestore, call.event), call)
        shown = ProviderShown.of(provider, now=parts.clock.now())
        return answer(shown.model_dump_json(by_alias=True), headers={"ETag": etag_of(provider.generation)})


@contextmanager
def told_in_words() -> Iterator[None]:
    """A failed test says in the gateway's words what its outcome means."""
    try:
        yield
    except Conflict as problem:
        outcome = problem.facts.get("outcome")
        if isinstance(outcome, OutcomeCode):
            problem.facts["explanation"] = server_explanation_of(outcome) or ""
        raise


def _binding(body: AnyBindingCreate) -> NewBinding:
    return NewBinding(
        name=body.name,
        kind=body.kind,
        instance_id=body.instance_id,
        remote_id=body.remote_id,
        product=body.config.known(),
        common=common_known(body),
        test_query=body.test_query,
        module=body.module,
        priority=body.priority,
    )


def _external(body: DifyExternalCreate) -> NewExternal:
    return NewExternal(
        name=body.name,
        exposure_profile=body.exposure_profile,
        base_url=body.base_url,
        config=DifyExternalConfig(
            knowledge_id=body.config.knowledge_id,
            score_threshold=body.config.score_threshold,
            reaches_public_only=body.credential_reaches_public_content_only,
            common=common_known(body),
        ),
        test_query=body.test_query,
        credential=created_credential(body.credential),
        acknowledge=None if body.acknowledge is None else body.acknowledge.known(),
        private_authority=body.private_authority,
        module=body.module,
        priority=body.priority,
    )
