"""Zips whose bytes depend on their contents alone."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

_EARLIEST = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o644 << 16
_LEVEL = 6


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """`files` are the contents by name in the zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = _READABLE
            archive.writestr(entry, files[name])


def unzipped_bytes(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        return sum(entry.file_size for entry in archive.infolist())
