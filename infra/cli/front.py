"""`kgw front rotate`: changes what a distribution shows to the functions, without a request being refused meanwhile."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from infra.cli.front_places import NoFront, Places, Version, places_of
from infra.cli.terminal import say
from shared.adapters.front_door import KEPT_FOR_S
from shared.domain.front import FrontDigests, digest_of

# What a function knows is at most so old; a little more, for clocks.
_KNOWN_EVERYWHERE_AFTER_S = KEPT_FOR_S + 10
_LOOKS_EVERY_S = 15.0
_LOOKS = 240


def rotate_front(stack: str) -> int:
    """Raises `NoFront`."""
    say("This takes about ten minutes. It can be broken off at any time: the next run goes on.")
    Rotation(places_of(stack), sleep=time.sleep, say=say).run()
    return 0


@dataclass(frozen=True, slots=True)
class Rotation:
    """Functions know a value before it is sent, and the one before until it is sent no more. Every step can be seen in
    what it leaves, so a run that broke off is finished before a new value is made.
    """

    places: Places
    sleep: Callable[[float], None]
    say: Callable[[str], None]

    def run(self) -> None:
        value, version = self._wanted()
        self._make_known(value)
        if version is not None:
            self.places.secret.make_current(version)
        self._send(value)
        self._forget_others(value)

    def _wanted(self) -> tuple[str, Version | None]:
        """The value to end with, and its version where that is not the secret's current one yet."""
        pending = self.places.secret.pending()
        if pending is None and self._is_settled():
            self.places.secret.keep_pending(secrets.token_hex(32))
            pending = self.places.secret.pending()  # another run may have made one too: the last counts for both
            self.say("A new value is made.")
        else:
            self.say("An earlier run was broken off; it is finished now.")
        return (pending.value, pending) if pending is not None else (self.places.secret.current().value, None)

    def _is_settled(self) -> bool:
        """Nothing, or one and the same value, is known everywhere."""
        current = self.places.secret.current().value
        if self.places.distribution.sending().value != current:
            return False
        known = set(self.places.known.read().values())
        return known <= {None} or known == {FrontDigests(digest_of(current))}

    def _make_known(self, value: str) -> None:
        sent = self.places.distribution.sending().value
        if sent == value:
            return
        known, wanted = self.places.known.read(), FrontDigests(digest_of(value), digest_of(sent))
        if set(known.values()) != {wanted}:
            self.places.known.write(wanted, in_place_of=known)
        self.say("The functions learn it, within a minute.")
        self.sleep(_KNOWN_EVERYWHERE_AFTER_S)

    def _send(self, value: str) -> None:
        sending = self.places.distribution.sending()
        if sending.value != value:
            self.places.distribution.send(value, in_place_of=sending)
        self.say("The distribution begins to send it.")
        for _ in range(_LOOKS):
            if self.places.distribution.is_deployed():
                return
            self.sleep(_LOOKS_EVERY_S)
        raise NoFront("The distribution is not deployed everywhere after an hour. Run this again later.")

    def _forget_others(self, value: str) -> None:
        known, wanted = self.places.known.read(), FrontDigests(digest_of(value))
        if set(known.values()) != {wanted}:
            self.places.known.write(wanted, in_place_of=known)
        self.say("Done. What was sent before is taken no longer, within a minute.")
