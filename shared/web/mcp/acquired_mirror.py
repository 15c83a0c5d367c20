"""What an acquisition brought, as text. Shows its wire model and nothing beside it."""

from __future__ import annotations

from shared.web.acquire_models import AcquiredOut
from shared.web.mcp.mirror import UNTRUSTED, Mirror
from shared.web.mcp.mirrors import address, provider_words
from shared.web.mcp.quoting import Fences, named


def acquired_mirror(out: AcquiredOut) -> Mirror:
    title = named(out.title) if out.title else "(no title)"
    text = Fences.around([out.text]).put(out.text, name="the text")
    return Mirror(head=f"The text of {title}. {UNTRUSTED}\n{' · '.join(_facts(out))}", blocks=[text])


def _facts(out: AcquiredOut) -> list[str]:
    return [
        f"source: {provider_words(out.provider)}",
        f"url: {address(out.final_url)}",
        *([f"asked for: {address(out.url)}"] if out.url != out.final_url else []),
        f"evidence: {out.evidence}",
        f"acquisition: {out.acquisition}",
        *(["truncated: the text goes on"] if out.truncated else []),
        *([f"warnings: {', '.join(out.warnings)}"] if out.warnings else []),
    ]
