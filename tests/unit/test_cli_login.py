"""`kgw login`, `logout` and `profiles`: what is kept and how, where a token goes, and that none is ever shown."""

from __future__ import annotations

import contextlib
import getpass
import io
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.cli import profiles, stack_login
from infra.cli.main import main
from infra.openapi.health_examples import HEALTH_ANSWERS
from tests.support.scripted_gateway import Answered, ScriptedGateway, scripted_gateway

ADMIN_ID, AGENT_ID = "k3j5mq2x7a4bwz6t", "m3j5mq2x7a4bwz6t"
ADMIN = f"kg_adm_{ADMIN_ID}_{'a1' * 32}"
AGENT = f"kg_agt_{AGENT_ID}_{'b2' * 32}"
ROOT = f"kg_adm_root_{'c3' * 32}"
LOCAL_TOKEN = f"kg_adm_root_{'d4' * 32}"
SHOWN = {"id": ADMIN_ID, "class": "adm", "expiresAt": "2027-01-31T00:00:00.000Z"}
HEALTH = "/api/v1/knowledge/health"
PROVIDERS = "/api/v1/knowledge/providers?limit=100"


@pytest.fixture
def gateway() -> Iterator[ScriptedGateway]:
    with scripted_gateway() as gateway:
        gateway.will(f"GET /api/v1/credentials/{ADMIN_ID}", SHOWN)
        gateway.will(f"GET {HEALTH}", HEALTH_ANSWERS["HealthShown"])
        gateway.will(f"GET {PROVIDERS}", {"providers": [], "nextCursor": None})
        yield gateway


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somewhere to keep profiles, and a directory in which no gateway runs."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


@pytest.fixture
def file(home: Path) -> Path:
    return home / "config" / "kgw" / "profiles.json"


Typed = Callable[..., int]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Runs a command with something on its standard input."""

    def run(*arguments: str, given: str = "") -> int:
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        return main(list(arguments))

    return run


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


# --- logging in ----------------------------------------------------------------------------------


def test_a_token_off_standard_input_is_proven_and_kept_for_its_owner_alone(
    gateway: ScriptedGateway, typed: Typed, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("login", gateway.url, "--profile", "work", given=ADMIN + "\n") == 0

    told = capsys.readouterr()
    assert told.out == (
        f"Logged in to {gateway.url} as admin ({ADMIN_ID}, until 2027-01-31T00:00:00.000Z).\n"
        f"The profile work is kept in {file}, which you alone can read.\n"
    )
    assert ADMIN not in told.out + told.err
    assert (mode_of(file), mode_of(file.parent)) == (0o600, 0o700)
    assert [each.name for each in file.parent.iterdir()] == ["profiles.json"]
    assert [each.token for each in gateway.asked] == [ADMIN]
    assert json.loads(file.read_text())["default"] == "work"


def test_at_a_terminal_it_is_asked_for_without_an_echo(
    gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    asked: list[str] = []

    def quietly(prompt: str, stream: object) -> str:
        asked.append(prompt)
        assert stream is sys.stderr
        return ADMIN

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(getpass, "getpass", quietly)

    assert main(["login", gateway.url]) == 0
    assert asked == ["The token of an admin or an agent (it is not shown): "]
    assert ADMIN in file.read_text()


def test_a_profile_has_room_for_an_admin_and_an_agent(
    gateway: ScriptedGateway, typed: Typed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_TOKEN", AGENT)
    assert typed("login", gateway.url, given=ADMIN) == 0
    assert typed("login", gateway.url, "--token-env", "MY_TOKEN") == 0
    capsys.readouterr()

    assert typed("profiles", "--json") == 0
    told = capsys.readouterr().out
    assert json.loads(told)["profiles"] == [
        {
            "name": "default",
            "url": gateway.url,
            "isDefault": True,
            "credentials": {"admin": ADMIN_ID, "agent": AGENT_ID},
            "expiresAt": {"admin": "2027-01-31T00:00:00.000Z", "agent": None},
        }
    ]
    assert "kg_" not in told


def test_another_gateway_under_the_same_name_takes_its_place_with_no_token_of_the_old_one(
    gateway: ScriptedGateway, typed: Typed, file: Path
) -> None:
    with scripted_gateway() as other:
        other.will(f"GET {HEALTH}", HEALTH_ANSWERS["HealthShown"])
        typed("login", gateway.url, given=ADMIN)
        assert typed("login", other.url, given=AGENT) == 0
        assert list(json.loads(file.read_text())["profiles"]["default"]["tokens"]) == ["agent"]
        assert ADMIN not in file.read_text()


BAD_TOKENS = {
    "nothing": "",
    "assistant": f"kg_ast_{ADMIN_ID}_{'e5' * 32}",
    "widget": f"kg_pub_{ADMIN_ID}_{'e5' * 32}",
    "something": "s3cret-e5e5e5",
    "blank-inside": f"{ADMIN[:40]} {ADMIN[40:]}",
    "not-ascii": f"{ADMIN}é",
    "another-path": f"kg_adm_../../x_{'e5' * 32}",
}


@pytest.mark.parametrize("token", BAD_TOKENS.values(), ids=BAD_TOKENS)
def test_what_is_no_token_of_an_admin_or_an_agent_is_sent_nowhere(
    gateway: ScriptedGateway, typed: Typed, file: Path, capsys: pytest.CaptureFixture[str], token: str
) -> None:
    assert typed("login", gateway.url, given=token) == 1
    told = capsys.readouterr()
    assert told.err.startswith("kgw: ")
    assert "e5e5" not in told.out + told.err
    assert (gateway.asked, file.exists()) == ([], False)


@pytest.mark.parametrize(
    "url",
    [
        "http://gateway.example.com",
        "http://10.0.0.1",
        "http://127.0.0.1.example.com",
        "gateway.example.com",
        "ftp://gateway.example.com",
        "https://me:secret@gateway.example.com",
        "https://gateway.example.com/?x=1",
        "https://",
    ],
)
def test_where_others_could_read_it_no_token_is_even_asked_for(
    typed: Typed, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # whoever asks fails

    assert main(["login", url]) == 1
    assert capsys.readouterr().err.startswith("kgw: The URL wants ")


NO_PROOF: dict[str, Any] = {
    "refused": Answered({"code": "unauthenticated", "detail": "No."}, 401),
    "forbidden": Answered({"code": "forbidden", "detail": "No."}, 403),
    "elsewhere": Answered(None, 302, {"Location": "https://elsewhere.example"}),
    "another-class": {**SHOWN, "class": "agt"},
    "another-one": {**SHOWN, "id": "root"},
    "page": Answered(b"<html>welcome</html>"),
    "anything": {"ok": True},
    "nothing": Answered(None),
}


@pytest.mark.parametrize("answer", NO_PROOF.values(), ids=NO_PROOF)
@pytest.mark.parametrize("token", [ADMIN, AGENT], ids=["admin", "agent"])
def test_a_token_that_is_not_proven_is_not_kept(
    gateway: ScriptedGateway, typed: Typed, file: Path, capsys: pytest.CaptureFixture[str], token: str, answer: Any
) -> None:
    gateway.will(f"GET /api/v1/credentials/{ADMIN_ID}", answer)
    gateway.will(f"GET {HEALTH}", answer)

    assert typed("login", gateway.url, given=token) == 1
    told = capsys.readouterr()
    assert len(told.err.splitlines()) == 1
    assert token[-32:] not in told.out + told.err
    assert not file.exists()


def test_no_token_is_an_argument(gateway: ScriptedGateway, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["login", gateway.url, "--token", ADMIN], ["login", ADMIN]):
        assert main(arguments) == 2
    with pytest.raises(SystemExit) as ended:
        main(["login", gateway.url, "--token=correct-horse-battery-staple"])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert ADMIN[-16:] not in told.out + told.err
    assert "correct-horse" not in told.err
    assert gateway.asked == []


class FakeAws:
    """CloudFormation and Secrets Manager of an account with one stack."""

    def __init__(self, url: str) -> None:
        self._url = url

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:
        if StackName != "Mine":
            raise ClientError({"Error": {"Code": "ValidationError", "Message": "c3c3"}}, "DescribeStacks")
        outputs = {"ApiUrl": self._url, "RootSecretArn": "arn:root"}
        return {"Stacks": [{"Outputs": [{"OutputKey": key, "OutputValue": value} for key, value in outputs.items()]}]}

    def get_secret_value(self, *, SecretId: str) -> dict[str, Any]:
        assert SecretId == "arn:root"
        return {"SecretString": "c3" * 32 + "\n"}


def test_with_a_stack_a_credential_with_an_end_is_issued_and_root_is_kept_nowhere(
    gateway: ScriptedGateway, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stack_login.boto3, "client", lambda _service: FakeAws(gateway.url))
    gateway.will("POST /api/v1/credentials", {**SHOWN, "token": ADMIN})
    assert main(["login", "--stack", "Mine", "--days", "7"]) == 0
    assert main(["login", "--stack", "Another"]) == 1
    issuing, proving = gateway.asked
    assert (issuing.token, proving.token) == (ROOT, ADMIN)
    assert issuing.body["class"] == "adm"
    assert issuing.body["expiresAt"].endswith("Z")
    assert "c3c3" not in file.read_text()
    told = capsys.readouterr()
    assert told.err == "kgw: AWS refused: ValidationError.\n"
    assert "c3c3" not in told.out
    assert ADMIN not in told.out


# --- what is kept --------------------------------------------------------------------------------


def store(file: Path, url: str, *, origin: str | None = None, token: str = ADMIN, **over: Any) -> None:
    """As a login would keep it."""
    held = {"token": token, "origin": origin or profiles.origin_of(url), "credential": ADMIN_ID, "expiresAt": None}
    value = {"default": "work", "profiles": {"work": {"url": url, "tokens": {"admin": held}}}} | over
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
    file.chmod(0o600)


def opened(file: Path) -> None:
    file.chmod(0o644)


def opened_to_a_group(file: Path) -> None:
    file.chmod(0o640)


def linked(file: Path) -> None:
    file.rename(file.parent / "other")
    file.symlink_to("other")


def a_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def shared(file: Path) -> None:
    file.parent.chmod(0o777)


TAMPERED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "open-to-all": (opened, "others may read it. Close it first: chmod go-rwx "),
    "open-to-a-group": (opened_to_a_group, "others may read it. Close it first: chmod go-rwx "),
    "shared-directory": (shared, "others may write to it. Close it first: chmod go-w "),
    "link": (linked, "it is a symbolic link."),
    "directory": (a_directory, "it is no file."),
    "pipe": (a_pipe, "it is no file."),
    "no-json": (lambda file: file.write_text("{"), "does not hold profiles. Remove it, and log in again"),
    "no-text": (lambda file: file.write_bytes(b"\xff\xfe"), "does not hold profiles. Remove it, and log in again"),
    "nested": (lambda file: file.write_text("[" * 100_000), "does not hold profiles."),
    "other-shape": (lambda file: file.write_text('{"profiles": []}'), "does not hold profiles."),
    "no-default": (lambda file: file.write_text('{"default": "x", "profiles": {}}'), "does not hold profiles."),
}


@pytest.mark.parametrize(("tamper", "said"), TAMPERED.values(), ids=TAMPERED)
def test_a_file_that_was_tampered_with_is_refused_in_a_sentence(
    gateway: ScriptedGateway,
    file: Path,
    capsys: pytest.CaptureFixture[str],
    tamper: Callable[[Path], Any],
    said: str,
) -> None:
    store(file, gateway.url)
    tamper(file)

    for arguments in (["providers", "list"], ["providers", "list", "--profile", "work"], ["logout"]):
        assert main(arguments) == 1
        told = capsys.readouterr()
        assert told.err.startswith(f"kgw: {file.parent}")
        assert said in told.err
        assert told.err.count("\n") == 1
    assert gateway.asked == []


def test_another_users_file_is_refused(
    gateway: ScriptedGateway, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store(file, gateway.url)
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)

    assert main(["providers", "list"]) == 1
    assert "belongs to another user" in capsys.readouterr().err
    assert gateway.asked == []


def test_a_token_goes_to_no_place_but_the_one_that_it_was_stored_with(
    gateway: ScriptedGateway, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for origin in ("https://gateway.example.com:443", "https" + profiles.origin_of(gateway.url)[4:], ""):
        store(file, gateway.url, origin=origin or "-")
        assert main(["providers", "list"]) == 1
        told = capsys.readouterr()
        assert "was stored with another place than its url. It is not sent." in told.err
        assert ADMIN not in told.err
    assert gateway.asked == []


def test_no_redirect_is_followed(gateway: ScriptedGateway, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with scripted_gateway() as elsewhere:
        for status in (301, 302, 303, 307, 308):
            gateway.will(f"GET {PROVIDERS}", Answered(None, status, {"Location": elsewhere.url}))
            store(file, gateway.url)
            assert main(["providers", "list"]) == 1
            assert "sends callers elsewhere, which is not followed" in capsys.readouterr().err
        assert elsewhere.asked == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["profiles", "default", "url", "tokens", "work", "admin", "token"]), inner)
    ),
    max_leaves=12,
)


@settings(max_examples=50)
@given(value=json_values)
def test_whatever_a_file_holds_is_profiles_or_refused(value: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.getbasetemp() / "any-config" / "kgw" / "profiles.json"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
    file.chmod(0o600)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CONFIG_HOME", str(file.parents[1]))
        with contextlib.suppress(profiles.NoProfile):
            found = profiles.read_profiles()
            assert found.usual is None or found.usual in found.by_name


def test_what_is_kept_is_read_back(home: Path) -> None:
    held = profiles.Held(token=ADMIN, origin="https://gateway.example.com:443", credential=ADMIN_ID)
    profile = profiles.Profile(name="work", url="https://gateway.example.com/x", tokens={"admin": held})
    kept = profiles.Profiles().having(profile)
    profiles.write_profiles(kept)
    assert profiles.read_profiles() == kept
    assert ADMIN not in repr(kept)


def test_logging_out_forgets_one_profile(
    gateway: ScriptedGateway, typed: Typed, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed("login", gateway.url, "--profile", "work", given=ADMIN)
    typed("login", gateway.url, "--profile", "play", given=ADMIN)
    capsys.readouterr()

    assert typed("logout", "--profile", "play") == 0
    assert capsys.readouterr().out == (
        f"The profile play is forgotten. Its credential still works until it is revoked: {ADMIN_ID}\n"
    )
    assert list(json.loads(file.read_text())["profiles"]) == ["work"]
    assert typed("logout") == 0
    assert ADMIN not in file.read_text()
    assert typed("logout") == 1
    assert "There is no such profile; there are: none." in capsys.readouterr().err


# --- which one is used ---------------------------------------------------------------------------

WAYS = {
    "--profile": (["--profile", "play"], {"KGW_URL": "url", "KGW_TOKEN": "of-url", "KGW_PROFILE": "work"}, "play"),
    "KGW_URL": ([], {"KGW_URL": "url", "KGW_TOKEN": "of-url", "KGW_PROFILE": "work"}, "of-url"),
    "KGW_PROFILE": ([], {"KGW_PROFILE": "play"}, "play"),
    "here": ([], {}, "here"),
    "here-as-another": ([], {"KGW_TOKEN": "of-me"}, "of-me"),
    "default": ([], {}, "work"),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_said_closest_wins(
    gateway: ScriptedGateway,
    typed: Typed,
    monkeypatch: pytest.MonkeyPatch,
    home: Path,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    options, environment, expected = WAYS[way]
    tokens = {"work": ADMIN, "play": f"kg_adm_{ADMIN_ID}_{'f6' * 32}", "here": LOCAL_TOKEN}
    for name in ("work", "play"):
        typed("login", gateway.url, "--profile", name, given=tokens[name])
    if way != "default":
        (home / "here" / ".kgw").mkdir()
        local = {"url": gateway.url, "admin": LOCAL_TOKEN}
        (home / "here" / ".kgw" / "local.json").write_text(json.dumps(local))
    for name, value in environment.items():
        monkeypatch.setenv(name, gateway.url if value == "url" else value)
    capsys.readouterr()
    gateway.asked.clear()

    assert main(["providers", "list", *options]) == 0
    assert [each.token for each in gateway.asked] == [tokens.get(expected, expected)]
    assert main(["profiles"]) == 0
    named = {"KGW_PROFILE": "play (KGW_PROFILE)", "default": "work (the default)"}
    last = capsys.readouterr().out.splitlines()[-1]
    if not options:
        assert last.endswith(named.get(way, "KGW_URL" if way == "KGW_URL" else ".kgw/local.json"))


def test_the_default_is_chosen(gateway: ScriptedGateway, typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    other = f"kg_adm_{ADMIN_ID}_{'f6' * 32}"
    typed("login", gateway.url, "--profile", "work", given=ADMIN)
    typed("login", gateway.url, "--profile", "play", given=other)
    assert main(["profiles", "--default", "play"]) == 0
    gateway.asked.clear()
    assert main(["providers", "list"]) == 0
    assert [each.token for each in gateway.asked] == [other]
    assert main(["profiles", "--default", "nobody"]) == 1
    assert "There is no such profile; there are: work, play." in capsys.readouterr().err


def test_an_agent_may_search_and_see_how_things_are_and_no_more(
    gateway: ScriptedGateway, typed: Typed, capsys: pytest.CaptureFixture[str]
) -> None:
    gateway.will("POST /api/v1/knowledge/search", {"results": []})
    typed("login", gateway.url, given=AGENT)
    gateway.asked.clear()

    assert main(["search", "ferry"]) == 0
    assert main(["status"]) == 3
    assert [each.token for each in gateway.asked] == [AGENT, AGENT]
    assert main(["providers", "list"]) == 1
    told = capsys.readouterr().err
    assert f"The profile default has a token of an agent; this wants one of an admin: kgw login {gateway.url}" in told


def test_a_file_of_this_directory_sends_nothing_to_another_machine(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "here" / ".kgw").mkdir()
    (home / "here" / ".kgw" / "local.json").write_text('{"url": "https://elsewhere.example", "admin": "x"}')

    assert main(["providers", "list"]) == 1
    assert capsys.readouterr().err == "kgw: The url in .kgw/local.json is not of this machine.\n"


@pytest.mark.parametrize("name", ["", "a b", "../x", "x" * 65, "-x", "é"])
def test_a_profile_has_a_plain_name(
    gateway: ScriptedGateway, typed: Typed, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    if name:
        assert typed("login", gateway.url, f"--profile={name}", given=ADMIN) == 1
        assert "A profile is named with" in capsys.readouterr().err
    with pytest.raises(profiles.NoProfile):
        profiles.checked_name(name)
    assert gateway.asked == []
