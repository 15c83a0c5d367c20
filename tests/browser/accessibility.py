"""Runs axe-core on a page as it is: in a JavaScript world of its own, where the page's policy does not apply.

Nothing is put into the page, so it keeps the strictest policy, Trusted Types included; shadow trees are looked into.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page

AXE = Path(__file__).resolve().parents[2] / "infra" / "faces" / "node_modules" / "axe-core" / "axe.min.js"
_WORLD = "axe"
# Style sheets are not fetched a second time: the page's own policy would have a say in that.
_RUN = """
axe.run(document, {preload: false, resultTypes: ["violations"]}).then(({violations}) => violations.map(
  (rule) => ({id: rule.id, impact: rule.impact, help: rule.help, targets: rule.nodes.map(
    (node) => `${node.target.flat().join(" >> ")} : ${node.any.concat(node.all, node.none).map(
      (check) => check.message).join(" | ")}`)})))
"""


def violations_of(page: Page) -> list[dict[str, Any]]:
    """What axe-core finds against the page, best practices included: `id`, `impact`, `help`, `targets` of each rule."""
    session = page.context.new_cdp_session(page)
    try:
        world = _world_of(session)
        if not _evaluated(session, world, "typeof axe === 'object'"):
            _evaluated(session, world, _source() + "; 0")
        found: list[dict[str, Any]] = _evaluated(session, world, _RUN)
        return found
    finally:
        session.detach()


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def _world_of(session: CDPSession) -> int:
    frame = session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world: int = session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": _WORLD})["executionContextId"]
    return world


def _evaluated(session: CDPSession, world: int, expression: str) -> Any:
    asked = {"expression": expression, "contextId": world, "awaitPromise": True, "returnByValue": True}
    answer = session.send("Runtime.evaluate", asked)
    if "exceptionDetails" in answer:
        thrown = answer["exceptionDetails"]
        raise AssertionError(thrown.get("exception", {}).get("description") or thrown["text"])
    return answer["result"].get("value")
