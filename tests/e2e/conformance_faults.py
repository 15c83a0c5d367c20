"""For each check of the conformance suite, a provider that does exactly one thing wrong."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fixtures.reference_provider.signatures import BadSignature, parse, verify
from tests.support.faulty_provider import PREVIOUS, SECRET, Provider, Request, Response, mac, with_headers

MAKERS: dict[str, Callable[[], Provider]] = {}


def fault(*ids: str) -> Callable[[type[Provider]], type[Provider]]:
    """Registers a provider as one that these checks, each by itself, have to find."""

    def register(provider: type[Provider]) -> type[Provider]:
        MAKERS.update(dict.fromkeys(ids, provider))
        return provider

    return register


def refuses(condition: Callable[[Request, dict[str, Any]], bool], status: int = 400) -> Callable[[], Provider]:
    """A provider that says no to retrievals for which the condition holds, of request and fields."""

    class Refusing(Provider):
        def retrieve(self, request: Request) -> Response:
            return Response(status) if condition(request, fields_of(request)) else super().retrieve(request)

    return Refusing


def fields_of(request: Request) -> dict[str, Any]:
    """What the body says, if it is an object at all."""
    try:
        fields = json.loads(request.body.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def answers(change: Callable[[Response], Response]) -> Callable[[], Provider]:
    """A provider whose retrievals are changed on their way out."""

    class Changing(Provider):
        def retrieve(self, request: Request) -> Response:
            return change(super().retrieve(request))

    return Changing


def carries(**fields: Any) -> Callable[[], Provider]:
    """A provider whose results carry these fields; an ellipsis takes one away."""

    class Carrying(Provider):
        def result(self, number: int, locale: str) -> dict[str, Any]:
            changed = super().result(number, locale) | fields
            return {name: value for name, value in changed.items() if value is not ...}

    return Carrying


def breaks(words: bytes) -> Callable[[], Provider]:
    """A provider that fails with 500 at bodies that have these bytes in them; without any, at what it cannot read."""

    class Breaking(Provider):
        def retrieve(self, request: Request) -> Response:
            response = super().retrieve(request)
            is_bad = words in request.body if words else response.status == 400
            return Response(500) if is_bad else response

    return Breaking


def named(name: str) -> Callable[[Request, dict[str, Any]], bool]:
    return lambda _request, fields: name in fields


MAKERS |= {
    "retrieve.answers": answers(lambda _: Response(500)),
    "retrieve.no-redirect": answers(lambda _: Response(307, headers={"Location": "https://help.example.com/"})),
    "retrieve.content-type": answers(lambda response: with_headers(response, Content_Type="text/html")),
    "retrieve.size": answers(lambda response: replace(response, body=response.body + b" " * 1_048_576)),
    "retrieve.encoding": answers(lambda response: with_headers(response, Content_Encoding="br")),
    "json.utf8": answers(lambda response: replace(response, body=response.body.decode().encode("latin-1"))),
    "json.valid": answers(lambda response: replace(response, body=response.body + b"}")),
    "json.unique-keys": answers(lambda r: replace(r, body=r.body.replace(b"{", b'{"contractVersion": 1, ', 1))),
    "json.finite-numbers": carries(score=float("nan")),
    "json.depth": answers(lambda r: replace(r, body=r.body.replace(b"{", b'{"x": ' + b"[" * 40 + b"]" * 40 + b",", 1))),
    "results.none": refuses(lambda _request, fields: "zqx" in str(fields.get("query")), 404),
    "limit.highest": refuses(lambda _request, fields: fields.get("limit") == 50),
    "latency.deadline": refuses(lambda *_: bool(time.sleep(0.6))),
    "latency.comfortable": refuses(lambda *_: bool(time.sleep(0.1))),
    "transport.keep-alive": refuses(lambda request, _fields: request.nth_on_connection > 1, 500),
    "answer.version": answers(
        lambda r: replace(r, body=r.body.replace(b'"contractVersion": 1', b'"contractVersion": 2'))
    ),
    "answer.results": answers(lambda r: replace(r, body=r.body.replace(b'"results"', b'"hits"'))),
    "result.document-id": carries(documentId=17),
    "result.title": carries(title=...),
    "result.snippet": carries(snippet=" "),
    "result.snippet-length": carries(snippet="s" * 8001),
    "result.snippet-plain": carries(snippet="<p>A pass</p>"),
    "result.audience": carries(audience="customer"),
    "result.revision": carries(revision=7),
    "result.chunk-id": carries(chunkId="c" * 513),
    "result.url": carries(url="https://kb.internal/a"),
    "result.locale": carries(locale="de_DE"),
    "result.score": carries(score="0.8"),
    "result.freshness": carries(freshness="fresh"),
    "result.review-due-at": carries(reviewDueAt="soon"),
    "result.translation-group-id": carries(translationGroupId=""),
    "query.shortest": refuses(lambda _request, fields: fields.get("query") == "a"),
    "query.longest": refuses(lambda _request, fields: len(str(fields.get("query"))) > 1000),
    "query.longest-astral": refuses(lambda _request, fields: len(str(fields.get("query")).encode()) > 1024),
    "query.non-ascii": refuses(lambda _request, fields: not str(fields.get("query")).isascii()),
    "query.punctuation": refuses(lambda _request, fields: '"' in str(fields.get("query")), 500),
    "request.unknown-fields": refuses(named("futureField")),
    "request.unknown-headers": refuses(lambda request, _fields: "x-helpthread-future" in request.headers),
    "request.context-ignored": refuses(named("context")),
    "request.deadline-optional": refuses(lambda request, _fields: "x-helpthread-deadline-ms" not in request.headers),
    "clock.right": answers(lambda response: with_headers(response, Date="Thu, 01 Jan 2026 00:00:00 GMT")),
    "freshness.labelled": carries(freshness=...),
    "translation-groups.labelled": carries(translationGroupId=...),
    "citation-url.labelled": carries(url=...),
    "chunking.labelled": carries(chunkId=...),
    "chunking.distinct": carries(documentId="doc", chunkId="doc#1"),
    "scoring.labelled": carries(score=...),
    "locale.labelled": carries(locale=...),
    "errors.malformed-json": breaks(b""),
    "errors.not-an-object": breaks(b""),
    "errors.not-utf8": breaks(b"\xff"),
    "errors.missing-query": breaks(b""),
    "errors.query-type": breaks(b""),
    "errors.deep-json": breaks(b"[" * 40),
    "errors.half-character": breaks(b"\\ud83d"),
    "errors.null-character": breaks(b"\\u0000"),
    "errors.out-of-range": breaks(b""),
    "errors.locale-type": refuses(lambda _request, fields: isinstance(fields.get("locale"), list), 500),
    "answer.object": answers(lambda response: replace(response, body=b"[" + response.body + b"]")),
    "limit.each": refuses(lambda _request, fields: fields.get("limit") == 11),
    "result.title-told": carries(title=" "),
    "result.title-plain": carries(title="A <mark>pass</mark>"),
    "query.emoji": refuses(lambda _request, fields: "👩" in str(fields.get("query"))),
    "query.line-breaks": refuses(lambda _request, fields: "\n" in str(fields.get("query")), 500),
}


@fault("results.found")
class FindsNothing(Provider):
    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        return []


@fault("limit.obeyed")
class IgnoresTheLimit(Provider):
    def retrieve(self, request: Request) -> Response:
        fields = json.loads(request.body)
        return super().retrieve(replace(request, body=json.dumps(fields | {"limit": 50}).encode()))


@fault("limit.no-fewer")
class CutsWhatIsLong(Provider):
    def retrieve(self, request: Request) -> Response:
        return super().retrieve(replace(request, body=request.body.replace(b'"limit":50}', b'"limit":2}')))


@fault("result.ids-stay")
class NamesAnew(Provider):
    def result(self, number: int, locale: str) -> dict[str, Any]:
        return super().result(number, locale) | {"chunkId": f"doc-{number}#{time.monotonic_ns()}"}


@fault("request.header-names")
class ReadsOneSpelling(Provider):
    def handle(self, request: Request) -> Response:
        return super().handle(request) if "X-Helpthread-Signature" in request.names else Response(401)


@fault("locale-fallback.not-needed")
class AnswersBothLanguages(Provider):
    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        some = super().found(query, locale, fallback)
        return some + [one for one in super().found(query, fallback, None) if fallback and one not in some]


@fault("locale-fallback.nothing-else")
class FallsBackOnEverything(Provider):
    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        return super().found(query, locale, fallback) or super().found(query, None, None) * (fallback is not None)


@fault("capabilities.page")
class FailsToDeclare(Provider):
    def declare(self) -> Response:
        return Response(500)


@fault("capabilities.shape")
class DeclaresWords(Provider):
    def capabilities(self) -> dict[str, Any]:
        return {"scoring": "yes"}


@fault("capabilities.version")
class DeclaresAnotherVersion(Provider):
    def declare(self) -> Response:
        return self.answer({"contractVersion": 2, "capabilities": self.capabilities()})


@fault("capabilities.complete")
class DeclaresNothing(Provider):
    def capabilities(self) -> dict[str, Any]:
        return {}


@fault("scoring.ordered")
class WorstFirst(Provider):
    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        return super().found(query, locale, fallback)[::-1]


@fault("locale.obeyed", "locale.nothing-else")
class IgnoresTheLocale(Provider):
    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        return super().found(query, None, None)


@fault("locale-fallback.obeyed")
class IgnoresTheFallback(Provider):
    def found(self, query: str, locale: str | None, fallback: str | None) -> list[dict[str, Any]]:
        return super().found(query, locale, None)


@fault("locale.any-tag")
class KnowsShortTagsAlone(Provider):
    def retrieve(self, request: Request) -> Response:
        is_long = "-" in str(json.loads(request.body).get("locale"))
        return Response(400) if is_long else super().retrieve(request)


# --- signatures ------------------------------------------------------------------------------------
def verifies(judge: Callable[[Provider, str, bytes], str]) -> Callable[[], Provider]:
    """A provider that verifies otherwise: from header and body to the nonce, or `BadSignature`."""

    class Verifying(Provider):
        def verify(self, header: str, body: bytes) -> str:
            return judge(self, header, body)

    return Verifying


def properly(provider: Provider, header: str, body: bytes) -> str:
    return verify(header, body, secrets=provider.secrets, now=time.time()).nonce


def only_if(condition: Callable[[str, bytes], bool]) -> Callable[[], Provider]:
    """One that refuses genuine requests for which the condition does not hold."""

    def judge(provider: Provider, header: str, body: bytes) -> str:
        if not condition(header, body):
            raise BadSignature("malformed")
        return properly(provider, header, body)

    return verifies(judge)


def also_if(condition: Callable[[dict[str, str], bytes], bool]) -> Callable[[], Provider]:
    """One that accepts whatever else the condition holds for, of the header's parts by name (the last of each)."""

    def judge(provider: Provider, header: str, body: bytes) -> str:
        try:
            return properly(provider, header, body)
        except BadSignature:
            parts = dict(item.strip().partition("=")[::2] for item in header.split(","))
            if not condition(parts, body):
                raise
            return parts.get("n", header)

    return verifies(judge)


def over(spell: Callable[[bytes], bytes]) -> Callable[[], Provider]:
    """One that verifies another spelling of the body than the one that came."""

    def judge(provider: Provider, header: str, body: bytes) -> str:
        try:
            return properly(provider, header, spell(body))
        except ValueError:
            return properly(provider, header, body)

    return verifies(judge)


def is_signed(parts: dict[str, str], body: bytes, *, secret: str = SECRET) -> bool:
    return parts.get("v1") == mac(body, t=parts.get("t", ""), n=parts.get("n", ""), secret=secret)


def compares(is_same: Callable[[str, str], bool]) -> Callable[[], Provider]:
    """A provider that does all else right, and finds values the same that are not."""

    def judge(provider: Provider, header: str, body: bytes) -> str:
        signature = parse(header)
        right = [mac(body, t=str(signature.timestamp), n=signature.nonce, secret=one) for one in provider.secrets]
        if abs(time.time() - signature.timestamp) > 300:
            raise BadSignature("clock")
        if not any(is_same(value, one) for value in signature.values for one in right):
            raise BadSignature("mismatch")
        return signature.nonce

    return verifies(judge)


def takes_one_time(place: int) -> Callable[[], Provider]:
    """A provider that takes one of several times, for the window and for the value."""

    def judge(provider: Provider, header: str, body: bytes) -> str:
        items = header.split(",")
        times = [item for item in items if item.startswith("t=")]
        others = [item for item in items if not item.startswith("t=")]
        return properly(provider, ",".join([times[place], *others]) if len(times) > 1 else header, body)

    return verifies(judge)


def refusing_with(status: int) -> Callable[[], Provider]:
    """A provider whose refusals of strangers have this status."""

    class Refusing(Provider):
        def refuse(self, request: Request, bad: BadSignature) -> Response:
            return Response(status, headers={"Location": "https://help.example.com/login"})

    return Refusing


def written_again(body: bytes) -> bytes:
    return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode() if body else body


def age_s(header: str) -> float:
    stamp = header.partition("t=")[2].partition(",")[0]
    return time.time() - float(stamp) if stamp.isdigit() and len(stamp) < 13 else 0.0


MAKERS |= {
    "sig.genuine-accepted": only_if(lambda *_: False),
    "sig.first-value-accepted": only_if(lambda header, body: not header.rpartition("v1=")[2].startswith("5a5a")),
    "sig.second-value-accepted": only_if(lambda header, body: not header.partition("v1=")[2].startswith("5a5a")),
    "sig.spaces-accepted": only_if(lambda header, body: " " not in header),
    "sig.unknown-items-accepted": only_if(lambda header, body: "v2=" not in header),
    "sig.whitespace-verified": over(written_again),
    "sig.escapes-verified": over(written_again),
    "sig.spelling-refused": over(written_again),
    "sig.non-ascii-verified": over(lambda body: body.decode().encode("ascii", "replace")),
    "sig.slow-clock-accepted": only_if(lambda header, body: age_s(header) < 60),
    "sig.fast-clock-accepted": only_if(lambda header, body: age_s(header) > -60),
    "sig.unsigned-refused": also_if(lambda parts, body: parts == {"": ""}),
    "sig.wrong-secret-refused": also_if(lambda parts, body: len(parts.get("v1", "")) == 64),
    "sig.altered-body-refused": also_if(lambda parts, body: len(parts.get("v1", "")) == 64),
    "sig.altered-time-refused": also_if(lambda parts, body: len(parts.get("v1", "")) == 64),
    "sig.altered-nonce-refused": also_if(lambda parts, body: len(parts.get("v1", "")) == 64),
    "sig.stale-refused": also_if(is_signed),
    "sig.future-refused": also_if(is_signed),
    "sig.two-nonces-refused": also_if(is_signed),
    "sig.missing-parts-refused": also_if(lambda parts, body: "n" not in parts),
    "sig.short-value-refused": also_if(
        lambda p, b: mac(b, t=p.get("t", ""), n=p.get("n", "")).startswith(p.get("v1", "x"))
    ),
    "sig.two-times-refused": also_if(is_signed),
    "sig.empty-secret-refused": also_if(lambda parts, body: is_signed(parts, body, secret="")),
    "sig.altered-value-refused": compares(lambda value, right: value[:63] == right[:63]),
    "sig.upper-case-refused": verifies(lambda provider, h, b: properly(provider, h.lower(), b)),
    "rotation.both": only_if(lambda header, body: header.count("v1=") == 1),
    "rotation.current-alone": only_if(lambda *_: False),
    "rotation.previous-alone": verifies(lambda provider, h, b: verify(h, b, secrets=[SECRET], now=time.time()).nonce),
}


@fault("sig.replay-refused", "sig.nonce-reuse-refused")
class Forgets(Provider):
    def remember(self, nonce: str) -> bool:
        return True


@fault("sig.replay-renamed-refused")
class RemembersWhatIsNotSigned(Provider):
    def admit(self, request: Request) -> None:
        self.verify(request.headers.get("x-helpthread-signature", ""), request.body)
        if not self.remember(request.headers.get("x-helpthread-request", "")):
            raise BadSignature("replayed")


@fault("sig.replay-later-refused")
class ForgetsSoon(Provider):
    """Remembers each nonce for a moment: longer than a repetition at once takes, shorter than the suite waits."""

    remembers_s = 0.4

    def __init__(self) -> None:
        super().__init__()
        self.since: dict[str, float] = {}

    def remember(self, nonce: str) -> bool:
        with self.lock:
            now = time.monotonic()
            is_new = now - self.since.get(nonce, -9.0) > self.remembers_s
            self.since[nonce] = now
            return is_new


@fault("sig.replay-after-many-refused")
class RemembersTheLast(Provider):
    """The last 32 nonces, whatever the time."""

    def remember(self, nonce: str) -> bool:
        with self.lock:
            is_new = nonce not in self.seen
            self.last = [*getattr(self, "last", []), nonce][-32:]
            self.seen = set(self.last)
            return is_new


@fault("sig.nonce-other-time-refused")
class RemembersNonceAndTime(Provider):
    def verify(self, header: str, body: bytes) -> str:
        found = verify(header, body, secrets=self.secrets, now=time.time())
        return f"{found.nonce} at {found.timestamp}"


@fault("sig.odd-values-refused")
class ConvertsUnseen(Provider):
    def handle(self, request: Request) -> Response:
        header = request.headers.get("x-helpthread-signature", "")
        time_, _, rest = header.removeprefix("t=").partition(",n=")
        is_broken = header.startswith("t=") and rest.count("v1=") == 1 and not time_.isdigit() and "," not in time_
        return Response(500) if is_broken else super().handle(request)


@fault("refusal.has-status")
class RefusesInWords(Provider):
    def refuse(self, request: Request, bad: BadSignature) -> Response:
        return Response(200, b'{"error": "go away"}')


@fault("refusal.is-short")
class RefusesAtLength(Provider):
    def refuse(self, request: Request, bad: BadSignature) -> Response:
        return Response(401, b"no " * 700_000)


@fault("sig.nothing-told-encoded")
class TellsItInBase64(Provider):
    def refuse(self, request: Request, bad: BadSignature) -> Response:
        return Response(401, base64.b64encode(f"for {SECRET}".encode()))


@fault("capabilities.stale-refused")
class DeclaresToOldSignatures(Provider):
    def handle(self, request: Request) -> Response:
        header = request.headers.get("x-helpthread-signature", "")
        parts = dict(item.partition("=")[::2] for item in header.split(","))
        is_old = request.path == "/capabilities" and is_signed(parts, b"") and abs(age_s(header)) > 300
        return self.declare() if is_old else super().handle(request)


@fault("sig.replay-race-refused")
class LooksAndThenWrites(Provider):
    def remember(self, nonce: str) -> bool:
        is_new = nonce not in self.seen
        time.sleep(0.02)
        self.seen.add(nonce)
        return is_new


@fault("sig.forgery-burns-no-nonce")
class RemembersTooSoon(Provider):
    def admit(self, request: Request) -> None:
        header = request.headers.get("x-helpthread-signature", "")
        is_new = self.remember(header.partition("n=")[2].partition(",")[0])
        self.verify(request.headers.get("x-helpthread-signature", ""), request.body)
        if not is_new:
            raise BadSignature("replayed")


@fault("sig.garbage-refused")
class StumblesOverHeaders(Provider):
    def handle(self, request: Request) -> Response:
        return Response(500) if request.headers.get("x-helpthread-signature") == "x" else super().handle(request)


@fault("sig.refusal-is-401")
class Forbids(Provider):
    def refuse(self, request: Request, bad: BadSignature) -> Response:
        return Response(403)


@fault("sig.nothing-told")
class TellsWhatWouldFit(Provider):
    def refuse(self, request: Request, bad: BadSignature) -> Response:
        parts = dict(item.partition("=")[::2] for item in request.headers["x-helpthread-signature"].split(","))
        expected = mac(request.body, t=parts.get("t", ""), n=parts.get("n", ""))
        return Response(401, json.dumps({"expected": expected}).encode())


@fault("capabilities.unsigned-refused")
class DeclaresToEverybody(Provider):
    def handle(self, request: Request) -> Response:
        return self.declare() if request.path == "/capabilities" else super().handle(request)


@fault("transport.refusal-ends-cleanly")
class LeavesBodiesUnread(Provider):
    reads_refused_bodies = False


@fault("errors.wrong-method")
class TakesEveryMethod(Provider):
    def handle(self, request: Request) -> Response:
        return self.answer(self.document([])) if request.method == "GET" else super().handle(request)


@fault("errors.unknown-path")
class TakesEveryPath(Provider):
    def handle(self, request: Request) -> Response:
        is_known = request.path in ("/retrieve", "/capabilities")
        return super().handle(request if is_known else replace(request, path="/retrieve"))


class Counting(Provider):
    """One that knows how many it answers at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0

    def retrieve(self, request: Request) -> Response:
        with self.lock:
            self.now += 1
        time.sleep(0.05)
        try:
            return self.answered(request, at_once=self.now)
        finally:
            with self.lock:
                self.now -= 1

    def answered(self, request: Request, *, at_once: int) -> Response:
        return super().retrieve(request)


@fault("concurrency.twenty")
class FailsWhenBusy(Counting):
    def answered(self, request: Request, *, at_once: int) -> Response:
        return Response(500) if at_once > 3 else super().answered(request, at_once=at_once)


@fault("concurrency.not-mixed")
class MixesUpLimits(Counting):
    def answered(self, request: Request, *, at_once: int) -> Response:
        if at_once > 3:
            request = replace(request, body=json.dumps(json.loads(request.body) | {"limit": 50}).encode())
        return super().answered(request, at_once=at_once)


def rotating(make: Callable[[], Provider]) -> Provider:
    """The provider of a fault, holding both secrets."""
    provider = make()
    provider.secrets = (SECRET, PREVIOUS)
    return provider
