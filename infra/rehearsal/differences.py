"""The three things in which the deployed template differs from the shipped one, because the place differs.

1. Functions that ask providers may ask one on loopback over http: the rehearsal's provider is there. The stack has no
   switch for it; the setting is put into the finished template, and `tests/infra` proves that the shipped one lacks it.
2. Functions that ask live services, or look at them, find stand-ins of them on loopback, in the same way.
3. The embedded backend gives conditions no `kms:EncryptionContext:*`, so an exact condition would refuse everything.
   It becomes one that holds where the key is absent. The backend does bind every ciphertext to its context.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra.functions import FUNCTIONS

ALLOW_LOOPBACK_HTTP = "KG_ALLOW_LOOPBACK_HTTP"
LOCAL_ORIGINS = "KG_LOCAL_ORIGINS"
_EXACT = "StringEquals"
_WHERE_GIVEN = "StringEqualsIfExists"
_CONTEXT = "kms:EncryptionContext:"


def adapt(path: Path, *, local_origins: Mapping[str, str]) -> list[str]:
    """Rewrites the template at `path`. Returns what was changed, for people to read."""
    template = json.loads(path.read_text())
    dialling = [each.name for each in FUNCTIONS if each.dials_out]
    asking_live = [each.name for each in FUNCTIONS if each.reads_pools or each.every_min]
    functions = tell(template, dialling, variable=ALLOW_LOOPBACK_HTTP, value="true")
    moved = tell(template, asking_live, variable=LOCAL_ORIGINS, value=json.dumps(dict(local_origins)))
    conditions = relax_key_conditions(template)
    path.write_text(json.dumps(template))
    return [
        f"{ALLOW_LOOPBACK_HTTP}=true for {', '.join(functions)}",
        f"{LOCAL_ORIGINS} for {', '.join(moved)}",
        f"{_EXACT} -> {_WHERE_GIVEN} in {conditions} conditions on {_CONTEXT}*",
    ]


def tell(template: dict[str, Any], names: list[str], *, variable: str, value: str) -> list[str]:
    """Puts a variable into the environment of the named functions. Returns those found, in order."""
    handlers = {f"functions.{name}.handler.handler": name for name in names}
    changed = []
    for resource in template["Resources"].values():
        name = handlers.get(resource["Properties"].get("Handler", "")) if "Properties" in resource else None
        if name:
            resource["Properties"]["Environment"]["Variables"][variable] = value
            changed.append(name)
    return sorted(changed)


def relax_key_conditions(node: Any) -> int:
    """Walks the whole template. Returns the number of conditions changed."""
    if isinstance(node, list):
        return sum(relax_key_conditions(child) for child in node)
    if not isinstance(node, dict):
        return 0
    changed = sum(relax_key_conditions(child) for child in node.values())
    exact = node.get(_EXACT)
    if isinstance(exact, dict) and all(key.startswith(_CONTEXT) for key in exact):
        node[_WHERE_GIVEN] = node.pop(_EXACT)
        changed += 1
    return changed
