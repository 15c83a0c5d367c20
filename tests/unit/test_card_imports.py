"""Imports and exports of cards, through the admin function's own routes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.domain.cards import MAX_CARDS_PER_KEY, Card
from shared.errors import Conflict, Unavailable
from shared.ports.card_store import ImportLease, Upserted
from shared.web.answer_size import MAX_ANSWER_BYTES
from tests.support.admin_stage import AUDIT, AdminStage, Answered
from tests.support.card_builders import a_card
from tests.support.card_fakes import FakeCardStore

LINES = "application/x-ndjson"
CSV = "text/csv"


@pytest.fixture
def stage() -> Iterator[AdminStage]:
    stage = AdminStage()
    yield stage
    stage.close()


@pytest.fixture
def cards(stage: AdminStage) -> str:
    """The path of a collection's cards."""
    return stage.collect().headers["Location"] + "/cards"


def send(stage: AdminStage, cards: str, body: str, media_type: str = LINES) -> Answered:
    return stage.call("POST", cards + "/import", body, headers={"content-type": media_type})


def lines(*rows: Any) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def statuses(report: Answered) -> list[str]:
    assert report.status == 200, report.text
    return [row["status"] for row in report.json["rows"]]


def stored(stage: AdminStage) -> list[Card]:
    (of_collection,) = stage.shelf.cards.values()
    return list(of_collection.values())


# --- JSON Lines ----------------------------------------------------------------------------------


def test_rows_become_cards(stage: AdminStage, cards: str) -> None:
    report = send(
        stage,
        cards,
        lines({"keys": ["pass", "渡轮卡"], "title": "Pass", "body": "a\r\nb"}, {"keys": ["fee"], "body": ""}),
    )

    assert statuses(report) == ["created", "created"]
    assert {name: report.json[name] for name in ("created", "updated", "unchanged", "refused", "skipped")} == {
        "created": 2,
        "updated": 0,
        "unchanged": 0,
        "refused": 0,
        "skipped": 0,
    }
    shown = stage.call("GET", f"{cards}/{report.json['rows'][0]['id']}").json
    assert (shown["keys"], shown["title"], shown["body"]) == (["pass", "渡轮卡"], "Pass", "a\r\nb")


def test_the_same_import_again_changes_nothing(stage: AdminStage, cards: str) -> None:
    body = lines({"keys": ["pass"], "body": "x"}, {"id": "fee-1", "keys": ["fee"], "body": "y"})
    first = send(stage, cards, body)
    before = (stored(stage), dict(stage.store.audit), dict(stage.shelf.collections))
    again = send(stage, cards, body)

    assert statuses(again) == ["unchanged", "unchanged"]
    assert [row["id"] for row in again.json["rows"]] == [row["id"] for row in first.json["rows"]]
    assert (stored(stage), dict(stage.store.audit), dict(stage.shelf.collections)) == before


def test_without_an_id_the_keys_and_the_title_say_which_card_it_is(stage: AdminStage, cards: str) -> None:
    send(stage, cards, lines({"keys": ["Pass", "渡轮卡"], "title": "T", "body": "old"}))

    spelt_otherwise = {"keys": ["渡轮卡", "ＰＡＳＳ"], "title": " t", "body": "new"}
    assert statuses(send(stage, cards, lines(spelt_otherwise))) == ["updated"]
    assert statuses(send(stage, cards, lines({"keys": ["pass"], "title": "T", "body": "old"}))) == ["created"]


def test_a_name_of_the_senders_own_keeps_its_card_when_everything_else_changes(stage: AdminStage, cards: str) -> None:
    first = send(stage, cards, lines({"id": "row 7", "keys": ["pass"], "body": "x"}))
    second = send(stage, cards, lines({"id": "row 7", "keys": ["fee"], "title": "T", "body": "y"}))

    assert statuses(second) == ["updated"]
    assert second.json["rows"][0]["id"] == first.json["rows"][0]["id"]
    assert stored(stage)[0].norm_keys == ("fee",)
    assert stored(stage)[0].generation == 2


def test_the_id_of_a_card_changes_that_card(stage: AdminStage, cards: str) -> None:
    added = stage.call("POST", cards, {"keys": ["pass"], "body": "x"}).json

    report = send(stage, cards, lines({"id": added["id"], "keys": ["pass"], "body": "y"}))
    assert statuses(report) == ["updated"]
    assert stage.call("GET", f"{cards}/{added['id']}").json["body"] == "y"


def test_the_same_rows_are_other_cards_in_another_collection(stage: AdminStage, cards: str) -> None:
    other = stage.collect(name="Other").headers["Location"] + "/cards"
    body = lines({"keys": ["pass"], "body": "x"})
    first, second = send(stage, cards, body), send(stage, other, body)

    assert statuses(second) == ["created"]
    assert first.json["rows"][0]["id"] != second.json["rows"][0]["id"]


@pytest.mark.parametrize(
    ("row", "pointer"),
    [
        ("not json", ""),
        ("[1]", ""),
        ('{"keys":["a"],"body":"x","body":"y"}', ""),
        ('{"keys":["a"],"body":"\\ud800"}', ""),
        ({"keys": [], "body": "x"}, "/keys"),
        ({"keys": ["a", " "], "body": "x"}, "/keys/1"),
        ({"keys": ["a"]}, "/body"),
        ({"keys": ["a"], "body": "x" * 32_769}, "/body"),
        ({"keys": ["a"], "body": "x", "title": None}, "/title"),
        ({"keys": ["a"], "body": "x", "colour": "red"}, "/colour"),
        ({"keys": ["a"], "body": "x", "id": ""}, "/id"),
        ({"keys": ["a"], "body": "x", "id": " \t\u3000"}, "/id"),
        ({"keys": ["a", "b\0"], "body": "x"}, "/keys/1"),
        ({"keys": ["a\x1b[2J"], "body": "x"}, "/keys/0"),
        ({"keys": ["a"], "body": "x", "title": "t\0a"}, "/title"),
        ({"keys": ["a"], "body": "x", "title": "\x9b"}, "/title"),
        ({"keys": ["a"], "body": "x", "id": "x" * 129}, "/id"),
        ({"keys": ["ﷺ" * 40], "body": "x"}, "/keys/0"),
    ],
)
def test_a_bad_row_is_refused_alone_and_says_why(stage: AdminStage, cards: str, row: Any, pointer: str) -> None:
    report = send(stage, cards, lines({"keys": ["first"], "body": "x"}, row, {"keys": ["third"], "body": "x"}))

    assert statuses(report) == ["created", "refused", "created"]
    assert [each["pointer"] for each in report.json["rows"][1]["errors"]] == [pointer]
    assert report.json["rows"][1]["id"] is None
    assert sorted(card.norm_keys for card in stored(stage)) == [("first",), ("third",)]


def test_two_rows_about_one_card_would_undo_each_other_so_the_first_counts(stage: AdminStage, cards: str) -> None:
    body = lines(
        {"id": "a", "keys": ["x"], "body": "1"},
        {"id": "b", "keys": ["x"], "body": "2"},
        {"id": "a", "keys": ["y"], "body": "3"},
    )
    report = send(stage, cards, body)

    assert statuses(report) == ["created", "created", "refused"]
    assert "Row 1" in report.json["rows"][2]["errors"][0]["detail"]
    assert statuses(send(stage, cards, body)) == ["unchanged", "unchanged", "refused"]


def test_a_full_key_refuses_its_row_alone(stage: AdminStage, cards: str) -> None:
    collection = next(iter(stage.shelf.collections.values()))
    stage.shelf.add(collection, *(a_card(collection, "full") for _ in range(MAX_CARDS_PER_KEY)))
    report = send(stage, cards, lines({"keys": ["full"], "body": "x"}, {"keys": ["free"], "body": "x"}))

    assert statuses(report) == ["refused", "created"]
    assert report.json["rows"][0]["code"] == "key_full"


def test_empty_lines_and_windows_line_ends_and_a_byte_order_mark_do_not_matter(stage: AdminStage, cards: str) -> None:
    body = '\ufeff\r\n{"keys":["a"],"body":"x"}\r\n\r\n  \n{"keys":["b"],"body":"y"}'
    report = send(stage, cards, body)

    assert statuses(report) == ["created", "created"]
    assert [row["row"] for row in report.json["rows"]] == [1, 2]


def test_an_import_of_nothing_reports_nothing(stage: AdminStage, cards: str) -> None:
    assert statuses(send(stage, cards, "")) == []
    assert statuses(send(stage, cards, "keys,body\n", CSV)) == []


def test_two_hundred_rows_are_taken_and_one_more_is_not(stage: AdminStage, cards: str) -> None:
    rows = [{"keys": [f"key {number}"], "body": ""} for number in range(201)]

    assert send(stage, cards, lines(*rows)).code == "invalid_request"
    assert not stage.shelf.cards
    assert statuses(send(stage, cards, lines(*rows[:200]))) == ["created"] * 200


def test_more_than_a_mebibyte_is_not_taken(stage: AdminStage, cards: str) -> None:
    rows = [{"keys": [f"key {number}"], "body": "x" * 30_000} for number in range(35)]

    assert send(stage, cards, lines(*rows)).code == "body_too_large"
    assert not stage.shelf.cards


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "", "text/plain", "application/x-www-form-urlencoded", "text/csv; charset=iso-8859-1"],
)
def test_other_media_types_are_refused(stage: AdminStage, cards: str, media_type: str) -> None:
    assert send(stage, cards, "keys,body\na,b\n", media_type).code == "unsupported_media_type"


@pytest.mark.parametrize(
    "media_type", ["text/csv; charset=utf-8", 'Text/CSV; charset="UTF-8"', "text/csv; header=present"]
)
def test_what_else_is_said_of_the_media_type_does_not_matter(stage: AdminStage, cards: str, media_type: str) -> None:
    assert statuses(send(stage, cards, "keys,body\na,b\n", media_type)) == ["created"]


# --- comma-separated values ----------------------------------------------------------------------


def test_a_table_becomes_cards(stage: AdminStage, cards: str) -> None:
    body = (
        "\ufeffID,Keys,Title,Body\r\n"
        'r1,pass|渡轮卡 | ,"The ""pass""","a, b\r\nsecond line"\r\n'
        "\r\n"
        ",fee,,=SUM(A1:A9)\r\n"
    )
    report = send(stage, cards, body, CSV)

    assert statuses(report) == ["created", "created"]
    first, second = (stage.call("GET", f"{cards}/{row['id']}").json for row in report.json["rows"])
    assert (first["keys"], first["title"], first["body"]) == (["pass", "渡轮卡"], 'The "pass"', "a, b\r\nsecond line")
    assert (second["keys"], second["title"], second["body"]) == (["fee"], "", "=SUM(A1:A9)")


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("x")', "\t=1", "0x10", "1e5", "true", "null"]
)
def test_a_cell_is_text_whatever_it_begins_with(stage: AdminStage, cards: str, cell: str) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    report = send(stage, cards, f"keys,title,body\n{quoted},{quoted},{quoted}\n", CSV)

    assert statuses(report) == ["created"]
    (card,) = stored(stage)
    assert (card.keys, card.title, card.body) == ((cell.strip(),), cell, cell)


def test_white_space_around_an_id_in_a_table_does_not_count(stage: AdminStage, cards: str) -> None:
    send(stage, cards, lines({"id": "r1", "keys": ["a"], "body": "x"}, {"keys": ["b"], "body": "x"}))

    report = send(stage, cards, "id,keys,body\n r1\t,a,y\n  ,b,x\n", CSV)
    assert statuses(report) == ["updated", "unchanged"]


@pytest.mark.parametrize("row", [",", " ,\t", ",,,", '"",""'])
def test_a_row_of_empty_cells_is_no_row(stage: AdminStage, cards: str, row: str) -> None:
    report = send(stage, cards, f"keys,body\n{row}\na,x\n{row}\n", CSV)

    assert [(each["row"], each["status"]) for each in report.json["rows"]] == [(1, "created")]


@pytest.mark.parametrize(("separator", "words"), [(";", "semicolons (;)"), ("\t", "tabs"), ("|", "bars (|)")])
@pytest.mark.parametrize("quote", ["", '"'])
def test_a_table_with_another_separator_is_told_which(
    stage: AdminStage, cards: str, separator: str, words: str, quote: str
) -> None:
    header = separator.join(f"{quote}{name}{quote}" for name in ("ID", "Keys", "Body"))
    row = separator.join(f"{quote}{cell}{quote}" for cell in ("1", "a", "x, y"))

    refused = send(stage, cards, f"\ufeff{header}\r\n{row}\r\n", CSV)
    assert (refused.status, refused.code) == (400, "body_not_csv")
    assert refused.json["detail"] == f"The columns are parted by {words}; part them by commas."


def test_rows_with_too_few_or_too_many_cells_are_refused_alone(stage: AdminStage, cards: str) -> None:
    report = send(stage, cards, "keys,body\na,x\nb\nc,x,y\nd,x\n", CSV)

    assert statuses(report) == ["created", "refused", "refused", "created"]


def test_a_cell_larger_than_any_body_is_refused_with_its_row(stage: AdminStage, cards: str) -> None:
    report = send(stage, cards, f"keys,body\na,{'x' * 200_000}\nb,y\n", CSV)

    assert statuses(report) == ["refused", "created"]


def test_a_table_and_its_lines_are_the_same_cards(stage: AdminStage, cards: str) -> None:
    send(stage, cards, "id,keys,title,body\n,pass|fee,T,x\nr1,a,,y\n", CSV)

    rows = ({"keys": ["pass", "fee"], "title": "T", "body": "x"}, {"id": "r1", "keys": ["a"], "body": "y"})
    assert statuses(send(stage, cards, lines(*rows))) == ["unchanged", "unchanged"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "keys\na\n",
        "keys,body,colour\na,b,c\n",
        "keys,body,Keys\na,b,c\n",
        "keys;body\na;b\n",
        'keys,body\na,"b\n',
        'keys,body\na,"b"c\n',
    ],
)
def test_a_table_whose_rows_cannot_be_told_apart_is_refused_whole(stage: AdminStage, cards: str, body: str) -> None:
    refused = send(stage, cards, body or "\n,", CSV)

    assert (refused.status, refused.code) == (400, "body_not_csv")
    assert not stage.shelf.cards


def test_bytes_that_are_not_utf8_are_refused(stage: AdminStage, cards: str) -> None:
    def sent(data: bytes, media_type: str) -> Answered:
        import base64

        event = {
            "rawPath": cards + "/import",
            "headers": {"authorization": f"Bearer {stage.root_token}", "content-type": media_type},
            "requestContext": {"http": {"method": "POST", "path": cards + "/import"}},
            "body": base64.b64encode(data).decode(),
            "isBase64Encoded": True,
        }
        return stage.send(event)

    assert sent(b"keys,body\nf\xe4hre,x\n", CSV).code == "body_not_csv"
    report = sent(b'{"keys":["f\xe4hre"],"body":""}\n{"keys":["b"],"body":""}\n', LINES)
    assert statuses(report) == ["refused", "created"]
    assert statuses(sent("keys,body\nfähre,x\n".encode(), CSV)) == ["created"]


# --- what goes wrong meanwhile -------------------------------------------------------------------


class Troubled(FakeCardStore):
    """Raises at the third row."""

    def __init__(self, stage: AdminStage, error: Exception) -> None:
        super().__init__(stage.shelf)
        self.error: Exception | None = error
        self.calls = 0

    async def upsert(self, lease: ImportLease, card: Card) -> Upserted:
        self.calls += 1
        if self.calls == 3 and self.error:
            raise self.error
        return await FakeCardStore.upsert(self, lease, card)


def troubled(stage: AdminStage, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    store = Troubled(stage, error)
    monkeypatch.setattr(stage.card_store, "upsert", store.upsert)


ROWS = lines(*({"keys": [f"key {number}"], "body": ""} for number in range(5)))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Unavailable("Try again.", retry_after_s=5), "store_unavailable"),
        (Conflict("Another one has begun.", code="import_ended"), "import_ended"),
    ],
)
def test_an_import_that_breaks_off_is_finished_by_sending_it_again(
    stage: AdminStage, cards: str, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    troubled(stage, monkeypatch, error)

    assert send(stage, cards, ROWS).code == code
    assert len(stored(stage)) == 2
    running = send(stage, cards, ROWS)
    assert (running.code, "Retry-After" in running.headers) == ("import_running", True)
    stage.clock.advance(31)
    assert statuses(send(stage, cards, ROWS)) == ["unchanged"] * 2 + ["created"] * 3


def test_a_row_that_others_are_changing_is_refused_and_the_rest_goes_on(
    stage: AdminStage, cards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    troubled(stage, monkeypatch, Conflict("Try again.", code="busy", retry_after_s=1))

    report = send(stage, cards, ROWS)
    assert statuses(report) == ["created", "created", "refused", "created", "created"]
    assert report.json["rows"][2]["code"] == "busy"
    assert statuses(send(stage, cards, ROWS)) == ["unchanged", "unchanged", "created", "unchanged", "unchanged"]


def test_rows_for_which_there_is_no_time_are_reported_as_such(
    stage: AdminStage, cards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = stage.card_store.upsert

    async def slow(lease: ImportLease, card: Card) -> Upserted:
        stage.clock.advance(8)
        return await plain(lease, card)

    monkeypatch.setattr(stage.card_store, "upsert", slow)
    assert statuses(send(stage, cards, ROWS)) == ["created"] * 3 + ["skipped"] * 2
    assert statuses(send(stage, cards, ROWS)) == ["unchanged"] * 3 + ["created"] * 2


def test_an_import_is_audited_when_it_begins_and_when_it_ends_and_is_one_generation(
    stage: AdminStage, cards: str
) -> None:
    send(stage, cards, lines({"id": "1", "keys": ["a"], "body": "x"}))
    (before,) = stage.shelf.collections.values()
    stage.clock.advance(1)
    send(stage, cards, lines({"id": "1", "keys": ["a"], "body": "y"}, {"id": "2", "keys": ["b"], "body": ""}, "no"))

    (after,) = stage.shelf.collections.values()
    assert after.content_generation == before.content_generation + 1
    assert after.importing_until == 0
    entries = stage.call("GET", AUDIT).json["entries"]
    told = entries[:2]
    assert {each["action"] for each in told} == {"cards.import_begun", "cards.imported"}
    assert {each["resource"] for each in told} == {f"collection/{after.id}"}
    (counted,) = [each["after"] for each in told if each["after"]]
    assert counted == {"cardsCreated": 1, "cardsUpdated": 1}


def test_an_import_that_broke_off_has_left_a_line_of_who_began_it(
    stage: AdminStage, cards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    troubled(stage, monkeypatch, Unavailable("Try again.", retry_after_s=5))
    stage.clock.advance(1)
    send(stage, cards, ROWS)

    newest = stage.call("GET", AUDIT).json["entries"][0]
    assert (newest["action"], newest["actor"]) == ("cards.import_begun", "root")


# --- exports -------------------------------------------------------------------------------------


def exported(stage: AdminStage, cards: str, **query: str) -> tuple[str, int]:
    """Everything, page by page, and how many pages it took."""
    text, pages = "", 0
    wanted: dict[str, str] | None = query
    while wanted is not None:
        page = stage.call("GET", cards + "/export", query=wanted)
        assert page.status == 200
        assert page.headers["Content-Type"] == LINES
        assert len(page.text.encode()) <= MAX_ANSWER_BYTES
        text, pages = text + page.text, pages + 1
        link = page.headers.get("Link")
        wanted = None if link is None else dict(part.split("=") for part in link.split("?")[1].split(">")[0].split("&"))
    return text, pages


def test_an_export_is_what_an_import_reads_back_unchanged(stage: AdminStage, cards: str) -> None:
    send(
        stage,
        cards,
        lines(
            {"keys": ["渡轮卡", "a|b", "c\u2028d"], "title": "", "body": "1\r\n\u0000=2\u2029"},
            {"keys": ["ß\u0301"], "body": ""},
        ),
    )
    before = stored(stage)
    text, _ = exported(stage, cards)

    assert statuses(send(stage, cards, text)) == ["unchanged", "unchanged"]
    for card in before:
        assert stage.call("DELETE", f"{cards}/{card.id}", if_match=f'"{card.generation}"').status == 204
    assert statuses(send(stage, cards, text)) == ["created", "created"]
    again = stored(stage)
    assert sorted((c.id, c.keys, c.title, c.body) for c in again) == sorted(
        (c.id, c.keys, c.title, c.body) for c in before
    )


def test_an_export_shows_what_is_stored_also_where_it_would_not_be_taken_today(stage: AdminStage, cards: str) -> None:
    collection = next(iter(stage.shelf.collections.values()))
    stage.shelf.add(collection, a_card(collection, "a\0b", title="t\x1b"))
    text, _ = exported(stage, cards)

    assert (json.loads(text)["keys"], json.loads(text)["title"]) == (["a\0b"], "t\x1b")


def test_an_export_goes_on_from_page_to_page(stage: AdminStage, cards: str) -> None:
    collection = next(iter(stage.shelf.collections.values()))
    many = [a_card(collection) for _ in range(7)]
    stage.shelf.add(collection, *many)
    text, pages = exported(stage, cards, limit="3")

    assert pages == 3
    assert [json.loads(line)["id"] for line in text.splitlines()] == sorted(card.id for card in many)


def test_a_page_of_an_export_ends_before_it_is_too_large(stage: AdminStage, cards: str) -> None:
    collection = next(iter(stage.shelf.collections.values()))
    many = [a_card(collection, body="\\" * 32_768) for _ in range(80)]
    stage.shelf.add(collection, *many)
    text, pages = exported(stage, cards)

    assert pages > 1
    assert [json.loads(line)["id"] for line in text.splitlines()] == sorted(card.id for card in many)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"limit": "0"}, "invalid_request"),
        ({"limit": "1001"}, "invalid_request"),
        ({"limit": "1.5"}, "invalid_request"),
        ({"cursor": "x"}, "invalid_cursor"),
        ({"format": "csv"}, "invalid_request"),
    ],
)
def test_an_export_takes_its_own_parameters_alone(
    stage: AdminStage, cards: str, query: dict[str, str], code: str
) -> None:
    assert stage.call("GET", cards + "/export", query=query).code == code


# --- generated -----------------------------------------------------------------------------------

characters = st.characters(exclude_categories=("Cs",))
keys = st.lists(
    st.text(characters, min_size=1, max_size=12).filter(lambda key: key.strip() != ""), min_size=1, max_size=6
)
rows = st.lists(
    st.fixed_dictionaries(
        {"keys": keys, "title": st.text(characters, max_size=12), "body": st.text(characters, max_size=40)}
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=rows)
def test_whatever_cards_say_an_export_brings_them_back(rows: list[dict[str, Any]]) -> None:
    stage = AdminStage()
    try:
        cards = stage.collect().headers["Location"] + "/cards"
        first = send(stage, cards, lines(*rows))
        assert len(first.json["rows"]) == len(rows)
        text, _ = exported(stage, cards)
        other = stage.collect(name="Other").headers["Location"] + "/cards"
        assert set(statuses(send(stage, other, text))) <= {"created"}
        assert exported(stage, other)[0] == text
        assert "updated" not in statuses(send(stage, cards, lines(*rows)))
    finally:
        stage.close()


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=st.text(characters, max_size=60) | st.text('",|\r\n ab=', max_size=60))
@pytest.mark.parametrize("media_type", [LINES, CSV])
def test_no_body_at_all_breaks_an_import(body: str, media_type: str) -> None:
    stage = AdminStage()
    try:
        cards = stage.collect().headers["Location"] + "/cards"
        header = "keys,body\n" if media_type == CSV else ""
        assert send(stage, cards, header + body, media_type).status in (200, 400)
    finally:
        stage.close()
