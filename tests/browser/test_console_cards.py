"""The console's cards: writing with a preview, changing at once with somebody else, importing and exporting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from shared.web.card_models import CardShown, ImportReport
from shared.web.collection_models import CollectionShown
from tests.browser.conftest import OpenPage
from tests.browser.console_keyboard import button, enter, follow, sign_in, tab_to, type_into
from tests.browser.console_stage import Axe, ConsoleStage, Keep, console_stage, flawless
from tests.browser.site import Site
from tests.e2e.running import COLLECTIONS, Gateway

pytestmark = [pytest.mark.emulator]

COLLECTION = "csc_k3j5mq2x7a4bwz6t"
CARD = "crd_k3j5mq2x7a4bwz6t"
ONE = f"collections/{COLLECTION}"
CARDS = f"{ONE}/cards"
AT = "2026-09-21T14:13:20Z"
HOSTILE = ("<img src=x onerror=alert(1)>", "<script>document.body.remove()</script>", "&lt;b&gt;\u202ex\u202c")
MADE_UP = ":is(main, dialog) :is(img, script, svg, iframe, object, b, style, [onclick], [onerror])"
BODY = """\
# Heading

### Deeper [link](https://ok.example/a?b=c#d "quiet") and <mail@ok.example>

<img src=x onerror=alert(1)><script>alert(2)</script>

<div onclick="alert(3)">

block <b>of</b> html

</div>

[js](javascript:alert(4)) [JS](JaVaScRiPt:alert(5)) [data](data:text/html,<script>alert(6)</script>) [vb](vbscript:x)
[tab](java&#9;script:alert(7)) [user](https://user:pw@ok.example/) [slashes](//evil.example/x) [path](/etc) [none](<>)
<javascript:alert(8)> <https://auto.example/x> [ ](https://empty.example/)

![alt <b>x</b>](https://tracker.example/pixel.png) [![in](https://tracker.example/2.png)](https://around.example/)

- one
  1. two
     > three **four *five* ~~six~~** `<b>seven</b>`

| a | <b> |
|--:|:---:|
| [x](javascript:alert(9)) | ![y](javascript:alert(10)) |

```html
<script>alert(11)</script>
```
"""
LINKS = [
    "https://ok.example/a?b=c#d",
    "mailto:mail@ok.example",
    "https://auto.example/x",
    "https://empty.example/",
    "https://around.example/",
]


def collection(**over: Any) -> dict[str, Any]:
    told = {"id": COLLECTION, "name": "Words of the quay", "exposureProfile": "customer_safe", "cardCount": 1}
    told |= {"generation": 1, "createdAt": AT, "updatedAt": AT}
    CollectionShown.model_validate_json(json.dumps(told | over))
    return told | over


def card(**over: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"id": CARD, "keys": ["ferry pass", "Straße"], "normKeys": ["ferry pass", "strasse"]}
    told |= {"title": "Ferry pass", "body": "**89 euro** a month.", "generation": 2, "createdAt": AT, "updatedAt": AT}
    CardShown.model_validate_json(json.dumps(told | over))
    return told | over


@pytest.fixture
def stage(open_page: OpenPage, site: Site) -> ConsoleStage:
    """One collection with one card."""
    stage = console_stage(open_page, site)
    stage.lay("GET", "collections", {"collections": [collection()], "nextCursor": None})
    stage.lay("GET", ONE, collection(), ETag='"1"')
    stage.lay("GET", CARDS, {"cards": [card()], "nextCursor": None})
    stage.lay("GET", f"{CARDS}/{CARD}", card(), ETag='"2"')
    return stage


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def preview_of(page: Page) -> Locator:
    return page.locator(".preview")


def body_of(stage: ConsoleStage, method: str, path: str) -> Any:
    return stage.calls(method, path)[-1].post_data_json


def test_a_card_is_written_previewed_saved_and_deleted_without_a_mouse(
    demo: Gateway, open_page: OpenPage, axe: Axe, screenshots: Keep
) -> None:
    page = open_page(f"{demo.console}#/cards").page
    sign_in(page, demo.local["admin"], "Cards")
    enter(page, "New collection")
    type_into(page, "Name", "Words of the pier")
    page.keyboard.press("Enter")
    heading(page, "Words of the pier")
    collection_id = page.url.rpartition("/")[2]
    follow(page, "New card")
    for key in ("pier pass", "Straße"):
        type_into(page, "Keys", key)
        page.keyboard.press("Enter")
    type_into(page, "Title (optional)", "Pier pass")
    type_into(page, "Body", "It costs **9 euro**.")
    expect(preview_of(page).locator("strong")).to_have_text("9 euro")
    follow(page, "Words of the pier")
    follow(page, "New card")
    expect(page.get_by_text("What you had typed is back")).to_be_visible()
    enter(page, "Make the card")
    heading(page, "Pier pass")
    expect(page.get_by_role("heading", name="Found under")).to_be_visible()
    expect(page.get_by_text("strasse", exact=True)).to_be_visible()
    flawless(page, axe, screenshots, "card")
    card_id = page.url.rpartition("/")[2]
    kept = demo.as_admin("GET", f"{COLLECTIONS}/{collection_id}/cards/{card_id}").found
    assert (kept["keys"], kept["body"]) == (["pier pass", "Straße"], "It costs **9 euro**.")

    enter(page, "Delete")
    enter_in_dialog(page, "Delete")
    expect(page.get_by_text("There is no card yet")).to_be_visible()
    enter(page, "Delete")
    expect(page.get_by_label("Type “Words of the pier” to confirm")).to_be_focused()
    page.keyboard.insert_text("Words of the pier")
    page.keyboard.press("Enter")
    heading(page, "Cards")
    expect(page.get_by_text("“Words of the pier” is deleted")).to_be_visible()
    expect(page.get_by_text("cleared away in the background")).to_be_visible()
    assert demo.as_admin("GET", f"{COLLECTIONS}/{collection_id}").status == 404


def enter_in_dialog(page: Page, name: str) -> None:
    tab_to(page, page.get_by_role("dialog").get_by_role("button", name=name, exact=True))
    page.keyboard.press("Enter")


def test_what_a_card_says_becomes_text_and_harmless_links(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    hostile = card(keys=list(HOSTILE), normKeys=list(HOSTILE), title=HOSTILE[0], body=BODY)
    stage.lay("GET", ONE, collection(name=HOSTILE[1]), ETag='"1"')
    stage.lay("GET", CARDS, {"cards": [hostile], "nextCursor": None})
    stage.lay("GET", f"{CARDS}/{CARD}", hostile, ETag='"2"')
    page = stage.sign_in(f"#/cards/{COLLECTION}")
    heading(page, HOSTILE[1])
    for key in HOSTILE:
        expect(page.get_by_role("listitem").filter(has_text=key)).to_be_visible()
    flawless(page, axe, screenshots, "cards-hostile")
    page.get_by_role("link", name=HOSTILE[0], exact=True).click()
    heading(page, HOSTILE[0])

    shown = preview_of(page)
    links = shown.locator("a")
    expect(links).to_have_count(len(LINKS))
    assert [link.get_attribute("href") for link in links.all()] == LINKS
    assert {link.get_attribute("rel") for link in links.all()} == {"noopener noreferrer nofollow"}
    assert page.locator(MADE_UP).count() == 0
    for text in ("<img src=x onerror=alert(1)>", '<div onclick="alert(3)">', "[js](javascript:alert(4))", "(/etc)"):
        expect(shown).to_contain_text(text)
    expect(shown).to_contain_text("Picture, not loaded: alt <b>x</b> https://tracker.example/pixel.png")
    expect(shown.locator("li blockquote strong em")).to_have_text("five")
    assert [one.text_content() for one in shown.get_by_role("heading", level=4).all()] == ["Heading"]
    flawless(page, axe, screenshots, "card-hostile")


def test_of_two_who_change_a_card_at_once_neither_loses_anything(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.sign_in(f"#/cards/{COLLECTION}/{CARD}")
    page.get_by_label("Body").fill("Mine.")
    stage.refuse("PATCH", f"{CARDS}/{CARD}", 412, "precondition_failed")
    stage.lay("GET", f"{CARDS}/{CARD}", card(title="Theirs", body="Theirs too.", generation=3), ETag='"3"')
    button(page, "Save").click()
    button(page, "Read it again").click()
    expect(page.get_by_label("Title (optional)")).to_have_value("Theirs")
    expect(page.get_by_label("Body")).to_have_value("Mine.")
    expect(page.get_by_text("Somebody else has changed the same: body")).to_be_visible()
    flawless(page, axe, screenshots, "card-clash")

    stage.lay("PATCH", f"{CARDS}/{CARD}", card(title="Theirs", body="Mine.", generation=4), ETag='"4"')
    button(page, "Save").click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    assert stage.calls("PATCH", f"{CARDS}/{CARD}")[-1].headers["if-match"] == '"3"'
    assert body_of(stage, "PATCH", f"{CARDS}/{CARD}") == {"body": "Mine."}


def test_limits_and_refusals_stand_at_their_fields(stage: ConsoleStage, axe: Axe, screenshots: Keep) -> None:
    page = stage.sign_in(f"#/cards/{COLLECTION}/new")
    keys = page.get_by_label("Keys", exact=True)
    for key in ("EV", "x" * 201, "ev"):
        keys.fill(key)
        keys.press("Enter")
    expect(page.get_by_text("That key is there already.")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="201 of 200")).to_be_visible()
    page.get_by_label("Body").fill("票" * 10_923)
    expect(page.get_by_text("1 bytes too many: at most 32,768.")).to_be_visible()
    expect(page.get_by_text("It is longer than a card may be")).to_be_visible()
    errors = [{"pointer": "/keys/1", "detail": "String should have at most 200 characters."}]
    stage.refuse("POST", CARDS, 422, "invalid_request", errors=errors)
    keys.fill("typed and not added")
    button(page, "Make the card").click()
    expect(keys).to_have_attribute("aria-invalid", "true")
    assert body_of(stage, "POST", CARDS)["keys"] == ["EV", "x" * 201, "typed and not added"]
    flawless(page, axe, screenshots, "card-refused")

    page.get_by_role("link", name="Cards", exact=True).click()  # left unsaved
    button(page, "Sign out").click()
    stage.sign_in(f"#/cards/{COLLECTION}/new")
    expect(page.get_by_label("Body")).to_have_value("")
    expect(page.get_by_text("What you had typed is back")).to_have_count(0)


def test_a_filter_says_what_it_has_looked_through_and_reads_on(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.page

    def pages(route: Route) -> None:
        at = 1 if "cursor=1" in route.request.url else 2 if "cursor=2" in route.request.url else 0
        one = card(id=f"crd_{at}", title=f"Card {at}", normKeys=["餐券" if at == 2 else f"key {at}"])
        route.fulfill(json={"cards": [one], "nextCursor": str(at + 1) if at < 2 else None})

    page.route(f"**/{CARDS}?*", pages)
    stage.sign_in(f"#/cards/{COLLECTION}")
    page.get_by_label("Filter by key or title").fill(" 餐券 ")
    expect(page.get_by_text("0 cards of the 1 that were read")).to_be_visible()
    flawless(page, axe, screenshots, "cards-filter")
    button(page, "Look through all").click()
    expect(page.get_by_role("link", name="Card 2")).to_be_visible()
    expect(page.get_by_text("1 card of the 3 that were read")).to_be_visible()
    expect(button(page, "Look through all")).to_have_count(0)


def test_a_table_is_imported_in_slices_which_wait_and_report_refused_rows(
    stage: ConsoleStage, axe: Axe, screenshots: Keep
) -> None:
    page = stage.page
    sent: list[str] = []

    def answer(route: Route) -> None:
        rows = (route.request.post_data or "").splitlines()[1:]
        sent.append(route.request.post_data or "")
        if len(sent) == 2:
            told = {"title": "Wait", "code": "import_running", "status": 409}
            route.fulfill(status=409, json=told, headers={"Retry-After": "0"})
            return
        route.fulfill(json=reported(rows, skips=len(sent) == 1))

    page.route(f"**/{CARDS}/import", answer)
    stage.sign_in(f"#/cards/{COLLECTION}/import")
    rows = [f'r{at},"key {at}|a, ""b""\n{HOSTILE[0]}",,text' for at in range(250)]
    rows[9] = "bad,,,text"
    table = "\ufeffid,keys,title,body\r\n" + "\r\n".join(rows).replace("\n<", " <") + "\r\n,,,\r\n"
    page.get_by_label("File").set_input_files({"name": "g.csv", "mimeType": "text/csv", "buffer": table.encode()})
    expect(page.get_by_text("250 rows in 2 requests")).to_be_visible()
    button(page, "Import").click()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    expect(page.get_by_text("249 created, 0 updated, 0 unchanged, 1 refused")).to_be_visible()
    expect(page.get_by_role("table", name="Refused rows")).to_contain_text("Row 10")
    assert [body.count("\n") for body in sent] == [201, 2, 2, 51]
    assert all(body.startswith('"id","keys","title","body"\n') for body in sent)
    assert f'"r249","key 249|a, ""b"" {HOSTILE[0]}","","text"' in sent[-1]
    flawless(page, axe, screenshots, "cards-import")

    page.get_by_label("File").set_input_files({"name": "g.csv", "mimeType": "text/csv", "buffer": b'a,b\n"x"y,z\n'})
    expect(page.get_by_label("File")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("File").set_input_files({"name": "g.jsonl", "mimeType": "text/plain", "buffer": b"\xff\xfe"})
    expect(page.get_by_text("cannot be read as UTF-8")).to_be_visible()
    expect(button(page, "Import")).to_be_disabled()


def reported(rows: list[str], *, skips: bool) -> dict[str, Any]:
    """The last row of the first request is skipped; rows called bad are refused."""
    shown = []
    for at, row in enumerate(rows):
        status = "refused" if row.startswith('"bad"') else "skipped" if skips and at == len(rows) - 1 else "created"
        errors = [{"pointer": "/keys", "detail": "A card has at least one key."}] if status == "refused" else []
        card_id = None if status == "refused" else f"crd_{row[1:5]}"
        shown.append({"row": at + 1, "status": status, "id": card_id, "code": None, "errors": errors})
    counts = {name: sum(one["status"] == name for one in shown) for name in ("created", "refused", "skipped")}
    told = counts | {"updated": 0, "unchanged": 0, "rows": shown}
    ImportReport.model_validate_json(json.dumps(told))
    return told


def test_all_pages_of_an_export_become_one_file(stage: ConsoleStage, tmp_path: Path) -> None:
    page = stage.page

    def pages(route: Route) -> None:
        later = "cursor=next" in route.request.url
        headers = {} if later else {"Link": '<?cursor=next&limit=1000>; rel="next"'}
        route.fulfill(body=f'{{"id": "{"b" if later else "a"}"}}\n', headers=headers)

    page.route(f"**/{CARDS}/export?*", pages)
    stage.sign_in(f"#/cards/{COLLECTION}")
    with page.expect_download() as downloading:
        button(page, "Export").click()
    download = downloading.value
    download.save_as(tmp_path / "cards")
    assert download.suggested_filename == "words-of-the-quay.jsonl"
    assert (tmp_path / "cards").read_text() == '{"id": "a"}\n{"id": "b"}\n'
