"""What `ports.secret_box` and `ports.root_secret` promise."""

from __future__ import annotations

import pytest

from shared.domain.exposure import ExposureProfile
from shared.domain.identifiers import fingerprint_of
from shared.domain.registrations import SealedSecret
from shared.errors import Unavailable
from tests.contract.worlds import World
from tests.support.builders import SIGNING_SECRET, a_sealed_secret

PUBLIC, INTERNAL = ExposureProfile.CUSTOMER_SAFE, ExposureProfile.AGENT_ONLY
OWNER, OTHER = "cs_aaaaaaaaaaaaaaaa", "cs_bbbbbbbbbbbbbbbb"


@pytest.mark.parametrize("exposure", [PUBLIC, INTERNAL])
async def test_a_sealed_secret_opens_for_its_owner_and_purpose(world: World, exposure: ExposureProfile) -> None:
    sealed = await world.sealer(exposure).seal(SIGNING_SECRET, owner_id=OWNER, purpose="signing")
    opened = await world.unsealer(exposure).unseal(sealed, owner_id=OWNER, purpose="signing")
    assert opened == SIGNING_SECRET
    assert sealed.fingerprint == fingerprint_of(SIGNING_SECRET)
    assert SIGNING_SECRET not in repr(sealed)


async def test_white_space_around_a_secret_is_no_part_of_it(world: World) -> None:
    sealed = await world.sealer(PUBLIC).seal(f" {SIGNING_SECRET}\r\n", owner_id=OWNER, purpose="signing")
    assert await world.unsealer(PUBLIC).unseal(sealed, owner_id=OWNER, purpose="signing") == SIGNING_SECRET
    assert sealed.fingerprint == fingerprint_of(SIGNING_SECRET)


async def test_a_blank_secret_is_not_sealed(world: World) -> None:
    with pytest.raises(ValueError, match="blank"):
        await world.sealer(PUBLIC).seal(" \n", owner_id=OWNER, purpose="signing")


async def test_a_ciphertext_moved_elsewhere_does_not_open(world: World) -> None:
    sealed = await world.sealer(PUBLIC).seal(SIGNING_SECRET, owner_id=OWNER, purpose="signing")
    opened = world.unsealer(PUBLIC)
    await opened.unseal(sealed, owner_id=OWNER, purpose="signing")
    attempts = [
        opened.unseal(sealed, owner_id=OTHER, purpose="signing"),
        opened.unseal(sealed, owner_id=OWNER, purpose="signing_previous"),
        world.unsealer(INTERNAL).unseal(sealed, owner_id=OWNER, purpose="signing"),
        opened.unseal(SealedSecret(b"{", sealed.fingerprint), owner_id=OWNER, purpose="signing"),
        opened.unseal(a_sealed_secret(), owner_id=OWNER, purpose="signing"),
    ]
    for attempt in attempts:
        with pytest.raises(Unavailable) as refusal:
            await attempt
        assert refusal.value.code == "secrets_unavailable"


async def test_the_root_secret_is_what_the_stack_made(world: World) -> None:
    world.keep_root_secret("7c" * 32)
    assert await world.root_secret().read() == "7c" * 32
