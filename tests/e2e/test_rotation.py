"""Rotating a provider's secret loses no request, before and after the provider switches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import PROVIDERS, Gateway

pytestmark = [pytest.mark.emulator]


@contextmanager
def asking(gateway: Gateway) -> Iterator[list[tuple[str, str | None]]]:
    """Searches the help centre without a pause, as an agent and as an assistant; gives the outcomes so far."""
    public = gateway.local["providers"]["public"]["id"]
    seen: list[tuple[str, str | None]] = []
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            answer = gateway.search("agent", query="ferry pass", providers=[public], deadlineMs=5000).json
            seen.extend((each["status"], each["errorCode"]) for each in answer["providers"])
            customer = gateway.search("assistant", query="ferry pass", deadlineMs=5000).json
            seen.append(("success" if customer["results"] else "nothing for the assistant", None))
            time.sleep(0.15)  # the agent may ask 600 times a minute, the assistant 300 times

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join(30)


def wait_for_more(seen: list[Any], count: int) -> None:
    until, wanted = time.monotonic() + 30, len(seen) + count
    while len(seen) < wanted:
        assert time.monotonic() < until
        time.sleep(0.02)


def rotate(gateway: Gateway, **body: Any) -> str:
    provider_id = gateway.local["providers"]["public"]["id"]
    answer = gateway.as_admin("POST", f"{PROVIDERS}/{provider_id}/rotate-secret", body)
    assert answer.status == 200, answer.data
    return str(answer.json["secret"])


def test_rotating_a_secret_loses_no_request_before_and_after_the_provider_switches(gateway: Gateway) -> None:
    file = Path(gateway.local["providers"]["public"]["secretFile"])
    old = file.read_text().strip()
    with asking(gateway) as seen:
        wait_for_more(seen, 8)
        new = rotate(gateway, windowHours=24)
        assert new != old
        wait_for_more(seen, 12)  # the provider still holds the old secret
        file.write_text(new + "\n")
        wait_for_more(seen, 12)  # and now the new one
    assert set(seen) == {("success", None)}


def test_a_provider_that_does_not_switch_in_time_is_told_apart_from_one_that_is_down(gateway: Gateway) -> None:
    """Without a window the old secret is worth nothing at once: the test above could fail."""
    file = Path(gateway.local["providers"]["public"]["secretFile"])
    new = rotate(gateway, windowHours=0, replacePending=True)
    outcome = gateway.outcomes(query="ferry pass", deadlineMs=1000)["Help centre"]
    assert (outcome["status"], outcome["errorCode"]) == ("failed", "unauthorized")
    file.write_text(new + "\n")
    assert gateway.outcomes(query="ferry pass", deadlineMs=1000)["Help centre"]["status"] == "success"


def test_a_second_rotation_inside_the_window_is_refused_unless_it_is_meant(gateway: Gateway) -> None:
    file = Path(gateway.local["providers"]["public"]["secretFile"])
    file.write_text(rotate(gateway, windowHours=1, replacePending=True) + "\n")
    provider_id = gateway.local["providers"]["public"]["id"]
    refused = gateway.as_admin("POST", f"{PROVIDERS}/{provider_id}/rotate-secret", {"windowHours": 1})
    assert (refused.status, refused.json["code"]) == (409, "rotation_pending")
    assert gateway.outcomes(query="ferry pass", deadlineMs=1000)["Help centre"]["status"] == "success"
