"""Base URLs, origins and citations: by shape and name alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.origins import is_listed
from shared.domain.urls import checked_base_url, checked_origin, citation_url, destination_of
from shared.errors import Invalid

FIXTURES = Path(__file__).parents[2] / "fixtures" / "addresses"
REFUSED = json.loads((FIXTURES / "refused_urls.json").read_text())
ACCEPTED = json.loads((FIXTURES / "accepted_urls.json").read_text())
CITATIONS = json.loads((FIXTURES / "citations.json").read_text())


def test_the_corpus_holds_at_least_150_refused_urls() -> None:
    assert len({case["url"] for case in REFUSED}) >= 150


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: ascii(case["url"])[:60])
def test_a_url_of_the_corpus_is_refused_at_registration(case: dict) -> None:
    with pytest.raises(Invalid) as refusal:
        checked_base_url(case["url"].replace("{port}", "8080"), allow_loopback_http=False)
    assert refusal.value.code == "invalid_base_url"
    assert refusal.value.detail


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: ascii(case["url"]))
def test_a_good_url_is_kept_in_its_one_normal_form(case: dict) -> None:
    normal = checked_base_url(case["url"], allow_loopback_http=False)
    assert normal == case["normal"]
    assert checked_base_url(normal, allow_loopback_http=False) == normal


def test_a_refusal_repeats_nothing_of_the_url() -> None:
    with pytest.raises(Invalid) as refusal:
        checked_base_url("https://user:hunter2@kb.fern-desk.com/", allow_loopback_http=False)
    assert "hunter2" not in refusal.value.detail + str(refusal.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8788/public", "http://localhost:1/a", "http://[::1]:1", "https://127.0.0.1"]
)
def test_the_embedded_default_takes_loopback_hosts_over_http(url: str) -> None:
    assert checked_base_url(url, allow_loopback_http=True) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://kb.fern-desk.com/",
        "http://10.0.0.7/",
        "http://127.1/",
        "http://localhost.evil.com/",
        "http://2130706433/",
        "http://[::ffff:127.0.0.1]/",
        "http://127.0.0.1@kb.fern-desk.com/",
    ],
)
def test_the_embedded_default_takes_nothing_else_over_http(url: str) -> None:
    with pytest.raises(Invalid):
        checked_base_url(url, allow_loopback_http=True)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("http://dify.fern-desk.test:80/v1/", "http://dify.fern-desk.test/v1"),
        ("HTTP://Dify.Fern-Desk.test:8080", "http://dify.fern-desk.test:8080"),
        ("http://8.8.8.8:9380/", "http://8.8.8.8:9380"),
        ("http://10.0.0.7/", "http://10.0.0.7"),
        ("https://dify.fern-desk.test:443", "https://dify.fern-desk.test"),
    ],
)
def test_acknowledged_plain_http_is_taken(typed: str, kept: str) -> None:
    """Whether a private address may be reached is decided where the addresses are checked."""
    assert checked_base_url(typed, allow_loopback_http=False, allow_plain_http=True) == kept
    if kept.startswith("http:"):
        with pytest.raises(Invalid):
            checked_base_url(kept, allow_loopback_http=False)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://localhost/",
        "http://dify.localhost:5001/",
        "http://169.254.169.254/",
        "http://metadata.google.internal/",
        "http://dify/",
        "http://dify.local/",
        "http://0x7f.1/",
        "http://user:secret@dify.fern-desk.test/",
        "http://dify.fern-desk.test/?a=1",
        "http://dify.fern-desk.test//a",
        "ftp://dify.fern-desk.test/",
        "ws://dify.fern-desk.test/",
    ],
)
def test_acknowledged_plain_http_is_no_way_to_anywhere_else(url: str) -> None:
    with pytest.raises(Invalid):
        checked_base_url(url, allow_loopback_http=False, allow_private_network=True, allow_plain_http=True)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: ascii(case["url"])[:60])
def test_a_url_of_the_corpus_that_acknowledged_http_makes_good_was_refused_for_its_scheme_alone(case: dict) -> None:
    url = case["url"].replace("{port}", "8080")
    try:
        kept = checked_base_url(url, allow_loopback_http=False, allow_plain_http=True)
    except Invalid:
        return
    assert kept.startswith("http://")
    checked_base_url(kept.replace("http://", "https://", 1), allow_loopback_http=False)


def test_an_internal_name_needs_a_private_network() -> None:
    url = "https://wiki.fern-desk.internal/kb"
    assert checked_base_url(url, allow_loopback_http=False, allow_private_network=True) == url
    for refused in (url, "https://metadata.google.internal/", "https://a.metadata.google.internal/"):
        with pytest.raises(Invalid):
            checked_base_url(refused, allow_loopback_http=False, allow_private_network=refused != url)


def test_a_url_of_2048_characters_is_the_longest() -> None:
    longest = "https://kb.fern-desk.com/" + "a" * (2048 - 25)
    assert checked_base_url(longest, allow_loopback_http=False) == longest
    with pytest.raises(Invalid):
        checked_base_url(longest + "a", allow_loopback_http=False)


@pytest.mark.parametrize("case", CITATIONS, ids=lambda case: ascii(case["url"])[:60])
def test_a_citation_is_shown_in_its_normal_form_or_not_at_all(case: dict) -> None:
    assert citation_url(case["url"], allow_test_names=case.get("allowTestNames", False)) == case["shown"]


@given(st.text(max_size=60).map(lambda text: "https://ok.com/" + text))
def test_a_shown_citation_holds_nothing_that_ends_an_attribute_or_a_line(text: str) -> None:
    shown = citation_url(text, allow_test_names=False)
    assert shown is None or (shown.isascii() and shown.isprintable() and not set(shown) & set('"<>`\\ {}|^'))
    assert shown is None or citation_url(shown, allow_test_names=False) == shown


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://help.fern-desk.test", "https://help.fern-desk.test"),
        ("HTTPS://HELP.fern-desk.test", "https://help.fern-desk.test"),
        ("https://help.fern-desk.test:443", "https://help.fern-desk.test"),
        ("https://help.fern-desk.test:8443", "https://help.fern-desk.test:8443"),
        ("https://intranet", "https://intranet"),
        ("https://a_b.example.com", "https://a_b.example.com"),
        ("https://A_B.example.com:8443", "https://a_b.example.com:8443"),
        ("https://_help.example.com", "https://_help.example.com"),
        ("https://help_.example.com", "https://help_.example.com"),
        ("https://help-.example.com", "https://help-.example.com"),
        ("https://my_intranet", "https://my_intranet"),
    ],
)
def test_an_origin_is_kept_as_a_browser_sends_it(typed: str, kept: str) -> None:
    assert checked_origin(typed, allow_loopback_http=False) == kept


@pytest.mark.parametrize(
    "typed",
    ["null", "*", "https://*", "https://*.fern-desk.test", "https://help.fern-desk.test/", "https://help.fern-desk.test/a",
     "https://help.fern-desk.test?", "https://help.fern-desk.test#", "http://help.fern-desk.test", "http://localhost:3000",
     "https://user@help.fern-desk.test", "help.fern-desk.test", "https://help.fern-desk.test:0", "", "file://", "https://",
     "https://a.test,https://b.test", "https://a.test https://b.test", "https://help.fern-desk.test.", "https://a..test",
     "https://a_b.test/", "https://_.*.test", "https://" + "a_" * 32 + ".test", "https://a_b.1", "https://a!b.test"],
)  # fmt: skip
def test_what_is_no_exact_https_origin_is_refused(typed: str) -> None:
    with pytest.raises(Invalid) as refusal:
        checked_origin(typed, allow_loopback_http=False)
    assert refusal.value.code == "invalid_origin"


@pytest.mark.parametrize("url", ["https://a_b.example.com", "https://_a.example.com", "https://a-.example.com"])
def test_what_pages_come_from_is_no_host_for_a_provider_or_a_citation(url: str) -> None:
    with pytest.raises(Invalid):
        checked_base_url(url, allow_loopback_http=False)
    assert citation_url(url, allow_test_names=False) is None


@pytest.mark.parametrize(
    "host", ["a_b.example.com", "_a.example.com", "a-.example.com", "[2606:4700::1]:8443", "a.b:1"]
)
def test_a_listed_origin_is_found_when_a_browser_sends_it(host: str) -> None:
    listed = checked_origin(f"https://{host}", allow_loopback_http=False)
    assert is_listed(f"https://{host}", (listed,))
    assert not is_listed(f"https://x{host}", (listed,))


def test_a_loopback_origin_over_http_is_for_the_embedded_default() -> None:
    assert checked_origin("http://localhost:3000", allow_loopback_http=True) == "http://localhost:3000"
    with pytest.raises(Invalid):
        checked_origin("http://help.fern-desk.test", allow_loopback_http=True)


@pytest.mark.parametrize(
    ("url", "host", "port", "authority"),
    [
        ("https://kb.fern-desk.test/v1", "kb.fern-desk.test", 443, "kb.fern-desk.test"),
        ("https://kb.fern-desk.test:8443/v1", "kb.fern-desk.test", 8443, "kb.fern-desk.test:8443"),
        ("https://[2606:4700::1]:8443", "2606:4700::1", 8443, "[2606:4700::1]:8443"),
        ("http://127.0.0.1", "127.0.0.1", 80, "127.0.0.1"),
    ],
)
def test_a_destination_is_read_off_a_base_url(url: str, host: str, port: int, authority: str) -> None:
    to = destination_of(url)
    assert (to.host, to.port, to.authority) == (host, port, authority)
    assert url.startswith(to.origin)


@given(st.text(max_size=80))
def test_any_text_is_refused_or_normalised_and_never_an_error(text: str) -> None:
    for given_text in (text, "https://" + text, "https://kb.fern-desk.com/" + text):
        try:
            normal = checked_base_url(given_text, allow_loopback_http=False)
        except Invalid:
            continue
        assert checked_base_url(normal, allow_loopback_http=False) == normal
