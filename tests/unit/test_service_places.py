"""Where the services are: as boto3 would find them, or as the environment says."""

from __future__ import annotations

import boto3
import pytest

from shared.adapters.service_faults import NotConfigured
from shared.adapters.service_places import Place, place_of, region_in

SERVICES = ("dynamodb", "kms", "secretsmanager")
REGIONS = ("eu-central-1", "us-east-1", "cn-north-1", "us-gov-west-1", "us-iso-east-1", "us-isob-east-1")
SWITCHES = {
    "plain": {},
    "fips": {"AWS_USE_FIPS_ENDPOINT": "true"},
    "dual stack": {"AWS_USE_DUALSTACK_ENDPOINT": "true"},
    "both": {"AWS_USE_FIPS_ENDPOINT": "true", "AWS_USE_DUALSTACK_ENDPOINT": "true"},
}
# Where a service has no such host, boto3 has a name of its own for that, or none.
OFFERED = [(region, "plain") for region in REGIONS]
OFFERED += [(region, switch) for region in ("us-east-1", "us-gov-west-1") for switch in ("fips", "dual stack")]


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(("region", "switch"), OFFERED)
def test_a_service_is_where_boto3_finds_it(
    service: str, region: str, switch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(service, {"AWS_REGION": region, **SWITCHES[switch]})
    session = boto3.Session(aws_access_key_id="k", aws_secret_access_key="s", region_name=region)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    for name, value in SWITCHES[switch].items():
        monkeypatch.setenv(name, value)
    client = session.client(service)  # type: ignore[call-overload]
    assert f"https://{place.authority}" == client.meta.endpoint_url


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.0.0.1:4566", Place("127.0.0.1", 4566, is_tls=False)),
        ("https://vpce.example.com", Place("vpce.example.com", 443, is_tls=True)),
        ("http://[::1]:80/", Place("::1", 80, is_tls=False)),
    ],
)
def test_an_address_of_its_own_goes_before(url: str, place: Place) -> None:
    assert place_of("kms", {"AWS_ENDPOINT_URL": url}) == place
    other = {"AWS_ENDPOINT_URL": "http://other:1", "AWS_ENDPOINT_URL_SECRETS_MANAGER": url}
    assert place_of("secretsmanager", other) == place
    assert place_of("kms", other).host == "other"


def test_an_authority_is_as_it_is_written_in_a_request() -> None:
    assert Place("::1", 80, is_tls=False).authority == "[::1]"
    assert Place("h", 443, is_tls=False).authority == "h:443"
    assert Place("h", 443, is_tls=True).authority == "h"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://h",
        "h:80",
        "http://",
        "http://h/path",
        "http://h?q",
        "http://u:p@h",
        "http://h:x",
        "http://h\r\nx/",
        "http://h x",
        "//h",
    ],
)
def test_what_is_no_origin_is_refused_without_its_words(url: str) -> None:
    with pytest.raises(NotConfigured) as refused:
        place_of("kms", {"AWS_ENDPOINT_URL": url})
    assert url not in str(refused.value)


@pytest.mark.parametrize("region", ["", "eu central", "eu-central-1.evil.test/", "EU"])
def test_a_region_that_names_no_host_is_refused(region: str) -> None:
    with pytest.raises(NotConfigured):
        region_in({"AWS_REGION": region})
    with pytest.raises(NotConfigured):
        place_of("kms", {"AWS_REGION": region})


def test_a_functions_own_region_goes_before_the_default() -> None:
    assert region_in({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-east-1"}) == "eu-west-1"
    assert region_in({"AWS_DEFAULT_REGION": "us-east-1"}) == "us-east-1"
