"""What a live service may cite or fetch: by shape and name alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain import source_policy
from shared.domain.live_configs import SourcePolicy
from shared.domain.source_policy import (
    approved_url,
    checked_host,
    final_url,
    host_of,
    is_web_url,
    requested_url,
)
from shared.errors import Invalid

POLICY = SourcePolicy(approved_hosts=("docs.example.com", "xn--bcher-kva.example.org", "docs.acme.test"))


def approved(text: str) -> str | None:
    return approved_url(text, POLICY, allow_test_names=False)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("https://docs.example.com/ferry", "https://docs.example.com/ferry"),
        ("HTTPS://Docs.Example.COM/Ferry", "https://docs.example.com/Ferry"),
        ("https://docs.example.com", "https://docs.example.com/"),
        ("https://docs.example.com?q=1", "https://docs.example.com/?q=1"),
        ("https://docs.example.com/a/", "https://docs.example.com/a/"),
        ("https://docs.example.com/a#_snippet_0", "https://docs.example.com/a"),
        ("https://docs.example.com/a#", "https://docs.example.com/a"),
        ("https://docs.example.com/a#access_token=never-sent", "https://docs.example.com/a"),
        ("https://docs.example.com/%c3%a9", "https://docs.example.com/%C3%A9"),
        ("https://docs.example.com/渡輪", "https://docs.example.com/%E6%B8%A1%E8%BC%AA"),
        ("https://docs.example.com/a?author=fern&page=tokens#x", "https://docs.example.com/a?author=fern&page=tokens"),
        ("https://docs.example.com/guides/api-keys?keyword=x", "https://docs.example.com/guides/api-keys?keyword=x"),
        ("https://bücher.example.org/a", "https://xn--bcher-kva.example.org/a"),
    ],
)
def test_an_approved_source_has_one_normal_form(text: str, normal: str) -> None:
    assert approved(text) == normal
    assert approved(normal) == normal
    assert requested_url(text) == normal


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.example.com/a",
        "https://sub.docs.example.com/a",
        "https://example.com/a",
        "https://docs.example.com.evil.org/a",
        "https://xdocs.example.com/a",
        "https://docs.example.org/a",
    ],
)
def test_a_host_that_is_not_exactly_approved_is_left_out(text: str) -> None:
    assert approved(text) is None
    assert requested_url(text) == text  # sound, but nobody approved it


@pytest.mark.parametrize(
    "text",
    [
        "",
        "open-guide",
        "docs.example.com/a",
        "//docs.example.com/a",
        "/docs/a.md",
        "http://docs.example.com/a",
        "ftp://docs.example.com/a",
        "javascript:alert(1)//docs.example.com",
        "https:docs.example.com/a",
        "https://user@docs.example.com/a",
        "https://user:pw@docs.example.com/a",
        "https://docs.example.com@evil.org/a",
        "https://docs.example.com:443/a",
        "https://docs.example.com:8443/a",
        "https://docs.example.com:/a",
        "https://docs.example.com./a",
        "https://docs.example.com。/a",
        "https://docs.example.com\\@evil.org/a",
        "https://docs.example.com\\.evil.org/a",
        "https://docs.example.com/a b",
        "https://docs.example.com/a\nb",
        "https://docs.example.com/a\x00",
        "https://docs.example.com/a\x7f",
        "https://docs.example.com/a\x85b",
        "https://docs.example.com/a#b\r\nX-Injected: 1",
        "https://docs.example.com/a%0d%0aX",
        "https://docs.example.com/a%00",
        "https://docs.example.com/a?b=%1B",
        "https://docs.example.com/a%7f",
        "https://docs.example.com/a%C2%85",
        "https://docs.example.com/%zz",
        "https://docs.example.com/<b>",
        "https://docs.example.com/\u202etxt",
        "https://127.0.0.1/a",
        "https://8.8.8.8/a",
        "https://2130706433/a",
        "https://0x7f.1/a",
        "https://[2606:4700::1111]/a",
        "https://[::1]:443/a",
        "https://localhost/a",
        "https://wiki/a",
        "https://kb.internal/a",
        "https://faß.example.com/a",
        "https://docs.exam\u00adple.com/a",
        "https://docs.example.com/" + "a" * 2048,
        "\ud800https://docs.example.com/a",
    ],
    ids=lambda text: ascii(text)[:60],
)
def test_what_is_no_public_https_page_is_neither_cited_nor_fetched(text: str) -> None:
    everything = SourcePolicy(
        approved_hosts=("docs.example.com", "127.0.0.1", "8.8.8.8", "[::1]", "2606:4700::1111", "localhost", "wiki")
    )
    assert approved_url(text, everything, allow_test_names=True) is None
    with pytest.raises(Invalid) as refusal:
        requested_url(text)
    assert refusal.value.code == "invalid_source_url"


@pytest.mark.parametrize(
    "parameters",
    [
        "?token=x",
        "?a=1&access_token=x",
        "?a=1;access-token=x",
        "?ACCESS_TOKEN=x",
        "?accessToken",
        "?%74oken=x",
        "?%2574oken=x",
        "?auth=x",
        "?oauth_token=x",
        "?id_token=x",
        "?api_key=x",
        "?x-api-key=x",
        "?apikey=x",
        "?key=x",
        "?pwd=x",
        "?password=x",
        "?passwd=x",
        "?client_secret=x",
        "?Authorization=x",
        "?jwt=x",
        "?sid=x",
        "?session_id=x",
        "?PHPSESSID=x",
        "?X-Amz-Signature=x",
        "?X-Amz-Credential=x",
        "?X-Amz-Security-Token=x",
        "?AWSAccessKeyId=x",
        "?X-Goog-Signature=x",
        "?Key-Pair-Id=x",
        "?sv=2024&sig=x",
        "?a/b&token=x",
        "?next=/a?token=x",
        ";jsessionid=x",
        "/b;token=x/c",
    ],
)
def test_a_parameter_that_looks_like_a_credential_is_never_passed_on(parameters: str) -> None:
    url = f"https://docs.example.com/a{parameters}"
    assert approved(url) is None
    with pytest.raises(Invalid) as refusal:
        requested_url(url)
    assert "=x" not in refusal.value.detail + str(refusal.value)


def test_a_source_has_at_most_fifty_parameters() -> None:
    most = "https://docs.example.com/a?" + "&".join(f"p{number}=x" for number in range(50))
    assert (approved(most), requested_url(most)) == (most, most)
    for more in (most + "&p50=x", most + ";p50=x", most.replace("?", ";p50=x?")):
        assert approved(more) is None
        with pytest.raises(Invalid):
            requested_url(more)


def test_international_letters_are_only_judged_where_an_approved_host_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    ascii_only = SourcePolicy(approved_hosts=("docs.example.com",))
    judged: list[str] = []
    monkeypatch.setattr(source_policy, "citation_url", lambda text, **_: judged.append(text))
    for url in ("https://bücher.example.org/a", "https://ｄocs.example.com/a", "https://" + "ü" * 300 + ".org/a"):
        assert approved_url(url, ascii_only, allow_test_names=False) is None
    assert approved("https://" + "ü" * 300 + ".org/a") is None
    assert judged == []


def test_hosts_under_test_are_for_the_embedded_default() -> None:
    url = "https://docs.acme.test/w"
    assert approved_url(url, POLICY, allow_test_names=True) == url
    assert approved_url(url, POLICY, allow_test_names=False) is None


def test_the_longest_url_has_2048_characters_without_its_fragment() -> None:
    longest = "https://docs.example.com/" + "a" * (2048 - 25)
    assert approved(longest + "#" + "b" * 100) == longest
    assert approved(longest + "a") is None


@given(st.text(max_size=80))
def test_no_text_breaks_the_check(text: str) -> None:
    for url in (text, f"https://docs.example.com/{text}", f"https://docs.example.com{text}", f"https://{text}/"):
        shown = approved(url)
        assert shown is None or (approved(shown) == shown and host_of(shown) in POLICY.approved_hosts)
        assert shown is None or not any(ord(c) < 33 or ord(c) > 126 for c in shown)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("docs.example.com", "docs.example.com"),
        ("Docs.Example.COM", "docs.example.com"),
        ("bücher.example.org", "xn--bcher-kva.example.org"),
        ("docs.acme.test", "docs.acme.test"),
    ],
)
def test_a_host_is_approved_under_its_one_name(text: str, host: str) -> None:
    assert checked_host(text, allow_test_names=True) == host


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "*",
        "*.example.com",
        ".example.com",
        "example..com",
        "docs.example.com.",
        "docs.example.com:443",
        "docs.example.com/a",
        "https://docs.example.com",
        "user@docs.example.com",
        "docs example.com",
        "docs.example.com\n",
        "docs_1.example.com",
        "localhost",
        "wiki",
        "kb.internal",
        "kb.local",
        "metadata.google.internal",
        "10.0.0.7",
        "8.8.8.8",
        "2130706433",
        "[2606:4700::1111]",
        "2606:4700::1111",
        "faß.example.com",
        "docs.exam\u00adple.com",
        "docs.exam\u2060ple.com",
        "example.onion",
        "a.arpa",
        "a." * 127 + "com",
        "ü" * 60 + ".example.com",
        "\x00.example.com",
    ],
    ids=lambda text: ascii(text)[:40],
)
def test_what_is_no_exact_public_name_is_not_approved(text: str) -> None:
    with pytest.raises(Invalid):
        checked_host(text, allow_test_names=True)


def test_names_under_test_are_approved_where_they_are_allowed() -> None:
    assert checked_host("docs.acme.test", allow_test_names=True) == "docs.acme.test"
    with pytest.raises(Invalid):
        checked_host("docs.acme.test", allow_test_names=False)


def test_a_refused_host_is_not_repeated() -> None:
    with pytest.raises(Invalid) as refusal:
        checked_host("hunter2@docs.example.com", allow_test_names=True)
    assert "hunter2" not in refusal.value.detail + str(refusal.value)


@pytest.mark.parametrize(
    ("asked", "reported", "final"),
    [
        ("/a", "/a", "/a"),
        ("/a", "/a/", "/a"),
        ("/a/", "/a", "/a/"),
        ("/a?x=1", "/a/?x=1", "/a?x=1"),
        ("/a", "/a#part", "/a"),
        ("/", "", "/"),
        ("/a", "/A", "/A"),
        ("/a", "/a//", "/a//"),
        ("/a", "/b", "/b"),
        ("/a", "/a?x=1", "/a?x=1"),
        ("/a?x=1", "/a?x=1/", "/a?x=1/"),
        ("/a", "/a?token=x", None),
    ],
)
def test_only_a_slash_at_the_end_of_the_path_keeps_the_requested_url(
    asked: str, reported: str, final: str | None
) -> None:
    at = "https://docs.example.com"
    expected = None if final is None else at + final
    assert final_url(at + asked, at + reported, POLICY, allow_test_names=False) == expected


@pytest.mark.parametrize("reported", ["https://evil.example.com/a", "http://docs.example.com/a", "a", ""])
def test_a_text_from_elsewhere_has_no_final_url(reported: str) -> None:
    assert final_url("https://docs.example.com/a", reported, POLICY, allow_test_names=False) is None


def test_an_address_of_a_page_is_told_from_an_identifier() -> None:
    assert [is_web_url(text) for text in ("https://x", "HTTP://x", "p1", "docs/https://x.md", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]
