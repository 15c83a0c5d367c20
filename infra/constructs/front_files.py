"""What CloudFront keeps: the files of the widget and of the console, as long as their own headers say."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, Stack
from aws_cdk import aws_cloudfront as cloudfront
from constructs import Construct

from infra.constructs.names import pin

PATHS = ("/widget/*", "/console*")
_LONGEST_S = 31_536_000


def kept_files(
    scope: Construct, *, origin_id: str, methods: Sequence[str]
) -> list[cloudfront.CfnDistribution.CacheBehaviorProperty]:
    """The files are the same for every caller, so nothing of a request is in the key but whether gzip is taken."""
    policy = _policy(scope)
    return [
        cloudfront.CfnDistribution.CacheBehaviorProperty(
            path_pattern=path,
            target_origin_id=origin_id,
            viewer_protocol_policy="https-only",
            allowed_methods=list(methods),  # so that a wrong one gets the API's own answer
            cached_methods=["GET", "HEAD"],
            compress=False,  # the API packs
            cache_policy_id=policy.ref,
        )
        for path in PATHS
    ]


def _policy(scope: Construct) -> cloudfront.CfnCachePolicy:
    """Without headers, not even `Host`, which API Gateway needs to be its own. What says nothing is not kept."""
    none = "none"
    policy = cloudfront.CfnCachePolicy(
        scope,
        "FilesPolicy",
        cache_policy_config=cloudfront.CfnCachePolicy.CachePolicyConfigProperty(
            name=f"{Stack.of(scope).stack_name}-files-{Aws.REGION}",
            min_ttl=0,
            default_ttl=0,
            max_ttl=_LONGEST_S,
            parameters_in_cache_key_and_forwarded_to_origin=(
                cloudfront.CfnCachePolicy.ParametersInCacheKeyAndForwardedToOriginProperty(
                    enable_accept_encoding_gzip=True,
                    enable_accept_encoding_brotli=False,
                    headers_config=cloudfront.CfnCachePolicy.HeadersConfigProperty(header_behavior=none),
                    cookies_config=cloudfront.CfnCachePolicy.CookiesConfigProperty(cookie_behavior=none),
                    query_strings_config=cloudfront.CfnCachePolicy.QueryStringsConfigProperty(
                        query_string_behavior=none
                    ),
                )
            ),
        ),
    )
    pin(policy, "FrontFilesPolicy")
    return policy
