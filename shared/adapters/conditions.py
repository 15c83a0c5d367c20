"""Clauses of conditions that several writes need, each under the name of what it says."""

from __future__ import annotations

from typing import Final

no_row_yet: Final = "attribute_not_exists(#pk)"
is_unchanged: Final = "#generation = :expected"
