"""Ready-made domain objects for tests: `a_source(priority=5)` is a whole source that differs in its priority."""

from __future__ import annotations

import itertools
import secrets
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from shared.domain import identifiers
from shared.domain.audit import AuditEntry
from shared.domain.bindings import PRODUCT_OF, Binding, DifyExternalConfig
from shared.domain.changes import Change, IdempotencyRecord
from shared.domain.credentials import DEFAULT_RATE_PER_MINUTE, Credential
from shared.domain.exposure import Audience, CredentialClass, ExposureProfile
from shared.domain.instances import Instance
from shared.domain.passages import Passage
from shared.domain.registrations import (
    CustomerSource,
    Link,
    Provider,
    ProviderKind,
    ProviderStatus,
    SealedSecret,
    Source,
)

NOW = 1_790_000_000.0
SECRET = "5e" * 32  # the secret part of every built credential's token, unless told otherwise
SIGNING_SECRET = "kgs_" + "51" * 32

_SOURCE_FIELDS = {field.name for field in fields(Source)}
_BINDING_FIELDS = {field.name for field in fields(Binding)}
_count = itertools.count(1)


def a_source(*, exposure_profile: ExposureProfile = ExposureProfile.CUSTOMER_SAFE, **over: Any) -> Source:
    """A contract source; its id names `exposure_profile`. Each has a name and an id of its own."""
    number = next(_count)
    values: dict[str, Any] = {
        "id": identifiers.new_provider_id(exposure_profile),
        "name": f"Help centre {number}",
        "kind": ProviderKind.CONTRACT,
        "base_url": f"https://kb{number}.fern-desk.test/v1",
        "generation": 1,
        "signing": a_sealed_secret(),
        "created_at": NOW + number / 1000,
    }
    return Source(**values | over)


def a_customer_source(**over: Any) -> CustomerSource:
    return CustomerSource(a_source(**over))


def a_provider(**over: Any) -> Provider:
    """An active registration. `over` takes fields of the registration and of its source alike."""
    profile = over.pop("exposure_profile", ExposureProfile.CUSTOMER_SAFE)
    of_source = {name: over.pop(name) for name in list(over) if name in _SOURCE_FIELDS}
    source = over.pop("source", None) or a_source(exposure_profile=profile, **of_source)
    values: dict[str, Any] = {"status": ProviderStatus.ACTIVE, "updated_at": source.created_at}
    return Provider(source=source, exposure_profile=profile, **values | over)


def an_internal_provider(**over: Any) -> Provider:
    return a_provider(exposure_profile=ExposureProfile.AGENT_ONLY, **over)


def an_instance(*, exposure_profile: ExposureProfile = ExposureProfile.AGENT_ONLY, **over: Any) -> Instance:
    """A Dify server, agent_only unless told otherwise; a customer_safe one reaches public content alone."""
    number = next(_count)
    created_at = NOW + number / 1000
    values: dict[str, Any] = {
        "id": identifiers.new_instance_id(exposure_profile),
        "name": f"Server {number}",
        "kind": ProviderKind.DIFY,
        "base_url": f"https://dify{number}.fern-desk.test/v1",
        "generation": 1,
        "credential": a_sealed_secret(f"dataset-{number}"),
        "reaches_public_only": exposure_profile is ExposureProfile.CUSTOMER_SAFE,
        "created_at": created_at,
        "updated_at": created_at,
    }
    return Instance(exposure_profile=exposure_profile, **values | over)


def a_binding(instance: Instance, **over: Any) -> Provider:
    """An active provider bound to `instance`. `over` takes fields of the registration, its source and its binding."""
    number = next(_count)
    values: dict[str, Any] = {
        "instance_id": instance.id,
        "remote_id": f"6f0c2d5e-0000-4000-8000-{number:012x}",
        "remote_name": f"Ferry handbook {number}",
        "product": PRODUCT_OF[instance.kind](),
    }
    config = Binding(**values | {name: over.pop(name) for name in list(over) if name in _BINDING_FIELDS})
    of_source = {"name": f"Handbook {number}", "kind": instance.kind, "signing": None, "config": config}
    provider = a_provider(exposure_profile=instance.exposure_profile, **of_source | over)
    return replace(provider, source=instance.at(provider.source))


def an_external_provider(
    *, exposure_profile: ExposureProfile = ExposureProfile.AGENT_ONLY, config: dict[str, Any] | None = None, **over: Any
) -> Provider:
    """An active provider that implements Dify's External Knowledge API, with a credential of its own. `config` takes
    fields of its config.
    """
    provider_id = identifiers.new_provider_id(exposure_profile)
    of_config = {"knowledge_id": "handbook", "reaches_public_only": exposure_profile is ExposureProfile.CUSTOMER_SAFE}
    values: dict[str, Any] = {
        "id": provider_id,
        "kind": ProviderKind.DIFY_EXTERNAL,
        "signing": None,
        "config": DifyExternalConfig(**of_config | (config or {})),
        "link": Link(owner_id=provider_id, credential=a_sealed_secret("external-key")),
    }
    return a_provider(exposure_profile=exposure_profile, **values | over)


def a_sealed_secret(text: str = SIGNING_SECRET, *, ciphertext: bytes | None = None) -> SealedSecret:
    """Sealed by nobody: opens with `FakeUnsealer` only when a `FakeSealer` made it."""
    return SealedSecret(
        ciphertext=ciphertext if ciphertext is not None else secrets.token_bytes(48),
        fingerprint=identifiers.fingerprint_of(text),
    )


def a_credential(
    *, credential_class: CredentialClass = CredentialClass.AGENT, secret: str = SECRET, **over: Any
) -> Credential:
    """An active credential whose token carries `secret`. A widget's lists one origin."""
    is_widget = credential_class is CredentialClass.PUBLIC
    values: dict[str, Any] = {
        "id": identifiers.new_credential_id(),
        "name": f"Credential {next(_count)}",
        "digest": identifiers.digest_of(secret),
        "fingerprint": identifiers.fingerprint_of(secret),
        "rate_per_minute": DEFAULT_RATE_PER_MINUTE[credential_class],
        "origins": ("https://help.fern-desk.test",) if is_widget else (),
        "salt": b"salt-of-sixteen!" if is_widget else b"",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Credential(credential_class=credential_class, **values | over)


def a_token(credential: Credential, *, secret: str = SECRET) -> str:
    return identifiers.format_token(credential.credential_class, credential.id, secret)


def a_passage(**over: Any) -> Passage:
    number = next(_count)
    values: dict[str, Any] = {
        "document_id": f"doc-{number}",
        "title": f"Ferry passes, part {number}",
        "snippet": "A ferry pass is valid on every night ferry.",
        "audience": Audience.PUBLIC,
        "url": f"https://help.fern-desk.example/ferry-passes/{number}",
        "locale": "en",
    }
    return Passage(**values | over)


def an_audit_entry(*, at: float = NOW, **over: Any) -> AuditEntry:
    moment = datetime.fromtimestamp(at, tz=UTC).isoformat(timespec="microseconds")
    values: dict[str, Any] = {
        "id": f"{moment}#{secrets.token_hex(4)}",
        "actor": "root",
        "action": "provider.created",
        "resource": "provider/cs_aaaaaaaaaaaaaaaa",
    }
    return AuditEntry(at=at, **values | over)


def an_idempotency_record(**over: Any) -> IdempotencyRecord:
    values: dict[str, Any] = {
        "key": secrets.token_hex(32),
        "body_hash": "b0" * 32,
        "status": 201,
        "resource_id": "cs_aaaaaaaaaaaaaaaa",
        "expires_at": NOW + 86_400,
    }
    return IdempotencyRecord(**values | over)


def a_change(*, idempotency: IdempotencyRecord | None = None, **audit: Any) -> Change:
    """`audit` takes fields of the audit entry."""
    return Change(audit=an_audit_entry(**audit), idempotency=idempotency)
