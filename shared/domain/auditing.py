"""Making entries for the audit: what is kept of a registration or a credential, and of the difference."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime

from shared.domain.allowances import Allowance
from shared.domain.audit import AuditEntry, AuditValue
from shared.domain.bindings import Binding, DifyExternalConfig
from shared.domain.credentials import Credential
from shared.domain.identifiers import fingerprint_of
from shared.domain.instances import Instance, Risk
from shared.domain.live_configs import DeepWikiConfig, SourcePolicy
from shared.domain.registrations import Link, Provider, ProviderConfig, SealedSecret, Source

Facts = Mapping[str, AuditValue]
NOTHING: Facts = {}


def facts_of_provider(provider: Provider) -> Facts:
    return {
        "baseUrl": provider.source.base_url,
        "allowPrivateNetwork": provider.source.allow_private_network,
        "sendConversationId": provider.send_conversation_id,
        "status": provider.status.value,
        **_sources_named_in(provider.source.config),
        **_server_of(provider.source),
    }


def facts_of_instance(instance: Instance) -> Facts:
    return {
        "baseUrl": instance.base_url,
        "acknowledgements": sorted(instance.acknowledged),
        "reachesPublicOnly": instance.reaches_public_only,
        **_facts_of_link(instance.credential, instance.private_authority),
    }


def _server_of(source: Source) -> Facts:
    """What a provider on a self-hosted server is bound to. How an instance is reached is the instance's affair."""
    if isinstance(source.config, Binding):
        return {"instanceId": source.config.instance_id, "remoteId": source.config.remote_id}
    if not isinstance(source.config, DifyExternalConfig) or source.link is None:
        return NOTHING
    return {
        "knowledgeId": source.config.knowledge_id,
        "acknowledgements": _acknowledged(source.link, allow_private_network=source.allow_private_network),
        "reachesPublicOnly": source.config.reaches_public_only,
        **_facts_of_link(source.link.credential, source.link.private_authority),
    }


def _acknowledged(link: Link, *, allow_private_network: bool) -> list[str]:
    accepted = {Risk.PLAIN_HTTP: link.allow_plain_http, Risk.PRIVATE_NETWORK: allow_private_network}
    return sorted(risk.value for risk, is_accepted in accepted.items() if is_accepted)


def _facts_of_link(credential: SealedSecret | None, private_authority: str | None) -> Facts:
    """That there is another one shows; what it is does not."""
    return {
        "credentialFingerprint": credential.fingerprint if credential else None,
        "privateAuthority": fingerprint_of(private_authority) if private_authority else None,
    }


def _sources_named_in(config: ProviderConfig | None) -> Facts:
    """Which sources a live service may cite, fetch or be told of."""
    if isinstance(config, SourcePolicy):
        return {"approvedHosts": list(config.approved_hosts)}
    return {"repositories": list(config.repositories)} if isinstance(config, DeepWikiConfig) else NOTHING


def facts_of_allowance(allowance: Allowance, *, now: float) -> Facts:
    return {"limit": allowance.limit, "unknown": allowance.unknown_at(now)}


def facts_of_credential(credential: Credential) -> Facts:
    return {
        "origins": list(credential.origins),
        "grants": sorted(credential.grants),
        "status": credential.status.value,
    }


def new_entry(
    *,
    at: float,
    actor: str,
    action: str,
    resource: str,
    before: Facts = NOTHING,
    after: Facts = NOTHING,
    generations: tuple[int | None, int | None] = (None, None),
) -> AuditEntry:
    """An entry with what differs between `before` and `after` alone; `generations` are the old and the new one."""
    differing = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return AuditEntry(
        id=_new_id(at),
        at=at,
        actor=actor,
        action=action,
        resource=resource,
        generation_before=generations[0],
        generation_after=generations[1],
        before={name: value for name, value in before.items() if name in differing},
        after={name: value for name, value in after.items() if name in differing},
    )


def _new_id(at: float) -> str:
    moment = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return f"{moment}#{secrets.token_hex(4)}"
