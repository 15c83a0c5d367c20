"""`kgw keys`: what it takes out of a .env file, what it changes in which secret, and that it never says a key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from infra.cli import texts
from infra.cli.env_files import Unreadable, read_env_file
from infra.cli.key_changes import NotAKey, changes, entries_of
from infra.cli.key_notes import notes
from infra.cli.main import main
from infra.cli.pool_secrets import NoStore, PoolSecretStore
from shared.domain.pools import Pool

STACK = "KnowledgeGateway"


def env(tmp_path: Path, text: str | bytes) -> Path:
    file = tmp_path / ".env"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


# --- reading ---


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=plain", "plain"),
        ("A=", ""),
        ("  export A = plain  ", "plain"),
        ("export\tA=plain", "plain"),
        ("A=plain # a comment", "plain"),
        ("A=plain#no-comment", "plain#no-comment"),
        ("A=# a comment", ""),
        ("A='single # quoted' # a comment", "single # quoted"),
        (r"A='back\slash'", r"back\slash"),
        ('A="double # quoted"', "double # quoted"),
        (r'A="an \"inner\" quote"', 'an "inner" quote'),
        (r'A="a\nb"', "a\nb"),
        ("A=$HOME/`x`", "$HOME/`x`"),
        ("A='Fährpass 渡轮'", "Fährpass 渡轮"),
        ("A=x=y==", "x=y=="),
        ("A=one\nA=two", "two"),
        ("# first\n\n\t\nA=plain\n#last", "plain"),
        ("A=plain\r\n", "plain"),
        ("\ufeffA=plain", "plain"),
        ('A="over\ntwo lines"', "over\ntwo lines"),
        ("A=a\x85b", "a\x85b"),
        ("A=a\rb", "a\rb"),
    ],
    ids=lambda part: ascii(part)[1:31],
)
def test_a_value_is_read_as_it_stands(tmp_path: Path, line: str, value: str) -> None:
    assert read_env_file(env(tmp_path, line)).values == {"A": value}


@pytest.mark.parametrize(
    "line",
    ["s3cret", "=s3cret", "1A=s3cret", "A-B=s3cret", "A='s3cret", 'A="s3cret', 'A="s3cret" s3cret'],
)
def test_a_line_that_is_none_is_named_by_its_number_alone(tmp_path: Path, line: str) -> None:
    with pytest.raises(Unreadable, match=r"^Line 3 of .*\.env is no KEY=VALUE\.$") as refused:
        read_env_file(env(tmp_path, f"A=x\n\n{line}\nB=y"))
    assert "s3cret" not in str(refused.value)


def test_what_is_no_file_of_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="No such file"):
        read_env_file(tmp_path / "none")
    with pytest.raises(Unreadable, match="no UTF-8 text"):
        read_env_file(env(tmp_path, b"A=\xff"))
    with pytest.raises(Unreadable, match="larger than 1 MiB"):
        read_env_file(env(tmp_path, b"#" * 1_048_577))


# --- what may surprise ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("EXA_API_KEY_0=s3cret", ["EXA_API_KEY_0 is not taken: a number goes from 1 to 999999"]),
        ("EXA_API_KEY_01=s3cret", ["EXA_API_KEY_01 is not taken"]),
        ("EXA_API_KEY_1000000=s3cret", ["EXA_API_KEY_1000000 is not taken"]),
        ("EXA_API_KEY_0_ACCOUNT=s3cret", ["EXA_API_KEY_0_ACCOUNT is not taken"]),
        ("EXA_API_KEY=s3cret\nEXA_API_KEY=s3cret2", ["EXA_API_KEY stands there more than once"]),
        ("EXA_API_KEY=s\nEXA_API_KEY_ACCOUNT=a\nEXA_API_KEY_ACCOUNT=a", ["EXA_API_KEY_ACCOUNT stands there more"]),
        ("EXA_API_KEY=${s3cret}", ["EXA_API_KEY holds a $ before a name"]),
        ("EXA_API_KEY=a$s3cret", ["EXA_API_KEY holds a $ before a name"]),
        ("EXA_API_KEY='${s3cret}'\nEXA_API_KEY_00=x", ["EXA_API_KEY holds a $", "EXA_API_KEY_00 is not taken"]),
        ("EXA_API_KEY_1=s3cret$\nEXA_API_KEY_999999=$1", []),
        ("OTHER=${s3cret}\nOTHER=x\nEXA_API_KEYS_0=x\nMY_EXA_API_KEY_0=x", []),
    ],
    ids=lambda part: ascii(part)[1:31] if isinstance(part, str) else "",
)
def test_what_may_surprise_is_told_by_name(tmp_path: Path, text: str, said: list[str]) -> None:
    told = list(notes(read_env_file(env(tmp_path, text))))
    assert [line.startswith(beginning) for line, beginning in zip(told, said, strict=True)] == [True] * len(said)
    assert not [line for line in told if "s3cret" in line]


# --- what would change ---


def test_only_numbered_names_are_taken_with_their_accounts() -> None:
    values = {
        "EXA_API_KEY": "k0",
        "EXA_API_KEY_2": " k2 ",
        "EXA_API_KEY_2_ACCOUNT": "team",
        "EXA_API_KEY_02": "no",
        "EXA_API_KEY_0": "no",
        "EXA_API_KEYS": "no",
        "MY_EXA_API_KEY": "no",
        "EXA_API_KEY_ACCOUNT": "",
        "FIRECRAWL_API_KEY_7": "f7",
    }
    assert entries_of(values) == {
        Pool.EXA: {"EXA_API_KEY": "k0", "EXA_API_KEY_2": {"key": "k2", "account": "team"}},
        Pool.FIRECRAWL: {"FIRECRAWL_API_KEY_7": "f7"},
    }


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"EXA_API_KEY_2": "k\nX"}, "EXA_API_KEY_2 holds something that is no key"),
        ({"EXA_API_KEY_2": "k\x00X"}, "EXA_API_KEY_2 holds something that is no key"),
        ({"EXA_API_KEY_2": "k X"}, "EXA_API_KEY_2 holds something that is no key"),
        ({"FIRECRAWL_API_KEY": "ключ"}, "FIRECRAWL_API_KEY holds something that is no key"),
        ({"CONTEXT7_API_KEY": "x" * 513}, "CONTEXT7_API_KEY holds something that is no key"),
        ({"EXA_API_KEY": "k", "EXA_API_KEY_ACCOUNT": "a\nb"}, "EXA_API_KEY_ACCOUNT holds something that is no name"),
        ({"EXA_API_KEY": "", "EXA_API_KEY_ACCOUNT": "a"}, "EXA_API_KEY_ACCOUNT stands beside no EXA_API_KEY"),
    ],
    ids=["newline", "nul", "blank-inside", "not-ascii", "too-long", "account", "account-alone"],
)
def test_what_is_no_key_is_named_and_not_shown(values: dict[str, str], said: str) -> None:
    with pytest.raises(NotAKey) as refused:
        entries_of({"EXA_API_KEY_9": "fine", **values})
    assert str(refused.value).startswith(said)
    assert "ключ" not in str(refused.value)
    assert "X" not in str(refused.value).replace("EXA", "").replace("CONTEXT7", "")


def test_merging_keeps_what_the_file_does_not_name_or_leaves_blank() -> None:
    before = {"EXA_API_KEY": "a", "EXA_API_KEY_1": "b", "EXA_API_KEY_2": "c", "note": "mine"}
    wanted = {"EXA_API_KEY": "a", "EXA_API_KEY_1": "B", "EXA_API_KEY_2": "", "EXA_API_KEY_10": "d"}
    found = changes(Pool.EXA, before=before, wanted=wanted, replace=False)
    assert found.entries == {**before, "EXA_API_KEY_1": "B", "EXA_API_KEY_10": "d"}
    assert (found.added, found.changed, found.removed) == (("EXA_API_KEY_10",), ("EXA_API_KEY_1",), ())
    assert found.unchanged == ("EXA_API_KEY",)


def test_replacing_keeps_nothing_that_the_file_does_not_have() -> None:
    before = {"EXA_API_KEY": "a", "EXA_API_KEY_1": "b", "note": "mine"}
    found = changes(Pool.EXA, before=before, wanted={"EXA_API_KEY": "a", "EXA_API_KEY_1": ""}, replace=True)
    assert found.entries == {"EXA_API_KEY": "a"}
    assert found.removed == ("EXA_API_KEY_1", "note")


def test_a_key_that_is_there_twice_and_keys_beyond_the_most_are_left_out() -> None:
    wanted = {"EXA_API_KEY_1": "same", "EXA_API_KEY_2": "same", **{f"EXA_API_KEY_{n}": f"k{n}" for n in range(3, 40)}}
    found = changes(Pool.EXA, before={}, wanted=wanted, replace=False)
    assert found.duplicates == ("EXA_API_KEY_2",)
    assert found.beyond_limit == tuple(f"EXA_API_KEY_{n}" for n in range(34, 40))
    assert len(found.entries) == len(found.added) == 32


def test_a_name_that_now_holds_another_names_key_is_told_once() -> None:
    before = {"EXA_API_KEY_1": "same", "EXA_API_KEY_2": "other"}
    found = changes(Pool.EXA, before=before, wanted={"EXA_API_KEY_2": "same"}, replace=False)
    assert (found.duplicates, found.removed, found.changed) == (("EXA_API_KEY_2",), (), ())
    assert (found.entries, found.changes_anything) == ({"EXA_API_KEY_1": "same"}, True)
    again = changes(Pool.EXA, before=found.entries, wanted={"EXA_API_KEY_2": "same"}, replace=False)
    assert (again.duplicates, again.changes_anything) == (("EXA_API_KEY_2",), False)


def test_a_key_moves_to_another_name_without_being_lost() -> None:
    found = changes(Pool.EXA, before={"EXA_API_KEY_5": "k"}, wanted={"EXA_API_KEY_1": "k"}, replace=False)
    assert found.entries["EXA_API_KEY_1"] == "k"
    assert found.added == ("EXA_API_KEY_1",)
    assert changes(Pool.EXA, before={"EXA_API_KEY_1": "k"}, wanted={"EXA_API_KEY_5": "k"}, replace=False).entries == {
        "EXA_API_KEY_1": "k"
    }


def test_another_account_is_a_change() -> None:
    wanted = {"EXA_API_KEY": {"key": "k", "account": "b"}}
    assert changes(Pool.EXA, before={"EXA_API_KEY": "k"}, wanted=wanted, replace=False).changed == ("EXA_API_KEY",)


# --- writing ---


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An AWS account with the stack's secrets and outputs in it, and an operator's credentials for it."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x", "DEFAULT_REGION": "eu-north-1"}.items():
        monkeypatch.setenv("AWS_" + name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        secrets = boto3.client("secretsmanager")
        arns = {
            f"Pool{each}SecretArn": secrets.create_secret(Name=each, SecretString="{}")["ARN"]
            for each in ("Context7", "Exa", "Firecrawl")
        }
        template = {
            "Resources": {"Key": {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {}}}},
            "Outputs": {name: {"Value": arn} for name, arn in arns.items()},
        }
        boto3.client("cloudformation").create_stack(StackName=STACK, TemplateBody=json.dumps(template))
        yield secrets


def held(account: Any) -> dict[str, dict[str, Any]]:
    """What the three secrets hold, by the first letters of a name in them."""
    secrets = account.list_secrets()["SecretList"]
    contents = [json.loads(account.get_secret_value(SecretId=each["ARN"])["SecretString"]) for each in secrets]
    return {next(iter(content)).partition("_")[0]: content for content in contents if content}


def test_a_stack_gets_the_keys_of_a_file_and_only_names_are_said(
    account: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = env(
        tmp_path, "export EXA_API_KEY='s3cret-a'\nEXA_API_KEY_2=s3cret-b\nFIRECRAWL_API_KEY=s3cret-c\nOTHER=s3cret-d"
    )
    assert main(["keys", "import", str(file), "--stack", STACK]) == 0
    said = capsys.readouterr()
    assert "exa: written\n  EXA_API_KEY                added\n  EXA_API_KEY_2              added\n" in said.out
    assert "s3cret" not in said.out + said.err
    assert held(account) == {
        "EXA": {"EXA_API_KEY": "s3cret-a", "EXA_API_KEY_2": "s3cret-b"},
        "FIRECRAWL": {"FIRECRAWL_API_KEY": "s3cret-c"},
    }


def test_what_may_surprise_is_told_beside_what_was_done(
    account: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = env(tmp_path, "EXA_API_KEY=${s3cret}\nEXA_API_KEY_0=s3cret")
    assert main(["keys", "import", str(file), "--stack", STACK, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        "kgw: EXA_API_KEY holds a $ before a name: it is taken as it stands, nothing is put in for it.",
        "kgw: EXA_API_KEY_0 is not taken: a number goes from 1 to 999999 and does not begin with 0.",
    ]
    assert json.loads(said.out)["pools"]["exa"]["added"] == ["EXA_API_KEY"]
    assert held(account) == {"EXA": {"EXA_API_KEY": "${s3cret}"}}


def test_the_same_file_again_writes_nothing(account: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = env(tmp_path, "EXA_API_KEY=s3cret-a")
    assert main(["keys", "import", str(file), "--stack", STACK]) == 0
    capsys.readouterr()
    assert main(["keys", "import", str(file), "--stack", STACK, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["pools"]
    assert set(told) == {"exa"}
    assert (told["exa"]["written"], told["exa"]["unchanged"]) == (False, ["EXA_API_KEY"])


def test_one_wrong_key_and_nothing_at_all_is_written(
    account: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = env(tmp_path, 'CONTEXT7_API_KEY=fine\nEXA_API_KEY_2="s3cret\nX"\n')
    assert main(["keys", "import", str(file), "--stack", STACK]) == 1
    assert capsys.readouterr().err == "kgw: EXA_API_KEY_2 holds something that is no key\n"
    assert held(account) == {}


def test_replacing_one_pool_leaves_the_others_alone(account: Any, tmp_path: Path) -> None:
    main(["keys", "import", str(env(tmp_path, "EXA_API_KEY=a\nEXA_API_KEY_1=b\nCONTEXT7_API_KEY=c")), "--stack", STACK])
    main(["keys", "import", str(env(tmp_path, "EXA_API_KEY_1=B")), "--stack", STACK, "--replace"])
    assert held(account) == {"EXA": {"EXA_API_KEY_1": "B"}, "CONTEXT7": {"CONTEXT7_API_KEY": "c"}}


def test_a_file_without_any_of_the_names_is_said(
    account: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keys", "import", str(env(tmp_path, "EXA_KEY=s3cret")), "--stack", STACK]) == 1
    said = capsys.readouterr().err
    assert "EXA_API_KEY" in said
    assert "s3cret" not in said


def test_a_stack_that_is_not_there_is_said_by_a_code(
    account: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keys", "import", str(env(tmp_path, "EXA_API_KEY=s3cret")), "--stack", "Nothing"]) == 1
    assert capsys.readouterr().err == "kgw: AWS refused: ValidationError.\n"


def test_a_secret_that_holds_no_names_is_only_replaced_on_demand(
    account: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for each in account.list_secrets()["SecretList"]:
        account.put_secret_value(SecretId=each["ARN"], SecretString="just s3cret")
    file = str(env(tmp_path, "EXA_API_KEY=k"))
    assert main(["keys", "import", file, "--stack", STACK]) == 1
    said = capsys.readouterr().err
    assert said == "kgw: The secret of exa holds no JSON object of names. --replace writes it anew.\n"
    assert main(["keys", "import", file, "--stack", STACK, "--replace"]) == 0


def test_without_a_gateway_it_says_how_to_name_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["keys", "import", str(env(tmp_path, "EXA_API_KEY=k"))]) == 1
    assert "--stack NAME" in capsys.readouterr().err


class _Refusing:
    """A secret store that takes the first pool and then nothing more."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def get_secret_value(self, *, SecretId: str) -> dict[str, str]:
        return {"SecretString": "{}"}

    def put_secret_value(self, *, SecretId: str, SecretString: str) -> None:
        if self.written:
            said = {"Code": "AccessDeniedException", "Message": f"no {SecretString}"}
            raise ClientError({"Error": said}, "PutSecretValue")
        self.written.append(SecretId)


def test_a_failure_half_way_says_which_pools_were_written(
    account: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client: Any = _Refusing()
    store = PoolSecretStore(client, secret_ids={pool: pool for pool in (Pool.CONTEXT7, Pool.EXA)})
    monkeypatch.setattr("infra.cli.keys.local_store", lambda: store)
    assert main(["keys", "import", str(env(tmp_path, "EXA_API_KEY=s3cret\nCONTEXT7_API_KEY=s3cret2"))]) == 1
    assert capsys.readouterr().err == (
        "kgw: The secret of exa was not written. AWS refused: AccessDeniedException. Written before: context7.\n"
    )


def test_no_failure_of_the_store_repeats_what_was_sent(account: Any) -> None:
    client: Any = _Refusing()
    client.written.append("before")
    store = PoolSecretStore(client, secret_ids={Pool.EXA: "x"})
    with pytest.raises(NoStore) as refused:
        store.write(Pool.EXA, {"EXA_API_KEY": "s3cret"})
    assert "s3cret" not in str(refused.value)


def test_no_option_takes_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["keys", "import", "--help"])
    assert "--key" not in capsys.readouterr().out


# --- status ---


def test_the_status_is_read_at_a_glance() -> None:
    now = datetime(2026, 11, 30, 6, 0, tzinfo=UTC)
    resting = {"name": "EXA_API_KEY", "state": "resting", "restingUntil": "2026-11-30T06:01:30.000Z", "reason": "rate"}
    active = {"name": "EXA_API_KEY_2", "state": "active", "restingUntil": None, "reason": None}
    counts = {"configured": 2, "usable": 1, "resting": 1}
    pools = [
        {
            "pool": "exa",
            "takesKeys": True,
            **counts,
            "keys": [resting, active],
            "unusable": ["EXA_API_KEY_3"],
            "readyAgainAt": None,
        },
        {
            "pool": "firecrawl",
            "takesKeys": True,
            "configured": 1,
            "usable": 0,
            "resting": 1,
            "keys": [],
            "unusable": [],
            "readyAgainAt": "2026-12-01T06:00:00.000Z",
        },
        {
            "pool": "context7",
            "takesKeys": True,
            "configured": 0,
            "usable": 0,
            "resting": 0,
            "keys": [],
            "unusable": [],
            "readyAgainAt": None,
        },
        {
            "pool": "deepwiki",
            "takesKeys": False,
            "configured": 0,
            "usable": 0,
            "resting": 0,
            "keys": [],
            "unusable": [],
            "readyAgainAt": "2026-11-30T06:01:00.000Z",
        },
    ]
    assert texts.pools_text({"pools": pools}, now=now) == [
        "exa        2 keys, 1 usable, 1 resting",
        "  EXA_API_KEY              resting rate until 2026-11-30 06:01:30 UTC (in 0:01:30)",
        "  EXA_API_KEY_2            active",
        "  EXA_API_KEY_3            is no key and is not used",
        "firecrawl  1 keys, 0 usable, 1 resting; ready again 2026-12-01 06:00:00 UTC (in 1 day, 0:00:00)",
        "context7   no keys",
        "deepwiki   takes no keys; ready again 2026-11-30 06:01:00 UTC (in 0:01:00)",
    ]
