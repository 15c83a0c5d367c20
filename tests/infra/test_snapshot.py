"""The whole template that ships, as it was when somebody last looked at it. `make snapshot` takes a new one: what
changes in it is to be read like code.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

from tests.infra.synthesised import Synthesised

SNAPSHOT = Path(__file__).parent / "snapshots" / "KnowledgeGateway.json"
REWRITE = "KG_REWRITE_SNAPSHOT"


def normalised(stack: Synthesised) -> str:
    """Without the hashes of the bundles and of the widget's script: other code is no other stack."""
    template: dict[str, Any] = copy.deepcopy(stack.template)
    for name, one in template["Resources"].items():
        if one["Type"] == "AWS::Lambda::Function":
            one["Properties"]["Code"]["S3Key"] = f"the bundle of {name}"
        one.pop("Metadata", None)
    template["Outputs"]["WidgetPinnedScriptUrl"]["Value"]["Fn::Join"][1][-1] = "the script by its content"
    template["Outputs"]["WidgetScriptIntegrity"]["Value"] = "the hash of the script"
    return json.dumps(template, indent=1, sort_keys=True) + "\n"


def test_the_template_is_the_one_that_was_looked_at(shipped: Synthesised) -> None:
    found = normalised(shipped)
    if os.environ.get(REWRITE) == "1":
        SNAPSHOT.write_text(found)
    assert found == SNAPSHOT.read_text(), "read the difference; make snapshot, and git diff, show it"


def test_the_snapshot_does_not_hang_on_where_or_when_it_was_taken() -> None:
    text = SNAPSHOT.read_text()
    assert str(Path.cwd()) not in text
    assert ".zip" not in text
