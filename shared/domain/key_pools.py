"""The numbered keys of one service: their order, which one is used, which ones rest and until when. Pure rules."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from shared.domain.pools import KEY_NAME, Pool

MAX_KEYS: Final = 32
MAX_KEY_CHARACTERS: Final = 512
LONGEST_REST_S: Final = 31 * 86_400.0
REST_BY_DEFAULT_S: Final = {"quota": 86_400.0, "rate": 60.0}

RestReason = Literal["quota", "rate", "operator"]
_SENDABLE = re.compile(r"[\x21-\x7e]+", re.ASCII)
_SUFFIX = re.compile(r"_([1-9][0-9]{0,5})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolKey:
    """`name` is the numbered name (`EXA_API_KEY_2`), `fingerprint` SHA-256 (hex) of pool name, NUL, key. The key
    itself is used to send and shown nowhere. Keys of one `account` share its rate limit.
    """

    name: str
    fingerprint: str
    value: str = field(repr=False)
    account: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredKeys:
    """`unusable` names what holds something that is no key: a line break inside, say. Duplicates are left out."""

    keys: tuple[PoolKey, ...] = ()
    unusable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rest:
    """Why a key rests, and until when (Unix seconds)."""

    until: float
    reason: RestReason


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolState:
    """As all instances share it. `active` is the fingerprint in use; `rests` by fingerprint, ended ones included."""

    active: str | None = None
    rests: Mapping[str, Rest] = field(default_factory=dict)

    def is_resting(self, fingerprint: str, *, now: float) -> bool:
        rest = self.rests.get(fingerprint)
        return rest is not None and rest.until > now


def fingerprint_of_key(pool: Pool, key: str) -> str:
    return hashlib.sha256(f"{pool}\0{key}".encode()).hexdigest()


def nameless_key(pool: Pool) -> PoolKey:
    """Stands for a service that takes no keys: it is refused and rests like one, and nothing of it is sent."""
    return PoolKey(name="", fingerprint=fingerprint_of_key(pool, ""), value="")


def configured_keys(pool: Pool, entries: Mapping[str, object]) -> ConfiguredKeys:
    """`entries` as in the pool's secret: a name's value is the key, or an object with `key` and, optionally,
    `account`. The base name comes first, then the suffixes by number; gaps are fine. Blanks, later duplicates, other
    names and all beyond `MAX_KEYS` are left out.
    """
    keys: dict[str, PoolKey] = {}
    unusable: list[str] = []
    for name in _in_order(entries, KEY_NAME[pool]):
        key, account = _parts(entries[name])
        if key is None or (key and not _is_key(key)):
            unusable.append(name)
        elif key:
            fingerprint = fingerprint_of_key(pool, key)
            keys.setdefault(fingerprint, PoolKey(name=name, fingerprint=fingerprint, value=key, account=account))
    return ConfiguredKeys(keys=tuple(keys.values())[:MAX_KEYS], unusable=tuple(unusable))


def choose_key(keys: Sequence[PoolKey], state: PoolState, *, now: float, tried: Collection[str] = ()) -> PoolKey | None:
    """The active key while it may be used, else the first in order that may. `tried` are fingerprints of this
    operation. None when no key is left.
    """
    able = [key for key in keys if key.fingerprint not in tried and not state.is_resting(key.fingerprint, now=now)]
    return next((key for key in able if key.fingerprint == state.active), able[0] if able else None)


def resting_with(refused: PoolKey, keys: Iterable[PoolKey], *, scope: str) -> tuple[PoolKey, ...]:
    """The keys that a refusal concerns: the refused one, and with `scope` `account` all of its account."""
    if scope != "account" or refused.account is None:
        return (refused,)
    return (refused, *(key for key in keys if key.account == refused.account and key != refused))


def next_active(
    keys: Sequence[PoolKey], state: PoolState, *, resting: Collection[str], until: float, now: float
) -> str | None:
    """Which key is used once those of `resting` rest until `until`: the active one while it may be, else the first in
    order that may, else the one whose rest ends first. So the choice stays when an earlier key recovers.
    """

    def free_at(key: PoolKey) -> float:
        rest = state.rests.get(key.fingerprint)
        own = rest.until if rest else 0.0
        return max(now, own, until if key.fingerprint in resting else 0.0)

    return min(keys, key=lambda key: (free_at(key), key.fingerprint != state.active)).fingerprint if keys else None


def rested(state: PoolState, fingerprints: Iterable[str], rest: Rest, *, active: str | None) -> PoolState:
    """The state once these keys rest. A rest that ends later stays as it is."""
    later = {each: rest for each in fingerprints if each not in state.rests or state.rests[each].until < rest.until}
    return PoolState(active=active, rests={**state.rests, **later})


def free_again_at(keys: Iterable[PoolKey], state: PoolState, *, now: float) -> float | None:
    """When the first key may be used again (Unix seconds, not before `now`). None without keys."""
    times = [max(now, rest.until if (rest := state.rests.get(key.fingerprint)) else now) for key in keys]
    return min(times, default=None)


def _in_order(entries: Mapping[str, object], base: str) -> list[str]:
    numbers = {name: _number(name, base) for name in entries}
    return sorted((name for name, number in numbers.items() if number is not None), key=lambda n: numbers[n] or 0)


def _number(name: str, base: str) -> int | None:
    """0 for the base name itself; None for a name that is none of the pool's."""
    if name == base:
        return 0
    match = _SUFFIX.fullmatch(name, len(base)) if name.startswith(base) else None
    return int(match[1]) if match else None


def _parts(entry: object) -> tuple[str | None, str | None]:
    """Key and account; the key is None for something that is neither form."""
    if isinstance(entry, str):
        return entry.strip(), None
    if isinstance(entry, Mapping) and isinstance(entry.get("key"), str):
        account = entry.get("account")
        return entry["key"].strip(), account if isinstance(account, str) and account else None
    return None, None


def _is_key(text: str) -> bool:
    return len(text) <= MAX_KEY_CHARACTERS and _SENDABLE.fullmatch(text) is not None
