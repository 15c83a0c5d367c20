"""What is said of the schemas of the provider contract."""

from __future__ import annotations

from infra.openapi.operation import Operation


def _schema(name: str, id_: str, summary: str) -> tuple[tuple[str, str], Operation]:
    return ("GET", f"/schemas/knowledge-provider/v1/{name}.schema.json"), Operation(
        id=id_,
        tag="Service",
        summary=summary,
        description="A JSON Schema (2020-12) of version 1 of the provider contract.",
        has_etag=True,
        documents=("application/schema+json",),
    )


SCHEMA_OPERATIONS: dict[tuple[str, str], Operation] = dict(
    (
        _schema("request", "getProviderRequestSchema", "The shape of what a provider is asked"),
        _schema("response", "getProviderResponseSchema", "The shape of what a provider answers"),
        _schema("capabilities", "getProviderCapabilitiesSchema", "The shape of what a provider declares"),
    )
)
