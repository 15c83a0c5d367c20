"""The admin API out of its parts."""

from __future__ import annotations

from dataclasses import replace

from aws_lambda_powertools import Logger

from functions.admin.allowances import add_allowance_routes
from functions.admin.audit import add_audit_routes
from functions.admin.bindings import add_binding_routes
from functions.admin.card_sets import add_card_set_routes
from functions.admin.cards import add_card_routes
from functions.admin.collections import add_collection_routes
from functions.admin.credentials import add_credential_routes
from functions.admin.desk import Desk
from functions.admin.health import add_health_routes
from functions.admin.instance_checks import add_instance_check_routes
from functions.admin.instances import add_instance_routes
from functions.admin.parts import Parts
from functions.admin.pools import add_pool_routes
from functions.admin.provider_checks import add_provider_check_routes
from functions.admin.providers import add_provider_routes
from shared.adapters.event_loop import ProcessLoop
from shared.domain.circuits import Lane
from shared.services.admit import Admit
from shared.services.admit_admin import AdmitAdmin
from shared.services.registry_in_use import RegistryInUse
from shared.web.api import Api


def admin_api(parts: Parts, *, loop: ProcessLoop, logger: Logger) -> Api:
    api = Api(logger, front=parts.front)
    admit = Admit(credentials=parts.credentials, rate_limits=parts.rate_limits, clock=parts.clock)
    admit_admin = AdmitAdmin(
        admit=admit,
        root_secret=parts.root_secret,
        store=parts.credential_store,
        rate_limits=parts.rate_limits,
        clock=parts.clock,
    )
    desk = Desk(api, admit=admit_admin, loop=loop, logger=logger)
    add_health_routes(desk, parts)
    registry = RegistryInUse(parts.registry, agent_circuits=parts.health.circuits[Lane.AGENT])
    _add_routes(desk, replace(parts, registry=registry))
    return api


def _add_routes(desk: Desk, parts: Parts) -> None:
    """Of all that is administered. The registry is the one that operators see."""
    add_provider_routes(desk, parts)
    add_provider_check_routes(desk, parts)
    add_binding_routes(desk, parts)
    add_instance_routes(desk, parts)
    add_instance_check_routes(desk, parts)
    add_pool_routes(desk, parts)
    add_allowance_routes(desk, parts)
    add_credential_routes(desk, parts)
    add_collection_routes(desk, parts)
    add_card_set_routes(desk, parts)
    add_card_routes(desk, parts)
    add_audit_routes(desk, parts)
