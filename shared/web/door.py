"""The door of a function behind a distribution: what did not come through that gets no further."""

from __future__ import annotations

from shared.domain.front import FRONT_HEADER, VIEWER_HEADER, viewer_address
from shared.errors import NotThroughFront
from shared.ports.front_door import FrontDoor
from shared.web.events import Event


def let_in(event: Event, front: FrontDoor) -> Event:
    """The event as functions behind know it: from the address that the distribution saw, which is believed here and
    nowhere else, and without what it showed. Raises `NotThroughFront` and `Unavailable`.
    """
    headers = dict(event["headers"])
    if not front.admits(headers.pop(FRONT_HEADER, "")):
        raise NotThroughFront("Use the public address of this API.")
    context = event["requestContext"]
    seen = viewer_address(headers.get(VIEWER_HEADER, ""))
    http = {**context["http"], "sourceIp": seen or context["http"]["sourceIp"]}
    return {**event, "headers": headers, "requestContext": {**context, "http": http}}
