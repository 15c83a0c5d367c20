"""Framing that lies, and framing that is odd and can be read."""

from __future__ import annotations

from typing import Final

from tests.hostile.case import WORDS, Case, chunk, chunked, fails, finds, framed, octets, passages, under
from tests.support.hostile_provider import BEHAVIOURS, JSON_TYPE, MIB, Behaviour, Seen, Wire

BROKEN, LOST, TOO_LARGE = "invalid_response", "connection_failed", "response_too_large"
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_SOUND: Final = passages(WORDS)
_LENGTH: Final = b"Content-Length: %d\r\n\r\n" % len(_SOUND)


def _headed(id_: str, does: str, headers: str, code: str = BROKEN) -> Case:
    return fails(id_, does, framed(WORDS, headers=headers), code)


def _first_line(id_: str, does: str, line: str, code: str = BROKEN) -> Case:
    return fails(id_, does, framed(WORDS, first=line), code)


async def _sends_too_much(_seen: Seen, wire: Wire) -> bool:
    await wire.answer(_SOUND + b" " * 2 * MIB, headers=JSON_TYPE, length=len(_SOUND))
    return True


def _spaces(*, head: bytes, piece: bytes, times: int, end: bytes = b"") -> Behaviour:
    async def sends(_seen: Seen, wire: Wire) -> bool:
        await wire.send(_HEAD + head)
        for _ in range(times):
            await wire.send(piece)
        await wire.send(end)
        return False

    return sends


_TINY: Final = b"1\r\n \r\n" * 1024
FRAMING: Final = (
    _headed("another-length", "announces a second, different length", "Content-Length: 7\r\n"),
    fails("negative-length", "announces a length of -1", under("Content-Length: -1\r\n\r\n", _SOUND), BROKEN),
    fails("signed-length", "announces a length of +20", under("Content-Length: +20\r\n\r\n", _SOUND), BROKEN),
    fails("length-in-words", "announces its length in words", under("Content-Length: many\r\n\r\n", _SOUND), BROKEN),
    fails("length-list", "announces a list of lengths", under("Content-Length: 7, 8\r\n\r\n", _SOUND), BROKEN),
    fails(
        "length-of-5000-digits",
        "announces a number that is too long to read",
        under(f"Content-Length: {'9' * 5000}\r\n\r\n", _SOUND),
        BROKEN,
    ),
    fails(
        "length-in-other-digits",
        "writes its length in superscript",
        under("Content-Length: \xb2\r\n\r\n", _SOUND),
        BROKEN,
    ),
    fails(
        "announces-too-much", "announces two megabytes", under(f"Content-Length: {2 * MIB}\r\n\r\n", _SOUND), TOO_LARGE
    ),
    fails("sends-too-much", "two megabytes behind the announced length", _sends_too_much, BROKEN),
    fails("one-byte-too-many", "one byte behind its answer", octets(_HEAD + _LENGTH + _SOUND + b"x"), BROKEN),
    fails("answers-twice", "two answers to one request", octets((_HEAD + _LENGTH + _SOUND) * 2), BROKEN),
    fails(
        "coded-in-gzip-and-chunks",
        "another transfer coding",
        framed(WORDS, headers="Transfer-Encoding: gzip, chunked\r\n"),
        BROKEN,
    ),
    fails(
        "two-transfer-codings",
        "says twice that it is chunked",
        chunked(chunk(_SOUND), headers="Transfer-Encoding: chunked\r\n"),
        BROKEN,
    ),
    fails("chunks-without-sizes", "says chunked and is not", chunked(_SOUND), BROKEN),
    fails("chunk-of-negative-size", "a chunk of -1 bytes", chunked(b"-1\r\n" + _SOUND), BROKEN),
    fails(
        "chunk-of-endless-size", "a chunk size of hundreds of digits", chunked(b"f" * 400 + b"\r\n" + _SOUND), BROKEN
    ),
    fails("chunk-without-line-end", "no line end behind a chunk", chunked(chunk(_SOUND)[:-2] + b"xx"), BROKEN),
    fails(
        "large-chunk-extension",
        "200 KB of extension at a chunk",
        chunked(chunk(_SOUND, extension=b";" + b"x" * 200_000)),
        TOO_LARGE,
    ),
    fails(
        "tiny-chunks",
        "a megabyte in chunks of one byte",
        _spaces(head=b"Transfer-Encoding: chunked\r\n\r\n", piece=_TINY, times=1024, end=b"0\r\n\r\n"),
        TOO_LARGE,
    ),
    fails("too-large-in-chunks", "one byte over a megabyte, in chunks", BEHAVIOURS["too_large"], TOO_LARGE),
    fails(
        "endless-body",
        "spaces for as long as anybody reads",
        _spaces(head=b"\r\n", piece=b" " * 65_536, times=4096),
        TOO_LARGE,
    ),
    fails(
        "endless-trailers",
        "trailers for as long as anybody reads",
        _spaces(head=b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", piece=b"X-A: b\r\n" * 1024, times=256),
        TOO_LARGE,
    ),
    fails(
        "huge-head",
        "200 KB of headers",
        framed(WORDS, headers="".join(f"X-{n}: {'y' * 1000}\r\n" for n in range(200))),
        BROKEN,
    ),
    fails("huge-header", "one header of 200 KB", framed(WORDS, headers=f"X-Long: {'y' * 200_000}\r\n"), BROKEN),
    fails("huge-reason", "a first line of 200 KB", framed(WORDS, first=f"HTTP/1.1 200 {'y' * 200_000}"), BROKEN),
    _headed("header-without-colon", "a header without a colon", f"{WORDS}\r\n"),
    _headed("header-with-space", "a space before the colon", f"X-Why : {WORDS}\r\n"),
    _headed("header-with-nul", "a NUL in a header", f"X-Why: {WORDS}\0\r\n"),
    _headed("header-without-name", "a header without a name", f": {WORDS}\r\n"),
    _first_line("status-of-two-digits", "a status of two digits", "HTTP/1.1 20 OK"),
    _first_line("status-in-words", "a status in words", "HTTP/1.1 OK 200"),
    _first_line("icecast", "another protocol's first line", "ICY 200 OK"),
    fails("smtp", "greets as a mail server", octets(b"220 mail.fern-desk.test ready\r\n\r\n"), BROKEN),
    fails("ssh", "greets as an SSH server", octets(b"SSH-2.0-OpenSSH_9.9\r\n"), LOST),
    fails("tls-alert", "answers in TLS", octets(b"\x15\x03\x01\x00\x02\x02\x46" * 3), BROKEN),
    fails(
        "http2",
        "answers in HTTP/2",
        octets(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64\r\n\r\n"),
        BROKEN,
    ),
    fails("body-alone", "JSON without any head", octets(_SOUND + b"\r\n\r\n"), BROKEN),
    fails("switches-protocols", "101, and speaks a WebSocket's frames", BEHAVIOURS["switches_protocols"], BROKEN),
)


# --- odd, and read ---------------------------------------------------------------------------------
def _read(id_: str, does: str, *, first: str = "HTTP/1.1 200 OK", headers: str = "") -> Case:
    return finds(id_, does, framed(id_, first=first, headers=headers))


def _in_chunks(id_: str, does: str, *, end: bytes = b"0\r\n\r\n", extension: bytes = b"", headers: str = "") -> Case:
    return finds(id_, does, chunked(chunk(passages(id_), extension=extension), end=end, headers=headers))


def _announced(id_: str) -> bytes:
    data = passages(id_)
    return _HEAD + b"Content-Length: %d\r\n\r\n" % len(data) + data


_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_HINTS: Final = b"HTTP/1.1 103 Early Hints\r\nLink: <https://169.254.169.254/>; rel=preload\r\n\r\n"
_COOKIES: Final = f"Set-Cookie: session={WORDS}; Path=/\r\nSet-Cookie: other={WORDS}\r\n"
_WISHES: Final = (
    'Refresh: 0; url=http://169.254.169.254/\r\nLocation: http://10.0.0.8/\r\nAlt-Svc: h2="10.0.0.8:443"\r\n'
)
ODD: Final = (
    finds("continue-first", "100 Continue before its answer", octets(_CONTINUE, _announced("continue-first"))),
    finds("hints-first", "103 Early Hints before its answer", octets(_HINTS * 3, _announced("hints-first"))),
    finds(
        "line-feeds-alone", "ends its lines with line feeds", octets(_announced("line-feeds-alone").replace(b"\r", b""))
    ),
    finds(
        "body-until-closed",
        "HTTP/1.0, the body ends with the connection",
        octets(_HEAD.replace(b"/1.1", b"/1.0") + b"\r\n" + passages("body-until-closed")),
    ),
    _read(
        "length-twice",
        "announces its length twice, the same",
        headers=f"Content-Length: {len(passages('length-twice'))}\r\n",
    ),
    _read("http-of-tomorrow", "calls it HTTP/4.2", first="HTTP/4.2 200 OK"),
    _read("no-reason", "a first line without a reason", first="HTTP/1.1 200 "),
    _read("folded-header", "a header over two lines", headers=f"X-Why: {WORDS}\r\n  {WORDS}\r\n"),
    _read("header-in-latin-1", "letters beyond ASCII in a header", headers="X-Why: caf\xe9\r\n"),
    _read("many-headers", "two thousand headers", headers="".join(f"X-{n}: y\r\n" for n in range(2000))),
    _read("cookies", "sets cookies", headers=_COOKIES),
    _read("wants-to-lead-on", "200 with Location, Refresh and Alt-Svc", headers=_WISHES),
    _in_chunks("chunk-extensions", "chunks with extensions", extension=b";a=b;c"),
    _in_chunks(
        "trailers", "trailers that say otherwise", end=b"0\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    ),
    _in_chunks("length-beside-chunks", "a length beside chunks", headers="Content-Length: 3\r\n"),
)
