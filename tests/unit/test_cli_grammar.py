"""How `kgw` is called: every command explains itself, is documented, and repeats nothing that may be a secret."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.cli.grammar import Parser
from infra.cli.main import main, whole_parser
from infra.cli.reference import BEGIN, END, leaves, options_of, reference

ROOT = Path(__file__).resolve().parents[2]
LEAVES = {each.prog: each for each in leaves(whole_parser())}
every_command = pytest.mark.parametrize("parser", LEAVES.values(), ids=LEAVES)
# Whoever needs a token, or does something that cannot be undone, has a gateway to be told of.
ALONE = {"kgw up", "kgw login", "kgw logout", "kgw profiles", "kgw accept", "kgw keys import"}
ON_AWS = {"kgw front rotate", "kgw restore"}


def said(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, str]:
    """How it ends before anything runs, and all that it prints."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    told = capsys.readouterr()
    return int(str(ended.value.code)), told.out + told.err


@every_command
def test_every_command_has_something_to_run(parser: Parser) -> None:
    run = parser.get_default("run")
    assert isinstance(run, partial)
    module, _, function = run.args[0].partition(":")
    assert callable(getattr(import_module(f"infra.cli.{module}"), function))


@every_command
def test_every_command_says_what_it_does_and_how_it_ends(parser: Parser, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(capsys, [*parser.prog.split()[1:], "--help"])
    assert status == 0
    assert len(parser.about) > 10
    assert "It ends with 0 when it is done" in text
    assert all(each.help for each in options_of(parser))
    if len(options_of(parser)) > 4:
        assert parser.example
    assert all(line.startswith(("kgw ", "  ")) for line in parser.example.splitlines())


@every_command
def test_every_command_speaks_json_and_to_any_gateway(parser: Parser) -> None:
    names = {name for action in options_of(parser) for name in action.option_strings}
    assert ("--json" in names) is (parser.prog not in ON_AWS)
    assert ("--profile" in names) is (parser.prog not in ON_AWS | ALONE - {"kgw login", "kgw logout"})


@every_command
def test_no_option_takes_a_secret(parser: Parser) -> None:
    names = {name for action in options_of(parser) for name in action.option_strings}
    assert not names & {"--token", "--secret", "--key", "--password"}


def test_all_of_it_is_in_the_documentation() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    shown = text.partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == reference().strip(), "python -m infra.cli.reference prints what belongs there"


def test_the_examples_are_commands_that_can_be_read() -> None:
    for parser in LEAVES.values():
        for line in parser.example.replace("\\\n", "").splitlines():
            words = shlex.split(line.partition(" > ")[0].partition(" < ")[0])
            assert words[0] == "kgw"
            assert callable(whole_parser(words[1:]).parse_args(words[1:]).run)


def test_only_help_is_loaded_for_help() -> None:
    heavy = ["boto3", "botocore", "pydantic", "http.client", "importlib.metadata", "asyncio", "ssl", "json.decoder"]
    script = (
        "import sys\nfrom infra.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules and name != 'json.decoder'], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr.strip() == "[]"


# --- secrets -------------------------------------------------------------------------------------

letters = st.text(alphabet="0123456789abcdef", min_size=20, max_size=64)
tokens = st.builds("kg_{}_k3j5mq2x7a4bwz6t_{}".format, st.sampled_from(["adm", "agt", "ast", "pub"]), letters)
keys = st.builds("{}-{}0".format, st.sampled_from(["sk", "fc", "exa", "app", "dataset", "fastgpt", "ragflow"]), letters)
secrets = tokens | keys | st.builds("kgs_{}".format, letters)
places = st.sampled_from(
    [
        ["search", "{}"],
        ["search", "x", "--locale", "{}"],
        ["search", "x", "--limit={}"],
        ["login", "{}"],
        ["login", "https://x.example", "--token", "{}"],
        ["login", "https://x.example", "--token-env", "{}"],
        ["providers", "show", "{}"],
        ["keys", "rest", "exa", "{}", "--seconds", "1"],
        ["instances", "create", "--key={}"],
        ["{}"],
        ["status", "--{}"],
        ["cards", "lookup", "--collection", "c", "a", "b {} c"],
    ]
)


@given(secret=secrets, place=places)
def test_what_looks_like_a_secret_is_refused_and_not_repeated(secret: str, place: list[str]) -> None:
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
        assert main([word.replace("{}", secret) for word in place]) == 2
    assert secret[-12:] not in told.getvalue()
    assert "looks like a secret" in told.getvalue()


LONG = "correct-horse-battery-staple"


@pytest.mark.parametrize(
    "arguments",
    [
        ["login", "https://x.example", "--token", LONG],
        ["login", "https://x.example", f"--token={LONG}"],
        ["login", "https://x.example", "--token-env", LONG],
        ["instances", "create", "--key", LONG],
        ["accept", "dify", "--base-url", "https://x.example", "--key", LONG],
        ["search", "x", "--secret", LONG],
        ["search", "x", "--limit", LONG],
        ["search", "x", LONG],
        ["keys", "rest", LONG, "y", "--seconds", "1"],
        ["providers", LONG],
        [LONG],
    ],
)
def test_what_is_wrong_and_long_is_not_repeated(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    status, text = said(capsys, arguments)
    assert status == 2
    assert LONG not in text


def test_what_is_mistyped_is_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'serach'" in said(capsys, ["serach"])[1]
    assert "--limt" in said(capsys, ["search", "x", "--limt", "3"])[1]


@pytest.mark.parametrize(
    "words",
    ["dataset-api", "ragflow-0.26", "app-store", "sk-learn", "fc-barcelona", "kg_adm", "exa-mple-without-numbers"],
)
def test_words_that_only_begin_like_a_secret_are_words(
    words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["search", words]) == 1
    assert "There is no agent" in capsys.readouterr().err


def test_a_command_that_is_named_is_told_the_same_as_among_all(capsys: pytest.CaptureFixture[str]) -> None:
    for prog in ("kgw", "kgw providers create", "kgw cards collections"):
        words = prog.split()[1:]
        alone = said(capsys, [*words, "--help"])
        with pytest.raises(SystemExit):
            whole_parser().parse_args([*words, "--help"])
        assert capsys.readouterr().out == alone[1]


def test_no_option_can_be_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, ["search", "x", "--lim", "3"])[0] == 2


def test_its_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(capsys, ["--version"])
    assert (status, text.split()[0]) == (0, "kgw")


def test_a_setting_is_json_where_it_can_be() -> None:
    wanted = ["a=1", "b=true", "c=text", 'd=["x"]', "e=1.5x", "f="]
    given = [word for each in wanted for word in ("--config", each)]
    options = whole_parser().parse_args(["providers", "update", "x", *given])
    assert dict(options.config) == {"a": 1, "b": True, "c": "text", "d": ["x"], "e": "1.5x", "f": ""}
    assert json.dumps(dict(options.config))
