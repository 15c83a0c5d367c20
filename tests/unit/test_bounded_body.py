"""Bodies under two caps."""

from __future__ import annotations

import gzip
import zlib

import pytest

from shared.adapters.bounded_body import MAX_BODY_BYTES, BoundedBody
from shared.errors import ExchangeError, Refused, ResponseTooLarge
from tests.support.memory import extra_memory_bytes

MIB = 1_048_576


def read(data: bytes, *, chunk_bytes: int = 65_536, **headers: str) -> bytes:
    body = BoundedBody({name.replace("_", "-"): value for name, value in headers.items()})
    for start in range(0, len(data), chunk_bytes):
        body.feed(data[start : start + chunk_bytes])
    return body.complete()


def raw_deflate(data: bytes) -> bytes:
    squeezer = zlib.compressobj(wbits=-15)
    return squeezer.compress(data) + squeezer.flush()


@pytest.mark.parametrize("chunk_bytes", [1, 7, 65_536])
@pytest.mark.parametrize(
    ("coding", "code"),
    [
        ("", bytes),
        ("identity", bytes),
        ("gzip", gzip.compress),
        ("X-GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
    ],
)
def test_each_accepted_coding_is_decoded_however_it_is_cut(coding: str, code, chunk_bytes: int) -> None:
    text = "Fährpass 渡輪 🛳 ".encode() * 40
    assert read(code(text), chunk_bytes=chunk_bytes, content_encoding=coding) == text


@pytest.mark.parametrize("code", [bytes, gzip.compress])
def test_exactly_the_cap_is_accepted_and_one_byte_more_is_not(code) -> None:
    coding = "gzip" if code is gzip.compress else ""
    assert len(read(code(bytes(MIB)), content_encoding=coding)) == MAX_BODY_BYTES
    with pytest.raises(ResponseTooLarge):
        read(code(bytes(MIB + 1)), content_encoding=coding)


def test_an_announced_length_over_the_cap_is_refused_before_a_byte_is_read() -> None:
    with pytest.raises(ResponseTooLarge):
        BoundedBody({"content-length": str(MIB + 1)})


def test_the_wire_is_capped_even_where_little_comes_out() -> None:
    squeezer = zlib.compressobj(wbits=31)
    incompressible = squeezer.compress(b"") + squeezer.flush(zlib.Z_SYNC_FLUSH)
    padding = b"\x00\x00\x00\xff\xff" * (MIB // 5 + 1)  # empty stored blocks
    with pytest.raises(ResponseTooLarge):
        read(incompressible + padding, content_encoding="gzip")


def test_a_bomb_is_refused_within_eight_megabytes_of_memory() -> None:
    squeezer = zlib.compressobj(9, wbits=31)
    bomb = b"".join([squeezer.compress(bytes(MIB)) for _ in range(200)]) + squeezer.flush()

    def feed_it() -> None:
        with pytest.raises(ResponseTooLarge):
            read(bomb, chunk_bytes=len(bomb), content_encoding="gzip")

    assert extra_memory_bytes(feed_it) < 8 * MIB


@pytest.mark.parametrize(
    ("coding", "data"),
    [
        ("gzip", b"{}"),
        ("gzip", gzip.compress(b"{}")[:-9]),
        ("gzip", gzip.compress(b"{}") + b"x"),
        ("gzip", gzip.compress(b"{}") + gzip.compress(b"{}")),
        ("deflate", b"\xff\xff"),
    ],
    ids=["not gzip", "cut", "followed by text", "two members", "not deflate"],
)
def test_a_broken_cut_or_continued_coding_is_refused(coding: str, data: bytes) -> None:
    with pytest.raises(Refused) as refusal:
        read(data, content_encoding=coding)
    assert refusal.value.code == "invalid_response"


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "gzip,deflate", "chunked", "*"])
def test_a_coding_that_was_not_asked_for_is_refused(coding: str) -> None:
    with pytest.raises(ExchangeError) as refusal:
        BoundedBody({"content-encoding": coding})
    assert refusal.value.code == "invalid_response"


def test_an_empty_body_is_empty_under_any_coding() -> None:
    assert read(b"", content_encoding="gzip") == b""
