"""What the other browser tests lean on notices what it is there to notice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import OpenPage
from tests.browser.find_chromium import NoChromium, find_chromium, main
from tests.browser.site import Site

STRICT = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"
PAGE = "<!doctype html><html lang='en'><title>A page</title><main><h1>A page</h1>{}</main></html>"


def test_a_page_in_order_gives_no_cause_for_complaint(
    open_page: OpenPage, site: Site, axe: Callable[..., list[Any]]
) -> None:
    watched = open_page(site.lay("/well", PAGE.format("<p>Text.</p>"), csp=STRICT))

    assert axe(watched.page) == []
    assert watched.missteps() == []


@pytest.mark.parametrize(
    ("inside", "noted"),
    [
        ("<script>1</script>", ["script-src-elem: kInlineViolation"]),
        ("<p style='color: red'>Red</p>", ["style-src-attr: kInlineViolation"]),
        ("<script src='unsafe.js'></script>", ["require-trusted-types-for: kTrustedTypesSinkViolation"]),
    ],
    ids=["script", "style", "trusted types"],
)
def test_what_a_policy_refuses_is_noted(open_page: OpenPage, site: Site, inside: str, noted: list[str]) -> None:
    site.lay("/unsafe.js", "try { document.body.innerHTML = 'x' } catch {}", media_type="text/javascript")
    watched = open_page(site.lay("/refused", PAGE.format(inside), csp=STRICT))

    missteps = watched.missteps()
    assert watched.violations == noted, missteps
    watched.forget()


def test_faults_console_errors_and_foreign_requests_are_noted(open_page: OpenPage, site: Site) -> None:
    site.lay(
        "/faulty.js", "console.error('oh'); setTimeout(() => { throw new Error('no') })", media_type="text/javascript"
    )
    inside = "<img alt='' src='https://elsewhere.example/x.png'><script src='faulty.js'></script>"
    watched = open_page(site.lay("/faulty", PAGE.format(inside)))
    watched.page.wait_for_function("performance.now() > 50")

    missteps = watched.missteps()
    assert watched.foreign_requests == ["https://elsewhere.example/x.png"], missteps
    assert watched.page_errors == ["no"]
    assert watched.console_errors == ["oh"]
    watched.forget()


def test_axe_sees_through_a_strict_policy_and_into_a_shadow_tree(
    open_page: OpenPage, site: Site, axe: Callable[..., list[Any]]
) -> None:
    script = """
    const tree = document.querySelector("main").appendChild(document.createElement("div")).attachShadow({mode: "open"});
    tree.append(document.createElement("button"));
    """
    site.lay("/shadow.js", script, media_type="text/javascript")
    watched = open_page(site.lay("/shadow", PAGE.format("<script src='shadow.js'></script>"), csp=STRICT))

    assert [rule["id"] for rule in axe(watched.page)] == ["button-name"]


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_named_chromium_is_taken_before_the_one_on_the_path_and_that_before_playwrights(tmp_path: Path) -> None:
    fetched = program(tmp_path / ".cache/ms-playwright/chromium-1200/chrome-linux64/chrome")
    assert find_chromium({"PATH": str(tmp_path / "bin")}, home=tmp_path) == fetched

    on_path = program(tmp_path / "bin" / "chromium-browser")
    assert find_chromium({"PATH": str(tmp_path / "bin")}, home=tmp_path) == on_path

    named = program(tmp_path / "named")
    assert find_chromium({"PATH": str(tmp_path / "bin"), "KG_CHROMIUM": named}, home=tmp_path) == named


@pytest.mark.parametrize("environment", [{}, {"KG_CHROMIUM": "/nowhere/chromium"}], ids=["none", "named"])
def test_without_a_chromium_one_sentence_says_what_to_do(tmp_path: Path, environment: dict[str, str]) -> None:
    with pytest.raises(NoChromium, match="KG_CHROMIUM"):
        find_chromium({"PATH": str(tmp_path), **environment}, home=tmp_path)


@pytest.fixture
def without_chromium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on its path but an apt-get that puts a chromium there, and notes what it was told."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KG_CHROMIUM", raising=False)
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)
    apt = Path(program(tmp_path / "bin" / "apt-get"))
    made = program(tmp_path / "made")
    apt.write_text(
        f'#!/bin/sh\necho "$1" >>{tmp_path}/told\n[ "$1" = update ] || /bin/cp {made} {tmp_path}/bin/chromium\n'
    )
    return tmp_path


def test_root_on_debian_gets_one_installed(
    without_chromium: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert main() is None
    assert capfd.readouterr().out == f"{without_chromium}/bin/chromium\n"
    assert (without_chromium / "told").read_text() == "update\ninstall\n"


def test_nobody_else_does(without_chromium: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    told = main()
    assert told is not None
    assert "install your system's package of it" in told
    assert not (without_chromium / "told").exists()
