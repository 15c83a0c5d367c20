"""`kgw audit`."""

from __future__ import annotations

from infra.cli.grammar import Commands, add_json, add_profile, command, group, whole_number


def add_to(commands: Commands) -> None:
    actions = group(commands, "audit", summary="who changed what, and when", about="What admins have changed.")
    listing = command(
        actions,
        "list",
        "audit:show_all",
        summary="list changes, the newest first",
        about="Who changed what, and when, the newest first, with the old and new values of what matters. Never a "
        "secret.",
        example="kgw audit list --limit 100",
    )
    listing.add_argument("--limit", type=whole_number(1, 10_000), default=25, metavar="N", help="the last so many (25)")
    add_json(listing)
    add_profile(listing)
