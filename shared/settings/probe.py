"""How often the probe looks at providers."""

from __future__ import annotations

from pydantic import Field

from shared.settings.base import Settings


class ProbePace(Settings):
    """`probe_every_s`: no run begins sooner after the last one. Less than what lies between two invocations, or one
    that comes a moment early would be for nothing.
    """

    probe_every_s: float = Field(default=240, ge=1, le=86_400, alias="KG_PROBE_EVERY_S")
