"""One behaviour of a provider, and what it may cost: nothing but its own outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.support.hostile_provider import JSON_TYPE, Behaviour, Seen, Wire, answer_of, json_bytes

WORDS: Final = "UPSTREAM-WORDS"  # stands in whatever has to stay where it came from
TEXT: Final = "Lantern tide"  # stands in passages: answers have it, logs never
LIMIT: Final = 40  # results that are asked for
AN_HOUR_S: Final = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`outcome` is `success`, `empty` or an error code; `found` of its passages count for an agent and `shown` reach a
    customer. `each` are fields that all of them have for an agent. `retry_s`: in how many seconds it may be asked
    again, if the outcome says so. `is_slow`: asked with a short deadline. `is_early`: answers before it has read.
    `goes_on_s`: for how long it still does something after its answer.
    """

    id: str
    does: str
    sends: Behaviour
    outcome: str
    found: int = 0
    shown: int = 0
    warnings: frozenset[str] = frozenset()
    each: Mapping[str, Any] = field(default_factory=dict)
    retry_s: int | None = None
    exposure: str = "customer_safe"
    is_slow: bool = False
    is_early: bool = False
    goes_on_s: float = 0.0


def fails(
    id_: str, does: str, sends: Behaviour, code: str, *, retry_s: int | None = None, is_slow: bool = False
) -> Case:
    return Case(id=id_, does=does, sends=sends, outcome=code, retry_s=retry_s, is_slow=is_slow)


def finds(
    id_: str,
    does: str,
    sends: Behaviour,
    found: int = 1,
    *warnings: str,
    shown: int | None = None,
    each: Mapping[str, Any] | None = None,
    exposure: str = "customer_safe",
    is_early: bool = False,
) -> Case:
    """`shown` is `found` unless it says otherwise."""
    return Case(
        id=id_,
        does=does,
        sends=sends,
        outcome="success" if found else "empty",
        found=found,
        shown=found if shown is None else shown,
        warnings=frozenset(warnings),
        each=each or {},
        exposure=exposure,
        is_early=is_early,
    )


# --- what is sent --------------------------------------------------------------------------------
def passage(id_: str, number: int = 1, /, **changes: object) -> dict[str, object]:
    """A sound result; its title says whose it is."""
    sound = {"documentId": f"{id_}-{number}", "title": f"{id_} {number}", "snippet": f"{TEXT} {number}."}
    return sound | {"audience": "public"} | changes


def passages(id_: str, count: int = 1) -> bytes:
    """A sound answer."""
    return json_bytes(answer_of(*(passage(id_, number + 1) for number in range(count))))


def with_fields(id_: str, **changes: object) -> Behaviour:
    """One result with these fields, the others sound. `...` leaves a field out."""
    entry = {name: value for name, value in passage(id_, **changes).items() if value is not ...}
    return document(answer_of(entry))


def document(value: object, *, headers: str = "") -> Behaviour:
    return body(json_bytes(value), headers=JSON_TYPE + headers)


def body(data: bytes, *, headers: str = JSON_TYPE, status: str = "200 OK") -> Behaviour:
    """Properly framed, whatever stands in it."""

    async def sends(_seen: Seen, wire: Wire) -> bool:
        await wire.answer(data, status=status, headers=headers)
        return True

    return sends


def status(line: str, headers: str = "") -> Behaviour:
    """A refusal that says more than anybody may hear: the question itself, and a passage."""

    async def sends(seen: Seen, wire: Wire) -> bool:
        said = answer_of(passage(WORDS), error=WORDS, asked=seen.json, signature=seen.headers)
        await wire.answer(json_bytes(said), status=f"{line} {WORDS}", headers=f"{JSON_TYPE}X-Why: {WORDS}\r\n{headers}")
        return True

    return sends


def octets(*pieces: bytes) -> Behaviour:
    """These bytes as they are, then the end of the connection."""

    async def sends(_seen: Seen, wire: Wire) -> bool:
        for piece in pieces:
            await wire.send(piece)
        return False

    return sends


def framed(id_: str, *, first: str = "HTTP/1.1 200 OK", headers: str = "") -> Behaviour:
    """A sound answer of announced length under another first line, or with more headers."""
    data = passages(id_)
    return octets(f"{first}\r\nContent-Length: {len(data)}\r\n{JSON_TYPE}{headers}\r\n".encode("latin-1") + data)


def under(head: str, data: bytes) -> Behaviour:
    """A head that says all about its framing, and these bytes."""
    return octets(f"HTTP/1.1 200 OK\r\n{JSON_TYPE}{head}\r\n".encode("latin-1") + data)


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n", headers: str = "") -> Behaviour:
    """`chunks` with their sizes before them, as they are to stand on the wire."""
    return under(f"Transfer-Encoding: chunked\r\n{headers}", b"".join(chunks) + end)


def chunk(data: bytes, *, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(data), extension, data)
