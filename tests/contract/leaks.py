"""Ways to say too much, each as somebody might write it in good faith while looking for a fault. A test proves that
each is found out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from shared.adapters.pool_ledger import DynamoPoolLedger, place_of_keys
from shared.domain.key_pools import PoolKey, PoolState, Rest
from shared.domain.pools import Pool
from shared.errors import ExchangeError, KeyRefused, Refused
from shared.ports.exchange import OutboundAnswer
from shared.providers.exa import ExaRetriever
from shared.services import fan_out, report_search
from shared.services.metering import PooledMeter
from shared.web.api import Api

_rested = PooledMeter._rested
_refusal = ExaRetriever._refusal
_rest = DynamoPoolLedger._rest
_handle = Api.handle


def _log_the_key() -> None:
    async def rested(self: PooledMeter, key: PoolKey, refusal: KeyRefused, *more: Any) -> PoolState:
        self._parts.logger.debug("pool.key_refused", key=key.value)
        return await _rested(self, key, refusal, *more)

    PooledMeter._rested = rested  # type: ignore[method-assign]


def _log_the_account() -> None:
    async def rested(self: PooledMeter, key: PoolKey, refusal: KeyRefused, *more: Any) -> PoolState:
        self._parts.logger.warning("pool.account_rests", account=key.account)
        return await _rested(self, key, refusal, *more)

    PooledMeter._rested = rested  # type: ignore[method-assign]


def _print_the_body() -> None:
    def refusal(self: ExaRetriever, answer: OutboundAnswer, body: Any) -> ExchangeError:
        print(answer.body.decode()[:200], file=sys.stderr)
        return _refusal(self, answer, body)

    ExaRetriever._refusal = refusal  # type: ignore[method-assign]


def _log_a_fault_in_its_own_words() -> None:
    def refusal(_self: ExaRetriever, answer: OutboundAnswer, _body: Any) -> ExchangeError:
        raise ValueError(answer.headers)

    ExaRetriever._refusal = refusal  # type: ignore[method-assign]
    fan_out.place_of = repr


def _raise_the_services_words() -> None:
    def refusal(_self: ExaRetriever, _answer: OutboundAnswer, body: Mapping[str, Any]) -> ExchangeError:
        return Refused(str(body["message"]))

    ExaRetriever._refusal = refusal  # type: ignore[assignment, method-assign]


def _write_the_account_down() -> None:
    def rest(self: DynamoPoolLedger, pool: Pool, fingerprints: list[str], rest: Rest, active: str | None) -> PoolState:
        note = {**place_of_keys(pool), "sk": {"S": "NOTE"}, "why": {"S": f"{rest.reason} of zqaccount-one"}}
        self._client.put_item(TableName=self._table, Item=note)
        return _rest(self, pool, fingerprints, rest, active)

    DynamoPoolLedger._rest = rest  # type: ignore[method-assign]


def _repeat_the_query_in_a_header() -> None:
    def handle(self: Api, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        response = _handle(self, event, context)
        response["headers"]["X-Asked"] = event["body"]
        return response

    Api.handle = handle  # type: ignore[method-assign]


def _name_the_keys_in_an_answer() -> None:
    def handle(self: Api, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        response = _handle(self, event, context)
        response["body"] = response["body"].replace('"warnings":[', f'"warnings":["{_tried[0]}",')
        return response

    async def rested(self: PooledMeter, key: PoolKey, refusal: KeyRefused, *more: Any) -> PoolState:
        _tried.append(key.fingerprint)
        return await _rested(self, key, refusal, *more)

    _tried: list[str] = []
    Api.handle, PooledMeter._rested = handle, rested  # type: ignore[method-assign]


def _keep_the_query_beside_a_number() -> None:
    measured, asked_for = report_search.measure_search, []

    def handle(self: Api, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        asked_for.append(event["body"])
        return _handle(self, event, context)

    def measure(*counted: Any, about: Mapping[str, str]) -> None:
        measured(*counted, about={**about, "asked": asked_for[-1]})

    Api.handle, report_search.measure_search = handle, measure  # type: ignore[method-assign]


LEAKS: Final[dict[str, Callable[[], None]]] = {
    "a log line with the key": _log_the_key,
    "a log line with its account": _log_the_account,
    "a refusal that is printed": _print_the_body,
    "a fault in its own words": _log_a_fault_in_its_own_words,
    "an error with the service's words": _raise_the_services_words,
    "a row with an account": _write_the_account_down,
    "a header with the query": _repeat_the_query_in_a_header,
    "an answer with a fingerprint": _name_the_keys_in_an_answer,
    "a number with the query": _keep_the_query_beside_a_number,
}
