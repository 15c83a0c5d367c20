"""A CloudFront distribution in front of the API, ready for a web ACL."""

from __future__ import annotations

import string

from aws_cdk import Aws, RemovalPolicy, Stack
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.constructs.front_files import kept_files
from infra.constructs.names import pin
from infra.switches import Switches
from shared.domain.front import FRONT_HEADER, VIEWER_HEADER

# More than API Gateway takes to answer, the most that CloudFront waits without being asked for more.
READ_TIMEOUT_S = 60
METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]
# CloudFront keeps errors for ten seconds, also where nothing else is kept.
_ERRORS = (400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504)
_ORIGIN = "api"


class Front(Construct):
    """Everything is passed on, nothing is kept but the files of the faces, and the API is told who asks and that it is
    CloudFront that does.

    That takes a cache policy, odd as it looks: no origin request policy adds a header of CloudFront's and leaves `Host`
    out, which API Gateway needs; the headers of a cache key are sent on as well, and a cache policy with headers has
    to allow a second. As the key holds the caller's address with its port, no answer is anybody else's.
    """

    def __init__(self, scope: Construct, name: str, *, origin_host: str, switches: Switches) -> None:
        super().__init__(scope, name)
        secret = self._secret()
        distribution = cloudfront.CfnDistribution(
            self,
            "Distribution",
            distribution_config=cloudfront.CfnDistribution.DistributionConfigProperty(
                enabled=True,
                comment=Stack.of(self).stack_name,
                http_version="http2and3",
                ipv6_enabled=True,
                aliases=[switches.cloudfront_domain] if switches.cloudfront_domain else None,
                viewer_certificate=_certificate(switches),
                web_acl_id=switches.web_acl_arn or None,
                origins=[_origin(origin_host, secret)],
                default_cache_behavior=self._behavior(),
                cache_behaviors=kept_files(self, origin_id=_ORIGIN, methods=METHODS),
                custom_error_responses=[
                    cloudfront.CfnDistribution.CustomErrorResponseProperty(error_code=code, error_caching_min_ttl=0)
                    for code in _ERRORS
                ],
            ),
        )
        pin(distribution, "FrontDistribution")
        self.distribution_id = distribution.attr_id
        self.domain_name = distribution.attr_domain_name
        self.secret_arn = secret.secret_arn

    def _secret(self) -> secretsmanager.Secret:
        """Read by CloudFormation, for the distribution's header alone, and by the operator who changes it. Never change
        how it is generated: CloudFormation would make a new one, which no function knows.
        """
        secret = secretsmanager.Secret(
            self,
            "Secret",
            description="What CloudFront shows to the functions. kgw front rotate changes it.",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=64,
                # Spelled out in full: not every backend knows the flags.
                exclude_characters=string.ascii_uppercase + "ghijklmnopqrstuvwxyz" + string.punctuation,
                exclude_uppercase=True,
                exclude_punctuation=True,
                include_space=False,
                require_each_included_type=False,
            ),
            removal_policy=RemovalPolicy.DESTROY,
        )
        pin(secret, "FrontSecret")
        return secret

    def _behavior(self) -> cloudfront.CfnDistribution.DefaultCacheBehaviorProperty:
        policy = cloudfront.CfnCachePolicy(
            self,
            "CachePolicy",
            cache_policy_config=cloudfront.CfnCachePolicy.CachePolicyConfigProperty(
                name=f"{Stack.of(self).stack_name}-{Aws.REGION}",  # names are the account's, over all regions
                min_ttl=0,
                default_ttl=0,
                max_ttl=1,
                parameters_in_cache_key_and_forwarded_to_origin=(
                    cloudfront.CfnCachePolicy.ParametersInCacheKeyAndForwardedToOriginProperty(
                        enable_accept_encoding_gzip=False,
                        enable_accept_encoding_brotli=False,
                        headers_config=cloudfront.CfnCachePolicy.HeadersConfigProperty(
                            header_behavior="whitelist", headers=["authorization", VIEWER_HEADER]
                        ),
                        cookies_config=cloudfront.CfnCachePolicy.CookiesConfigProperty(cookie_behavior="none"),
                        query_strings_config=cloudfront.CfnCachePolicy.QueryStringsConfigProperty(
                            query_string_behavior="all"
                        ),
                    )
                ),
            ),
        )
        pin(policy, "FrontCachePolicy")
        return cloudfront.CfnDistribution.DefaultCacheBehaviorProperty(
            target_origin_id=_ORIGIN,
            viewer_protocol_policy="https-only",  # a redirect would come too late for a token sent in clear
            allowed_methods=METHODS,
            cached_methods=["GET", "HEAD"],
            compress=False,
            cache_policy_id=policy.ref,
            origin_request_policy_id=(
                cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER.origin_request_policy_id
            ),
        )


def _origin(host: str, secret: secretsmanager.Secret) -> cloudfront.CfnDistribution.OriginProperty:
    return cloudfront.CfnDistribution.OriginProperty(
        id=_ORIGIN,
        domain_name=host,
        connection_attempts=2,
        connection_timeout=5,
        custom_origin_config=cloudfront.CfnDistribution.CustomOriginConfigProperty(
            http_port=80,  # both said, so that a config that is read can be written back anywhere
            https_port=443,
            origin_protocol_policy="https-only",
            origin_ssl_protocols=["TLSv1.2"],
            origin_read_timeout=READ_TIMEOUT_S,
        ),
        origin_custom_headers=[
            cloudfront.CfnDistribution.OriginCustomHeaderProperty(
                header_name=FRONT_HEADER,
                # A reference that CloudFormation resolves as it makes the distribution. The template holds no value.
                header_value=secret.secret_value.unsafe_unwrap(),
            )
        ],
    )


def _certificate(switches: Switches) -> cloudfront.CfnDistribution.ViewerCertificateProperty | None:
    """CloudFront's own certificate comes with a policy of its own, that cannot be chosen."""
    if not switches.cloudfront_certificate_arn:
        return None
    return cloudfront.CfnDistribution.ViewerCertificateProperty(
        acm_certificate_arn=switches.cloudfront_certificate_arn,
        ssl_support_method="sni-only",
        minimum_protocol_version="TLSv1.2_2021",
    )
