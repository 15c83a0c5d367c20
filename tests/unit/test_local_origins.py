"""Which services `kgw up` asks elsewhere, and what it says when that cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from infra.cli.local_origins import BadOrigins, origin_lines, wished_origins
from infra.cli.main import main

EXA = {"exa": "http://127.0.0.1:9102"}


def wished(text: str) -> dict[str, str]:
    return dict(wished_origins({"KG_LOCAL_ORIGINS": text, "PATH": "/bin"}))


@pytest.mark.parametrize("text", ["", "  ", "{}"])
def test_without_a_wish_no_service_is_asked_elsewhere(text: str) -> None:
    assert wished(text) == {}
    assert wished_origins({}) == {}


@pytest.mark.parametrize(
    "origins", [EXA, {"context7": "http://localhost:1", "deepwiki": "http://[::1]:65535"}], ids=["one", "two"]
)
def test_named_services_are_asked_where_it_says(origins: dict[str, str]) -> None:
    assert wished(json.dumps(origins)) == origins
    assert list(origin_lines(EXA)) == ["exa is asked at http://127.0.0.1:9102, as KG_LOCAL_ORIGINS says."]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is no JSON."),
        ("http://127.0.0.1:9102", "it is no JSON."),
        ("[]", "it is no JSON object."),
        ('{"exa": "http://127.0.0.1:1", "exa": "http://127.0.0.1:2"}', "it names a kind twice."),
        ('{"exo": "http://127.0.0.1:1"}', "live services are context7, deepwiki, exa, firecrawl, mintlify."),
        ('{"dify": "http://127.0.0.1:1"}', "live services are context7, deepwiki, exa, firecrawl, mintlify."),
        ('{"exa": 9102}', "Input should be a valid string."),
        *(
            (
                json.dumps({"exa": origin}),
                "the origin of exa must be http://, a loopback host and a port, without a path.",
            )
            for origin in (
                "127.0.0.1:9102",
                "https://127.0.0.1:9102",
                "http://127.0.0.1:9102/",
                "http://127.0.0.1:9102/v1",
                "http://user:SENTINEL@127.0.0.1:9102",
                "http://example.com:9102",
                "http://10.0.0.7:9102",
                "http://169.254.169.254",
            )
        ),
    ],
    ids=lambda value: value[:60],
)
def test_a_wish_that_cannot_be_granted_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(BadOrigins) as refusal:
        wished(text)
    assert str(refusal.value).startswith(f"KG_LOCAL_ORIGINS cannot be used: {reason} Write a JSON object")
    assert "SENTINEL" not in str(refusal.value)


@pytest.mark.parametrize("options", [[], ["--no-demo"]])
def test_it_is_refused_before_anything_starts(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KG_LOCAL_ORIGINS", "exa=http://127.0.0.1:9102")
    assert main(["up", *options]) == 1
    assert capsys.readouterr().err.startswith("kgw: KG_LOCAL_ORIGINS cannot be used: it is no JSON.")
    assert os.listdir(tmp_path) == []
