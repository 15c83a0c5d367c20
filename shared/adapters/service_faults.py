"""What a call of a service of AWS raises.

ServiceFault
├── ServiceRefusal        the service answered, with a code of its own
├── NoAnswer              nothing came back that can be taken for an answer; a write may have been done all the same
│   ├── NotConnected      nobody was reached, or nobody who can prove to be the service: nothing was sent
│   ├── AnswerTimedOut
│   ├── ConnectionLost    the connection ended before the answer did
│   ├── DamagedAnswer     its checksum is another
│   └── NotAnAnswer       it is too long, or says nothing that the service would say
└── NotConfigured         the environment lacks something: nothing was sent

No message has words of the service, of an address or of the environment's values in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ServiceFault(Exception):
    pass


class ServiceRefusal(ServiceFault):
    """`code` is the service's own, or the HTTP status where it gave none; `document` is all that it said."""

    def __init__(self, code: str, *, document: Mapping[str, Any], status: int = 400) -> None:
        super().__init__(code)
        self.code = code
        self.document = document
        self.status = status


class NoAnswer(ServiceFault):
    pass


class NotConnected(NoAnswer):
    pass


class AnswerTimedOut(NoAnswer):
    pass


class ConnectionLost(NoAnswer):
    pass


class DamagedAnswer(NoAnswer):
    pass


class NotAnAnswer(NoAnswer):
    pass


class NotConfigured(ServiceFault):
    pass
