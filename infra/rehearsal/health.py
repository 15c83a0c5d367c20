"""Has the deployed probe look at every provider, and reads what it found through the deployed API."""

from __future__ import annotations

import json
from collections.abc import Mapping

import boto3

from infra.cli.seed import Seeded
from infra.rehearsal.searches import Callers
from infra.rehearsal.steps import Failed

HEALTH = "/api/v1/knowledge/health"


def probe_and_read_health(callers: Callers, seeded: Seeded, outputs: Mapping[str, str]) -> str:
    """Raises `Failed` unless the probe looked, and every provider that was registered is seen, none of them failing."""
    answer = boto3.client("lambda").invoke(FunctionName=outputs["FunctionProbeName"], Payload=b"{}")
    said = json.loads(answer["Payload"].read())
    if not (said.get("providers") or {}).get("lookedAt"):
        raise Failed(f"The probe looked at nothing: {said}")
    health = callers.bearer(seeded.tokens["agent"]).call("GET", HEALTH).body
    states = {each["id"]: each["state"] for each in health["providers"]}
    lacking = [name for name, id_ in seeded.ids.items() if id_ not in states]
    if lacking or set(states.values()) - {"healthy", "unchecked"}:
        raise Failed(f"Health lacks {lacking} and says {states}.")
    return f"it looked at {said['providers']['lookedAt']}; {len(states)} providers, none failing"
