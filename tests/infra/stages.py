"""Two deployments that between them turn every switch."""

from __future__ import annotations

from typing import Any, Final

CERTIFICATE: Final = "arn:aws:acm:eu-central-1:111122223333:certificate/0a1b2c3d"
FRONT_CERTIFICATE: Final = "arn:aws:acm:us-east-1:111122223333:certificate/4e5f6a7b"
TOPIC: Final = "arn:aws:sns:eu-central-1:111122223333:operations"
WEB_ACL: Final = "arn:aws:wafv2:us-east-1:111122223333:global/webacl/kb/8c9d0e1f"

STAGING: Final[dict[str, Any]] = {
    "stage": "staging",
    "architecture": "x86_64",
    "tags": '{"team": "support", "cost-centre": "4711"}',
    "log_retention_days": "90",
    "reserved_concurrency": '{"search": 50, "widget": 100}',
    "throttles": '{"admin": {"rate_per_s": 5, "burst": 10}, "GET /api/v1/audit": {"rate_per_s": 1, "burst": 2}}',
    "alarm_topic_arn": TOPIC,
    "domain_name": "origin.kb.example.com",
    "certificate_arn": CERTIFICATE,
    "hosted_zone_id": "Z0123456789ABC",
    "vpc": "given",
    "private_subnet_ids": "subnet-0a1b2c3d, subnet-4e5f6a7b",
    "security_group_ids": "sg-8c9d0e1f",
    "cloudfront": "true",
    "cloudfront_domain": "kb.example.com",
    "cloudfront_certificate_arn": FRONT_CERTIFICATE,
    "web_acl_arn": WEB_ACL,
    "mcp_origins": "https://app.example.com, https://tools.example.com:8443",
}

EVERYTHING: Final[dict[str, Any]] = {
    "stage": "everything",
    "release": "2026-11.1",
    "tracing": "true",
    "backups": "true",
    "alarm_email": "operations@example.com",
    "vpc": "new",
    "cloudfront": "true",
}
