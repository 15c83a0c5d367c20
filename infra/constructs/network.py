"""Where functions that dial out run when they have to reach private networks."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct, IDependable

from infra.constructs.log_groups import log_group
from infra.constructs.names import pin
from infra.switches import GIVEN, NEW, Switches

# What Lambda itself does with a function's role to connect it. Describing knows no narrower resource.
CONNECTING = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
_ADDRESSES = "10.64.0.0/20"


@dataclass(frozen=True, slots=True)
class Place:
    """`before_use` has to be there before a function can reach anything."""

    subnet_ids: list[str]
    security_group_ids: list[str]
    before_use: tuple[IDependable, ...] = ()

    def put(self, function: lambda_.Function) -> None:
        resource = function.node.default_child
        assert isinstance(resource, lambda_.CfnFunction)  # noqa: S101  # what the construct is made of
        resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=self.subnet_ids, security_group_ids=self.security_group_ids
        )
        function.node.add_dependency(*self.before_use)


def place_for(scope: Construct, switches: Switches) -> Place | None:
    """The operator's own network, by its ids, or a new one. None without the switch `vpc`."""
    if switches.vpc == GIVEN:
        return Place(list(switches.private_subnet_ids), list(switches.security_group_ids))
    return Network(scope, "Network", switches=switches).place if switches.vpc == NEW else None


def connecting() -> iam.PolicyStatement:
    """For Lambda, not for the function's code: calls that the code makes carry the ARN of their function."""
    return iam.PolicyStatement(
        sid="Network",
        actions=list(CONNECTING),
        resources=["*"],
        conditions={"Null": {"lambda:SourceFunctionArn": "true"}},
    )


class Network(Construct):
    """Two zones, and in each private subnets that get out by a NAT gateway of their own: one zone may fail. DynamoDB is
    reached directly. Nothing gets in. What is turned away is logged.
    """

    def __init__(self, scope: Construct, name: str, *, switches: Switches) -> None:
        super().__init__(scope, name)
        vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(_ADDRESSES),
            max_azs=2,
            nat_gateways=2,
            restrict_default_security_group=False,  # would take a function of its own, and nothing uses that group
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="Public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=26, map_public_ip_on_launch=False
                ),
                ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=22),
            ],
            gateway_endpoints={
                "DynamoDb": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.DYNAMODB)
            },
        )
        group = ec2.SecurityGroup(
            self, "Outward", vpc=vpc, description="Out to any address over TCP, nothing in.", allow_all_outbound=False
        )
        group.add_egress_rule(ec2.Peer.any_ipv4(), ec2.Port.all_tcp(), "Providers, on any port")
        self._log_refusals(vpc, switches)
        pin(vpc, "Vpc")
        pin(group, "SecurityGroupOutward")
        private = vpc.select_subnets(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
        self.place = Place(
            private.subnet_ids, [group.security_group_id], before_use=(private.internet_connectivity_established,)
        )

    def _log_refusals(self, vpc: ec2.Vpc, switches: Switches) -> None:
        log = log_group(self, "RefusedLog", logical_id="LogNetwork", switches=switches)
        writes = iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            resources=[log.log_group_arn],
        )
        role = iam.Role(
            self,
            "RefusedLogRole",
            assumed_by=iam.ServicePrincipal("vpc-flow-logs.amazonaws.com"),
            inline_policies={"Log": iam.PolicyDocument(statements=[writes])},
        )
        pin(role, "RoleNetworkLog")
        flow_log = ec2.CfnFlowLog(
            self,
            "Refused",
            resource_id=vpc.vpc_id,
            resource_type="VPC",
            traffic_type="REJECT",
            log_destination_type="cloud-watch-logs",
            log_group_name=log.log_group_name,
            deliver_logs_permission_arn=role.role_arn,
        )
        pin(flow_log, "FlowLogNetwork")
