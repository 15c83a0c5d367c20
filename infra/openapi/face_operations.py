"""What is said of the files that browsers load: the widget's script and the console."""

from __future__ import annotations

from infra.openapi.operation import Operation

FACE_OPERATIONS: dict[tuple[str, str], Operation] = {
    ("GET", "/widget/v1/knowledge-search.js"): Operation(
        id="getWidgetScript",
        tag="Widget",
        summary="The widget's script, for pages of every origin",
        description="The newest that is deployed. Browsers keep it for five minutes.",
        has_etag=True,
        documents=("text/javascript",),
    ),
    ("GET", "/widget/v1/{script}"): Operation(
        id="getPinnedWidgetScript",
        tag="Widget",
        summary="One build of the widget's script, by its content",
        description=(
            "`knowledge-search.<first 16 hexadecimal digits of its SHA-256>.js`: what stands here never changes, so a "
            "page may say its hash in `integrity`. The build of the deployment is here, and those of earlier releases."
        ),
        has_etag=True,
        documents=("text/javascript",),
    ),
    ("GET", "/console"): Operation(
        id="getConsole",
        tag="Service",
        summary="The operator's console, a page",
        description="It asks for an admin's token and keeps it in memory. The page itself is no secret.",
        has_etag=True,
        documents=("text/html",),
    ),
    ("GET", "/console/{file}"): Operation(
        id="getConsoleFile",
        tag="Service",
        summary="A script, style sheet or picture of the console",
        has_etag=True,
        documents=("text/javascript", "text/css", "image/svg+xml"),
    ),
}
