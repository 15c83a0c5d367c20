"""A function for testing what runs functions: it does what the event's path says and tells what it was given."""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from typing import Any

calls = itertools.count(1)


def handler(event: dict[str, Any], context: Any) -> Any:
    what = event["rawPath"].strip("/")
    if what == "sleep":
        time.sleep(float(event["queryStringParameters"]["s"]))
    if what == "die":
        os._exit(1)
    if what == "raise":
        raise ValueError("private words")
    if what == "print":
        print("printed by the function")
        sys.stdout.flush()
    if what == "nonsense":
        return {"statusCode": "200"}
    if what == "empty":
        return {"statusCode": 204}
    if what == "binary":
        return {"statusCode": 200, "isBase64Encoded": True, "body": "AAH/", "cookies": ["a=1", "b=2"]}
    facts = {
        "event": event,
        "pid": os.getpid(),
        "calls": next(calls),
        "environment": dict(os.environ),
        "remaining_ms": context.get_remaining_time_in_millis(),
    }
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(facts)}
