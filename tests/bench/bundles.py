"""The size of each function's bundle, unzipped: what it brings beyond what the Lambda runtime ships."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

from infra.bundles.archive import unzipped_bytes
from infra.bundles.build import build_bundles
from infra.bundles.target import Target
from infra.functions import FUNCTIONS
from tests.bench.measure import Row

BAR_MB = 10.0


def rows() -> Iterator[Row]:
    with contextlib.redirect_stderr(io.StringIO()):  # it prints the sizes too
        bundles = build_bundles([function.name for function in FUNCTIONS], Target())
    for name, path in sorted(bundles.items()):
        note = f"{path.stat().st_size / 1e6:.1f} MB zipped"
        yield Row(f"bundle of {name}", unzipped_bytes(path) / 1e6, BAR_MB, "MB", 1.0, note)
