"""The widget and what lies around it: closed trees, places that hide it, other documents, other languages."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.widget_stage import Stage, Theatre, element, result

WIDGET = "document.querySelector('knowledge-search')"
ANOTHER_WAY = element().replace("></", "><a href='/search'>Another way</a></")
IN_A_CLOSED_TREE = """(html) => {
  const template = document.querySelector("knowledge-search");
  const host = document.getElementById("host");
  window.inside = template.cloneNode();
  template.remove();
  host.attachShadow({mode: "closed"}).append(window.inside);
  window.within = (part) => window.inside.shadowRoot.querySelector(`[part=${part}]`);
  window.chosen = [];
  document.addEventListener("knowledge-search:select", (event) => {
    event.preventDefault();
    window.chosen.push(event.detail.position);
  });
}"""
MIDDLE_OF = """(part) => { const box = within(part).getBoundingClientRect();
return [box.x + box.width / 2, box.y + box.height / 2] }"""


def in_a_closed_tree(theatre: Theatre) -> Stage:
    stage = theatre(f"<div id='host' lang='ar' dir='rtl'></div>{element()}")
    stage.page.evaluate(IN_A_CLOSED_TREE)
    return stage


def test_inside_a_closed_tree_a_pointer_opens_results_and_a_click_beside_closes(theatre: Theatre) -> None:
    stage = in_a_closed_tree(theatre)
    for part, shown, chosen in (("option", False, [1]), ("list", True, [1, 1]), ("", False, [1, 1])):
        stage.page.evaluate("() => { within('popup').hidden ||= true; inside.search('ferry ' + chosen.length) }")
        stage.page.wait_for_function("() => within('option') && !within('popup').hidden")
        if part == "list":
            stage.page.evaluate("() => { chosen.push(1) }")
            x, y = stage.page.evaluate(MIDDLE_OF, "no-link")
            stage.page.mouse.click(x, y)
        elif part:
            stage.page.mouse.click(*stage.page.evaluate(MIDDLE_OF, part))
        else:
            stage.page.locator("h1").click()
        assert stage.page.evaluate("[!within('popup').hidden, chosen]") == [shown, chosen]


def test_language_and_direction_are_those_around_the_tree_that_it_is_in(theatre: Theatre) -> None:
    stage = in_a_closed_tree(theatre)

    assert stage.page.evaluate("[within('input').placeholder, within('box').dir]") == ["ابحث…", ""]
    assert stage.page.evaluate("getComputedStyle(within('box')).direction") == "rtl"


TAGS = {
    "zh-cmn-Hans": "zh-Hans",
    "zh-CN-Hans": "zh-CN",
    "zh-yue": "zh",
    "en-GB-oed": "en-GB",
    "en-x": "en",
    "de-a": "de",
}


def test_of_a_language_that_browsers_do_not_take_counts_as_much_as_they_do(theatre: Theatre) -> None:
    stage = theatre(lang="zh-cmn-Hans")
    expect(stage.input).to_have_attribute("placeholder", "搜索…")
    for tag, taken in TAGS.items():
        stage.page.evaluate("(tag) => { document.documentElement.lang = tag }", tag)
        stage.answer(*(result(f"渡轮卡 {tag}", locale=other) for other in TAGS))
        stage.search(f"渡轮卡 {tag}")

        expect(stage.part("title").first).to_have_text(f"渡轮卡 {tag}")
        assert stage.asked[-1]["locale"] == taken
        assert stage.part("title").first.get_attribute("lang") == "zh-Hans"


HIDDEN = {
    "visibility": "(e) => { e.style.visibility = 'hidden' }",
    "display": "(e) => { e.style.display = 'none' }",
    "inert": "(e) => { e.inert = true }",
}


def test_what_cannot_be_seen_or_used_leaves_the_key_to_the_next(theatre: Theatre) -> None:
    for layout in ("inline", "dialog"):
        for place in ("#menu", "#menu knowledge-search"):
            stage = theatre(f"<div id='menu'>{element(label='One', layout=layout)}</div>{element(label='Two')}")
            for name, hide in HIDDEN.items():
                stage.page.locator(place).evaluate(
                    "(e) => { e.removeAttribute('style'); document.activeElement.blur() }"
                )
                stage.page.locator(place).evaluate(hide)
                stage.page.keyboard.press("/")

                now = stage.page.evaluate("document.activeElement.getAttribute('label')")
                assert (now, stage.part("dialog").count()) == ("Two", 0), (layout, place, name)


def test_what_hides_or_disables_everything_around_it_does_so_to_it(theatre: Theatre) -> None:
    stage = theatre(f"<div id='menu'>{element()}</div>")
    stage.holding = True
    stage.write("ferry")
    expect(stage.message).to_have_text("Searching…")
    stage.page.locator("#menu").evaluate("(e) => { e.style.visibility = 'hidden'; e.style.pointerEvents = 'none' }")

    assert stage.part("field").count() + stage.part("popup").count() == 0
    spinner = "(sign) => getComputedStyle(sign, '::after').visibility"
    assert stage.page.locator(".sign").evaluate(spinner) == "hidden"
    assert stage.page.locator("[part=field]").evaluate("(e) => getComputedStyle(e).pointerEvents") == "none"


def test_only_the_one_that_takes_a_key_shows_it(theatre: Theatre) -> None:
    stage = theatre(element(shortcut="ctrl-k") + element() + element(layout="dialog"))
    shown = """() => [...document.querySelectorAll("knowledge-search")].map(({shadowRoot}) =>
      shadowRoot.querySelector("kbd").textContent + " = "
      + (shadowRoot.querySelector("[aria-keyshortcuts]")?.ariaKeyShortcuts ?? ""))"""
    assert stage.page.evaluate(shown) == ["Ctrl K = Control+K Meta+K", "/ = /", " = "]
    stage.page.evaluate(f"() => {{ {WIDGET}.shortcut = 'off' }}")
    assert stage.page.evaluate(shown) == [" = ", "/ = / Control+K Meta+K", " = "]
    stage.page.evaluate("() => { document.querySelectorAll('knowledge-search')[1].remove() }")
    assert stage.page.evaluate(shown) == [" = ", "/ = / Control+K Meta+K"]


def test_what_the_page_put_inside_is_reached_by_keyboard_where_the_search_is_refused(theatre: Theatre) -> None:
    stage = theatre(ANOTHER_WAY + "<button id='button'>Button</button>")
    stage.refuse(403, "forbidden")
    stage.search()
    stage.page.keyboard.press("Tab")
    assert (stage.focused(), stage.part("popup").count()) == ("a", 1)
    stage.page.keyboard.press("Shift+Tab")
    assert (stage.focused(), stage.part("popup").count()) == ("input", 1)
    stage.page.keyboard.press("Tab")
    stage.page.keyboard.press("Tab")

    assert (stage.focused(), stage.part("popup").count()) == ("button", 0)


def test_what_the_page_put_inside_has_the_colours_of_the_page_where_the_element_is_off(theatre: Theatre) -> None:
    stage = theatre(ANOTHER_WAY.replace("kg_pub_", "pub_"))
    stage.page.emulate_media(color_scheme="dark")
    colours = "(e) => [getComputedStyle(e).color, getComputedStyle(e).colorScheme]"
    of_the_slot = stage.page.locator("slot").evaluate(colours)
    stage.page.emulate_media(color_scheme="null")

    assert of_the_slot == stage.page.locator("main").evaluate(colours)


def test_an_open_dialog_that_is_moved_closes_and_opens_again(theatre: Theatre) -> None:
    stage = theatre(f"<div id='there'></div>{element(layout='dialog')}")
    stage.part("trigger").click()
    stage.page.evaluate(f"() => {{ document.getElementById('there').append({WIDGET}) }}")
    assert stage.part("dialog").count() == 0
    stage.part("trigger").click()

    assert stage.page.locator("dialog").evaluate("(dialog) => dialog.matches(':modal')")


def test_in_another_document_it_keeps_its_looks_and_its_manners(theatre: Theatre) -> None:
    stage = theatre()
    stage.page.evaluate(
        f"""() => {{ const frame = document.body.appendChild(document.createElement("iframe"));
        const beside = frame.contentDocument.body.appendChild(document.createElement("p"));
        beside.textContent = "Beside";
        frame.contentDocument.body.append({WIDGET}) }}"""
    )
    frame = stage.page.frames[1]
    assert frame.locator("[part=field]").evaluate("(e) => getComputedStyle(e).display") == "flex"
    frame.locator("[part=input]").fill("ferry")
    frame.locator("[part=option]").first.wait_for()
    frame.locator("p").first.click()

    assert frame.locator("[part=popup]:visible").count() == 0
