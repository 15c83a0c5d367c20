"""The distribution in front: everything passes, nothing is kept, and one secret shows where a request came from."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest

from infra.constructs.front import READ_TIMEOUT_S
from infra.constructs.front_files import PATHS
from infra.constructs.http_api import INTEGRATION_TIMEOUT_MS
from infra.routes import ROUTES
from shared.domain.front import FRONT_HEADER, VIEWER_HEADER
from tests.infra.stages import FRONT_CERTIFICATE, WEB_ACL
from tests.infra.synthesised import Synthesised

RESOLVED = ["{{resolve:secretsmanager:", {"Ref": "FrontSecret"}, ":SecretString:::}}"]


def config_of(stack: Synthesised) -> dict[str, Any]:
    config: dict[str, Any] = stack.of_type("AWS::CloudFront::Distribution")["FrontDistribution"]["DistributionConfig"]
    return config


def origin_of(stack: Synthesised) -> dict[str, Any]:
    (origin,) = config_of(stack)["Origins"]
    return dict(origin)


def test_without_the_switch_there_is_none(shipped: Synthesised) -> None:
    assert not [kind for kind in {one["Type"] for one in shipped.resources.values()} if "CloudFront" in kind]


def test_every_method_goes_to_the_api_over_tls_alone(everything: Synthesised) -> None:
    behaviour = config_of(everything)["DefaultCacheBehavior"]
    assert set(behaviour["AllowedMethods"]) == {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}
    assert behaviour["ViewerProtocolPolicy"] == "https-only"
    assert origin_of(everything)["CustomOriginConfig"]["OriginProtocolPolicy"] == "https-only"
    assert origin_of(everything)["CustomOriginConfig"]["OriginSSLProtocols"] == ["TLSv1.2"]
    assert config_of(everything)["HttpVersion"] == "http2and3"


def test_all_headers_but_the_host_go_on_and_the_callers_address_beside_them(everything: Synthesised) -> None:
    behaviour = config_of(everything)["DefaultCacheBehavior"]
    assert behaviour["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac"  # AllViewerExceptHostHeader
    assert behaviour["CachePolicyId"] == {"Ref": "FrontCachePolicy"}
    policy = everything.of_type("AWS::CloudFront::CachePolicy")["FrontCachePolicy"]["CachePolicyConfig"]
    key = policy["ParametersInCacheKeyAndForwardedToOrigin"]
    assert key["HeadersConfig"] == {"HeaderBehavior": "whitelist", "Headers": ["authorization", VIEWER_HEADER]}
    assert key["QueryStringsConfig"] == {"QueryStringBehavior": "all"}


def test_nothing_is_kept_that_another_caller_could_get(everything: Synthesised) -> None:
    """A policy with headers in its key must allow a second; that key names one connection. Errors are not kept."""
    policy = everything.of_type("AWS::CloudFront::CachePolicy")["FrontCachePolicy"]["CachePolicyConfig"]
    assert (policy["MinTTL"], policy["DefaultTTL"], policy["MaxTTL"]) == (0, 0, 1)
    errors = config_of(everything)["CustomErrorResponses"]
    assert {one["ErrorCode"] for one in errors} >= {400, 403, 404, 500, 502, 503, 504}
    assert all(one == {"ErrorCode": one["ErrorCode"], "ErrorCachingMinTTL": 0} for one in errors)


def test_the_files_of_the_faces_are_kept_as_long_as_they_say_and_for_every_caller_alike(
    everything: Synthesised,
) -> None:
    behaviours = {one["PathPattern"]: one for one in config_of(everything)["CacheBehaviors"]}
    assert set(behaviours) == {"/widget/*", "/console*"}
    for behaviour in behaviours.values():
        assert behaviour["CachePolicyId"] == {"Ref": "FrontFilesPolicy"}
        assert "OriginRequestPolicyId" not in behaviour
        assert behaviour["ViewerProtocolPolicy"] == "https-only"
        assert "POST" in behaviour["AllowedMethods"]  # the API says what is wrong with it
    policy = everything.of_type("AWS::CloudFront::CachePolicy")["FrontFilesPolicy"]["CachePolicyConfig"]
    assert (policy["MinTTL"], policy["DefaultTTL"], policy["MaxTTL"]) == (0, 0, 31_536_000)
    key = policy["ParametersInCacheKeyAndForwardedToOrigin"]
    assert (key["EnableAcceptEncodingGzip"], key["EnableAcceptEncodingBrotli"]) == (True, False)
    assert key["HeadersConfig"] == {"HeaderBehavior": "none"}
    assert key["CookiesConfig"] == {"CookieBehavior": "none"}
    assert key["QueryStringsConfig"] == {"QueryStringBehavior": "none"}


def test_only_paths_of_files_are_kept() -> None:
    for route in ROUTES:
        kept = any(fnmatchcase(route.path, pattern) for pattern in PATHS)
        assert kept is (route.function == "assets" and route.path.startswith(("/widget/", "/console")))


def test_policies_of_two_regions_have_different_names(everything: Synthesised) -> None:
    policies = everything.of_type("AWS::CloudFront::CachePolicy")
    names = {name: one["CachePolicyConfig"]["Name"]["Fn::Join"][1] for name, one in policies.items()}
    assert names == {
        "FrontCachePolicy": ["KnowledgeGateway-everything-", {"Ref": "AWS::Region"}],
        "FrontFilesPolicy": ["KnowledgeGateway-everything-files-", {"Ref": "AWS::Region"}],
    }


def test_it_asks_the_api_under_the_name_that_answers(staging: Synthesised, everything: Synthesised) -> None:
    assert origin_of(staging)["DomainName"] == "origin.kb.example.com"
    assert origin_of(everything)["DomainName"]["Fn::Join"][1][:2] == [{"Ref": "HttpApi"}, ".execute-api."]


def test_it_waits_longer_than_the_api_takes() -> None:
    assert READ_TIMEOUT_S > INTEGRATION_TIMEOUT_MS / 1000


def test_a_name_of_ones_own_brings_its_certificate_and_a_strict_policy(
    staging: Synthesised, everything: Synthesised
) -> None:
    assert config_of(staging)["Aliases"] == ["kb.example.com"]
    assert config_of(staging)["ViewerCertificate"] == {
        "AcmCertificateArn": FRONT_CERTIFICATE,
        "MinimumProtocolVersion": "TLSv1.2_2021",
        "SslSupportMethod": "sni-only",
    }
    assert "Aliases" not in config_of(everything)
    assert "ViewerCertificate" not in config_of(everything)


def test_a_web_acl_is_put_on_it(staging: Synthesised, everything: Synthesised) -> None:
    assert config_of(staging)["WebACLId"] == WEB_ACL
    assert "WebACLId" not in config_of(everything)


def test_the_api_is_told_by_a_header_that_no_caller_can_set(everything: Synthesised) -> None:
    assert origin_of(everything)["OriginCustomHeaders"] == [
        {"HeaderName": FRONT_HEADER, "HeaderValue": {"Fn::Join": ["", RESOLVED]}}
    ]


@pytest.mark.parametrize("stage", ["shipped", "staging", "everything"])
def test_no_secret_is_resolved_anywhere_else(request: pytest.FixtureRequest, stage: str) -> None:
    stack: Synthesised = request.getfixturevalue(stage)
    others = {name: one for name, one in stack.resources.items() if name != "FrontDistribution"}
    assert "{{resolve:" not in json.dumps([others, stack.template["Outputs"], stack.template.get("Parameters")])
    distribution = json.dumps(stack.resources.get("FrontDistribution", {}))
    assert distribution.count("{{resolve:") == (1 if stack.switches.cloudfront else 0)


@pytest.mark.parametrize("stage", ["staging", "everything"])
def test_no_function_is_told_or_may_read_the_secret(request: pytest.FixtureRequest, stage: str) -> None:
    stack: Synthesised = request.getfixturevalue(stage)
    assert "FrontSecret" not in json.dumps(stack.of_type("AWS::Lambda::Function"))
    assert "FrontSecret" not in json.dumps([stack.of_type("AWS::IAM::Policy"), stack.of_type("AWS::IAM::Role")])


def test_the_secret_is_generated_exactly_so_for_ever(staging: Synthesised, everything: Synthesised) -> None:
    """Any change of this block would make CloudFormation generate another at the next deployment, and no function knows
    it.
    """
    made = {
        "Description": "What CloudFront shows to the functions. kgw front rotate changes it.",
        "GenerateSecretString": {
            "ExcludeCharacters": "ABCDEFGHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
            "ExcludePunctuation": True,
            "ExcludeUppercase": True,
            "IncludeSpace": False,
            "PasswordLength": 64,
            "RequireEachIncludedType": False,
        },
    }
    for stack in (staging, everything):
        assert stack.of_type("AWS::SecretsManager::Secret")["FrontSecret"] == made


def test_the_outputs_say_where_to_call_and_what_to_rotate(staging: Synthesised, everything: Synthesised) -> None:
    front = {"FrontDistributionId", "FrontDomainName", "FrontSecretArn"}
    assert set(everything.template["Outputs"]) >= front | {"BackupVaultName", "ApiUrl"}
    assert set(staging.template["Outputs"]) >= front | {"DomainTarget"}
    assert staging.template["Outputs"]["ApiUrl"]["Value"] == "https://kb.example.com"
    assert staging.template["Outputs"]["McpUrl"]["Value"] == "https://kb.example.com/mcp"
    assert staging.template["Outputs"]["ConsoleUrl"]["Value"] == "https://kb.example.com/console"
    url = everything.template["Outputs"]["ApiUrl"]["Value"]["Fn::Join"][1]
    assert url == ["https://", {"Fn::GetAtt": ["FrontDistribution", "DomainName"]}]
