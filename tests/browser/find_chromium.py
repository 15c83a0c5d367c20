"""Finds the Chromium that the browser tests drive; as a command it also installs one where it may.

`python -m tests.browser.find_chromium` prints where it is. It needs nothing but the standard library.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLE = "KG_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_CACHES = (".cache/ms-playwright", "Library/Caches/ms-playwright")
_INSIDE = ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*")
_INSTALL_TIMEOUT_S = 600
_WHAT_TO_DO = (
    "The browser tests need Chromium: install your system's package of it, or run `{python} -m playwright install "
    f"chromium`, or set {VARIABLE} to the program."
)


class NoChromium(Exception):
    """The message says what to do."""


def find_chromium(environment: Mapping[str, str], *, home: Path) -> str:
    """The program's path: the one named by KG_CHROMIUM, else one on PATH, else what `playwright install` put there.

    Raises `NoChromium`.
    """
    if named := environment.get(VARIABLE):
        if shutil.which(named):
            return named
        raise NoChromium(f"{VARIABLE} names {named}, which is no program.")
    for name in NAMES:
        if found := shutil.which(name, path=environment.get("PATH")):
            return found
    for program in _installed_by_playwright(environment, home=home):
        return str(program)
    raise NoChromium(_WHAT_TO_DO.format(python=sys.executable))


def _installed_by_playwright(environment: Mapping[str, str], *, home: Path) -> Iterator[Path]:
    """The newest first."""
    named = environment.get("PLAYWRIGHT_BROWSERS_PATH")
    for cache in [Path(named)] if named else [home / name for name in _CACHES]:
        for browser in sorted(cache.glob("chromium-*"), reverse=True):
            for inside in _INSIDE:
                yield from (path for path in sorted(browser.glob(inside)) if os.access(path, os.X_OK))


def _may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None and not os.environ.get(VARIABLE)


def _install() -> None:
    """Debian's package. A failure shows in that nothing is found afterwards; what apt-get said is on the screen."""
    print("Installing the package chromium for the browser tests ...", file=sys.stderr, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "chromium"]):
        command = ["apt-get", *arguments]
        subprocess.run(command, env=environment, stdout=sys.stderr, timeout=_INSTALL_TIMEOUT_S, check=False)


def main() -> str | None:
    """What is wrong, or None."""
    for attempt in ("look", "look again"):
        try:
            print(find_chromium(os.environ, home=Path.home()))
        except NoChromium as missing:
            if attempt == "look again" or not _may_install():
                return str(missing)
            _install()
        else:
            return None
    return None


if __name__ == "__main__":
    sys.exit(main())
