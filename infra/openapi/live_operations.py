"""Single operations at hosted live services."""

from __future__ import annotations

from infra.openapi.operation import Operation
from shared.web.acquire_models import AcquireBody, AcquiredOut

LIVE_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("POST", "/api/v1/knowledge/acquire"): Operation(
        id="acquire",
        tag="Search",
        summary="Fetch the text of one approved source",
        description=(
            "One provider of kind exa or firecrawl is asked: the one that `provider` names, else, of those that the "
            "credential may reach and that approve the host exactly, the one of the lowest priority, then the first "
            "registered. When it fails, no other is asked in its place. `fresh` asks for a new fetch; `force` also "
            "fails rather than take a text that was fetched before, and only then is `acquisition` `live`. A redirect "
            "that merely adds or drops a slash at the end keeps the URL; any other shows its `finalUrl` and has the "
            "warning `source_redirected`, and one that leaves the approved hosts gives nothing. Each call is one "
            "operation of the service's allowance, and may be billed by the service."
        ),
        tokens=("agentToken",),
        request=(AcquireBody,),
        answer=(AcquiredOut,),
        problems=(
            "not_found",
            "invalid_source_url",
            "source_not_approved",
            "provider_failed",
            "source_not_found",
            "source_not_readable",
            "source_not_fresh",
            "source_too_large",
            "redirect_not_approved",
            "keys_exhausted",
            "allowance_exhausted",
            "provider_rate_limited",
            "circuit_open",
            "disabled",
            "not_configured",
            "provider_timeout",
        ),
    ),
}
