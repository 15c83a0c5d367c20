"""Nothing internal leaves on a customer path: tried on generated cases, and the trial is tried on broken gateways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shared.domain.cards import CustomerCard
from shared.domain.customer_answers import CustomerAnswer
from shared.domain.registrations import CustomerSource
from shared.services import search, search_for_customer
from shared.web import customer_answers
from tests.support.exposure_cases import INTERNAL_ONLY, Leak, Player, a_case

CASES = 20_000
CHUNK = 5_000
BROKEN_CASES = 1_500


@pytest.fixture
def player() -> Iterator[Player]:
    made = Player()
    yield made
    made.close()


@pytest.mark.parametrize("first", range(0, CASES, CHUNK))
def test_no_case_leaks(player: Player, first: int) -> None:
    _play_all(player, range(first, first + CHUNK))
    # The cases are worth something only if there was much to see, much to leak, and much to refuse.
    assert player.tally["customer_results"] > CHUNK / 5
    assert player.tally["agent_internal"] > CHUNK / 20
    assert player.tally["slips_sent"] > CHUNK / 20
    assert player.tally["customer_cards"] > CHUNK / 50
    assert player.tally["internal_cards"] > CHUNK / 100
    assert player.tally["refused"] > CHUNK / 10


def _asks_every_provider(player: Player, _patch: pytest.MonkeyPatch) -> None:
    async def every() -> tuple[CustomerSource, ...]:
        return tuple(CustomerSource(provider.source) for provider in player.stage.store.registrations.values())

    player.stage.customer_catalog.sources = every  # type: ignore[method-assign]


def _asks_every_provider_and_opens_every_secret(player: Player, patch: pytest.MonkeyPatch) -> None:
    async def opened(*_args: Any, **_named: Any) -> str:
        return "kgs_any"

    _asks_every_provider(player, patch)
    for unsealer in player.stage.unsealers.values():
        unsealer.unseal = opened  # type: ignore[method-assign]


def _keeps_what_is_not_public(_player: Player, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(search_for_customer, "sifted", lambda reply, _profile: reply)


def _keeps_what_is_not_public_for_agents(_player: Player, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(search, "sifted", lambda reply, _profile: reply)


def _shows_one_field_more(_player: Player, patch: pytest.MonkeyPatch) -> None:
    encoded = customer_answers.encoded
    patch.setattr(
        customer_answers, "encoded", lambda *a, **k: encoded(*a, **k).replace('"title":', '"score":1,"title":')
    )


def _counts_what_was_hidden(player: Player, patch: pytest.MonkeyPatch) -> None:
    encoded = customer_answers.encoded

    def counted(answer: CustomerAnswer, **named: Any) -> str:
        hidden = sum(p.exposure_profile is INTERNAL_ONLY for p in player.stage.store.registrations.values())
        return encoded(answer, **named) + " " * hidden

    patch.setattr(customer_answers, "encoded", counted)


def _ignores_the_credentials_list(_player: Player, patch: pytest.MonkeyPatch) -> None:
    choose = search.choose
    patch.setattr(search, "choose", lambda providers, *, named, allowed: choose(providers, named=named, allowed=None))


def _looks_in_every_collection(player: Player, _patch: pytest.MonkeyPatch) -> None:
    player.stage.customer_vocabularies.occurring = player.stage.vocabularies.occurring  # type: ignore[method-assign]
    read = player.stage.card_reader.cards

    async def every(collection_id: str, card_ids: Any) -> dict[str, CustomerCard]:
        return {id_: CustomerCard(card) for id_, card in (await read(collection_id, card_ids)).items()}

    player.stage.customer_card_reader.cards = every  # type: ignore[method-assign]


def _shows_a_cards_id(_player: Player, patch: pytest.MonkeyPatch) -> None:
    encoded = customer_answers.encoded
    patch.setattr(
        customer_answers, "encoded", lambda *a, **k: encoded(*a, **k).replace('"body":', '"id":"crd_","body":')
    )


def _asks_before_the_caller_is_admitted(_player: Player, patch: pytest.MonkeyPatch) -> None:
    async def reading_only(admission: Any, reading: Any, **_named: Any) -> Any:
        admission.close()
        return None, await reading

    patch.setattr(search_for_customer, "opened", reading_only)


BROKEN = [
    _asks_every_provider,
    _asks_every_provider_and_opens_every_secret,
    _keeps_what_is_not_public,
    _keeps_what_is_not_public_for_agents,
    _shows_one_field_more,
    _counts_what_was_hidden,
    _looks_in_every_collection,
    _shows_a_cards_id,
    _ignores_the_credentials_list,
    _asks_before_the_caller_is_admitted,
]


@pytest.mark.parametrize("break_it", BROKEN, ids=[broken.__name__.strip("_") for broken in BROKEN])
def test_a_gateway_that_leaks_is_caught(
    player: Player, monkeypatch: pytest.MonkeyPatch, break_it: Callable[[Player, pytest.MonkeyPatch], None]
) -> None:
    break_it(player, monkeypatch)
    with pytest.raises(Leak):
        _play_all(player, range(BROKEN_CASES))


def _play_all(player: Player, numbers: range) -> None:
    for number in numbers:
        player.play(a_case(number))
