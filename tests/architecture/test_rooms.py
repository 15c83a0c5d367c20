"""What no import contract can say about the files of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("functions", "shared", "infra", "tests", "fixtures")
SKIPPED = {"node_modules", "__pycache__", ".venv", ".git", "build", "cdk.out", ".kgw", ".hypothesis"}
OTHERS = ("docs", "requirements", ".ci")

# A place on somebody's machine, or a registry by its host. Written in pieces, so that this file does not match itself.
FORBIDDEN = re.compile(
    "|".join(
        [
            r"\.\./sha" + "red",
            r"(?<![\w.])/wo" + r"rk/",
            r"(?<![\w.])/ro" + r"ot/",
            r"(?<![\w.])/ho" + r"me/\w",
            r"(?<![\w.])/t" + r"mp\b",
            r"(?<![\w.])/op" + r"t/",
            "pypi" + r"\.org",
            "pythonhosted" + r"\.org",
            "npmjs" + r"\.(?:org|com)",
        ]
    )
)


def files() -> Iterator[Path]:
    for top in (*ROOMS, *OTHERS):
        yield from (path for path in (ROOT / top).rglob("*") if path.is_file() and not SKIPPED & set(path.parts))
    yield from (path for path in ROOT.iterdir() if path.is_file())


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="ignore")


def test_packages_have_empty_init_files() -> None:
    inits = [path for path in files() if path.name == "__init__.py"]
    assert len(inits) > 10
    assert [str(path.relative_to(ROOT)) for path in inits if path.stat().st_size] == []


def test_every_directory_of_modules_is_a_package() -> None:
    directories = {path.parent for path in files() if path.suffix == ".py" and path.parent != ROOT}
    assert [str(one.relative_to(ROOT)) for one in directories if not (one / "__init__.py").exists()] == []


def test_nothing_names_a_place_on_a_machine_or_a_registry() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files()
        if path.suffix not in {".pyc", ".png"}
        for match in FORBIDDEN.finditer(text_of(path))
    }
    assert sorted(found) == []


def test_the_search_for_places_finds_them() -> None:
    for place in ("/ro" + "ot/.pyenv/bin", "see ../sha" + "red/x", "https://pypi" + ".org/simple", "/t" + "mp/x"):
        assert FORBIDDEN.search(place)
    for harmless in ("a/wo" + "rk/b", "shared/domain", "/optional", "/rooted"):
        assert not FORBIDDEN.search(harmless)


def test_no_work_is_left_for_later() -> None:
    marks = re.compile(r"\b(?:TO" + "DO|FIX" + r"ME)\b")
    modules = [path for path in files() if path.suffix == ".py"]
    assert [str(path.relative_to(ROOT)) for path in modules if marks.search(text_of(path))] == []


def test_modules_stay_small_enough_to_read() -> None:
    shipped = [path for path in files() if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in ROOMS[:3]]
    long = {str(p.relative_to(ROOT)): n for p in shipped if (n := len(text_of(p).splitlines())) > 350}
    assert long == {}
