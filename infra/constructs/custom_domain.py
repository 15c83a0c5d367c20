"""The API under a name of the operator's."""

from __future__ import annotations

from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_route53 as route53
from constructs import Construct

from infra.constructs.names import pin
from infra.switches import Switches


class CustomDomain(Construct):
    """`target` is what the name has to point at; with `hosted_zone_id` it is made to. TLS 1.2 is the oldest spoken."""

    def __init__(
        self, scope: Construct, name: str, *, api_id: str, stage: apigateway.CfnStage, switches: Switches
    ) -> None:
        super().__init__(scope, name)
        domain = apigateway.CfnDomainName(
            self,
            "Name",
            domain_name=switches.domain_name,
            domain_name_configurations=[
                apigateway.CfnDomainName.DomainNameConfigurationProperty(
                    certificate_arn=switches.certificate_arn, endpoint_type="REGIONAL", security_policy="TLS_1_2"
                )
            ],
        )
        mapping = apigateway.CfnApiMapping(
            self, "Mapping", api_id=api_id, domain_name=domain.ref, stage=stage.stage_name
        )
        mapping.add_resource_dependency(stage)
        pin(domain, "DomainName")
        pin(mapping, "DomainMapping")
        self.target = domain.attr_regional_domain_name
        if switches.hosted_zone_id:
            self._point_at(domain, switches)

    def _point_at(self, domain: apigateway.CfnDomainName, switches: Switches) -> None:
        record = route53.CfnRecordSet(
            self,
            "Record",
            hosted_zone_id=switches.hosted_zone_id,
            name=switches.domain_name,
            type="A",
            alias_target=route53.CfnRecordSet.AliasTargetProperty(
                dns_name=domain.attr_regional_domain_name, hosted_zone_id=domain.attr_regional_hosted_zone_id
            ),
        )
        pin(record, "DomainRecord")
