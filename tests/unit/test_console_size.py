"""The console is small enough to be fetched over a bad line."""

from __future__ import annotations

import gzip

from functions.assets.faces import STATIC

MOST_BYTES = 80 * 1024


def test_the_console_is_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes(), mtime=0)) for path in (STATIC / "console").iterdir()}
    print("console, gzipped:", ", ".join(f"{name} {size} bytes" for name, size in sorted(sizes.items())))
    assert sizes["app.js"] <= MOST_BYTES
