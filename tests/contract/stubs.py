"""Clients that answer as they are told, for what no engine does on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shared.adapters.service_faults import ServiceRefusal


def refusal(code: str, *, reasons: list[str] | None = None, found: dict[str, Any] | None = None) -> ServiceRefusal:
    """A refusal as the client raises it; `reasons` are the parts' codes of a cancelled transaction."""
    document: dict[str, Any] = {"__type": f"namespace#{code}", "Message": "arn:aws:dynamodb words of the service"}
    if reasons is not None:
        document["CancellationReasons"] = [
            {"Code": one, **({"Item": found} if found and one == "ConditionalCheckFailed" else {})} for one in reasons
        ]
    return ServiceRefusal(code, document=document)


class StubClient:
    """Every call takes the next of `answers` (the last one again and again): an error is raised, a function called
    with the call's parameters, anything else returned. `calls` keeps the names.
    """

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**parameters: Any) -> Any:
            self.calls.append(name)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            if isinstance(answer, BaseException):
                raise answer
            return answer(**parameters) if callable(answer) else answer

        return call


class Meddling:
    """A real client, beside which `meddle` runs after each call of `method`, as another process's write would."""

    def __init__(self, client: Any, method: str, meddle: Callable[[], None]) -> None:
        self._client = client
        self._method = method
        self._meddle = meddle
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        def call(**parameters: Any) -> Any:
            self.calls.append(name)
            answer = getattr(self._client, name)(**parameters)
            if name == self._method:
                self._meddle()
            return answer

        return call
