"""`kgw keys`. What they print are names of keys, never a key."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infra.cli import texts
from infra.cli.access import client_as
from infra.cli.env_files import read_env_file
from infra.cli.key_changes import KeyChanges, changes, entries_of
from infra.cli.key_notes import notes
from infra.cli.output import show
from infra.cli.pool_secrets import NoStore, PoolSecretStore, deployed_store, local_store
from infra.cli.terminal import Lines, note, say, say_json
from shared.domain.pools import KEY_NAME, Pool

POOLS = "/api/v1/knowledge/pools"
_TOLD = ("added", "changed", "removed", "unchanged", "duplicates", "beyond_limit", "unusable")
_WORDS = {
    "duplicates": "left out, an earlier name holds the same key",
    "beyond_limit": "left out, 32 keys are the most",
    "unusable": "no key, not used",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyImport:
    """`stack` names a deployed gateway; without it the one that runs here is meant."""

    file: Path
    replace: bool
    stack: str | None
    as_json: bool


def import_keys(wanted: KeyImport) -> int:
    """Writes the keys of a .env file into the secrets of their pools: all that is wrong with the file, or with what a
    secret holds, is found before anything is written. Raises `Unreadable`, `NotAKey`, `NoStore`.
    """
    file = read_env_file(wanted.file)
    for surprise in notes(file):
        note(f"kgw: {surprise}.")
    given = entries_of(file.values)
    if not given:
        names = ", ".join(KEY_NAME.values())
        note(f"kgw: {wanted.file} holds none of {names}, nor one of these with a number.")
        return 1
    store = deployed_store(wanted.stack) if wanted.stack else local_store()
    planned = [
        changes(pool, before=_before(store, pool, wanted), wanted=entries, replace=wanted.replace)
        for pool, entries in given.items()
    ]
    written = _write(store, planned)
    if wanted.as_json:
        say_json(_as_json(planned))
    else:
        soon = ["Running functions use it within five minutes."] if written else []
        say(*(line for each in planned for line in _lines(each)), *soon)
    return 0


def show_pools(options: argparse.Namespace) -> int:
    """Prints which keys are in use and which rest, as the gateway tells it. Raises `NoAccess`, `Declined`,
    `Unreachable`.
    """
    client = client_as("admin", profile=options.profile)
    show(client, client.call("GET", POOLS).body, as_json=options.as_json, text=_pools_text)
    return 0


def rest_key(options: argparse.Namespace) -> int:
    """Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin", profile=options.profile)
    told = client.post(f"{POOLS}/{options.pool}/rest", {"key": options.key, "seconds": options.seconds}).body
    show(client, told, as_json=options.as_json, text=_pool_text)
    return 0


def wake_keys(options: argparse.Namespace) -> int:
    """Raises `NoAccess`, `Declined`, `Unreachable`."""
    client = client_as("admin", profile=options.profile)
    body = {} if options.key is None else {"key": options.key}
    show(client, client.post(f"{POOLS}/{options.pool}/wake", body).body, as_json=options.as_json, text=_pool_text)
    return 0


def _pools_text(answer: Mapping[str, Any]) -> Lines:
    return texts.pools_text(answer, now=datetime.now(UTC))


def _pool_text(pool: Mapping[str, Any]) -> Lines:
    return _pools_text({"pools": [pool]})


def _before(store: PoolSecretStore, pool: Pool, wanted: KeyImport) -> Any:
    before = store.read(pool)
    if before is None and not wanted.replace:
        raise NoStore(f"The secret of {pool} holds no JSON object of names. --replace writes it anew.")
    return before or {}


def _write(store: PoolSecretStore, planned: Sequence[KeyChanges]) -> list[Pool]:
    """The pools that were written. Raises `NoStore`, which names them too."""
    written: list[Pool] = []
    for each in planned:
        if not each.changes_anything:
            continue
        try:
            store.write(each.pool, each.entries)
        except NoStore as error:
            done = f" Written before: {', '.join(written)}." if written else " Nothing was written."
            raise NoStore(f"The secret of {each.pool} was not written. {error}{done}") from None
        written.append(each.pool)
    return written


def _as_json(planned: Sequence[KeyChanges]) -> dict[str, Any]:
    def shown(each: KeyChanges) -> dict[str, Any]:
        lists = {_camel(name): list(getattr(each, name)) for name in _TOLD}
        return {**lists, "written": each.changes_anything}

    return {"pools": {str(each.pool): shown(each) for each in planned}}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _lines(each: KeyChanges) -> Iterator[str]:
    yield f"{each.pool}: {'written' if each.changes_anything else 'nothing to change'}"
    for told in _TOLD:
        for name in getattr(each, told):
            yield f"  {name:<26} {_WORDS.get(told, told)}"
