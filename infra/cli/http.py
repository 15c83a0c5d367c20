"""A small client of the gateway's own API: the operator command uses what every integrator has."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import ssl
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlsplit

from infra.cli.deadlines import within
from infra.cli.ending import Told
from infra.cli.problems import told_problem

_TIMEOUT_S = 35.0  # without a byte; longer than the longest answer that the gateway permits itself
_WITHIN_S = 60.0
TRANSFER_S = 300.0  # of what is large: a slow line may take so long
_MOST_BYTES = 6_291_556  # of an answer: no function of the gateway can give more
_UNAVAILABLE = 503
_CHANGES = frozenset({"PUT", "PATCH", "DELETE"})
_ATTEMPTS = 4
_PAUSE_S = 1.0
_LONGEST_WAIT_S = 86_400.0  # whatever an answer asks for
_VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII)
_PAGE = re.compile(r"/[\x21-\x7e]*", re.ASCII)
NO_PROBLEM = "unknown"  # the code where the answer is not one of the gateway's problems


class Unreachable(Told):
    """Nothing answers at the gateway's address."""

    code = "unreachable"


class Lost(Unreachable):
    """The request was sent, and no answer came: whether it was carried out is not known."""

    code = "no_answer"


class BrokenOff(KeyboardInterrupt):
    """Ctrl-C while a change was under way. The message says what is known of it."""


class NotAGateway(Unreachable):
    """What answers says nothing that a Knowledge Gateway would say."""

    code = "not_a_gateway"


class TooMuch(NotAGateway):
    """The answer is larger than any gateway's."""


class Unsendable(Exception):
    """A URL or a token that no request can carry. The message is the end of a sentence, and shows none of it."""

    def __init__(self, why: str, *, is_token: bool = False) -> None:
        super().__init__(why)
        self.is_token = is_token


class Declined(Told):
    """The gateway answered with a problem. `problem` is what it said."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        retry_after_s: float | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {detail}" if detail else f"{status} {code}")
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.problem = problem or {}

    def as_json(self) -> dict[str, Any]:
        """The gateway's own problem."""
        known = {"status": self.status, "code": self.code, "detail": self.detail, "retryAfterS": self.retry_after_s}
        return {**known, **self.problem}

    def told(self) -> list[str]:
        return [str(self), *told_problem(self.problem, retry_after_s=self.retry_after_s)]


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` is the parsed JSON object; empty for an answer without content."""

    status: int
    body: dict[str, Any]
    etag: str | None


@dataclass(frozen=True, slots=True)
class Received:
    """An answer as it came; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Client:
    """Calls as the bearer of one token; of none, where only what is public is read. Raises `Unsendable`."""

    url: str
    token: str = field(repr=False)

    def __post_init__(self) -> None:
        _check_url(self.url)
        if self.token and not is_visible(self.token):
            raise Unsendable("holds something that no token is: blanks, or other signs than ASCII.", is_token=True)
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def post(self, path: str, body: Mapping[str, Any], **headers: str) -> Answer:
        return self.call("POST", path, body, **headers)

    def create(self, path: str, body: Mapping[str, Any], *, key: str | None = None) -> Answer:
        """A POST that makes one thing, however often it has to be repeated, and with the same `key` also by another
        call. Raises like `call`.
        """
        key = key or uuid.uuid4().hex
        again = f"With --idempotency-key {key} the same command does it once."
        try:
            for _ in range(_ATTEMPTS - 1):
                with contextlib.suppress(Lost):
                    return self.call("POST", path, body, Idempotency_Key=key)
                time.sleep(_PAUSE_S)
            return self.call("POST", path, body, Idempotency_Key=key)
        except Lost as lost:
            raise Lost(f"{lost} {again}") from None
        except KeyboardInterrupt:
            raise BrokenOff(f"Interrupted.{_known('POST')} {again}") from None

    def patiently(self, path: str, body: Mapping[str, Any]) -> Answer:
        """A POST of what may be carried out more than once. Raises like `call`."""
        return self._often(lambda: self._once("POST", path, body, {}))

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """`headers` are written with underscores. Tries again while the gateway says that it is unavailable, but for
        what would be done, and perhaps be billed, a second time. Raises `Unreachable`, `Declined`; `BrokenOff` for a
        change that is interrupted.
        """
        try:
            if method == "POST" and "Idempotency_Key" not in headers:
                return self._once(method, path, body, headers)
            return self._often(lambda: self._once(method, path, body, headers))
        except KeyboardInterrupt:
            if method in _CHANGES:
                raise BrokenOff(f"Interrupted.{_known(method)}") from None
            raise

    def _often(self, once: Callable[[], Answer]) -> Answer:
        for _ in range(_ATTEMPTS - 1):
            try:
                return once()
            except Declined as declined:
                if declined.status != _UNAVAILABLE:
                    raise
                time.sleep(_PAUSE_S)
        return once()

    def send(
        self, method: str, path: str, data: bytes | None = None, *, within_s: float | None = None, **headers: str
    ) -> Received:
        """One request with a body of any kind, which is over within so many seconds (60) whatever is said and however
        slowly. Raises `Unreachable`, `Declined`.
        """
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if not _PAGE.fullmatch(path):  # it may be what an answer said
            raise NotAGateway(_not_a_gateway(self.url))
        within_s = within_s or _WITHIN_S
        try:
            received = within(within_s, lambda: self._received(method, path, data, sent))
        except TimeoutError:
            raise Lost(f"{self.url} was asked and did not answer within {within_s:.0f} s.{_known(method)}") from None
        if received.status >= 400:
            raise _declined(received)
        if received.status >= 300:  # the token is for this place alone
            raise NotAGateway(f"{self.url} sends callers elsewhere, which is not followed.")
        return received

    def _received(self, method: str, path: str, data: bytes | None, sent: dict[str, str]) -> Received:
        connection = _connection(self.url)
        try:
            self._connect(connection)
            return self._exchange(connection, method, urlsplit(self.url).path + path, data, sent)
        finally:
            connection.close()

    def _connect(self, connection: http.client.HTTPConnection) -> None:
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            why = f"cannot be trusted: {error.verify_message}"
            raise Unreachable(f"The certificate of {self.url} {why}.") from None
        except (OSError, UnicodeError, http.client.HTTPException):
            raise Unreachable(f"Nothing answers at {self.url}.") from None

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, path: str, data: bytes | None, sent: dict[str, str]
    ) -> Received:
        try:
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            body = response.read(_MOST_BYTES + 1)
            if len(body) > _MOST_BYTES:
                raise TooMuch(f"{self.url} answers with more than any gateway, which is not read.{_known(method)}")
            if response.length:
                raise http.client.IncompleteRead(body, response.length)
            return Received(response.status, names, body)
        except (OSError, http.client.HTTPException):
            raise Lost(f"{self.url} was asked and no answer came.{_known(method)}") from None

    @contextlib.contextmanager
    def understood(self) -> Iterator[None]:
        """For the reading of an answer. Raises `NotAGateway` where that is not what a gateway answers."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            raise NotAGateway(_not_a_gateway(self.url)) from None

    def _once(self, method: str, path: str, body: Mapping[str, Any] | None, headers: Mapping[str, str]) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        received = self.send(method, path, data, within_s=None, **headers)
        return Answer(received.status, _object(received.data), received.headers.get("etag"))


def is_visible(text: str) -> bool:
    """Whether it is there, of ASCII, and has no blanks: what a header can carry as it stands."""
    return _VISIBLE.fullmatch(text) is not None


def _check_url(url: str) -> None:
    wanted = "wants an http:// or https:// URL of a host, without credentials, query or blanks."
    try:
        address = urlsplit(url)
        is_one = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        is_one = False
    if not is_one or not is_visible(url) or any(sign in url for sign in "@?#\\"):
        raise Unsendable(wanted)


def _known(method: str) -> str:
    return "" if method == "GET" else " Whether it was done is not known."


def _not_a_gateway(url: str) -> str:
    return f"What answers at {url} is not a Knowledge Gateway, or one of another version."


def _connection(url: str) -> http.client.HTTPConnection:
    address = urlsplit(url)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    return kind(address.netloc, timeout=_TIMEOUT_S)


def _declined(received: Received) -> Declined:
    body = _object(received.data)
    wait = received.headers.get("retry-after", "")
    return Declined(
        received.status,
        str(body.get("code", NO_PROBLEM)),
        str(body.get("detail", body.get("message", ""))),
        retry_after_s=min(float(wait), _LONGEST_WAIT_S) if wait.isascii() and wait.isdigit() else None,
        problem={"requestId": received.headers.get("x-request-id"), **body},
    )


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _object(data: bytes) -> dict[str, Any]:
    """The JSON object in an answer; an empty one for everything else."""
    try:
        parsed = json.loads(data, parse_constant=_no_number) if data else {}
    except (ValueError, RecursionError):
        parsed = {}
    return parsed if isinstance(parsed, dict) else {}
