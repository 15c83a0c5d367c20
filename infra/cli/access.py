"""Which gateway the command speaks to, and as whom. Tokens never come from the command line, where others see them.

The first of these that is there: `--profile`; `KGW_URL` with `KGW_TOKEN`; the profile that `KGW_PROFILE` names; the
gateway that runs in this directory; the default profile. A token goes to the place that it belongs to and nowhere else.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from infra.cli.here import NoAccess, client_here, local_access
from infra.cli.http import Client, Unsendable
from infra.cli.profiles import Profile, file_of_profiles, origin_of, read_profiles
from infra.cli.state import LOCAL

URL_VARIABLE = "KGW_URL"
TOKEN_VARIABLE = "KGW_TOKEN"
PROFILE_VARIABLE = "KGW_PROFILE"


@dataclass(frozen=True, slots=True)
class Choice:
    """What counts, and why. Without a profile it is `KGW_URL` (`has_url`), or the gateway that runs here."""

    why: str
    profile: Profile | None = None
    has_url: bool = False


def chosen(name: str | None = None) -> Choice:
    """`name` is what `--profile` says. Raises `NoAccess`, `NoProfile`."""
    if name is not None:
        return Choice("--profile", read_profiles().named(name))
    if os.environ.get(URL_VARIABLE):
        return Choice(URL_VARIABLE, has_url=True)
    if named := os.environ.get(PROFILE_VARIABLE):
        return Choice(PROFILE_VARIABLE, read_profiles().named(named))
    if local_access() or os.environ.get(TOKEN_VARIABLE):
        return Choice(str(LOCAL))
    profiles = read_profiles()
    return Choice("the default", profiles.named(profiles.usual)) if profiles.usual else Choice(str(LOCAL))


def client_as(*callers: str, profile: str | None = None) -> Client:
    """The gateway that is chosen, as the first of `callers` of whom there is a token: `admin`, `agent`, and, of the
    gateway that runs here, `assistant` and `widget`. Raises `NoAccess`, `NoProfile`.
    """
    choice = chosen(profile)
    if choice.profile is not None:
        return _of_profile(choice.profile, callers)
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not choice.has_url:
        return _here(callers, token=token)
    if not token:
        raise NoAccess(f"{URL_VARIABLE} wants a token in {TOKEN_VARIABLE} to go with it.")
    return _client(os.environ[URL_VARIABLE], token, url_in=URL_VARIABLE, token_in=TOKEN_VARIABLE)


def _here(callers: tuple[str, ...], *, token: str) -> Client:
    local = local_access()
    caller = next((each for each in callers if local.get(each)), "")
    if not local or not (token or caller):
        raise _nobody(callers[0])
    where = TOKEN_VARIABLE if token else f"{caller} in {LOCAL}"
    return client_here(local.get("url"), token or local[caller], token_in=where)


def _of_profile(profile: Profile, callers: tuple[str, ...]) -> Client:
    caller = next((each for each in callers if each in profile.tokens), None)
    if caller is None:
        have, want = " and ".join(profile.tokens), " or ".join(callers)
        again = f"kgw login {profile.url} --profile {profile.name}"
        raise NoAccess(f"The profile {profile.name} has a token of an {have}; this wants one of an {want}: {again}")
    held, file = profile.tokens[caller], file_of_profiles()
    client = _client(profile.url, held.token, url_in=f"{profile.name} in {file}", token_in=f"{profile.name} in {file}")
    if origin_of(client.url) != held.origin:
        raise NoAccess(
            f"The token of {profile.name} in {file} was stored with another place than its url. It is not sent. "
            "Log in again: kgw login URL"
        )
    return client


def _nobody(caller: str) -> NoAccess:
    what = "gateway" if caller == "admin" else "demo"  # the one without it has an admin alone
    elsewhere = "or log in to one elsewhere: kgw login URL"
    return NoAccess(f"There is no {caller} in {LOCAL}. Start the {what} here first (kgw up), {elsewhere}")


def _client(url: object, token: object, *, url_in: str, token_in: str) -> Client:
    try:
        return Client(str(url), str(token))
    except Unsendable as wrong:
        raise NoAccess(f"{token_in if wrong.is_token else url_in} {wrong}") from None
