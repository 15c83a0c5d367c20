"""What a service's refusal means, out of a table that each kind of service brings along.

A refusal concerns the key, so that another may be tried, only when a row of the table says so, the body is a JSON
object, and nothing in it shows accepted work. Everything else is the request's own failure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from shared.domain.answer_bodies import JsonObject
from shared.domain.retry_times import retry_at
from shared.domain.waits import rest_until
from shared.errors import ExchangeError, KeyRefused, Refused, Unclear

_SAYS_WHEN: Final = frozenset({408, 429, 503})
# Fields that a plain refusal does not have, with a value that says something.
_SIGNS_OF_WORK: Final = (
    "data",
    "result",
    "results",
    "chargeId",
    "scrape_id",
    "creditsCost",
    "creditsUsed",
    "costDollars",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One row. `tag` is the service's own word for the refusal, None for all that no other row names. `code` is the
    outcome's; `key` says that the key is spent (`quota`) or limited (`rate`), and `scope` whether its account is;
    `unclear` that the work may have been done.
    """

    status: int
    tag: str | None = None
    code: str = "upstream_error"
    key: Literal["quota", "rate"] | None = None
    scope: Literal["key", "account"] = "key"
    unclear: bool = False


def refusal(
    table: Sequence[Meaning],
    *,
    status: int,
    headers: Mapping[str, str],
    body: JsonObject | None,
    tag: str | None,
    now: float,
    said_s: float | None = None,
) -> ExchangeError:
    """The error to raise for an answer that is a refusal. `body` is None for one that is no JSON object; `said_s` is a
    wait in seconds that only the body tells.
    """
    meaning = _meaning(table, status=status, tag=tag)
    if meaning.key is None:
        return _failure(meaning, headers=headers, now=now)
    if body is not None and shows_work(body):
        return Unclear(meaning.code)
    if body is None:
        return Refused(meaning.code, retry_at=retry_at(headers.get("retry-after"), now=now))
    until = rest_until(headers, reason=meaning.key, now=now, said_s=said_s)
    return KeyRefused(meaning.key, until=until, scope=meaning.scope)


def shows_work(body: JsonObject) -> bool:
    """Whether a refusal's body hints at work that was accepted all the same."""
    return body.get("success") is True or any(body.get(name) not in (None, [], {}, "") for name in _SIGNS_OF_WORK)


def _meaning(table: Sequence[Meaning], *, status: int, tag: str | None) -> Meaning:
    rows = [row for row in table if row.status == status]
    exact = (row for row in rows if tag is not None and row.tag == tag)
    general = (row for row in rows if row.tag is None)
    return next(exact, None) or next(general, None) or Meaning(status=status, unclear=status >= 500 or status < 400)


def _failure(meaning: Meaning, *, headers: Mapping[str, str], now: float) -> Refused:
    when = retry_at(headers.get("retry-after"), now=now) if meaning.status in _SAYS_WHEN else None
    return (Unclear if meaning.unclear else Refused)(meaning.code, retry_at=when)
