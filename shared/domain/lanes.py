"""Who asked. What happens on one lane says nothing on the other."""

from __future__ import annotations

from enum import StrEnum


class Lane(StrEnum):
    AGENT = "agent"
    CUSTOMER = "customer"
