"""One process of one function: imports its handler, then answers one invocation at a time, as Lambda does.

`python -m infra.local.worker MODULE` reads invocations from standard input and writes answers to what was standard
output; whatever the function prints goes to standard error. It ends with its input, in whatever state it is: the
runtime holds the other end, so no worker outlives it.
"""

from __future__ import annotations

import importlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from infra.local import frames

Handler = Callable[[dict[str, Any], "Context"], object]


@dataclass(frozen=True, slots=True)
class Context:
    """What Lambda hands over beside the event."""

    function_name: str
    aws_request_id: str
    ends_at_s: float
    memory_limit_in_mb: int = 512
    function_version: str = "$LATEST"

    @property
    def invoked_function_arn(self) -> str:
        return f"arn:aws:lambda:us-east-1:000000000000:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        return f"/aws/lambda/{self.function_name}"

    @property
    def log_stream_name(self) -> str:
        return "local"

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends_at_s - time.monotonic()) * 1000))


def main(module: str) -> None:
    answers = os.dup(1)
    os.dup2(2, 1)
    invocations: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(invocations, answers), daemon=True).start()
    handler = importlib.import_module(module).handler
    _send(answers, {"ready": True})
    while True:
        _send(answers, _answer(handler, invocations.get()))


def _receive(invocations: queue.SimpleQueue[dict[str, Any]], answers: int) -> None:
    """Reads beside the handler, so that the end of the input is noticed also while the handler works.

    Each invocation is confirmed before it begins: one that was never confirmed can safely go to another process. Where
    nobody takes the confirmation any more, nobody will send anything either.
    """
    try:
        while True:
            invocation = frames.read(0)
            _send(answers, {"taken": True})
            invocations.put(invocation)
    except (frames.Ended, OSError):
        os._exit(0)


def _answer(handler: Handler, invocation: dict[str, Any]) -> dict[str, Any]:
    context = Context(
        function_name=os.environ["AWS_LAMBDA_FUNCTION_NAME"],
        aws_request_id=invocation["requestId"],
        ends_at_s=time.monotonic() + invocation["timeoutS"],
    )
    try:
        return {"answer": handler(invocation["event"], context)}
    except Exception as error:  # noqa: BLE001  # as in Lambda: the process stays, this invocation is an error
        print(f"unhandled {type(error).__name__}", file=sys.stderr, flush=True)
        return {"error": type(error).__name__}


def _send(descriptor: int, message: dict[str, Any]) -> None:
    data = memoryview(frames.encoded(message))
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    main(sys.argv[1])
