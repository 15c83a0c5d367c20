"""Everything that can go wrong, as one tree. Each leaf has one stable code; `docs/errors.md` explains each.

    GatewayError
    ├── Problem                      a request that is answered with problem+json (RFC 9457)
    │   ├── BadRequest          400  bad_request
    │   ├── Unauthenticated     401  unauthenticated
    │   ├── Forbidden           403  forbidden
    │   │   └── NotThroughFront 403  not_through_front
    │   ├── NotFound            404  not_found
    │   ├── MethodNotAllowed    405  method_not_allowed
    │   ├── Conflict            409  conflict, name_taken, grant_refused, rotation_pending, ...
    │   ├── PreconditionFailed  412  precondition_failed
    │   ├── BodyTooLarge        413  body_too_large
    │   ├── Invalid             422  invalid_request, invalid_cursor, invalid_base_url, ...
    │   ├── PreconditionMissing 428  precondition_required
    │   ├── RateLimited         429  rate_limited
    │   ├── InternalFault       500  internal_error
    │   ├── ProviderFailed      502  provider_failed, source_not_found, source_not_fresh, ...
    │   ├── Unavailable         503  store_unavailable, secrets_unavailable
    │   ├── ProviderUnavailable 503  keys_exhausted, allowance_exhausted, not_configured, ...
    │   └── ProviderTimeout     504  provider_timeout
    └── ExchangeError                one provider could not be asked; becomes that provider's outcome
        ├── ExchangeTimeout          timeout
        ├── ConnectionFailed         connection_failed
        │   ├── ConnectionDropped    (a reused connection died before any answer byte)
        │   └── NeverConnected       (nothing was sent)
        ├── BlockedAddress           blocked_address
        ├── ResponseTooLarge         response_too_large
        └── Refused                  unauthorized, forbidden, not_found, rate_limited, upstream_error,
            │                        invalid_response, unsupported_version, query_too_long, ...
            ├── Unclear              (whether the work was done cannot be known)
            └── KeyRefused           (one key of a pool is spent or limited: another may be tried)

No message in this tree carries an upstream's words, a key, a token, a body or a query.
"""

from __future__ import annotations

from dataclasses import dataclass


class GatewayError(Exception):
    """The root: catch this to catch all that the gateway itself raises."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that is wrong in a request: where (`pointer`, RFC 6901) and what to do about it."""

    pointer: str
    detail: str


class Problem(GatewayError):
    """Answered to the caller as `application/problem+json`."""

    status = 500
    code = "internal_error"
    title = "The gateway failed"

    def __init__(
        self,
        detail: str = "",
        *,
        code: str | None = None,
        violations: tuple[Violation, ...] = (),
        retry_after_s: int | None = None,
        facts: dict[str, str | int | list[str]] | None = None,
    ) -> None:
        super().__init__(code or self.code)
        self.code = code or self.code
        self.detail = detail
        self.violations = violations
        self.retry_after_s = retry_after_s
        self.facts = facts or {}


class BadRequest(Problem):
    status, code, title = 400, "bad_request", "The request cannot be read"


class Unauthenticated(Problem):
    status, code, title = 401, "unauthenticated", "No valid credential"


class Forbidden(Problem):
    status, code, title = 403, "forbidden", "This credential may not do that"


class NotThroughFront(Forbidden):
    code, title = "not_through_front", "This is not the way in"


class NotFound(Problem):
    status, code, title = 404, "not_found", "There is no such thing here"


class MethodNotAllowed(Problem):
    status, code, title = 405, "method_not_allowed", "This path does not take that method"


class Conflict(Problem):
    status, code, title = 409, "conflict", "The present state does not allow this"


class PreconditionFailed(Problem):
    status, code, title = 412, "precondition_failed", "The resource has changed since it was read"


class BodyTooLarge(Problem):
    status, code, title = 413, "body_too_large", "The request body is too large"


class Invalid(Problem):
    status, code, title = 422, "invalid_request", "The request is not valid"


class PreconditionMissing(Problem):
    status, code, title = 428, "precondition_required", "This change needs If-Match"


class RateLimited(Problem):
    status, code, title = 429, "rate_limited", "Too many requests"


class InternalFault(Problem):
    """An error nobody expected: its own words stay inside."""


class ProviderFailed(Problem):
    """The one provider that a request is about was asked, and gave nothing usable."""

    status, code, title = 502, "provider_failed", "The provider gave nothing usable"


class Unavailable(Problem):
    status, code, title = 503, "store_unavailable", "The gateway's own store is unavailable"


class ProviderUnavailable(Problem):
    """The one provider that a request is about cannot be asked at the moment."""

    status, code, title = 503, "not_configured", "The provider cannot be asked now"


class ProviderTimeout(Problem):
    """Whether the provider did the work is not known."""

    status, code, title = 504, "provider_timeout", "The provider did not answer in time"


class ExchangeError(GatewayError):
    """One provider could not be asked, or its answer cannot be used.

    `code` is the outcome code; `retry_at` (Unix seconds) is set where the other side said when to come back.
    """

    code = "upstream_error"

    def __init__(self, code: str | None = None, *, retry_at: float | None = None) -> None:
        self.code = code or self.code
        self.retry_at = retry_at
        super().__init__(self.code)


class ExchangeTimeout(ExchangeError):
    code = "timeout"


class ConnectionFailed(ExchangeError):
    code = "connection_failed"


class ConnectionDropped(ConnectionFailed):
    """A *reused* connection died before any answer byte: the one case in which most lines send again."""


class BlockedAddress(ExchangeError):
    code = "blocked_address"


class ResponseTooLarge(ExchangeError):
    code = "response_too_large"


class Refused(ExchangeError):
    """The provider answered, and the answer is a refusal or unusable; `code` says which."""


class NotAsked(Refused):
    """Decided before anything was reserved or sent: what is asked for cannot be had of this provider."""


class NeverConnected(ConnectionFailed):
    """No connection came about, so nothing was sent and nothing can have been done."""


class Unclear(Refused):
    """The provider answered, and whether it did the work cannot be known: it is never asked for the same again."""


class KeyRefused(Refused):
    """A structured refusal, without any sign of accepted work, that concerns a key and not the request.

    `reason` is `quota` or `rate`; `scope` says whether it is the key's own or its account's; the key rests until
    `until` (Unix seconds). Another key of the pool may be tried.
    """

    def __init__(self, reason: str, *, until: float, scope: str = "key") -> None:
        super().__init__("rate_limited", retry_at=until)
        self.reason = reason
        self.scope = scope
        self.until = until
