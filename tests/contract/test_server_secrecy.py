"""Credentials, questions and servers' words stay where they belong, whatever self-hosted servers do: the search, the
widget's and the admin function, each in a process of its own, are led through all of it, and all that is left is read
again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared.domain.exposure import CredentialClass, Grant
from shared.domain.outcomes import OutcomeCode
from tests.contract.server_leaks import SERVER_LEAKS
from tests.contract.server_life import AUDIT, DIFY, LANES, NOT_OURS, PRODUCTS, WIDGET, Life, Tokens, key_of
from tests.contract.told import NUMBERED, SEARCH, Gateway, Told, a_caller, rows_of, running_before
from tests.contract.worlds import Clients, StoreWorld
from tests.support import emulator as backend
from tests.support.admin_stage import INSTANCES, PROVIDERS, Answered
from tests.support.indiscreet_servers import KINDS, OURS_NEVER, Servers, indiscreet_servers
from tests.support.search_stage import ORIGIN
from tests.support.telltale import KEY, NAMED, QUERY, REMOTE, SHOWN, told_by

pytestmark = [pytest.mark.emulator]


@dataclass(frozen=True, slots=True)
class Lived:
    """A gateway to which everything has happened."""

    environment: dict[str, str]
    servers: Servers
    tokens: Tokens
    told: Told
    relayed: list[Answered]


@pytest.fixture(scope="module")
def lived(emulator: str, emulator_clients: Clients, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    with pytest.MonkeyPatch.context() as patch, indiscreet_servers() as servers:
        environment = backend.provisioned(emulator, prefix=f"servers{secrets.token_hex(4)}")
        for name, value in environment.items():
            patch.setenv(name, value)
        store = StoreWorld(emulator_clients, environment)
        tokens = Tokens(
            agent=a_caller(store, grants=frozenset({Grant.EXTERNAL_KNOWLEDGE_AGENT})),
            assistant=a_caller(store, CredentialClass.ASSISTANT, grants=frozenset({Grant.READ_PUBLIC})),
            widget=a_caller(store, CredentialClass.PUBLIC, origins=(ORIGIN,)),
        )
        admin, at = a_caller(store, CredentialClass.ADMIN), tmp_path_factory.mktemp("functions")
        with running_before(servers, environment, "search", "widget", "admin", at=at) as told:
            life = Life(Gateway(told, agent=tokens.agent, admin=admin), servers, tokens)
            life.whole()
        yield Lived(environment, servers, tokens, told, life.relayed)


@pytest.fixture(scope="module")
def told(lived: Lived) -> Told:
    return lived.told


# --- that there was something to tell -------------------------------------------------------------


def test_servers_heard_every_credential_and_the_questions(told: Told) -> None:
    heard = {kind: "\n".join(texts) for kind, texts in told.services.heard.items()}

    assert set(heard) == set(KINDS)
    assert {kind: told_by(text) for kind, text in heard.items()} == {each: {KEY, QUERY, REMOTE} for each in KINDS}
    assert all(f"Bearer {key_of(kind, lane)}" in heard[kind] for kind in KINDS for lane in LANES)
    assert all(f"Bearer {key_of(kind, 'agent_only', number=2)}" in heard[kind] for kind in PRODUCTS)


def test_it_came_to_everything_that_can_happen(told: Told) -> None:
    assert told.codes() >= {
        OutcomeCode.UNAUTHORIZED,
        OutcomeCode.FORBIDDEN,
        OutcomeCode.TIMEOUT,
        OutcomeCode.RATE_LIMITED,
        OutcomeCode.UPSTREAM_ERROR,
        OutcomeCode.INVALID_RESPONSE,
        OutcomeCode.CONNECTION_FAILED,
        OutcomeCode.QUERY_TOO_LONG,
        OutcomeCode.NOT_FOUND,
        OutcomeCode.CIRCUIT_OPEN,
        OutcomeCode.DISABLED,
    }
    statuses = {answered.status for _, answered in told.answers}
    assert statuses >= {200, 201, 404, 409, 422, 424, 502, 503}
    assert told.faults() == []
    assert len(told.errors) > 100


# --- what was told --------------------------------------------------------------------------------


def slips(texts: list[str], *, meant: tuple[str, ...] = ()) -> list[str]:
    """The texts that say what they should not."""
    return [text for text in texts if told_by(text, meant=meant)]


def test_no_log_line_says_any_of_it(told: Told) -> None:
    assert {line["service"] for line in told.events} == {"search", "widget", "admin"}
    assert slips(told.logs) == []


def test_numbers_name_what_is_measured_and_three_ids_and_nothing_else(told: Told) -> None:
    assert {line["Lane"] for line in told.numbers} == {"agent", "customer"}
    assert {name for line in told.numbers for name in line} == NUMBERED
    assert {line["Kind"] for line in told.numbers if "Kind" in line} == set(KINDS)
    assert {line["Status"] for line in told.numbers if "Status" in line} == {"success", "failed", "skipped"}


def test_nothing_is_said_beside_the_log(told: Told) -> None:
    beside = [process.said_beside for process in told.functions.values()]
    assert slips(beside) == []
    assert not any("Traceback" in text for text in beside)


def test_no_error_says_any_of_it(told: Told) -> None:
    assert slips(told.errors) == []


def test_rows_hold_the_ids_of_knowledge_bases_and_copies_of_their_names_and_nothing_else(told: Told) -> None:
    """A copy of the name is for showing; it is in bindings alone. Credentials are there, sealed."""
    every = [row for rows in told.rows.values() for row in rows]
    registered = [row for table, rows in told.rows.items() if "-registrations-" in table for row in rows]
    named = [row for row in every if NAMED in told_by(row)]

    assert slips(every, meant=(REMOTE, NAMED)) == []
    assert len(named) == len(PRODUCTS) * len(LANES)
    assert all(row in registered and "'remote_name'" in row for row in named)
    assert sum("'ciphertext'" in row for row in registered) >= len(KINDS) * len(LANES) - len(PRODUCTS)


def test_audit_entries_say_which_knowledge_was_bound_and_no_more(told: Told) -> None:
    entries = [row for rows in told.rows.values() for row in rows if "'AUDIT'" in row]

    assert len(entries) >= 20
    assert slips(entries, meant=(REMOTE,)) == []
    assert slips([entry for entry in entries if "provider." not in entry]) == []


def test_headers_say_none_of_it(told: Told) -> None:
    assert slips([repr(answered.headers) for _, answered in told.answers]) == []


def test_no_server_makes_a_caller_log_in_again(lived: Lived) -> None:
    """Whatever a server says of the gateway's credential is no word about the caller's."""
    headers = {name.lower() for _, answered in lived.told.answers for name in answered.headers}

    assert len(lived.relayed) > len(OURS_NEVER) * 15
    assert NOT_OURS & {answered.status for answered in lived.relayed} == set()
    assert headers & {"www-authenticate", "proxy-authenticate", "set-cookie", "x-version"} == set()


def test_problems_say_none_of_it(told: Told) -> None:
    problems = [answered.text for _, answered in told.answers if answered.status >= 400]

    assert len(problems) > 50
    assert slips(problems) == []


def test_answers_show_passages_catalog_entries_and_what_operators_registered(told: Told) -> None:
    fine = [(path, answered.text) for path, answered in told.answers if answered.status < 400]
    searched = [text for path, text in fine if path in (SEARCH, WIDGET, DIFY)]
    listed = [text for path, text in fine if "/catalog" in path]
    registered = [text for path, text in fine if path.startswith(PROVIDERS)]
    rest = [text for path, text in fine if path.startswith(INSTANCES) and "/catalog" not in path]
    audited = [text for path, text in fine if path == AUDIT]

    assert len(fine) == sum(map(len, (searched, listed, registered, rest, audited)))
    assert slips(searched, meant=(SHOWN,)) == []
    assert slips(listed, meant=(SHOWN, NAMED, REMOTE)) == []
    assert slips(registered, meant=(SHOWN, NAMED, REMOTE)) == []
    assert slips(rest) == []
    assert slips(audited, meant=(REMOTE,)) == []


def test_every_path_showed_passages_of_every_kind(told: Told) -> None:
    shown = {
        path: max(a.text.count(f'"{SHOWN}"') for p, a in told.answers if p == path) for path in (SEARCH, WIDGET, DIFY)
    }
    assert all(count >= len(KINDS) for count in shown.values()), shown


# --- and that it would be found out ---------------------------------------------------------------


def found_out(told: Told, *, before: dict[str, list[str]]) -> set[str]:
    """Where something was told that should not have been."""
    known = {row for rows in before.values() for row in rows}
    left = [row for rows in told.rows.values() for row in rows if row not in known]
    answered = [answered for _, answered in told.answers]
    places = {
        "log": slips(told.logs),
        "beside the log": slips([process.said_beside for process in told.functions.values()]),
        "errors": slips(told.errors),
        "rows": slips(left),
        "headers": slips([repr(each.headers) for each in answered]),
        "statuses": [each.status for each in answered if each.status in NOT_OURS],
        "answers": slips([each.text for each in answered], meant=(SHOWN,)),
    }
    return {place for place, texts in places.items() if texts}


PLACES = {
    "a log line with the credential of a server": "log",
    "an error with a server's words": "errors",
    "a refusal of a server that is printed": "beside the log",
    "an answer with the query": "answers",
    "a row with the query": "rows",
    "a header of a server": "headers",
    "a status of a server": "statuses",
}


def test_leaks_are_found_out_each_in_its_place(lived: Lived, tmp_path: Path) -> None:
    """One search that succeeds and one that is refused, by a gateway that says too much in seven places."""
    before, leak = rows_of(lived.environment), " + ".join(PLACES)
    with running_before(lived.servers, lived.environment, "search", at=tmp_path, leak=leak) as told:
        gateway = Gateway(told, agent=lived.tokens.agent, admin="")
        for mode in ("ok", "unauthorized"):
            lived.servers.mode = mode
            gateway.call("search", SEARCH, {"query": f"fares {QUERY}"})

    assert SHOWN in told.answers[0][1].text
    assert found_out(told, before=before) == set(PLACES.values())


def test_every_leak_is_tried_and_each_has_a_place_of_its_own() -> None:
    assert set(PLACES) == set(SERVER_LEAKS)
    assert len(set(PLACES.values())) == len(PLACES)
