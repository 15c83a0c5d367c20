"""Every state of the widget, in both themes, on small and magnified pages, and for whom colours are their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.widget_stage import RESULTS, Stage, Theatre, element, result

AXE = Callable[[Page], list[dict[str, Any]]]
KEEP = Callable[[Page, str], None]
ARABIC = result("تذاكر العبّارة", snippet="تذكرة العبّارة صالحة لجميع الرحلات.", locale="ar")


def results(stage: Stage, query: str = "ferry pass") -> None:
    stage.search(query)
    stage.page.keyboard.press("ArrowDown")


def nothing(stage: Stage) -> None:
    stage.answer()
    stage.search("ferry <pass>")


def slow(stage: Stage) -> None:
    stage.holding = True
    stage.write("ferry pass")
    expect(stage.message).to_have_text("Searching…")


def unavailable(stage: Stage) -> None:
    stage.refuse(503, "store_unavailable", Retry_After="5")
    stage.search("ferries")


def limited(stage: Stage) -> None:
    stage.refuse(429, "rate_limited", Retry_After="30")
    stage.search()


def refused(stage: Stage) -> None:
    stage.refuse(403, "forbidden")
    stage.search()


def untouched(stage: Stage) -> None:
    """As the page came."""


STATES = (untouched, results, nothing, slow, unavailable, limited, refused)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_any_state(theatre: Theatre, axe: AXE, screenshots: KEEP, theme: str) -> None:
    for state in STATES:
        stage = theatre(element(theme=theme), dark=theme == "dark")
        state(stage)

        assert axe(stage.page) == [], state.__name__
        screenshots(stage.page, f"widget-{theme}-{state.__name__}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_dialog(theatre: Theatre, axe: AXE, screenshots: KEEP, theme: str) -> None:
    stage = theatre(element(theme=theme, layout="dialog"), dark=theme == "dark")
    stage.part("trigger").click()
    for state in (untouched, results, unavailable):
        state(stage)

        assert axe(stage.page) == [], state.__name__
        screenshots(stage.page, f"widget-dialog-{theme}-{state.__name__}")


def test_axe_finds_nothing_without_a_gateway_and_with_several_on_a_page(theatre: Theatre, axe: AXE) -> None:
    stage = theatre(element(label="One") + element(label="Two", layout="dialog") + element(label="Three", key="none"))
    stage.search()

    assert axe(stage.page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_auto_follows_the_visitor_and_a_theme_does_not(theatre: Theatre, scheme: str) -> None:
    stage = theatre(element(label="A") + element(label="B", theme="dark") + element(label="C", theme="light"))
    stage.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of the two
    colours = [field.evaluate("(e) => getComputedStyle(e).backgroundColor") for field in stage.part("field").all()]
    stage.page.emulate_media(color_scheme="null")
    light, dark = "rgb(255, 255, 255)", "rgb(23, 27, 33)"
    assert colours == [light if scheme == "light" else dark, dark, light]


@pytest.mark.parametrize("layout", ["inline", "dialog"])
def test_on_320_pixels_and_at_200_percent_nothing_lies_beyond_the_edge(theatre: Theatre, layout: str) -> None:
    long = '{"open": "Donaudampfschifffahrtsgesellschaftskapitänsmützensuche"}'
    stage = theatre(element(layout=layout, strings=long), viewport={"width": 320, "height": 480})
    stage.answer(result("Donaudampfschifffahrtsgesellschaft" * 4, snippet="x" * 300), *RESULTS)
    for font_size in ("16px", "32px"):
        stage.page.evaluate(
            "(size) => document.querySelector('knowledge-search').style.setProperty('--ks-font-size', size)", font_size
        )
        if layout == "dialog":
            stage.page.keyboard.press("Escape")
            stage.part("trigger").click()
        results(stage, f"ferry {font_size}")
        wide = stage.page.evaluate("document.documentElement.scrollWidth")
        edges = [box["x"] + box["width"] for part in stage.part("option").all() if (box := part.bounding_box())]
        assert (wide, max(edges) <= 320) == (320, True), font_size
        assert stage.part("popup").evaluate("(e) => e.scrollWidth <= e.clientWidth")


def test_on_a_touch_screen_everything_is_big_enough_for_a_finger(theatre: Theatre) -> None:
    stage = theatre(element(layout="dialog"), has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640})
    sizes = [stage.part("trigger").bounding_box()]
    stage.part("trigger").tap()
    unavailable(stage)
    sizes += [stage.part(name).bounding_box() for name in ("input", "clear", "close", "retry")]
    stage.answer(*RESULTS)
    stage.part("retry").tap()
    expect(stage.options).to_have_count(3)
    sizes += [part.bounding_box() for part in stage.part("option").all()]

    assert len(sizes) == 8
    small = [box for box in sizes if not box or min(box["width"], box["height"]) < 43.5]
    assert small == []
    assert stage.part("hint").count() == 0


def test_with_a_mouse_no_target_is_smaller_than_24_pixels(theatre: Theatre) -> None:
    stage = theatre()
    unavailable(stage)
    boxes = [stage.part(name).bounding_box() for name in ("input", "clear", "retry")]

    assert [box for box in boxes if not box or min(box["width"], box["height"]) < 24] == []


def test_arabic_pages_are_laid_out_from_the_right(theatre: Theatre, axe: AXE) -> None:
    stage = theatre(element(locale="ar"), lang="ar", dir="rtl")
    stage.answer(ARABIC, result())
    stage.search("تذكرة")
    stage.page.keyboard.press("ArrowDown")

    assert axe(stage.page) == []
    assert stage.options.first.evaluate("(e) => getComputedStyle(e, '::before').right") == "0px"
    directions = [option.evaluate("(e) => getComputedStyle(e).direction") for option in stage.options.all()]
    assert directions == ["rtl", "ltr"]
    field, clear = (stage.part(name).bounding_box() for name in ("field", "clear"))
    assert field
    assert clear
    assert clear["x"] < field["x"] + 20
    expect(stage.input).to_have_attribute("placeholder", "ابحث…")


@pytest.mark.parametrize(
    ("inside", "lang", "dir", "expected"),
    [
        (element(locale="ar"), "en", "", "rtl"),
        (element(locale="ar"), "en", "ltr", "rtl"),
        (element(locale="fa"), "en", "", "rtl"),
        (element(locale="de"), "ar", "rtl", "ltr"),
        (element(locale="ar", dir="ltr"), "en", "", "ltr"),
        (element(dir="rtl"), "en", "", "rtl"),
        (element(), "he", "rtl", "rtl"),
        (element(), "he", "", "rtl"),
        (element(), "en", "", "ltr"),
    ],
    ids=["locale", "over the page", "no words of it", "back", "own dir", "dir", "page", "page's language", "neither"],
)
def test_the_direction_is_the_elements_own_then_its_locales_then_the_pages(
    theatre: Theatre,
    inside: str,
    lang: str,
    dir: str,  # noqa: A002  # the attribute's name
    expected: str,
) -> None:
    stage = theatre(inside, lang=lang, dir=dir)

    assert stage.part("box").evaluate("(e) => getComputedStyle(e).direction") == expected


def test_in_forced_colours_the_active_result_still_stands_out(theatre: Theatre) -> None:
    stage = theatre(forced_colors="active")
    results(stage)

    styles = [option.evaluate("(e) => getComputedStyle(e).outlineStyle") for option in stage.options.all()]
    assert styles == ["solid", "none", "none"]


def test_nothing_moves_for_those_who_asked_for_that(theatre: Theatre) -> None:
    for preference, moves in (("reduce", 0), ("no-preference", 1)):
        stage = theatre()
        stage.page.emulate_media(reduced_motion=preference)  # type: ignore[arg-type]  # one of the two
        slow(stage)
        assert stage.part("box").evaluate("(e) => e.getAnimations({subtree: true}).length") == moves
    stage.page.emulate_media(reduced_motion="null")


def test_a_page_themes_it_by_properties_and_parts(theatre: Theatre) -> None:
    css = (
        "knowledge-search { --ks-accent: rgb(1, 2, 3); --ks-radius: 0; --ks-font-size: 20px }"
        "knowledge-search::part(title) { text-transform: uppercase }"
    )
    theatre.site.lay("/theme.css", css, media_type="text/css")
    stage = theatre(f"<link rel='stylesheet' href='/theme.css'>{element()}", csp="default-src * 'unsafe-inline'")
    stage.search()

    looked_up = "(e) => (({color, textTransform, fontSize}) => [color, textTransform, fontSize])(getComputedStyle(e))"
    assert stage.part("title").first.evaluate(looked_up) == ["rgb(1, 2, 3)", "uppercase", "20px"]


def test_styles_of_the_page_stay_outside(theatre: Theatre) -> None:
    css = "* { color: red !important; font-size: 3px } a { display: none } body { text-transform: uppercase }"
    theatre.site.lay("/loud.css", css, media_type="text/css")
    stage = theatre(f"<link rel='stylesheet' href='/loud.css'>{element(theme='light')}", csp="default-src *")
    stage.search()

    title = stage.part("title").nth(2)
    assert title.evaluate("(e) => getComputedStyle(e).textTransform") == "none"
    assert title.evaluate("(e) => getComputedStyle(e).color") == "rgb(28, 33, 39)"
    expect(stage.options.first).to_be_visible()
