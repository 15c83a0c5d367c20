"""The reference provider's verifier: strict where a lax reading would let something through."""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
import time
from pathlib import Path

import pytest

from fixtures.reference_provider.nonces import Nonces
from fixtures.reference_provider.secret_files import NoSecret, SecretFiles
from fixtures.reference_provider.signatures import BadSignature, verify

NOW = 1_790_000_000
OLD, NEW = "kgs_" + "1" * 64, "kgs_" + "2" * 64
BODY = '{"q":"50% off — naïve café","n":1.0}'.encode()


def v1(secret: str, body: bytes = BODY, *, t: object = NOW, n: str = "7f3c") -> str:
    return hmac.new(secret.encode(), f"{t}.{n}.".encode() + body, hashlib.sha256).hexdigest()


def reason(header: str, body: bytes = BODY, *, secrets: tuple[str, ...] = (NEW,), now: float = NOW) -> str:
    with pytest.raises(BadSignature) as caught:
        verify(header, body, secrets=secrets, now=now)
    return caught.value.reason


def test_a_genuine_header_is_accepted() -> None:
    signature = verify(f"t={NOW},n=7f3c,v1={v1(NEW)}", BODY, secrets=(NEW,), now=NOW)
    assert (signature.timestamp, signature.nonce) == (NOW, "7f3c")


@pytest.mark.parametrize("holder", [OLD, NEW])
@pytest.mark.parametrize("order", [(OLD, NEW), (NEW, OLD)])
def test_during_a_rotation_either_holder_accepts_in_either_order(holder: str, order: tuple[str, str]) -> None:
    values = ",".join(f"v1={v1(secret)}" for secret in order)
    assert verify(f"t={NOW},n=7f3c,{values}", BODY, secrets=(holder,), now=NOW).nonce == "7f3c"


def test_a_provider_that_holds_both_secrets_accepts_either_signature() -> None:
    for secret in (OLD, NEW):
        assert verify(f"t={NOW},n=7f3c,v1={v1(secret)}", BODY, secrets=(NEW, OLD), now=NOW)


def test_spaces_after_commas_are_accepted() -> None:
    assert verify(f"t={NOW}, n=7f3c,  v1={v1(NEW)}", BODY, secrets=(NEW,), now=NOW)


def test_unknown_items_are_ignored() -> None:
    assert verify(f"t={NOW},n=7f3c,v2=abc,v1={v1(NEW)}", BODY, secrets=(NEW,), now=NOW)


@pytest.mark.parametrize(
    "stamp",
    [
        "",
        "abc",
        "-1",
        "1e9",
        "１７９０００００００",
        "1_790_000_000",
        "+1790000000",
        " 1790000000",
        "1790000000.0",
        "9" * 13,
    ],
)
def test_a_time_that_is_not_plain_digits_is_malformed(stamp: str) -> None:
    assert reason(f"t={stamp},n=7f3c,v1={v1(NEW, t=stamp)}") == "malformed"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "t",
        "=abc",
        f"t={NOW}=x,n=7f3c,v1={v1(NEW)}",
        f"n=7f3c,v1={v1(NEW)}",
        f"t={NOW},v1={v1(NEW)}",
        f"t={NOW},n=7f3c",
        f"t={NOW},n=,v1={v1(NEW)}",
        f"t={NOW},n=7f3c,v1=",
        f"t={NOW},n=7f3c,v1={v1(NEW).upper()}",
        f"t={NOW},n=7f3c,v1={v1(NEW)[:-1]}",
        f"t={NOW},n=7f3c,v1={v1(NEW)},",
        f"t={NOW},,n=7f3c,v1={v1(NEW)}",
        f"t={NOW};n=7f3c;v1={v1(NEW)}",
        f"t={NOW},n=7f3c,v1={v1(NEW)}\n",
    ],
)
def test_a_header_out_of_shape_is_malformed(header: str) -> None:
    assert reason(header) == "malformed"


def test_two_times_are_refused_so_that_a_fresh_one_cannot_mask_the_signed_one() -> None:
    assert reason(f"t={NOW - 9999},t={NOW},n=7f3c,v1={v1(NEW, t=NOW - 9999)}") == "malformed"


def test_two_nonces_are_refused() -> None:
    assert reason(f"t={NOW},n=7f3c,n=8888,v1={v1(NEW)}") == "malformed"


def test_twenty_kilobytes_of_commas_are_refused_at_once() -> None:
    started = time.perf_counter()
    assert reason("," * 20_000) == "malformed"
    assert time.perf_counter() - started < 1


def test_more_items_than_any_rotation_needs_are_refused() -> None:
    assert reason(f"t={NOW},n=7f3c" + ",a=1" * 15) == "malformed"


@pytest.mark.parametrize("skew", [-300, 0, 300])
def test_a_clock_within_five_minutes_is_accepted(skew: int) -> None:
    assert verify(f"t={NOW},n=7f3c,v1={v1(NEW)}", BODY, secrets=(NEW,), now=NOW + skew)


@pytest.mark.parametrize("skew", [-301, 301])
def test_a_clock_further_off_is_refused(skew: int) -> None:
    assert reason(f"t={NOW},n=7f3c,v1={v1(NEW)}", now=NOW + skew) == "clock"


@pytest.mark.parametrize(
    "other",
    [
        BODY + b"\n",
        BODY.replace("é".encode(), b"\\u00e9"),
        BODY.replace(b",", b", "),
        b"",
        BODY.replace(b"\n", b"\r\n") + b"\r",
    ],
)
def test_the_body_is_verified_byte_for_byte(other: bytes) -> None:
    assert reason(f"t={NOW},n=7f3c,v1={v1(NEW)}", other) == "mismatch"


@pytest.mark.parametrize("body", [b"", "é".encode(), b"a\r\nb\n", b"\x00\xff"])
def test_any_bytes_can_be_signed(body: bytes) -> None:
    assert verify(f"t={NOW},n=7f3c,v1={v1(NEW, body)}", body, secrets=(NEW,), now=NOW)


@pytest.mark.parametrize("signed", [{"n": "8888"}, {"t": NOW - 1}])
def test_time_and_nonce_are_part_of_what_is_signed(signed: dict[str, object]) -> None:
    assert reason(f"t={NOW},n=7f3c,v1={v1(NEW, **signed)}") == "mismatch"  # type: ignore[arg-type]


def test_another_secret_does_not_fit() -> None:
    assert reason(f"t={NOW},n=7f3c,v1={v1(OLD)}") == "mismatch"


def test_a_nonce_is_new_once_within_ten_minutes() -> None:
    nonces = Nonces()
    assert nonces.record("a", now=NOW)
    assert not nonces.record("a", now=NOW + 599)
    assert nonces.record("b", now=NOW + 599)
    assert nonces.record("a", now=NOW + 600)


def test_nonces_in_a_file_outlive_a_restart(tmp_path: Path) -> None:
    path = str(tmp_path / "nonces")
    assert Nonces(path).record("a", now=NOW)
    assert not Nonces(path).record("a", now=NOW + 1)


def test_a_nonce_store_that_cannot_tell_says_so(tmp_path: Path) -> None:
    path = tmp_path / "nonces"
    nonces = Nonces(str(path))
    nonces._database.execute("DROP TABLE nonces")
    with pytest.raises(sqlite3.Error):
        nonces.record("a", now=NOW)


def test_a_secret_is_read_again_when_its_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    secrets = SecretFiles(file)
    with pytest.raises(NoSecret):
        secrets.read()
    file.write_text(OLD + "\n")
    assert secrets.read() == (OLD,)
    replacement = tmp_path / "new"
    replacement.write_text(NEW)
    replacement.replace(file)
    assert secrets.read() == (NEW,)


def test_two_files_make_two_secrets_and_the_same_twice_makes_one(tmp_path: Path) -> None:
    current, previous = tmp_path / "a", tmp_path / "b"
    current.write_text(NEW)
    previous.write_text(OLD)
    secrets = SecretFiles(current, previous)
    assert secrets.read() == (NEW, OLD)
    previous.write_text(NEW + "\n\n")
    assert secrets.read() == (NEW,)


@pytest.mark.parametrize("text", ["", " \n", "short", "kgs_" + "1" * 30 + " " + "1" * 30, "kgs_" + "é" * 40, "x" * 300])
def test_a_file_without_a_usable_secret_is_no_secret(tmp_path: Path, text: str) -> None:
    file = tmp_path / "secret"
    file.write_text(text)
    with pytest.raises(NoSecret):
        SecretFiles(file).read()
