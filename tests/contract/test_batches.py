"""Reading many rows at once, also from a store that leaves some of them for later."""

from __future__ import annotations

from typing import Any

import pytest

from shared.adapters import batches
from shared.adapters.batches import MAX_BATCH, rows_at
from shared.errors import Unavailable
from tests.contract.stubs import refusal

Keys = list[dict[str, Any]]


class GrudgingStore:
    """Answers at most `at_once` rows of a call, and nothing in the calls named in `silent`."""

    def __init__(self, *, at_once: int = MAX_BATCH, silent: tuple[int, ...] = ()) -> None:
        self.at_once = at_once
        self.silent = silent
        self.asked: list[Keys] = []

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # the service's own name
        ((table, request),) = RequestItems.items()
        keys: Keys = request["Keys"]
        assert request["ConsistentRead"] is True
        assert len({(key["pk"]["S"], key["sk"]["S"]) for key in keys}) == len(keys) <= MAX_BATCH
        self.asked.append(keys)
        given = 0 if len(self.asked) - 1 in self.silent else self.at_once
        left = keys[given:]
        answer: dict[str, Any] = {"Responses": {table: [dict(key) for key in keys[:given]]}}
        return answer | {"UnprocessedKeys": {table: {"Keys": left, "ConsistentRead": True}} if left else {}}


def places(count: int) -> list[tuple[str, str]]:
    return [("KEY#c", f"m{number:04}") for number in range(count)]


async def found(store: GrudgingStore, wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
    items = await rows_at(store, "cards", wanted)  # type: ignore[arg-type]
    return sorted((item["pk"]["S"], item["sk"]["S"]) for item in items)


async def test_no_places_cost_no_call() -> None:
    store = GrudgingStore()
    assert await found(store, []) == []
    assert store.asked == []


async def test_a_place_that_is_named_twice_is_asked_for_once() -> None:
    store = GrudgingStore()
    assert await found(store, places(3) * 2) == places(3)
    assert [len(keys) for keys in store.asked] == [3]


@pytest.mark.parametrize(("count", "sizes"), [(100, [100]), (101, [1, 100]), (250, [50, 100, 100])])
async def test_a_batch_has_at_most_a_hundred_rows(count: int, sizes: list[int]) -> None:
    store = GrudgingStore()
    assert await found(store, places(count)) == places(count)
    assert sorted(len(keys) for keys in store.asked) == sizes


async def test_what_is_left_unprocessed_is_followed_to_the_last_row() -> None:
    store = GrudgingStore(at_once=30)
    assert await found(store, places(100)) == places(100)
    assert [len(keys) for keys in store.asked] == [100, 70, 40, 10]


async def test_answers_of_nothing_are_borne_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_PAUSE_MS", 1)
    store = GrudgingStore(at_once=60, silent=(0, 1, 3))
    assert await found(store, places(100)) == places(100)
    assert [len(keys) for keys in store.asked] == [100, 100, 100, 40, 40]


async def test_a_store_that_gives_nothing_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_PAUSE_MS", 1)
    store = GrudgingStore(at_once=0)
    with pytest.raises(Unavailable):
        await found(store, places(3))
    assert len(store.asked) == batches._ATTEMPTS


async def test_a_batch_that_fails_is_unavailable_whatever_the_others_gave() -> None:
    class Failing(GrudgingStore):
        def batch_get_item(self, **request: Any) -> dict[str, Any]:
            if self.asked:
                raise refusal("ProvisionedThroughputExceededException")
            return super().batch_get_item(**request)

    with pytest.raises(Unavailable):
        await found(Failing(), places(300))
