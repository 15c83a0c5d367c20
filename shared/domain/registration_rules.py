"""What an operator may set on a registration, beyond the shape of each field."""

from __future__ import annotations

from dataclasses import replace

from shared.domain.exposure import ExposureProfile
from shared.domain.hosts import is_under
from shared.domain.live_configs import SourcePolicy
from shared.domain.registrations import LIVE_KINDS, Provider, ProviderConfig, ProviderKind, ProviderStatus
from shared.errors import Conflict, Invalid, Violation


def check_conversation_id(profile: ExposureProfile, *, send_conversation_id: bool) -> None:
    """A conversation's id leaves for agent_only providers alone. Raises `Invalid`."""
    if send_conversation_id and profile is not ExposureProfile.AGENT_ONLY:
        violation = Violation("/sendConversationId", "Only an agent_only provider may receive conversation ids.")
        raise Invalid("Correct the fields named in `errors`.", violations=(violation,))


def check_exposure(kind: ProviderKind, profile: ExposureProfile) -> None:
    """What costs the operator at every call is never reached from a customer path. Raises `Invalid`."""
    if kind in LIVE_KINDS and profile is not ExposureProfile.AGENT_ONLY:
        violation = Violation("/exposureProfile", "A live kind is agent_only.")
        raise Invalid("Correct the fields named in `errors`.", violations=(violation,))


def check_sources(config: ProviderConfig | None, *, allow_test_names: bool) -> None:
    """Hosts under `.test` are those of the embedded default. Raises `Invalid`."""
    hosts = config.approved_hosts if isinstance(config, SourcePolicy) else ()
    if not allow_test_names and any(is_under(host, "test") for host in hosts):
        detail = "Names under .test lead nowhere: approve hosts by their public DNS names."
        raise Invalid("Correct the fields named in `errors`.", violations=(Violation("/config/approvedHosts", detail),))


def check_private_network(*, wanted: bool, available: bool) -> None:
    """Raises `Conflict` where this deployment has no private network to reach."""
    if wanted and not available:
        raise Conflict(
            "This deployment has no private network. Deploy it with its VPC option first.",
            code="private_network_unavailable",
        )


def settled(before: Provider, after: Provider, *, asked_status: ProviderStatus | None) -> Provider:
    """`after`, disabled where it has to prove itself first: it is new and nobody has seen it answer, or it is
    customer_safe and answers from somewhere else, maybe with something else.

    Raises `Conflict` (`test_required`) when somebody asks for it to be active before a test has passed.
    """
    is_customer_safe = after.exposure_profile is ExposureProfile.CUSTOMER_SAFE
    moved = is_customer_safe and after.source.base_url != before.source.base_url
    if not moved and not before.needs_test:
        return after
    if asked_status is ProviderStatus.ACTIVE:
        raise Conflict(
            "A new provider, and a customer_safe one with a new baseUrl, is active once a test has passed. "
            "Test it with `activate: true`.",
            code="test_required",
        )
    return replace(after, status=ProviderStatus.DISABLED, needs_test=True)
