"""What is shown of the things that carry keys, questions and answers, should one ever reach a message or a log."""

from __future__ import annotations

import pytest

from shared.adapters.service_wire import WireAnswer, WireRequest
from shared.ports.exchange import OutboundAnswer, OutboundRequest

SECRET = "zq-sentinel"
HEADERS = {"authorization": SECRET}
BODY = SECRET.encode()


@pytest.mark.parametrize(
    "carrier",
    [
        WireRequest(HEADERS, BODY),
        WireAnswer(200, {}, BODY),
        OutboundRequest(method="POST", url="https://kb.example/retrieve", headers=tuple(HEADERS.items()), body=BODY),
        OutboundAnswer(status=200, headers={}, body=BODY),
    ],
    ids=lambda carrier: type(carrier).__name__,
)
def test_neither_keys_nor_bodies_are_shown(carrier: object) -> None:
    assert SECRET not in repr(carrier)
    assert SECRET not in str(carrier)
