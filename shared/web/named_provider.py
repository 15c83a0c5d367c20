"""Whom something in an agent's answer is from."""

from __future__ import annotations

from shared.domain.registrations import ProviderKind
from shared.web.wire import WireModel


class ProviderOut(WireModel):
    id: str
    name: str
    kind: ProviderKind
