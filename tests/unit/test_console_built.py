"""The console's files: small, and with the types of the API as it is."""

from __future__ import annotations

import gzip
import subprocess
from pathlib import Path

from functions.assets.faces import STATIC
from infra.node import NODE

FACES = Path(__file__).resolve().parents[2] / "infra" / "faces"
MOST_BYTES = 80 * 1024


def test_the_console_is_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes(), mtime=0)) for path in (STATIC / "console").iterdir()}
    print("console, gzipped:", ", ".join(f"{name} {size} bytes" for name, size in sorted(sizes.items())))
    assert sizes["app.js"] <= MOST_BYTES


def test_the_types_of_the_api_are_those_of_the_published_description() -> None:
    command = [str(NODE), "node_modules/openapi-typescript/bin/cli.js", "../../docs/openapi.json", "--check"]
    options = ["--root-types", "--root-types-no-schema-prefix", "-o", "console/src/api.d.ts"]
    done = subprocess.run([*command, *options], cwd=FACES, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"run `npm run types` in infra/faces\n{done.stdout}{done.stderr}"
