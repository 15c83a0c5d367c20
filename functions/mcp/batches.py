"""What may come as a list, and what is only heard. Lists of requests belong to one old revision alone, and are answered
within bounds: everything in one is answered at once, by one process, in one time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from shared.web.mcp.envelopes import revision_heard
from shared.web.mcp.faults import Fault, FaultCode
from shared.web.mcp.messages import Batch, Heard, Request
from shared.web.mcp.revisions import MODERN, WITH_BATCHES

MAX_MESSAGES: Final = 10


def flaw_of_heard(heard: Heard, headers: Mapping[str, str]) -> Fault | None:
    """What cannot be taken: another revision, or a reply, which clients of the newest do not send."""
    revision = revision_heard(headers)
    if isinstance(revision, Fault):
        return revision
    return _invalid("Clients send no replies.") if heard.is_reply and revision == MODERN else None


def flaw_of_batch(batch: Batch, headers: Mapping[str, str]) -> Fault | None:
    """Notifications alone are taken as a list in every revision: nobody waits for an answer to them."""
    if not batch:
        return _invalid("The list is empty.")
    heard = [each for each in batch if isinstance(each, Heard)]
    if flaws := [flaw for each in heard if (flaw := flaw_of_heard(each, headers))]:
        return flaws[0]
    return None if len(heard) == len(batch) else _flaw_of_requests(batch, headers)


def _flaw_of_requests(batch: Batch, headers: Mapping[str, str]) -> Fault | None:
    revision = revision_heard(headers)
    if isinstance(revision, Fault):
        return revision
    methods = [each.method for each in batch if isinstance(each, Request)]
    if revision != WITH_BATCHES:
        return _invalid("Send one message at a time: this revision of the protocol knows no lists.")
    if len(batch) > MAX_MESSAGES:
        return _invalid(f"Send at most {MAX_MESSAGES} messages in a list.")
    if methods.count("tools/call") > 1:
        return _invalid("Send at most one tools/call in a list.")
    return _invalid("Send initialize alone.") if "initialize" in methods else None


def _invalid(message: str) -> Fault:
    return Fault(code=FaultCode.INVALID_REQUEST, message=message)
