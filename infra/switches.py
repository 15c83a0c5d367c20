"""All that an operator decides about a deployment, read from the CDK's context and checked before anything is made.

    cdk deploy -c stage=staging -c alarm_email=ops@example.com

docs/operations.md explains each. Without any the stack is what it always was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches

from infra.bundles.target import ARCHITECTURES, RUNTIMES, Target
from infra.functions import FUNCTIONS
from infra.routes import ROUTES
from infra.stack_name import STACK_NAME
from infra.switch_words import RefusedSwitch, Throttle, Words, WrongSwitch

# What CloudWatch Logs takes, in days.
_RETENTIONS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653)
_NAMES = tuple(function.name for function in FUNCTIONS)
_THROTTLED = (*_NAMES, *(f"{route.method} {route.path}" for route in ROUTES))
# A switch is a plain word; what the CDK, and its libraries, keep in the context has a colon or an @ in its name.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)

NEW = "new"
GIVEN = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Empty text, an empty tuple and False stand for what is not given."""

    architecture: str = Target().architecture
    runtime: str = Target().runtime
    disposable: bool = False
    stage: str = ""
    release: str = ""
    tags: tuple[tuple[str, str], ...] = ()
    log_retention_days: int = 30
    reserved_concurrency: tuple[tuple[str, int], ...] = ()
    throttles: tuple[tuple[str, Throttle], ...] = ()
    tracing: bool = False
    backups: bool = False
    unwatched: bool = False
    alarm_email: str = ""
    alarm_topic_arn: str = ""
    domain_name: str = ""
    certificate_arn: str = ""
    hosted_zone_id: str = ""
    vpc: str = ""
    private_subnet_ids: tuple[str, ...] = ()
    security_group_ids: tuple[str, ...] = ()
    cloudfront: bool = False
    cloudfront_domain: str = ""
    cloudfront_certificate_arn: str = ""
    web_acl_arn: str = ""
    mcp_origins: tuple[str, ...] = ()

    @classmethod
    def read(cls, context: Mapping[str, object]) -> Switches:
        """Raises `RefusedSwitch`: for a wrong value, ones that do not go together, a switch that does not exist."""
        _refuse_unknown(context)
        words = Words(context)
        found = cls(
            architecture=words.one_of("architecture", ARCHITECTURES) or cls().architecture,
            runtime=words.one_of("runtime", RUNTIMES) or cls().runtime,
            disposable=words.flag("disposable"),
            stage=words.text("stage", r"[a-z](?:-?[a-z0-9]){0,19}", wanted="up to 20 of a-z, 0-9 and single hyphens"),
            release=words.text("release", r"[A-Za-z0-9._+-]{1,64}", wanted="up to 64 of A-Z, a-z, 0-9, and . _ + -"),
            tags=words.tags("tags"),
            log_retention_days=words.number("log_retention_days", 30, allowed=_RETENTIONS),
            reserved_concurrency=words.concurrency("reserved_concurrency", _NAMES),
            throttles=words.throttles("throttles", _THROTTLED),
            tracing=words.flag("tracing"),
            backups=words.flag("backups"),
            unwatched=words.flag("unwatched"),
            alarm_email=words.email("alarm_email"),
            alarm_topic_arn=words.arn("alarm_topic_arn", "sns"),
            domain_name=words.host("domain_name"),
            certificate_arn=words.arn("certificate_arn", "acm"),
            hosted_zone_id=words.text("hosted_zone_id", r"Z[A-Z0-9]{1,31}", wanted="the id of a hosted zone, Z…"),
            vpc=words.text("vpc", f"{NEW}|{GIVEN}", wanted=f"{NEW} or {GIVEN}"),
            private_subnet_ids=words.ids("private_subnet_ids", "subnet"),
            security_group_ids=words.ids("security_group_ids", "sg"),
            cloudfront=words.flag("cloudfront"),
            cloudfront_domain=words.host("cloudfront_domain"),
            # CloudFront takes certificates and web ACLs of this region alone, wherever the stack is.
            cloudfront_certificate_arn=words.arn("cloudfront_certificate_arn", "acm", region="us-east-1"),
            web_acl_arn=words.arn("web_acl_arn", "wafv2", region="us-east-1"),
            mcp_origins=words.origins("mcp_origins"),
        )
        found._must_agree()
        return found

    @property
    def stack_name(self) -> str:
        return f"{STACK_NAME}-{self.stage}" if self.stage else STACK_NAME

    @property
    def target(self) -> Target:
        return Target(runtime=self.runtime, architecture=self.architecture)

    def throttle_of(self, function: str, route: str) -> Throttle | None:
        """What was given for the route, else for its function."""
        throttles = dict(self.throttles)
        return throttles.get(route) or throttles.get(function)

    def _must_agree(self) -> None:
        _together(domain_name=self.domain_name, certificate_arn=self.certificate_arn)
        _together(cloudfront_domain=self.cloudfront_domain, cloudfront_certificate_arn=self.cloudfront_certificate_arn)
        _needs("hosted_zone_id", self.hosted_zone_id, "domain_name", self.domain_name)
        for name, value in (("cloudfront_domain", self.cloudfront_domain), ("web_acl_arn", self.web_acl_arn)):
            _needs(name, value, "cloudfront=true", self.cloudfront)
        if self.alarm_email and self.alarm_topic_arn:
            raise WrongSwitch("alarm_email", "left out where alarm_topic_arn is given: subscribe the address there")
        if self.cloudfront and self.domain_name and self.domain_name == self.cloudfront_domain:
            raise WrongSwitch("cloudfront_domain", "another name than domain_name, at which CloudFront asks the API")
        if self.backups and self.disposable:
            raise WrongSwitch("backups", "left out with disposable=true: AWS deletes no vault that holds backups")
        given = self.vpc == GIVEN
        if given != bool(self.private_subnet_ids) or given != bool(self.security_group_ids):
            raise WrongSwitch("vpc", f"{GIVEN} exactly where private_subnet_ids and security_group_ids are given")


def _together(**switches: str) -> None:
    first, second = switches
    if bool(switches[first]) != bool(switches[second]):
        lacking = first if switches[second] else second
        raise WrongSwitch(lacking, f"given where {second if lacking == first else first} is")


def _needs(name: str, value: object, other: str, given: object) -> None:
    if value and not given:
        raise WrongSwitch(name, f"left out without {other}")


def _refuse_unknown(context: Mapping[str, object]) -> None:
    known = [field.name for field in fields(Switches)]
    for name in context:
        if name not in known and _PLAIN_WORD.fullmatch(name):
            close = get_close_matches(name, known, n=1)
            meant = f" Was {close[0]} meant?" if close else ""
            raise RefusedSwitch(f"There is no switch {name}.{meant} There are {', '.join(sorted(known))}.")
