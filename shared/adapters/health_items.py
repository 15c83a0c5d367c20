"""How the probe's book is stored: one row for the run, and one for each provider that was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from shared.adapters.attributes import (
    Item,
    NewItem,
    number,
    number_of,
    optional,
    text,
    text_of,
    texts,
    texts_of,
    whole_of,
)
from shared.adapters.keys import ONLY, SORT_KEY, key_of
from shared.adapters.unreadable import readable
from shared.domain.health import HealthState, Look, ProbeRun, ProviderHealth
from shared.domain.outcomes import OutcomeCode
from shared.domain.passages import Warning_

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

HEALTH: Final = "HEALTH"


def place_of_run() -> NewItem:
    return key_of(HEALTH, ONLY)


def place_of(provider_id: str) -> NewItem:
    return key_of(HEALTH, provider_id)


def is_run(item: Item) -> bool:
    return text_of(item, SORT_KEY) == ONLY


def finished_attribute(run: ProbeRun, *, finished_at: float) -> AttributeValueTypeDef:
    """A map of its own: it stays as it is while the next run goes on."""
    parts: NewItem = {
        "run_id": text(run.run_id),
        "started_at": number(run.started_at),
        "finished_at": number(finished_at),
        "looked_at": number(run.looked_at),
        "left_out": number(run.left_out),
    }
    if run.next_id:
        parts["next_id"] = text(run.next_id)
    return {"M": parts}


def finished_run_of(item: Item) -> ProbeRun | None:
    """None where none has finished yet."""
    if "finished" not in item:
        return None
    parts = item["finished"]["M"]
    return ProbeRun(
        run_id=text_of(parts, "run_id"),
        started_at=number_of(parts, "started_at"),
        finished_at=number_of(parts, "finished_at"),
        looked_at=whole_of(parts, "looked_at"),
        left_out=whole_of(parts, "left_out"),
        next_id=optional(parts, "next_id", text_of) or "",
    )


def begun_run_of(item: Item) -> ProbeRun:
    return ProbeRun(run_id=text_of(item, "run_id"), started_at=number_of(item, "started_at"))


def item_of(health: ProviderHealth) -> NewItem:
    item: NewItem = {
        **place_of(health.provider_id),
        "revision": text(health.revision),
        "look": text(health.look),
        "state": text(health.state),
        "since": number(health.since),
        "failures": number(health.failures),
        "warnings": texts(health.warnings),
    }
    if health.code is not None:
        item["code"] = text(health.code)
    numbers = {"retry_at": health.retry_at, "last_well_at": health.last_well_at}
    return item | {name: number(value) for name, value in numbers.items() if value is not None}


def health_of(item: Item) -> ProviderHealth:
    code = optional(item, "code", text_of)
    return ProviderHealth(
        provider_id=text_of(item, SORT_KEY),
        revision=text_of(item, "revision"),
        look=Look(text_of(item, "look")),
        state=HealthState(text_of(item, "state")),
        since=number_of(item, "since"),
        code=None if code is None else OutcomeCode(code),
        failures=whole_of(item, "failures"),
        warnings=tuple(Warning_(each) for each in texts_of(item, "warnings")),
        retry_at=optional(item, "retry_at", number_of),
        last_well_at=optional(item, "last_well_at", number_of),
    )


readable_finished_run = readable(finished_run_of)
readable_begun_run = readable(begun_run_of)
readable_health = readable(health_of)
