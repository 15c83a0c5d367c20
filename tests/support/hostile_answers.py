"""Answers of the largest size that a service may send, made to hold up whoever reads them; and the line they come on.

A shape is a text and an address that every entry of an answer has, as often as fit into it; or a whole body.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar

from shared.ports.exchange import OutboundAnswer, OutboundRequest, Watch
from shared.ports.meter import Attempt

T = TypeVar("T")
MOST_BYTES: Final = 1_048_576
APPROVED: Final = "docs.example.com"
INTERNATIONAL: Final = "xn--bcher-kva.example.org"
_PIECE: Final = 65_536  # of a body, as the wire brings it
_NUMBER = re.compile(rb'"id":([0-9]+)')


@dataclass(frozen=True, slots=True)
class Shape:
    name: str
    text: str
    address: str = f"https://{APPROVED}/ferries"
    title: str = "Ferries"

    def shorter(self, times: int) -> Shape:
        """For an entry that repeats its text."""
        return replace(self, text=self.text[: len(self.text) // times])


def _filled(unit: str, size: int) -> str:
    """Repetitions of `unit` that take about `size` bytes inside JSON."""
    each = len(json.dumps(unit, ensure_ascii=False).encode()) - 2
    return unit * (size // each)


def _address(tail: str, *, host: str = APPROVED, length: int = 2_000) -> str:
    start = f"https://{host}/"
    return start + tail * ((length - len(start)) // len(tail))


_TEXTS: Final = {
    "words": "a ",
    "blanks": " ",
    "line_ends": "a\r\n",
    "deleted_characters": "a\x7f",
    "control_characters": "\x85",
    "accents": "e\u0301",
    "emoji": "\U0001f469\U0001f3fd\u200d\U0001f680",
    "quotes": '"',
    "brackets": "[{",
}
# What a text of documentation is taken apart by.
_OF_BLOCKS: Final = {
    "lines_of_dashes": "-" * 12 + "\n",
    "dashes_and_line_feeds": "-" * 12 + "\n\n\n",
    "dashes_and_blanks": "-" * 12 + " " * 20 + "x\n",
    "headings": "### a\n",
    "headings_and_line_feeds": "### a" + "\n" * 400 + "x\n" + "-" * 12 + "\n",
    "blocks": f"### a\n\nSource: https://{APPROVED}/a\n\n" + "-" * 12 + "\n",
    "blocks_without_dashes": f"### a\n\nSource: https://{APPROVED}/a\n\n",
    "sources": f"Source: https://{APPROVED}/a\n",
    "sources_with_parameters": f"Source: {_address('?A&A&A&')}\n",
    "errors": "error ",
}
_ADDRESSES: Final = {
    "parameters": _address("?a&"),
    "parameters_in_the_path": _address(";a"),
    "escaped_parameters": _address("?%2561&"),
    "as_many_parameters_as_allowed": f"https://{APPROVED}/?" + "&".join(["%25612" * 6] * 50),
    "letters_beyond_ascii": _address("a渡"),
    "slashes": _address("/"),
    "apostrophes": _address("'"),
    "an_international_host": "https://" + ".".join(["ü" * 20] * 12) + "/a",
    "a_host_like_an_approved_one": "https://" + "ü" * 13 + ".example.org/a",
    "an_endless_host": "https://" + "ü" * 2_000 + "/a",
    "a_stranger": "https://example.org/a",
    "few_characters": f"https://{APPROVED}/a",
    "no_end": f"https://{APPROVED}/" + "a" * 900_000,
    "an_endless_part": f"https://{APPROVED}/a#" + "ü" * 400_000,
}


@cache
def shapes(*, of_blocks: bool) -> tuple[Shape, ...]:
    """One long text, as many long titles as fit, as many addresses. `of_blocks` adds texts of documentation."""
    units = _TEXTS | (_OF_BLOCKS if of_blocks else {})
    texts = [Shape(f"a_text_of_{name}", _filled(unit, MOST_BYTES)) for name, unit in units.items()]
    titles = [Shape(f"titles_of_{name}", "a", title=_filled(unit, 1_000)) for name, unit in _TEXTS.items()]
    addresses = [Shape(f"addresses_with_{name}", "", address=address, title="") for name, address in _ADDRESSES.items()]
    return (*texts, *titles, *addresses)


def _as_large(start: bytes, unit: bytes, end: bytes, *, most: int = MOST_BYTES) -> bytes:
    return start + unit * min(most, (MOST_BYTES - len(start) - len(end)) // len(unit)) + end


@cache
def bodies() -> Mapping[str, bytes]:
    """Whole bodies that no service of any kind would send, JSON or nearly."""
    pairs = b"[" * 20 + b'{"a":' * 11
    return {
        "objects": _as_large(b'{"data":[', b"{},", b"{}]}"),
        "objects_just_few_enough": _as_large(b'{"data":[', b"{},", b'{}],"b":"' + b"x" * 900_000 + b'"}', most=14_000),
        "numbers": _as_large(b'{"data":[', b"1,", b"1]}", most=29_000),
        "fractions": _as_large(b'{"data":[', b"0.5,", b"1]}", most=29_000),
        "long_fractions": _as_large(b'{"data":[', b"0." + b"3" * 30 + b",", b"1]}", most=29_000),
        "one_number": _as_large(b'{"data":', b"3", b"}"),
        "one_fraction": _as_large(b'{"data":0.', b"3", b"}"),
        "names": b"{" + b",".join(b'"%030d":1' % number for number in range(29_000)) + b"}",
        "empty_texts": _as_large(b'{"data":[', b'"",', b'""]}', most=29_000),
        "texts_without_commas": _as_large(b'{"data":[', b'""', b"]}"),
        "texts_without_commas_in_brackets": _as_large(b"{" + b"[]," * 40, b'""', b"]}"),
        "bracketed_texts_without_commas": _as_large(b'{"data":[', b'"{"', b"]}"),
        "escaped_quotes": _as_large(b"[]" * 20 + b'"', b'\\"', b'"'),
        "backslashes": _as_large(b"[]" * 20 + b'"', b"\\\\", b'"'),
        "escapes_of_letters": _as_large(b'{"data":"', b"\\u0061", b'"}'),
        "halves_of_letters": _as_large(b'{"data":"', b"\\ud83d\\ude00", b'"}'),
        "a_half_letter_and_many_texts": _as_large(b'{"b":"\\ud83d","data":[', b'"x",', b'"x"]}', most=29_000),
        "closing_brackets": _as_large(b"[]" * 40, b"]", b""),
        "opening_brackets": _as_large(b"", b"[", b""),
        "depth": _as_large(pairs, b" ", b""),
        "blanks": _as_large(b"{", b" ", b"}"),
        "no_text": b"\xff" * MOST_BYTES,
        "half_letters": b"\xf0\x9f" * (MOST_BYTES // 2),
    }


@cache
def streams() -> Mapping[str, bytes]:
    """Bodies of event streams. `$id` is the number of the request."""
    message = b'data: {"jsonrpc":"2.0","method":"a"}\n\n'
    answer = b'data: {"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"a"}]}}\n\n'
    units = {
        "blank_lines": b"\n",
        "carriage_returns": b"\r",
        "both_line_ends": b"\r\n",
        "comments": b":\n",
        "empty_data": b"data\n",
        "empty_events": b"data\n\n",
        "one_line": b"a",
        "one_line_of_data": b"data: ",
        "fields": b"a:b\n",
        "objects": b"data: {}\n\n",
        "data_in_lines": b"data: {\n",
        "messages": message,
        "colons": b":",
        "half_letters": b"\xf0\x9f",
        "wide_letters": "data: 渡\n".encode(),
    }
    return {
        name: (unit * (MOST_BYTES // len(unit)))[: MOST_BYTES - len(answer)] + answer for name, unit in units.items()
    }


class HostileLine:
    """Answers with these bodies, one after the other, and then with an empty object. `$id` in one is the number of the
    request.
    """

    def __init__(self, *bodies: bytes, content_type: str = "application/json", status: int = 200) -> None:
        self._bodies = [*bodies]
        self._headers = {"content-type": content_type}
        self._status = status

    def remaining_ms(self) -> int:
        return 20_000

    async def send(self, build: Callable[[], OutboundRequest], *, watch: Watch | None = None) -> OutboundAnswer:
        number = _NUMBER.search(build().body)
        body = self._bodies.pop(0) if self._bodies else b"{}"
        body = body.replace(b'"$id"', number[1]).replace(b"$id", number[1]) if number else body
        if watch is not None:
            pieces = (body[start : start + _PIECE] for start in range(0, len(body), _PIECE))
            any(watch(self._headers, piece) for piece in pieces)
        return OutboundAnswer(status=self._status, headers=self._headers, body=body)

    async def perform(self, work: Callable[[Attempt], Awaitable[T]]) -> T:
        """As a meter does, with one key and without a ledger."""
        return await work(Attempt(exchange=self, key="k-demo"))


def json_bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
