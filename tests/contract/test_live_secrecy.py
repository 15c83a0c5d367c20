"""Keys, accounts, questions and services' words stay where they belong, whatever happens: three real functions, each in
a process of its own, are led through everything that live services do to them, and all that is left is read again.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.domain.exposure import CredentialClass
from shared.domain.live_configs import ExaConfig
from shared.domain.outcomes import OutcomeCode
from shared.domain.pools import Pool
from shared.domain.registrations import ProviderKind
from tests.contract.leaks import LEAKS
from tests.contract.live_life import ALEXANDRIA, ALLOWANCES, CONFIGS, HOSTS, PROVIDERS, Life
from tests.contract.told import FINGERPRINTS, KEYS, NAMES, NUMBERED, POOLS, Gateway, Told, a_caller, fill_pools, running
from tests.contract.worlds import Clients, StoreWorld
from tests.support import emulator as backend
from tests.support.builders import a_change, an_internal_provider
from tests.support.telltale import (
    HIDDEN,
    KEY,
    LISTED,
    OPTION,
    PRODUCT,
    QUERY,
    REPOSITORY,
    SHOWN,
    TOOL,
    URL,
    told_by,
)

pytestmark = [pytest.mark.emulator]


@pytest.fixture(scope="module")
def environment(emulator: str) -> Iterator[dict[str, str]]:
    with pytest.MonkeyPatch.context() as patch:
        environment = backend.provisioned(emulator, prefix=f"secrecy{secrets.token_hex(4)}")
        for name, value in environment.items():
            patch.setenv(name, value)
        yield environment


@pytest.fixture(scope="module")
def told(environment: dict[str, str], emulator_clients: Clients, tmp_path_factory: pytest.TempPathFactory) -> Told:
    fill_pools(environment)
    store = StoreWorld(emulator_clients, environment)
    agent, admin = a_caller(store), a_caller(store, CredentialClass.ADMIN)
    at = tmp_path_factory.mktemp("functions")
    with running(environment, "search", "live", "admin", at=at) as (told, services):
        gateway = Gateway(told, agent=agent, admin=admin)
        Life(gateway, services, ledger=environment["KG_TABLE_LEDGER_INTERNAL"]).whole()
    return told


# --- that there was something to tell -------------------------------------------------------------


def test_services_heard_every_key_and_whatever_was_asked(told: Told) -> None:
    heard = {kind: "\n".join(texts) for kind, texts in told.services.heard.items()}

    for pool in NAMES:
        assert f"{KEY}-{pool}-first" in heard[pool]
        assert f"{KEY}-{pool}-second" in heard[pool]
    assert {kind: told_by(text) - {KEY, HIDDEN, SHOWN} for kind, text in heard.items()} == {
        "context7": {QUERY, PRODUCT, REPOSITORY},
        "deepwiki": {QUERY, LISTED},
        "exa": {QUERY, URL},
        "firecrawl": {QUERY, URL, OPTION, TOOL},
        "mintlify": {QUERY, PRODUCT},
    }


def test_it_came_to_everything_that_can_happen(told: Told) -> None:
    assert told.codes() >= {
        OutcomeCode.UNAUTHORIZED,
        OutcomeCode.FORBIDDEN,
        OutcomeCode.TIMEOUT,
        OutcomeCode.RATE_LIMITED,
        OutcomeCode.KEYS_EXHAUSTED,
        OutcomeCode.UPSTREAM_ERROR,
        OutcomeCode.INVALID_RESPONSE,
        OutcomeCode.CONNECTION_FAILED,
        OutcomeCode.CAPABILITY_UNAVAILABLE,
        OutcomeCode.NOT_CONFIGURED,
        OutcomeCode.NOT_FOUND,
        OutcomeCode.CIRCUIT_OPEN,
        OutcomeCode.DISABLED,
    }
    statuses = {answered.status for _, answered in told.answers}
    assert statuses >= {200, 201, 404, 422, 502, 503, 504}
    assert told.faults() == []
    assert len(told.errors) > 100


# --- what was told --------------------------------------------------------------------------------


def slips(texts: list[str], *, meant: tuple[str, ...] = ()) -> list[str]:
    """The texts that say what they should not."""
    return [text for text in texts if told_by(text, meant=meant) or any(each in text for each in FINGERPRINTS)]


def test_no_log_line_says_any_of_it(told: Told) -> None:
    assert {line["service"] for line in told.events} == {"search", "live", "admin"}
    assert slips(told.logs) == []


def test_numbers_name_what_is_measured_and_three_ids_and_nothing_else(told: Told) -> None:
    assert {line["Lane"] for line in told.numbers} == {"agent"}
    assert {name for line in told.numbers for name in line} == NUMBERED
    assert {line["Kind"] for line in told.numbers if "Kind" in line} == set(CONFIGS)
    assert {line["Status"] for line in told.numbers if "Status" in line} == {"success", "failed", "skipped"}


def test_nothing_is_said_beside_the_log(told: Told) -> None:
    beside = [process.said_beside for process in told.functions.values()]
    assert slips(beside) == []
    assert not any("Traceback" in text for text in beside)


def test_no_error_says_any_of_it(told: Told) -> None:
    assert slips(told.errors) == []


def test_rows_hold_what_operators_list_the_names_of_tools_and_fingerprints(told: Told) -> None:
    """Fingerprints in the row of a pool alone."""
    for table, rows in told.rows.items():
        assert rows or not table.endswith("internal")
        meant = {"registrations-internal": (LISTED,), "ledger-internal": (TOOL,)}.get(table.partition("-")[2], ())
        assert [row for row in rows if told_by(row, meant=meant)] == []
        assert all("POOL#" in row for row in rows if any(each in row for each in FINGERPRINTS))


def test_audit_entries_name_the_sources_of_a_registration_and_nothing_that_was_asked(told: Told) -> None:
    entries = [row for rows in told.rows.values() for row in rows if "'AUDIT'" in row]

    assert len(entries) > 20
    assert slips(entries, meant=(LISTED,)) == []
    assert slips([entry for entry in entries if "provider." not in entry]) == []


def test_headers_say_none_of_it(told: Told) -> None:
    assert slips([repr(answered.headers) for _, answered in told.answers]) == []


def test_problems_say_none_of_it(told: Told) -> None:
    problems = [answered for _, answered in told.answers if answered.status >= 400]

    assert {answered.headers["Content-Type"] for answered in problems} == {"application/problem+json"}
    assert slips([answered.text for answered in problems]) == []


def test_answers_show_passages_citations_and_results_and_nothing_else(told: Told) -> None:
    """An acquisition repeats its URL, a tool its name; registrations and what DeepWiki says of one name it."""
    fine = [(path, answered.text) for path, answered in told.answers if answered.status < 400]
    acquired = [text for path, text in fine if path.endswith("/acquire")]
    tried = [text for path, text in fine if path.endswith("/test")]
    tools = [text for path, text in fine if path.startswith(ALEXANDRIA)]
    registered = [text for path, text in fine if path.startswith(PROVIDERS) and not path.endswith("/test")]
    audited = [text for path, text in fine if path.endswith("/audit")]
    searched = [text for path, text in fine if path.endswith("/knowledge/search")]
    rest = [text for path, text in fine if path.startswith((POOLS, ALLOWANCES))]

    assert len(fine) == sum(map(len, (acquired, tried, tools, registered, audited, searched, rest)))
    assert slips(searched, meant=(SHOWN, LISTED)) == []
    assert slips(tried, meant=(SHOWN, LISTED, URL)) == []
    assert slips(acquired, meant=(SHOWN, URL)) == []
    assert slips(tools, meant=(SHOWN, TOOL)) == []
    assert slips([*registered, *audited], meant=(LISTED,)) == []
    assert slips(rest) == []
    assert any(SHOWN in text for text in searched)
    assert any(SHOWN in text for text in tools)
    assert any(URL in text for text in acquired)


# --- and that it would be found out ---------------------------------------------------------------


def found_out(told: Told) -> set[str]:
    """Where something was told that should not have been."""
    ledger = [row for rows in told.rows.values() for row in rows]
    places = {
        "log": slips(list(map(json.dumps, told.events))),
        "numbers": slips(list(map(json.dumps, told.numbers))),
        "beside the log": slips([process.said_beside for process in told.functions.values()]),
        "errors": slips(told.errors),
        "rows": [row for row in ledger if told_by(row)],
        "headers": slips([repr(answered.headers) for _, answered in told.answers]),
        "answers": slips([answered.text for _, answered in told.answers], meant=(SHOWN,)),
    }
    return {place for place, texts in places.items() if texts}


@pytest.mark.parametrize(
    ("leak", "place"),
    [
        ("a log line with the key", "log"),
        ("a log line with its account", "log"),
        ("a refusal that is printed", "beside the log"),
        ("a fault in its own words", "log"),
        ("an error with the service's words", "errors"),
        ("a row with an account", "rows"),
        ("a header with the query", "headers"),
        ("an answer with a fingerprint", "answers"),
        ("a number with the query", "numbers"),
        (None, None),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
def test_a_leak_is_found_out(
    environment: dict[str, str],
    store: StoreWorld,
    aws_environment: dict[str, str],
    tmp_path: Path,
    leak: str,
    place: str,
) -> None:
    """One search whose first key is refused, by a gateway that says too much in one way; the last one does not."""
    fill_pools(aws_environment, {Pool.EXA: KEYS[Pool.EXA]})
    kind = an_internal_provider(
        kind=ProviderKind.EXA,
        config=ExaConfig(approved_hosts=tuple(HOSTS)),
        base_url="https://api.exa.ai",
        signing=None,
    )
    asyncio.run(store.registry().create(kind, a_change()))
    agent = a_caller(store)
    with running(aws_environment, "search", at=tmp_path, leak=leak) as (told, services):
        services.mode = "failover"
        assert Gateway(told, agent=agent, admin="").search().status == 200

    assert found_out(told) == ({place} if place else set())


def test_every_leak_is_tried() -> None:
    assert len(LEAKS) == 9
