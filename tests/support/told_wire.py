"""A wire that answers as it is told."""

from __future__ import annotations

from shared.adapters.service_faults import ServiceFault
from shared.adapters.service_wire import WireAnswer, WireRequest


class ToldWire:
    """Every request takes the next of `answers`, the last one again and again: a fault is raised. `sent` keeps them."""

    def __init__(self, *answers: WireAnswer | ServiceFault) -> None:
        self._answers = list(answers)
        self.sent: list[WireRequest] = []

    def send(self, request: WireRequest) -> WireAnswer:
        self.sent.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, ServiceFault):
            raise answer
        return answer
