"""One function as it is deployed, in a process of its own, whose log is its standard output.

`python -m tests.contract.function_process NAME FD [LEAK]` calls its handler with each event, a line of JSON on standard
input, and writes each answer as a line to the descriptor. When the input ends it writes one more: what every error of
the gateway that came about meanwhile says of itself. `LEAK` names one of `tests.contract.leaks` or `server_leaks`, or
several with ` + ` between them.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
import uuid
from dataclasses import dataclass, field
from typing import Any

from shared.errors import GatewayError
from tests.contract.leaks import LEAKS
from tests.contract.server_leaks import SERVER_LEAKS


@dataclass(frozen=True, slots=True)
class Context:
    """What of an invocation's context the gateway reads."""

    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))


def main(name: str, descriptor: int, leak: str | None = None) -> None:
    errors = _noted_errors()
    if leak is not None:
        for each in leak.split(" + "):
            (LEAKS | SERVER_LEAKS)[each]()
    handler = importlib.import_module(f"functions.{name}.handler").handler
    with os.fdopen(descriptor, "w", encoding="utf-8") as answers:
        for line in sys.stdin:
            answers.write(json.dumps(handler(json.loads(line), Context())) + "\n")
            answers.flush()
        answers.write(json.dumps([_all_that_it_says(error) for error in errors]) + "\n")


def _noted_errors() -> list[GatewayError]:
    errors: list[GatewayError] = []

    def noted(self: GatewayError, *args: Any) -> None:
        errors.append(self)
        Exception.__init__(self, *args)

    GatewayError.__init__ = noted  # type: ignore[assignment, method-assign]
    return errors


def _all_that_it_says(error: GatewayError) -> str:
    return "".join(traceback.format_exception(error)) + f"{error!r} {vars(error)!r}"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
