"""The published document says what the code does: made from it, valid, complete, and with examples that hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openapi_spec_validator import validate

from infra.openapi.document import ROOT, document_text
from infra.openapi.operations import OPERATIONS
from infra.openapi.problem_words import PROBLEMS
from infra.routes import ROUTES
from shared.domain.outcomes import OutcomeCode
from tests.support.published import document, violations

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document()["paths"].items():
        for method in METHODS & item.keys():
            yield method.upper(), path, item[method]


def test_the_published_document_is_the_one_that_the_code_makes() -> None:
    assert (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8") == document_text(), "run `make openapi`"


def test_the_document_is_made_the_same_every_time() -> None:
    assert document_text() == document_text()


def test_the_document_is_valid_openapi() -> None:
    validate(document())
    assert document()["openapi"] == "3.1.0"


def test_every_route_is_described_and_nothing_else_is() -> None:
    assert {(method, path) for method, path, _ in operations()} == {(route.method, route.path) for route in ROUTES}
    assert OPERATIONS.keys() == {(route.method, route.path) for route in ROUTES}


def test_every_operation_has_a_name_of_its_own_and_words() -> None:
    ids = [operation["operationId"] for _, _, operation in operations()]

    assert len(ids) == len(set(ids)) == len(ROUTES)
    assert all(operation["summary"] and operation["tags"] for _, _, operation in operations())


def test_every_admin_route_asks_for_an_admins_token_and_no_other_but_health() -> None:
    functions = {(route.method, route.path): route.function for route in ROUTES}
    for method, path, operation in operations():
        tokens = {name for each in operation["security"] for name in each}
        if path.startswith("/api/v1/knowledge/health"):
            assert (method, tokens) == ("GET", {"adminToken", "agentToken"})
        elif functions[method, path] == "admin":
            assert tokens == {"adminToken"}
        else:
            assert "adminToken" not in tokens


def test_every_problem_code_is_named_and_exampled() -> None:
    schema = document()["components"]["schemas"]["Problem"]["properties"]["code"]

    assert schema["enum"] == list(PROBLEMS)
    for code, words in PROBLEMS.items():
        assert f"`{code}` ({words.status})" in schema["description"]
        assert document()["components"]["examples"][code]["value"]["code"] == code


def test_every_outcome_code_is_named_in_words() -> None:
    schema = document()["components"]["schemas"]["OutcomeCode"]

    assert set(schema["enum"]) == set(OutcomeCode)
    assert all(f"`{code}`:" in schema["description"] for code in OutcomeCode)


def test_every_problem_code_but_the_general_ones_belongs_to_some_operation() -> None:
    used = {
        code
        for _, _, operation in operations()
        for response in operation["responses"].values()
        for code in response.get("content", {}).get("application/problem+json", {}).get("examples", {})
    }

    # Said by the default route and by nothing that has one of its own; and the words of a whole status.
    assert PROBLEMS.keys() - used == {"bad_request", "method_not_allowed", "conflict"}


def test_every_problem_stands_under_its_own_status() -> None:
    for _, _, operation in operations():
        for status, response in operation["responses"].items():
            problems = response.get("content", {}).get("application/problem+json", {}).get("examples", {})
            assert {PROBLEMS[code].status for code in problems} <= {int(status)}


def bodies() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Every described body with its examples and the pointer to its schema."""
    for method, path, operation in operations():
        base = f"/paths/{path.replace('/', '~1')}/{method.lower()}"
        for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
            yield (
                operation["operationId"],
                content,
                f"{base}/requestBody/content/{media_type.replace('/', '~1')}/schema",
            )
        for status, response in operation["responses"].items():
            for media_type, content in response.get("content", {}).items():
                pointer = f"{base}/responses/{status}/content/{media_type.replace('/', '~1')}/schema"
                yield operation["operationId"], content, pointer


def test_every_example_holds_to_its_schema() -> None:
    seen = set()
    for name, content, pointer in bodies():
        for reference in content.get("examples", {}).values():
            example = reference["$ref"].removeprefix("#/components/examples/")
            faults = violations(pointer, document()["components"]["examples"][example]["value"])
            assert not faults, f"{name}: {example}: {faults}"
            seen.add(example)

    general = {"bad_request", "method_not_allowed", "conflict"}
    assert document()["components"]["examples"].keys() - seen == general


def test_what_has_no_example_is_what_needs_none() -> None:
    without = {operation for operation, content, _ in bodies() if not content.get("examples")}

    schemas = {f"getProvider{name}Schema" for name in ("Request", "Response", "Capabilities")}
    files = {"getWidgetScript", "getPinnedWidgetScript", "getConsole", "getConsoleFile"}
    assert without == {"getOpenApi", "getLiveness", *schemas, *files}


def test_nothing_of_python_shows_in_the_document() -> None:
    text = document_text()

    assert "Warning_" not in text
    assert "credential_class" not in text
    assert "allow_private_network" not in text
