"""LiteLLM's proxy, as its command starts it, with one search tool for each provider.

A tool is of its kind `perplexity`, whose answers have the fields of LiteLLM's own: it passes on what the provider says
and makes no shape of it. Settings: one worker of uvicorn, production mode, errors alone logged, no database, no cache,
no retries; the table of prices is the one in the package, so that nothing is fetched; the admin's key authenticates.
`python litellm_search.py PORT`; PEER_PROVIDERS is JSON, name -> base URL. Runs in the peers' environment.
"""

from __future__ import annotations

import json
import os
import sys

from tether import leave_with_parent

TIMEOUT_S = float(os.environ["PEER_TIMEOUT_S"])
PROVIDERS = json.loads(os.environ["PEER_PROVIDERS"])


def config() -> dict[str, object]:
    """JSON is YAML as well."""
    tools = [
        {
            "search_tool_name": name,
            "litellm_params": {
                "search_provider": "perplexity",
                "api_base": url,
                "api_key": "none",
                "timeout": TIMEOUT_S,
            },
        }
        for name, url in PROVIDERS.items()
    ]
    return {
        "search_tools": tools,
        "general_settings": {"master_key": "os.environ/LITELLM_MASTER_KEY"},
        "litellm_settings": {"num_retries": 0, "request_timeout": TIMEOUT_S},
    }


if __name__ == "__main__":
    leave_with_parent()
    # In memory: ended by a signal, it could remove no file. Where peers are measured there is /proc.
    file = os.memfd_create("config")
    os.write(file, json.dumps(config()).encode())
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION", "LITELLM_LOG": "ERROR"}
    sys.argv = [
        "litellm",
        "--config",
        f"/proc/self/fd/{file}",
        "--host",
        "127.0.0.1",
        "--port",
        sys.argv[1],
        "--num_workers",
        "1",
    ]
    from litellm_cli.main import proxy_server

    proxy_server()
