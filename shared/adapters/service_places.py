"""Where a service is and who asks it, as the environment says. Profiles, files and metadata services are not asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from shared.adapters.service_faults import NotConfigured
from shared.adapters.signing import AccessKey

# How a region's name begins -> the end of its hosts' names, and that of those which have an IPv6 address as well.
_PARTITIONS: Final = {
    "cn-": ("amazonaws.com.cn", "api.amazonwebservices.com.cn"),
    "eusc-": ("amazonaws.eu", "api.amazonwebservices.eu"),
    "us-iso-": ("c2s.ic.gov", "api.aws.ic.gov"),
    "us-isob-": ("sc2s.sgov.gov", "api.aws.scloud"),
    "eu-isoe-": ("cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"),
    "us-isof-": ("csp.hci.ic.gov", "api.aws.hci.ic.gov"),
}
_ELSEWHERE: Final = ("amazonaws.com", "api.aws")
_REGION: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_PRINTABLE: Final = re.compile(r"[!-~]+", re.ASCII)
_PORTS: Final = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Place:
    """An origin: `host` as it is looked up and proven, an IPv6 address without brackets."""

    host: str
    port: int
    is_tls: bool

    @property
    def authority(self) -> str:
        """As it is named in a request: with the port, unless that goes without saying."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS["https" if self.is_tls else "http"] else f"{host}:{self.port}"


def region_in(environment: Mapping[str, str]) -> str:
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
    if not _REGION.fullmatch(region):
        raise NotConfigured("AWS_REGION names no region")
    return region


def place_of(service: str, environment: Mapping[str, str]) -> Place:
    """`service` as in the name of its host, such as `dynamodb`."""
    url = environment.get(f"AWS_ENDPOINT_URL_{_VARIABLES.get(service, service.upper())}")
    url = url or environment.get("AWS_ENDPOINT_URL")
    return _place_at(url) if url else Place(_host(service, environment), _PORTS["https"], is_tls=True)


_VARIABLES: Final = {"secretsmanager": "SECRETS_MANAGER"}


def _host(service: str, environment: Mapping[str, str]) -> str:
    region = region_in(environment)
    plain, dual = next((ends for start, ends in _PARTITIONS.items() if region.startswith(start)), _ELSEWHERE)
    name = f"{service}-fips" if _is_on("AWS_USE_FIPS_ENDPOINT", environment) else service
    return f"{name}.{region}.{dual if _is_on('AWS_USE_DUALSTACK_ENDPOINT', environment) else plain}"


def _is_on(name: str, environment: Mapping[str, str]) -> bool:
    return environment.get(name, "").lower() == "true"


def _place_at(url: str) -> Place:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    else:
        if parts.username is not None or parts.path not in ("", "/") or parts.query or parts.fragment:
            host = None
    if host is None or parts.scheme not in _PORTS or not _PRINTABLE.fullmatch(url):
        raise NotConfigured("AWS_ENDPOINT_URL is no origin")
    return Place(host, port or _PORTS[parts.scheme], is_tls=parts.scheme == "https")


def access_key_in(environment: Mapping[str, str]) -> AccessKey:
    key_id, secret = environment.get("AWS_ACCESS_KEY_ID", ""), environment.get("AWS_SECRET_ACCESS_KEY", "")
    token = environment.get("AWS_SESSION_TOKEN", "")
    if not (key_id and secret):
        raise NotConfigured("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
    if not _PRINTABLE.fullmatch(key_id + token):
        raise NotConfigured("the credentials of AWS hold what no header can")
    return AccessKey(key_id, secret, token)
