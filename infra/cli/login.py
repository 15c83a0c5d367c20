"""`kgw login`, `kgw logout` and `kgw profiles`: which gateways this user works with. No token is ever printed."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from infra.cli.access import chosen
from infra.cli.ending import Told, WrongUse
from infra.cli.here import LOOPBACK
from infra.cli.http import Client, Declined, NotAGateway, Unsendable
from infra.cli.output import show, table_text, word
from infra.cli.profiles import (
    CALLERS,
    USUAL,
    Held,
    Profile,
    changing,
    checked_name,
    file_of_profiles,
    origin_of,
    read_profiles,
    write_profiles,
)
from infra.cli.prompts import secret
from infra.cli.terminal import Lines, note

_TOKEN = re.compile(r"kg_(adm|agt|ast|pub)_([a-z2-7]{16}|root)_[A-Za-z0-9]+", re.ASCII)
_MOMENT = re.compile(r"[0-9T:.Z+-]{10,40}", re.ASCII)
_CREDENTIALS: Final = "/api/v1/credentials"
_HEALTH: Final = "/api/v1/knowledge/health"


class NoLogin(Told):
    """The message says what was wrong, and repeats no token."""


def log_in(options: argparse.Namespace) -> int:
    """Raises `NoLogin`, `NoProfile`, `NotGiven`, `Declined`, `Unreachable`."""
    name = checked_name(options.profile or USUAL)
    read_profiles()  # a file that cannot be used is told before a token is asked for
    if options.stack is not None:
        from infra.cli.stack_login import issued

        url, token = issued(options.stack, options.days)
        url = checked_url(url)
    elif options.url is not None:
        url = checked_url(options.url)
        token = secret("The token of an admin or an agent", variable=options.token_env)
    else:
        raise WrongUse("Name a gateway: kgw login URL, or kgw login --stack NAME")
    caller, held = verified(url, token)
    with changing():
        path = _keep(name, url, caller, held)
    told = {"profile": name, "url": url, "as": caller, "credential": held.credential, "expiresAt": held.expires_at}
    show(Client(url, ""), told | {"file": str(path)}, as_json=options.as_json, text=_logged_in)
    return 0


def log_out(options: argparse.Namespace) -> int:
    """Forgets a profile. Raises `NoProfile`."""
    with changing():
        profiles = read_profiles()
        profile = profiles.named(options.profile or profiles.usual or USUAL)
        write_profiles(profiles.without(profile.name))
    told = {"profile": profile.name, "credentials": [each.credential for each in profile.tokens.values()]}
    show(Client(profile.url, ""), told, as_json=options.as_json, text=_logged_out)
    return 0


def show_profiles(options: argparse.Namespace) -> int:
    """Raises `NoProfile`."""
    if options.usual is not None:
        with changing():
            profiles = read_profiles()
            write_profiles(replace(profiles, usual=profiles.named(options.usual).name))
    profiles = read_profiles()
    used, why = _in_use()
    listed = [
        {
            "name": each.name,
            "url": each.url,
            "isDefault": each.name == profiles.usual,
            "credentials": {caller: held.credential for caller, held in each.tokens.items()},
            "expiresAt": {caller: held.expires_at for caller, held in each.tokens.items()},
        }
        for each in profiles.by_name.values()
    ]
    told = {"profiles": listed, "inUse": used, "because": why, "file": str(file_of_profiles())}
    show(Client("http://127.0.0.1", ""), told, as_json=options.as_json, text=_profiles_text)
    return 0


def checked_url(url: str) -> str:
    """Where a token may be sent: over TLS, or to this machine. Raises `NoLogin`."""
    try:
        client = Client(url, "")
    except Unsendable as wrong:
        raise NoLogin(f"The URL {wrong}") from None
    address = urlsplit(client.url)
    if address.scheme != "https" and address.hostname not in LOOPBACK:
        raise NoLogin("The URL wants https: without it, whoever is on the way reads the token.")
    return client.url


def verified(url: str, token: str) -> tuple[str, Held]:
    """Who bears the token, as the gateway's own answer proves it. Raises `NoLogin`, `Declined`, `Unreachable`."""
    shape = _TOKEN.fullmatch(token)
    if shape is None or shape[1] not in CALLERS:
        raise NoLogin("That is no token of an admin (kg_adm_…) or an agent (kg_agt_…).")
    credential = shape[2]
    client = Client(url, token)
    try:
        expires_at = _proven_admin(client, credential) if shape[1] == "adm" else None
        if shape[1] == "agt":
            _prove_agent(client)
    except Declined as declined:
        if declined.status not in (401, 403):
            raise
        raise NoLogin(f"{url} does not take this token: it is unknown there, revoked or expired.") from None
    return CALLERS[shape[1]], Held(token=token, origin=origin_of(url), credential=credential, expires_at=expires_at)


def _proven_admin(client: Client, credential: str) -> str | None:
    """Only an admin is shown credentials."""
    shown = client.call("GET", f"{_CREDENTIALS}/{credential}").body
    with client.understood():
        if (shown["id"], shown["class"]) != (credential, "adm"):
            raise ValueError("another credential")
        return None if shown["expiresAt"] is None else _moment(shown["expiresAt"])


def _moment(text: Any) -> str:
    """It is kept, and shown from then on. Raises ValueError, TypeError for what is none."""
    if not _MOMENT.fullmatch(text):
        raise ValueError("no moment")
    datetime.fromisoformat(text)
    return str(text)


def _prove_agent(client: Client) -> None:
    """Agents may ask for health, and are told nothing of their credential."""
    shown = client.call("GET", _HEALTH).body
    if not {"status", "providers", "pools"} <= shown.keys():
        raise NotAGateway(f"What answers at {client.url} is not a Knowledge Gateway, or one of another version.")


def _keep(name: str, url: str, caller: str, held: Held) -> Any:
    profiles = read_profiles()
    before = profiles.by_name.get(name)
    same_place = before is not None and before.url == url
    kept = dict(before.tokens) if before is not None and same_place else {}
    if before is not None and not same_place:
        note(f"kgw: The profile {name} was {before.url} before; its tokens are forgotten.")
    return write_profiles(profiles.having(Profile(name=name, url=url, tokens={**kept, caller: held})))


def _in_use() -> tuple[str | None, str]:
    """What a command without `--profile` speaks to, and by which rule."""
    try:
        choice = chosen()
    except Told as error:
        return None, str(error)
    if choice.profile is not None:
        return choice.profile.name, choice.why
    return None, choice.why


def _logged_in(told: Any) -> Lines:
    until = f", until {told['expiresAt']}" if told["expiresAt"] else ""
    return [
        f"Logged in to {told['url']} as {told['as']} ({told['credential']}{until}).",
        f"The profile {told['profile']} is kept in {told['file']}, which you alone can read.",
    ]


def _logged_out(told: Any) -> Lines:
    left = ", ".join(told["credentials"])
    return [f"The profile {told['profile']} is forgotten. Its credential still works until it is revoked: {left}"]


def _profiles_text(told: Any) -> Lines:
    rows = [
        (
            "*" if each["isDefault"] else "",
            each["name"],
            each["url"],
            ", ".join(f"{caller} ({name})" for caller, name in each["credentials"].items()),
            ", ".join(word(until) for until in each["expiresAt"].values()),
        )
        for each in told["profiles"]
    ]
    shown = table_text(("DEFAULT", "PROFILE", "URL", "AS", "EXPIRES"), rows, empty="Nobody has logged in here.")
    used = f"the profile {told['inUse']} ({told['because']})" if told["inUse"] else told["because"]
    return [*shown, f"Used without --profile: {used}"]
