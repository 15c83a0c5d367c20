"""`kgw status`: what it prints, what it ends with, and whom it asks."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from infra.cli import status
from infra.cli.http import Answer, Client, Declined, Unreachable
from infra.cli.main import main
from infra.cli.status_text import all_text, one_text
from infra.cli.terminal import Lines, say
from infra.openapi.health_examples import HEALTH_ANSWERS
from shared.web.health_models import HealthShown, OneHealthShown

NOW = datetime.fromisoformat("2026-09-21T14:13:38.000Z")
WELL = {"state": "closed", "failures": 0, "openUntil": None, "lastCode": None, "lastAt": None}
DOWN: dict[str, Any] = HEALTH_ANSWERS["HealthShown"]["providers"][0]


def a_provider(name: str, state: str = "healthy", **over: Any) -> dict[str, Any]:
    known = {
        "id": "ao_k3j5mq2x7a4bwz6t",
        "name": name,
        "exposureProfile": "agent_only",
        "state": state,
        "since": None,
        "code": None,
        "retryAt": None,
        "circuits": {"agent": WELL, "customer": None},
    }
    return DOWN | known | over


def all_of(*providers: dict[str, Any], **over: Any) -> dict[str, Any]:
    told = HEALTH_ANSWERS["HealthShown"] | {"providers": list(providers)} | over
    HealthShown.model_validate_json(json.dumps(told))  # what the gateway could say
    return told


def shown(*providers: dict[str, Any], **over: Any) -> list[str]:
    return text_of(all_text(all_of(*providers, **over), now=NOW)).splitlines()


def text_of(lines: Lines) -> str:
    """What is printed of them."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        say(*lines)
    return printed.getvalue()


# --- the table -----------------------------------------------------------------------------------


def test_all_is_seen_at_a_glance() -> None:
    lines = shown(
        DOWN,
        a_provider("Docs, live", "limited", kind="exa", code="keys_exhausted", retryAt="2026-09-21T15:20:00.000Z"),
        a_provider("渡轮手册", kind="ragflow", warnings=["capabilities_changed"]),
        a_provider("Wiki", "unchecked", kind="context7", looked="nothing"),
        a_provider("New", "unchecked", looked=None),
        a_provider("Old", "disabled", status="disabled", code="disabled"),
        pools=[
            *HEALTH_ANSWERS["HealthShown"]["pools"],
            {
                "pool": "deepwiki",
                "takesKeys": False,
                "configured": 0,
                "usable": 0,
                "resting": 0,
                "retryAt": "2026-09-21T14:15:00.000Z",
                "allowance": None,
            },
        ],
    )

    assert lines == [
        "DEGRADED; 6 providers: 1 down, 1 limited, 1 healthy, 2 unchecked, 1 disabled; looked 3 min ago",
        "",
        "STATE      PROVIDER     KIND      SINCE  WHY                   AGAIN",
        "down       Help centre  contract  18 s   connection_failed     in 12 s",
        "limited    Docs, live   exa              keys_exhausted        in 1 h",
        "healthy    渡轮手册     ragflow          capabilities changed",
        "unchecked  Wiki         context7         nothing to look at",
        "unchecked  New          contract         not looked at",
        "disabled   Old          contract",
        "",
        "POOL      KEYS           AGAIN     ALLOWANCE",
        "exa       2 of 3 usable            214 of 1000 used, 1 of them unknown",
        "deepwiki  takes none     in 1 min  unknown",
    ]


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"checkedAt": None, "run": None, "stale": True}, "nobody has looked yet"),
        ({"checkedAt": "2026-09-21T11:00:00.000Z", "stale": True}, "looked 3 h ago, which is too long"),
        ({"unavailable": ["customer_circuits", "keys"]}, "cannot be read now: customer circuits, keys"),
        ({"run": {**HEALTH_ANSWERS["HealthShown"]["run"], "leftOut": 2}}, "2 left out for want of time"),
    ],
    ids=["no-run", "stale", "unread", "left-out"],
)
def test_what_is_not_known_is_in_the_first_line(over: dict[str, Any], words: str) -> None:
    assert words in shown(DOWN, **over)[0]


def test_without_providers_there_is_no_table() -> None:
    assert shown(status="healthy", pools=[]) == ["HEALTHY; no providers; looked 3 min ago"]


def test_pools_that_cannot_be_read_are_unknown() -> None:
    pool = HEALTH_ANSWERS["HealthShown"]["pools"][0]
    unread = pool | dict.fromkeys(("configured", "usable", "resting", "retryAt", "allowance"))

    assert shown(pools=[unread])[-1].split() == ["exa", "unknown", "unknown"]
    assert shown(pools=[pool | {"configured": 0, "usable": 0, "resting": 0}])[-1].split()[:2] == ["exa", "none"]


def test_names_steer_no_terminal_and_do_not_break_the_table() -> None:
    lines = shown(a_provider("\x1b[2Jx" + "y" * 60, "failing", since="2026-09-21T14:13:00.000Z"))

    assert "\x1b" not in "".join(lines)
    assert f" [2Jx{'y' * 24}…  contract  38 s" in lines[3]


def test_times_ahead_of_this_clock_are_now() -> None:
    lines = shown(a_provider("Fast", "failing", since="2026-09-21T14:20:00.000Z", retryAt="2026-09-21T14:13:38.500Z"))

    assert lines[3].split()[3:] == ["0", "s", "now"]


def test_colour_says_nothing_that_is_not_said_without_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = all_text(all_of(DOWN, a_provider("Wiki")), now=NOW)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    say(*told)
    coloured = capsys.readouterr().out

    assert "\x1b[31mdown   \x1b[0m" in coloured
    without = coloured
    for code in ("31", "32", "33", "0"):
        without = without.replace(f"\x1b[{code}m", "")
    assert without == text_of(told)


# --- one provider --------------------------------------------------------------------------------


def test_one_provider_is_told_with_what_has_happened_to_it() -> None:
    told = HEALTH_ANSWERS["OneHealthShown"]
    lines = text_of(one_text(told, now=NOW)).splitlines()

    assert lines == [
        "Help centre  cs_k3j5mq2x7a4bwz6t  contract  customer_safe",
        "  down, for 18 s, connection_failed, again in 12 s",
        f"  {told['provider']['explanation']}",
        "  looked at: capabilities; last well 3 min ago",
        "  looked 3 min ago",
        "  agents: open, 3 failed in a row, connection_failed 18 s ago, again in 12 s",
        "  customers: closed",
        "",
        "AGO   LANE   WHAT            STATE  WHY",
        "18 s  agent  circuit opened  open   connection_failed",
    ]


def test_one_to_which_nothing_has_happened() -> None:
    told = HEALTH_ANSWERS["OneHealthShown"] | {
        "history": [],
        "provider": a_provider("Wiki", looked=None, lastWellAt=None),
    }
    OneHealthShown.model_validate_json(json.dumps(told))
    lines = text_of(one_text(told, now=NOW)).splitlines()

    assert lines[-1] == "Nothing has happened to it in 30 days."
    assert "  not looked at yet; never seen well" in lines


def test_of_one_that_is_well_it_says_for_how_long_looks_have_said_so_and_no_more() -> None:
    told = HEALTH_ANSWERS["OneHealthShown"] | {
        "provider": a_provider("Wiki", looked="capabilities", lastWellAt="2026-09-19T14:00:00.000Z"),
    }
    lines = text_of(one_text(told, now=NOW)).splitlines()

    assert lines[1] == "  healthy"
    assert "  looked at: capabilities; every look has gone well for 2 d" in lines


def test_an_agent_that_is_told_no_counts_is_shown_none() -> None:
    run = HEALTH_ANSWERS["HealthShown"]["run"] | {"lookedAt": None, "leftOut": None}

    assert shown(DOWN, run=run)[0] == "DEGRADED; 1 providers: 1 down; looked 3 min ago"


# --- the command ---------------------------------------------------------------------------------


class Gateway:
    """Answers every call with the next of `answers`; notes what was asked."""

    url = "https://gateway.example.com"
    understood = Client.understood

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def call(self, method: str, path: str) -> Answer:
        self.asked.append(f"{method} {path}")
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Answer(200, answer, None)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Gateway]:
    def serving(*answers: dict[str, Any] | Exception) -> Gateway:
        gateway = Gateway(*answers)
        monkeypatch.setattr(status, "client_as", lambda *_callers, profile: gateway)
        return gateway

    return serving


@pytest.mark.parametrize(("whole", "code"), [("healthy", 0), ("degraded", 3), ("down", 3)])
@pytest.mark.parametrize("arguments", [[], ["--json"]], ids=["text", "json"])
def test_it_ends_with_how_all_are(
    serve: Callable[..., Gateway], whole: str, code: int, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    gateway = serve(all_of(DOWN, status=whole))

    assert main(["status", *arguments]) == code
    assert gateway.asked == ["GET /api/v1/knowledge/health"]
    printed = capsys.readouterr().out
    assert (json.loads(printed)["status"] == whole) if arguments else printed.startswith(whole.upper())
    assert "\x1b" not in printed


@pytest.mark.parametrize("failure", [Unreachable("Nothing answers."), Declined(401, "unauthenticated", "No.")])
def test_it_ends_with_1_when_the_gateway_cannot_be_asked(
    serve: Callable[..., Gateway], failure: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    serve(failure)

    assert main(["status"]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.startswith("kgw: ")) == ("", True)


def test_one_provider_is_asked_for_by_its_id_and_nothing_else_of_the_path(serve: Callable[..., Gateway]) -> None:
    gateway = serve(HEALTH_ANSWERS["OneHealthShown"])

    assert main(["status", "cs_k3j5mq2x7a4bwz6t"]) == 3
    main(["status", "../providers?x"])
    assert gateway.asked == [
        "GET /api/v1/knowledge/health/cs_k3j5mq2x7a4bwz6t",
        "GET /api/v1/knowledge/health/..%2Fproviders%3Fx",
    ]


def test_it_is_asked_again_until_it_is_interrupted(
    serve: Callable[..., Gateway], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(status.time, "sleep", sleep)
    serve(all_of(DOWN), all_of(a_provider("Wiki"), status="healthy"))

    assert main(["status", "--watch", "7", "--json"]) == 0
    assert waits == [7, 7]
    assert [json.loads(line)["status"] for line in capsys.readouterr().out.splitlines()] == ["degraded", "healthy"]


@pytest.mark.parametrize(("said_s", "waited_s"), [(23.0, 23.0), (3.0, 7.0), (None, 7.0)], ids=["more", "less", "none"])
def test_one_that_is_asked_too_often_is_watched_on_as_soon_as_it_allows(
    serve: Callable[..., Gateway],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    said_s: float | None,
    waited_s: float,
) -> None:
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(status.time, "sleep", sleep)
    too_often = Declined(429, "rate_limited", "Wait for the next minute.", retry_after_s=said_s)
    serve(too_often, all_of(a_provider("Wiki"), status="healthy"))

    assert main(["status", "--watch", "7"]) == 0
    assert waits == [waited_s, 7]
    told = capsys.readouterr()
    assert told.out.startswith("HEALTHY")
    assert told.err == f"kgw: 429 rate_limited: Wait for the next minute. Asked again in {waited_s:.0f} s.\n"


def test_a_watch_that_was_never_answered_does_not_end_well(
    serve: Callable[..., Gateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(status.time, "sleep", interrupted)
    serve(Declined(429, "rate_limited", "Wait."))

    assert main(["status", "--watch", "7"]) == 130


@pytest.mark.parametrize("seconds", ["0", "-1", "1.5", "3601", "x"])
def test_it_is_not_asked_at_any_other_pace(seconds: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["status", "--watch", seconds])
    assert ended.value.code == 2


@pytest.mark.parametrize(("no_color", "is_coloured"), [("", True), ("1", False)])
def test_colours_are_for_terminals_whose_owner_wants_them(
    serve: Callable[..., Gateway],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    no_color: str,
    is_coloured: bool,
) -> None:
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    serve(all_of(DOWN))

    main(["status"])
    assert ("\x1b[" in capsys.readouterr().out) is is_coloured


def test_the_token_of_an_agent_may_ask_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KGW_URL", "https://gateway.example.com")
    monkeypatch.setenv("KGW_TOKEN", "kg_agt_demo")
    asked: list[tuple[str, str]] = []

    def call(self: Client, _method: str, _path: str) -> Answer:
        asked.append((self.url, self.token))
        return Answer(200, all_of(DOWN), None)

    monkeypatch.setattr(Client, "call", call)
    assert main(["status"]) == 3
    assert asked == [("https://gateway.example.com", "kg_agt_demo")]
