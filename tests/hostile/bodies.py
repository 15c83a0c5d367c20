"""Content types, codings and JSON that are not what they should be."""

from __future__ import annotations

import gzip
import zlib
from typing import Final

from tests.hostile.case import WORDS, Case, body, document, fails, finds, passage, passages
from tests.support.hostile_provider import BEHAVIOURS, JSON_TYPE, MIB, Behaviour, answer_of

BROKEN, TOO_LARGE, VERSION = "invalid_response", "response_too_large", "unsupported_version"
_HTML: Final = f"<html><body>{WORDS}<script>alert(1)</script></body></html>".encode()
_SOUND: Final = passages(WORDS)


# --- what it says that it is -----------------------------------------------------------------------
def _called(id_: str, type_: str, *, data: bytes = _SOUND) -> Case:
    return fails(id_, f"sound JSON called {type_}", body(data, headers=f"Content-Type: {type_}\r\n"), BROKEN)


def _taken_as(id_: str, type_: str) -> Case:
    return finds(id_, f"JSON called {type_}", body(passages(id_), headers=f"Content-Type: {type_}\r\n"))


TYPES: Final = (
    fails("html", "a web page", body(_HTML, headers="Content-Type: text/html\r\n"), BROKEN),
    fails("html-called-json", "a web page that is called JSON", body(_HTML), BROKEN),
    fails("untyped", "no content type", body(_SOUND, headers=""), BROKEN),
    fails("typed-twice", "two content types", body(_SOUND, headers=f"Content-Type: text/html\r\n{JSON_TYPE}"), BROKEN),
    _called("called-text", "text/plain"),
    _called("called-event-stream", "text/event-stream"),
    _called("called-lines", "application/x-ndjson"),
    _taken_as("called-in-capitals", "APPLICATION/JSON ;charset=UTF-8"),
    _taken_as("called-in-latin-1", "application/json; charset=iso-8859-1"),
    _taken_as("called-problem", "application/problem+json"),
)


# --- how it is packed --------------------------------------------------------------------------------
def _coded(data: bytes, coding: str) -> Behaviour:
    return body(data, headers=f"{JSON_TYPE}Content-Encoding: {coding}\r\n")


def _zip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


_WRONG_SUM: Final = _zip(_SOUND)[:-8] + bytes(8)
CODINGS: Final = (
    fails("gzip-bomb", "200 MiB in 200 KiB", BEHAVIOURS["gzip_bomb"], TOO_LARGE),
    fails("deflate-bomb", "the same, deflated", BEHAVIOURS["deflate_bomb"], TOO_LARGE),
    fails("gzip-one-too-many", "a megabyte and a byte, packed", _coded(_zip(_SOUND.ljust(MIB + 1)), "gzip"), TOO_LARGE),
    fails("gzip-in-gzip", "packed twice", _coded(_zip(_zip(_SOUND)), "gzip, gzip"), BROKEN),
    fails("gzip-in-gzip-unsaid", "packed twice, and says once", _coded(_zip(_zip(_SOUND)), "gzip"), BROKEN),
    fails("gzip-unsaid", "packed, and does not say so", body(_zip(_SOUND)), BROKEN),
    fails("gzip-said-alone", "says packed, and is not", _coded(_SOUND, "gzip"), BROKEN),
    fails("gzip-cut", "packed, and cut", _coded(_zip(_SOUND)[:-9], "gzip"), BROKEN),
    fails("gzip-of-wrong-sum", "packed, with a wrong checksum", _coded(_WRONG_SUM, "gzip"), BROKEN),
    fails("gzip-and-more", "something behind what is packed", _coded(_zip(_SOUND) + _zip(b" "), "gzip"), BROKEN),
    fails("gzip-of-nothing", "says packed, and is empty", _coded(b"", "gzip"), BROKEN),
    fails("brotli", "a coding that nobody asked for", _coded(b"\x1b\x03\x00", "br"), BROKEN),
    fails("coding-unheard-of", "a coding that there is not", _coded(_SOUND, WORDS), BROKEN),
    finds("gzip", "properly packed", _coded(_zip(passages("gzip")), "gzip")),
    finds("deflate", "properly deflated", _coded(zlib.compress(passages("deflate")), "deflate")),
    finds(
        "deflate-raw", "deflated as some servers do", _coded(zlib.compress(passages("deflate-raw"))[2:-4], "deflate")
    ),
    finds("coding-identity", "says that it is not packed", _coded(passages("coding-identity"), "identity")),
)


# --- JSON ------------------------------------------------------------------------------------------
def _raw(id_: str, does: str, data: bytes, code: str = BROKEN) -> Case:
    return fails(id_, does, body(data), code)


def _beside(member: bytes) -> bytes:
    """A sound answer with one member more."""
    return _SOUND[:-1] + b"," + member + b"}"


def _read(id_: str, does: str, data: bytes) -> Case:
    return finds(id_, does, body(data))


_NESTED: Final = b"[" * 20_000 + b"]" * 20_000
JSON: Final = (
    _raw("nothing", "an empty body", b""),
    _raw("not-json", "an opening brace", b"{"),
    _raw("cut-json", "JSON that stops half-way", _SOUND[:-20]),
    _raw("array", "an array", b"[" + _SOUND + b"]"),
    _raw("null", "null", b"null"),
    _raw("text", "a text", b'"' + WORDS.encode() + b'"'),
    _raw("two-documents", "two documents", _SOUND + _SOUND),
    _raw("trailing-text", "words behind the document", _SOUND + WORDS.encode()),
    _raw("trailing-nul", "a NUL behind the document", _SOUND + b"\0"),
    _raw("jsonp", "a call of a function", b"callback(" + _SOUND + b")"),
    _raw("guarded", "a guard against inclusion before it", b")]}',\n" + _SOUND),
    _raw("comments", "a comment", b"/* " + WORDS.encode() + b" */" + _SOUND),
    _raw("trailing-comma", "a comma too many", _SOUND[:-1] + b",}"),
    _raw("single-quotes", "the other quotes", _SOUND.replace(b'"', b"'")),
    _raw("raw-control", "a raw line feed in a text", _SOUND.replace(b" tide", b"\ntide")),
    _raw("bad-escape", "an escape that there is not", _SOUND.replace(b" tide", b"\\x20tide")),
    _raw("nan", "NaN as a score", _SOUND.replace(b"}]", b',"score":NaN}]')),
    _raw("infinity", "an infinite score", _SOUND.replace(b"}]", b',"score":-Infinity}]')),
    _raw("overflowing-number", "1e999 where nobody looks", _beside(b'"x":1e999')),
    _raw("number-of-5000-digits", "a number that takes long to read", _beside(b'"x":' + b"9" * 5000)),
    _raw("leading-zeros", "a number with leading zeros", _beside(b'"x":007')),
    _raw("key-twice", "one key twice", _beside(b'"results":[]')),
    _raw(
        "audience-twice",
        "internal first, then public",
        _SOUND.replace(b'"audience"', b'"audience":"internal","audience"'),
    ),
    _raw("deep-arrays", "20,000 arrays in each other", _beside(b'"x":' + _NESTED)),
    _raw("deep-objects", "20,000 objects in each other", _beside(b'"x":' + b'{"x":' * 20_000 + b"1" + b"}" * 20_000)),
    _raw("just-too-deep", "33 levels", _beside(b'"x":' + b"[" * 32 + b"]" * 32)),
    _raw("many-commas", "100,000 empty texts", _beside(b'"x":[' + b'"",' * 100_000 + b'""]')),
    _raw("many-keys", "50,000 keys", _beside(b",".join(b'"k%d":0' % n for n in range(50_000)))),
    _raw("latin-1", "letters in Latin-1", _SOUND.replace(b"tide", b"t\xefde")),
    _raw("utf-16", "UTF-16", _SOUND.decode().encode("utf-16")),
    _raw("overlong-utf-8", "an over-long spelling of a slash", _SOUND.replace(b"tide", b"\xc0\xaf")),
    _raw("raw-surrogate", "half a character, as bytes", _SOUND.replace(b"tide", b"\xed\xa0\xbd")),
    _raw("escaped-surrogate", "half a character, escaped", _SOUND.replace(b"tide", b"\\ud83d")),
    _raw("swapped-surrogates", "two halves, the wrong way round", _SOUND.replace(b"tide", b"\\ude00\\ud83d")),
    _read("byte-order-mark", "a byte order mark", b"\xef\xbb\xbf" + passages("byte-order-mark")),
    _read("white-space", "white space around it", b"\r\n\t " + passages("white-space") + b"\r\n"),
    _read("exactly-a-megabyte", "exactly as much as may come", passages("exactly-a-megabyte").ljust(MIB)),
    _read("escaped-throughout", "every letter escaped", passages("escaped-throughout").replace(b"a", b"\\u0061")),
    finds(
        "unknown-members",
        "says more than the contract has",
        document(
            answer_of(
                passage(
                    "unknown-members", internal_note=WORDS, source_path=f"/srv/{WORDS}", meta={"owner_email": WORDS}
                ),
                debug={"q": WORDS},
                __proto__={"audience": WORDS},
            )
        ),
    ),
)


# --- the outer object ------------------------------------------------------------------------------
def _outer(id_: str, does: str, code: str = BROKEN, **changes: object) -> Case:
    whole = answer_of(passage(WORDS), **changes)
    return fails(id_, does, document({name: value for name, value in whole.items() if value is not ...}), code)


OUTER: Final = (
    _outer("no-version", "no version", contractVersion=...),
    _outer("version-text", "its version as a text", contractVersion="1"),
    _outer("version-true", "true as its version", contractVersion=True),
    _outer("version-2", "speaks another version", VERSION, contractVersion=2),
    _outer("version-1.5", "speaks one in between", VERSION, contractVersion=1.5),
    _outer("no-results", "no results at all", results=...),
    _outer("results-null", "null as its results", results=None),
    _outer("results-object", "results by their names", results={"a": passage(WORDS)}),
    _outer("result-null", "null among its results", results=[passage(WORDS), None]),
    _outer("result-list", "a list among its results", results=[[passage(WORDS)]]),
    finds(
        "version-1.0", "writes its version 1.0", body(passages("version-1.0").replace(b'ersion": 1', b'ersion": 1.0'))
    ),
    finds("nothing-found", "finds nothing", document(answer_of()), 0),
    finds(
        "surplus",
        "three times as many results as were asked for",
        body(passages("surplus", 120)),
        40,
        "surplus_cut",
        shown=37,
    ),
)
