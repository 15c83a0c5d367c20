"""Examples of health."""

from __future__ import annotations

from typing import Any

from shared.domain.health import HealthState
from shared.domain.outcomes import OutcomeCode
from shared.web.health_models import STATE_WORDS
from shared.web.outcome_words import explanation_of

Json = dict[str, Any]

_AT = "2026-09-21T14:13:20.000Z"
_LATER = "2026-09-21T14:13:50.000Z"
_RUN: Json = {
    "startedAt": "2026-09-21T14:10:00.000Z",
    "finishedAt": "2026-09-21T14:10:02.000Z",
    "lookedAt": 6,
    "leftOut": 0,
}
_DOWN: Json = {
    "id": "cs_k3j5mq2x7a4bwz6t",
    "name": "Help centre",
    "kind": "contract",
    "exposureProfile": "customer_safe",
    "status": "active",
    "state": "down",
    "since": _AT,
    "looked": "capabilities",
    "code": "connection_failed",
    "explanation": f"{STATE_WORDS[HealthState.DOWN]} {explanation_of(OutcomeCode.CONNECTION_FAILED)}",
    "retryAt": _LATER,
    "lastWellAt": "2026-09-21T14:10:01.000Z",
    "warnings": [],
    "circuits": {
        "agent": {
            "state": "open",
            "failures": 3,
            "openUntil": _LATER,
            "lastCode": "connection_failed",
            "lastAt": _AT,
        },
        "customer": {"state": "closed", "failures": 0, "openUntil": None, "lastCode": None, "lastAt": None},
    },
}
_POOL: Json = {
    "pool": "exa",
    "takesKeys": True,
    "configured": 3,
    "usable": 2,
    "resting": 1,
    "retryAt": None,
    "allowance": {"limit": 1000, "used": 214, "unknown": 1},
}
_COMMON: Json = {"checkedAt": _RUN["finishedAt"], "stale": False, "run": _RUN, "unavailable": []}

HEALTH_ANSWERS: dict[str, Json] = {
    "HealthShown": {"status": "degraded", **_COMMON, "providers": [_DOWN], "pools": [_POOL]},
    "OneHealthShown": {
        "status": "down",
        **_COMMON,
        "provider": _DOWN,
        "pools": [],
        "history": [
            {
                "at": _AT,
                "happening": "circuit_opened",
                "state": "open",
                "lane": "agent",
                "code": "connection_failed",
                "until": _LATER,
            }
        ],
    },
}
