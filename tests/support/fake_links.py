"""What holds between providers, instances and credentials in the fakes' store."""

from __future__ import annotations

from collections.abc import Mapping

from shared.domain.bindings import Binding
from shared.domain.identifiers import exposure_of, exposure_of_instance
from shared.domain.instances import MAX_BINDINGS_PER_INSTANCE, Instance
from shared.domain.registrations import Provider
from shared.errors import Conflict


class CredentialOwners:
    """Which instances and providers have which credential, by its key. Two exposure profiles never share one."""

    def __init__(self) -> None:
        self.of_key: dict[str, set[str]] = {}

    def check(self, owner_id: str, key: str | None, *, has_credential: bool) -> None:
        if has_credential and key is None and not any(owner_id in owners for owners in self.of_key.values()):
            raise ValueError("a credential comes with its key")
        others = self.of_key.get(key, set()) - {owner_id} if key else set()
        if any(_profile_of(other) is not _profile_of(owner_id) for other in others):
            raise Conflict("The other exposure profile has it.", code="credential_used_elsewhere")

    def settle(self, owner_id: str, key: str | None, *, has_credential: bool) -> None:
        """As it is after a write: another key, none, or the one it had."""
        if key is None and has_credential:
            return
        for owners in self.of_key.values():
            owners.discard(owner_id)
        if key is not None and has_credential:
            self.of_key.setdefault(key, set()).add(owner_id)
        self.of_key = {known: owners for known, owners in self.of_key.items() if owners}


def bound_to(instance_id: str, registrations: Mapping[str, Provider]) -> tuple[Provider, ...]:
    """By ascending id."""
    bound = [one for one in registrations.values() if _target(one) and _target(one)[0] == instance_id]
    return tuple(sorted(bound, key=lambda one: one.id))


def check_target(provider: Provider, registrations: Mapping[str, Provider]) -> None:
    """That nothing else is bound to the same thing, and that a provider keeps what it is bound to."""
    known = registrations.get(provider.id)
    if known is not None and _target(known) != _target(provider):
        raise ValueError("a provider keeps what it is bound to")
    others = (one for one in registrations.values() if one.id != provider.id)
    if _target(provider) and any(_target(other) == _target(provider) for other in others):
        raise Conflict("It is bound already.", code="already_bound")


def check_instance(
    provider: Provider, registrations: Mapping[str, Provider], instances: Mapping[str, Instance]
) -> None:
    """That the instance is there as it was read, and has room."""
    if (target := _target(provider)) is None:
        return
    instance, link = instances.get(target[0]), provider.source.link
    if instance is None or link is None or link.generation != instance.generation:
        raise Conflict("The instance has changed.", code="config_changed")
    others = [one for one in bound_to(instance.id, registrations) if one.id != provider.id]
    if len(others) >= MAX_BINDINGS_PER_INSTANCE:
        raise Conflict("There is no room for another.", code="binding_limit_reached")


def _target(provider: Provider) -> tuple[str, str] | None:
    config = provider.source.config
    return (config.instance_id, config.remote_id) if isinstance(config, Binding) else None


def _profile_of(owner_id: str) -> object:
    return exposure_of(owner_id) or exposure_of_instance(owner_id)
