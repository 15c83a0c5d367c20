"""`make release-widget`: keeps the widget's present build under the name of its content.

Pages that pin its hash find it there after later builds, too.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from functions.assets.faces import SCRIPT, STATIC, pinned_name, present_script


def keep_widget(static: Path = STATIC) -> str:
    """The name under which it is kept; the same as long as the build is."""
    directory = static / "widget" / "v1"
    name = pinned_name(present_script(static))
    shutil.copyfile(directory / SCRIPT, directory / name)
    return name


if __name__ == "__main__":
    print(f"kept {keep_widget()}")
