"""Our signatures are those that botocore makes of the same request, whatever is in it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.signing import AccessKey, Scope, signed

_PRINTABLE = st.characters(min_codepoint=0x20, max_codepoint=0x7E)
_HEADER_VALUES = st.text(_PRINTABLE, max_size=60).map(str.strip)
_HEADERS = st.dictionaries(st.from_regex(r"x-[a-z0-9-]{1,20}", fullmatch=True), _HEADER_VALUES, max_size=5)
_WORDS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=60)
_KEYS = st.builds(AccessKey, _WORDS, _WORDS, st.one_of(st.just(""), _WORDS))
_SCOPES = st.builds(
    Scope, st.sampled_from(["eu-central-1", "us-gov-west-1", "cn-north-1"]), st.sampled_from(["dynamodb", "kms"])
)
_OURS_ALONE = {"x-amz-date", "x-amz-security-token"}


@contextmanager
def at(at_s: int) -> Iterator[None]:
    """The time of botocore's own signatures."""
    moment = datetime.datetime.fromtimestamp(at_s, tz=datetime.UTC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "get_current_datetime", lambda: moment)
        yield


def by_botocore(headers: dict[str, str], body: bytes, *, key: AccessKey, scope: Scope, at_s: int) -> dict[str, str]:
    sent = {name: value for name, value in headers.items() if name != "host"}
    request = AWSRequest("POST", f"https://{headers['host']}/", headers=sent, data=body)
    credentials = Credentials(key.key_id, key.secret, key.token or None)
    with at(at_s):
        auth.SigV4Auth(credentials, scope.service, scope.region).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


@given(
    more=_HEADERS.map(lambda headers: {name: v for name, v in headers.items() if name not in _OURS_ALONE}),
    body=st.binary(max_size=200),
    key=_KEYS,
    scope=_SCOPES,
    at_s=st.integers(0, 4_102_444_800),
)
def test_a_signature_is_what_botocore_makes_of_the_same(
    more: dict[str, str], body: bytes, key: AccessKey, scope: Scope, at_s: int
) -> None:
    headers = {"host": "dynamodb.example.amazonaws.com", "content-type": "application/x-amz-json-1.0", **more}
    ours = signed(headers, body, key=key, scope=scope, at_s=at_s)
    theirs = by_botocore(headers, body, key=key, scope=scope, at_s=at_s)
    assert ours["authorization"] == theirs["authorization"]
    assert ours["x-amz-date"] == theirs["x-amz-date"]
    assert ours.get("x-amz-security-token") == theirs.get("x-amz-security-token")


def test_a_change_of_anything_is_another_signature() -> None:
    key, scope = AccessKey("AKIDEXAMPLE", "secret"), Scope("eu-central-1", "dynamodb")
    headers = {"host": "h", "x-amz-target": "T.GetItem"}
    made = {
        signed({**headers, **more}, body, key=key, scope=scope, at_s=at_s)["authorization"]
        for more in ({}, {"x-amz-target": "T.PutItem"})
        for body in (b"{}", b"{ }")
        for at_s in (0.0, 1.0)
    }
    assert len(made) == 8


def test_the_secret_and_the_token_are_not_shown() -> None:
    assert "s3cret" not in repr(AccessKey("AKID", "s3cret", "t0ken"))
    assert "t0ken" not in repr(AccessKey("AKID", "s3cret", "t0ken"))
