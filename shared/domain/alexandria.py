"""Alexandria: paid tools of other companies, found, priced and executed through one hosted live service.

An agent finds tools, has one of them priced (a quote), executes it under a request id of its own choice, and can ask
later what became of it (a receipt). What is spent is confirmed by the service or unknown, and never guessed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from shared.domain.credentials import Principal
from shared.domain.outcomes import OutcomeCode
from shared.domain.registrations import Provider, ProviderKind, ProviderStatus
from shared.domain.strict_json import JsonValue

SETTINGS_URL: Final = "https://www.firecrawl.dev/app/settings?tab=data-sources"
MAX_TOOLS: Final = 24
MAX_NAME_CHARACTERS: Final = 200
MAX_CREDITS: Final = 2**53
USABLE_NAME: Final = "[!-~]+(?: [!-~]+)*"  # printable ASCII without blanks at its ends
MAX_OPTIONS_BYTES: Final = 65_536
QUOTE_LIFE_S: Final = 600.0
LEASE_S: Final = 60.0
RECEIPT_LIFE_S: Final = 30 * 86_400.0
_USABLE_NAME = re.compile(USABLE_NAME, re.ASCII)


class ReceiptState(StrEnum):
    """`started`: sent, or about to be. `done`: the service answered. `refused`: nothing was executed. `unknown`:
    nobody here knows, and it is not sent again.
    """

    STARTED = "started"
    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Trouble(StrEnum):
    """Why an execution gave no result. Stable codes; those of search outcomes mean the same here."""

    TIMEOUT = OutcomeCode.TIMEOUT.value
    CONNECTION_FAILED = OutcomeCode.CONNECTION_FAILED.value
    BLOCKED_ADDRESS = OutcomeCode.BLOCKED_ADDRESS.value
    RATE_LIMITED = OutcomeCode.RATE_LIMITED.value
    UNAUTHORIZED = OutcomeCode.UNAUTHORIZED.value
    FORBIDDEN = OutcomeCode.FORBIDDEN.value
    NOT_FOUND = OutcomeCode.NOT_FOUND.value
    INVALID_RESPONSE = OutcomeCode.INVALID_RESPONSE.value
    RESPONSE_TOO_LARGE = OutcomeCode.RESPONSE_TOO_LARGE.value
    UPSTREAM_ERROR = OutcomeCode.UPSTREAM_ERROR.value
    NOT_CONFIGURED = OutcomeCode.NOT_CONFIGURED.value
    KEYS_EXHAUSTED = OutcomeCode.KEYS_EXHAUSTED.value
    ALLOWANCE_EXHAUSTED = OutcomeCode.ALLOWANCE_EXHAUSTED.value
    TERMS_REQUIRED = OutcomeCode.TERMS_REQUIRED.value
    INTERNAL_ERROR = OutcomeCode.INTERNAL_ERROR.value
    OPTIONS_REFUSED = "options_refused"  # the request as a whole is not one that the service takes
    CREDITS_REFUSED = "credits_refused"  # a budget at the service does not allow it
    ALREADY_THERE = "already_there"  # the service knows this execution: it runs, or has been charged for
    TOOL_FAILED = "tool_failed"  # the tool itself answered with an error


class Notice(StrEnum):
    """What a caller should know about an answer that is not an error."""

    SURPLUS_CUT = "surplus_cut"  # more tools than were asked for
    TOOL_DROPPED = "tool_dropped"  # a tool whose names cannot be used
    INCOMPLETE = "incomplete"  # the service says that its own search was partial
    RESULT_NOT_KEPT = "result_not_kept"  # it was handed over once, and is kept nowhere
    RESULT_TOO_LARGE = "result_too_large"  # it does not fit into an answer
    RECEIPT_NOT_SETTLED = "receipt_not_settled"  # the outcome could not be written down


@dataclass(frozen=True, slots=True)
class ToolName:
    """A tool, as the service names it: whose it is, and what it does."""

    provider: str
    capability: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What the service says that a call costs. `credits` None: it does not say. `per_record`: for each record that
    comes back, so that a call may cost more; the service takes no upper limit.
    """

    credits: int | None = None
    per_record: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOption:
    """`rules` is what else the service says of it: a default, bounds, the values to choose from."""

    name: str
    type: str
    about: str = ""
    required: bool = False
    rules: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Untrusted texts, made plain and short enough. `requires_one_of`: of each group at least one option is needed."""

    id: str | None
    tool: ToolName
    name: str
    description: str
    price: Price
    options: tuple[ToolOption, ...] = ()
    requires_one_of: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    tools: tuple[Tool, ...]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose quotes and receipts: a credential together with the agent that it names."""

    credential_id: str
    agent_id: str | None = None

    @classmethod
    def of(cls, principal: Principal) -> Holder:
        return cls(principal.credential_id, principal.agent_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A priced tool, for one holder, until `expires_at`. `source_id` is the registration that priced it."""

    id: str
    holder: Holder
    source_id: str
    tool: ToolName
    price: Price
    expires_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be executed. `options` are the bytes of the JSON object that is sent, in its one canonical form."""

    quote_id: str
    request_id: str
    options: bytes = field(repr=False)

    def fingerprint(self) -> str:
        """SHA-256, hex, of quote and options: tells whether a repetition asks for the same."""
        return hashlib.sha256(self.quote_id.encode() + b"\0" + self.options).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One execution as the service gets it. `upstream_id` is the same however often and with whatever key."""

    tool: ToolName
    options: bytes = field(repr=False)
    upstream_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What became of a call. `credits` None: unknown. `result` is the tool's own data, for the caller alone."""

    state: ReceiptState
    credits: int | None = None
    trouble: Trouble | None = None
    retry_at: float | None = None
    result: JsonValue = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What is remembered of an execution: no option, no result. `claim` tells one try from every other."""

    holder: Holder
    request_id: str
    fingerprint: str
    claim: str
    quote_id: str
    tool: ToolName
    started_at: float
    state: ReceiptState = ReceiptState.STARTED
    settled_at: float | None = None
    credits: int | None = None
    trouble: Trouble | None = None
    retry_at: float | None = None

    @property
    def expires_at(self) -> int:
        """Whole Unix seconds, so that every reader and the store agree."""
        return math.ceil(self.started_at + RECEIPT_LIFE_S)

    @property
    def may_be_tried_again(self) -> bool:
        return self.state is ReceiptState.REFUSED

    def seen_at(self, now: float) -> Receipt:
        """As it is to be read: one that nobody settled within its lease is unknown, without a write."""
        if self.state is ReceiptState.STARTED and now >= self.started_at + LEASE_S:
            return replace(self, state=ReceiptState.UNKNOWN)
        return self

    def settled(self, execution: Execution, *, now: float) -> Receipt:
        return replace(
            self,
            state=execution.state,
            settled_at=now,
            credits=execution.credits,
            trouble=execution.trouble,
            retry_at=execution.retry_at,
        )


def is_usable(name: str) -> bool:
    """Whether a provider or a capability of this name can be called."""
    return len(name) <= MAX_NAME_CHARACTERS and _USABLE_NAME.fullmatch(name) is not None


def canonical(options: Mapping[str, JsonValue]) -> bytes:
    """One spelling for the same options, whatever the order of their names."""
    return json.dumps(options, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def upstream_id_of(holder: Holder, request_id: str) -> str:
    """What the service is to know the execution by: 64 hexadecimal digits."""
    parts = ("alexandria", holder.credential_id, holder.agent_id or "", request_id)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def catalogue_among(
    providers: Iterable[Provider], *, allowed: Sequence[str] | None, named: str | None
) -> Provider | None:
    """The registration to go through: the named one, else the one of the lowest priority, then the first registered.

    None for one that is unknown, forbidden, switched off or of another kind. `allowed` is the credential's own list
    (None = no list); `providers` are in registration order.
    """
    able = (p for p in providers if p.status is ProviderStatus.ACTIVE and p.source.kind is ProviderKind.FIRECRAWL)
    reachable = (p for p in able if (allowed is None or p.id in allowed) and (named is None or p.id == named))
    return min(reachable, key=lambda p: p.source.priority, default=None)
