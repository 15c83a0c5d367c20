"""What an import would change in the secret of one pool. Pure; what it tells are names alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from infra.cli.ending import Told
from shared.domain.key_pools import ConfiguredKeys, configured_keys
from shared.domain.pools import KEY_NAME, KEYED_POOLS, Pool

ACCOUNT: Final = "_ACCOUNT"
_ACCOUNT_NAME = re.compile(r"[\x20-\x7e]{1,128}", re.ASCII)

Entries = Mapping[str, object]


class NotAKey(Told):
    """The message says which names hold something that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyChanges:
    """`entries` is what the pool's secret shall hold. Names in `duplicates` hold a key that an earlier name holds too,
    those in `beyond_limit` come after the last one that is used, those in `unusable` lay in the secret before: all of
    them are kept out of use, and each name is in one place alone.
    """

    pool: Pool
    entries: Entries = field(repr=False)
    changes_anything: bool
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    beyond_limit: tuple[str, ...] = ()
    unusable: tuple[str, ...] = ()


def entries_of(values: Mapping[str, str]) -> dict[Pool, dict[str, Any]]:
    """The numbered names in a file, by pool, as a secret holds them; blank ones with an empty text. A pool of which
    the file names nothing is left out. Raises `NotAKey`.
    """
    found = {pool: _entries(values, KEY_NAME[pool]) for pool in KEYED_POOLS}
    wrong = [name for pool, entries in found.items() for name in configured_keys(pool, entries).unusable]
    lines = [f"{name} holds something that is no key" for name in wrong] + [
        line for pool in KEYED_POOLS for line in _wrong_accounts(values, KEY_NAME[pool])
    ]
    if lines:
        raise NotAKey("; ".join(lines))
    return {pool: entries for pool, entries in found.items() if entries}


def changes(pool: Pool, *, before: Entries, wanted: Entries, replace: bool) -> KeyChanges:
    """`wanted` as of `entries_of`. Merging keeps what the file does not name, and what it leaves blank; replacing keeps
    nothing of either.
    """
    given = {name: entry for name, entry in wanted.items() if entry != ""}
    after = dict(given) if replace else {**before, **given}
    configured = configured_keys(pool, after)
    used = {key.name for key in configured.keys}
    spare = [name for name in given if name not in used]
    duplicates, beyond = _spare(pool, after, spare, configured)
    entries = {name: entry for name, entry in after.items() if name not in spare}
    kept = [name for name in given if name in used]
    return KeyChanges(
        pool=pool,
        entries=entries,
        changes_anything=entries != before,
        added=tuple(name for name in kept if name not in before),
        changed=tuple(name for name in kept if name in before and before[name] != entries[name]),
        removed=tuple(name for name in before if name not in entries and name not in spare),
        unchanged=tuple(name for name in kept if name in before and before[name] == entries[name]),
        duplicates=duplicates,
        beyond_limit=beyond,
        unusable=configured.unusable,
    )


def _entries(values: Mapping[str, str], base: str) -> dict[str, Any]:
    """Whatever is one of the pool's names: the key, or the key and its account."""
    entries: dict[str, Any] = {}
    for name in (name for name in values if is_name(name, base)):
        account = values.get(name + ACCOUNT, "")
        key = values[name].strip()
        entries[name] = {"key": key, "account": account} if account and key else key
    return entries


def is_name(name: str, base: str) -> bool:
    return re.fullmatch(rf"{base}(?:_[1-9][0-9]{{0,5}})?", name, re.ASCII) is not None


def _wrong_accounts(values: Mapping[str, str], base: str) -> list[str]:
    lines = []
    for name in (name for name in values if name.endswith(ACCOUNT) and values[name]):
        key_name = name.removesuffix(ACCOUNT)
        if not is_name(key_name, base):
            continue
        if not values.get(key_name, "").strip():
            lines.append(f"{name} stands beside no {key_name}")
        elif not _ACCOUNT_NAME.fullmatch(values[name]):
            lines.append(f"{name} holds something that is no name of an account")
    return lines


def _spare(
    pool: Pool, after: Entries, spare: list[str], configured: ConfiguredKeys
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those that are not used: because their key is there already, or because there are too many."""
    used = {key.fingerprint for key in configured.keys}
    keys = {name: configured_keys(pool, {name: after[name]}).keys for name in spare}
    duplicates = tuple(name for name in spare if keys[name] and keys[name][0].fingerprint in used)
    return duplicates, tuple(name for name in spare if name not in duplicates)
