"""What a function does not load before it is asked something, each in a process that sees what ships and no more. A
module that is loaded in vain costs every cold start, and nobody sees it.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest

from tests.bench.fresh import FUNCTIONS, fresh
from tests.unit.test_long_lived import AWS, GATEWAY

CLIENT_LIBRARIES: Final = ("boto3", "botocore.session", "urllib3", "s3transfer")
COMMAND_LINES: Final = ("click", "rich", "pygments")
NO_FUNCTION_LOADS: Final = (
    *CLIENT_LIBRARIES,
    *COMMAND_LINES,
    "mcp",
    "aws_xray_sdk",
    "ahocorasick_rs",
    "aws_lambda_powertools.utilities.parser",
    "pydantic.v1",
    "infra",
    "tests",
)
HTTP_CLIENTS: Final = ("httpx", "httpcore", "h11", "anyio")
LIVE: Final = ("shared.assembly.live_askers", "shared.providers.exa", "shared.providers.context7")
SERVERS: Final = ("shared.assembly.server_askers", "shared.providers.dify", "shared.providers.mcp_client")
GLOSSARY: Final = ("shared.domain.lookups", "shared.web.card_answers", "shared.web.customer_card_answers")
OF_ADMINS: Final = ("shared.web.provider_models", "shared.web.card_models", "shared.domain.credential_rules")
DOES_NOT_LOAD: Final = {
    "search": (*LIVE, *SERVERS, *GLOSSARY, *OF_ADMINS, "functions.search.dify", "shared.web.dify_answers"),
    "widget": (*LIVE, *SERVERS, *GLOSSARY, *OF_ADMINS, "shared.domain.cards"),
    "lookup": (*LIVE, *SERVERS, *OF_ADMINS, *HTTP_CLIENTS, "shared.adapters.exchanges", "shared.web.agent_answers"),
    "live": (*SERVERS, *GLOSSARY, *OF_ADMINS, "shared.web.agent_answers"),
    "mcp": (*LIVE, *SERVERS, *OF_ADMINS),
    "assets": (*LIVE, *SERVERS, *GLOSSARY, *OF_ADMINS, *HTTP_CLIENTS, "shared.adapters.aws"),
    "admin": ("shared.web.agent_answers", "shared.web.customer_answers", "shared.web.mcp"),
    "probe": (*LIVE, *GLOSSARY, *OF_ADMINS, "shared.web.agent_answers", "shared.web.customer_answers"),
}


def test_every_function_has_its_list() -> None:
    assert sorted(DOES_NOT_LOAD) == sorted(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_loads_nothing_in_vain(name: str) -> None:
    modules = loaded(name)
    forbidden = (*NO_FUNCTION_LOADS, *DOES_NOT_LOAD[name])
    assert [module for module in modules if module.startswith(tuple(f"{room}." for room in forbidden))] == []
    assert sorted(set(modules) & set(forbidden)) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_list_names_what_there_is(name: str) -> None:
    """A module that was moved would be looked for in vain."""
    ours = [module for module in DOES_NOT_LOAD[name] if module.startswith(("shared.", "functions."))]
    fresh("from importlib.util import find_spec\n" + f"assert all(map(find_spec, {ours!r}))", AWS)


@cache
def loaded(name: str) -> tuple[str, ...]:
    code = f"import sys, functions.{name}.handler\nprint(*sys.modules)"
    return tuple(fresh(code, {**AWS, **GATEWAY}).stdout.split())
