"""Streams of events in pieces, finding an answer in them, and choosing a tool: the pure parts of the MCP client."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import Refused, Unclear
from shared.ports.exchange import OutboundAnswer
from shared.providers.mcp_messages import Listener, new_id
from shared.providers.mcp_stream import EventStream
from shared.providers.mcp_tools import Offer, Wish

STREAM = {"content-type": "text/event-stream"}
TEXT = "渡轮卡 – Fährpass 🛳"


def events(pieces: Sequence[bytes], *, at_end: bool = True) -> list[str]:
    stream = EventStream()
    found = [data for piece in pieces for data in stream.feed(piece)]
    return found + stream.end() if at_end else found


def by_the_byte(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


# --- events ---
@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("data: a\n\n", ["a"]),
        ("data:a\n\ndata:  b\n\n", ["a", " b"]),
        ("data: a\ndata: b\n\n", ["a\nb"]),
        ("data: a\ndata\ndata: b\n\n", ["a\n\nb"]),
        ("data: a\r\n\r\ndata: b\r\r", ["a", "b"]),
        ("data: a\r\r\ndata: b\n\n", ["a", "b"]),
        (": ping\n\nid: 1\nretry: 5\ndata:\n\ndata: a\n\n", ["a"]),
        ("data\n\ndata: \ndata:\n\n", []),
        ("datax: a\n data: b\nDATA: c\n\n", []),
        ("data: a: b\n\n", ["a: b"]),
        ("\n\n\ndata: a", ["a"]),
        ("data: a\r", ["a"]),
        ("", []),
        ("\ufeffdata: a\n\n", ["a"]),
        ("data: \ufeffa\n\n", ["\ufeffa"]),
        ("data: a\u2028b\x0bc\x85d\x1ce\n\n", ["a\u2028b\x0bc\x85d\x1ce"]),
        (f"data: {TEXT}\n\n", [TEXT]),
    ],
)
def test_the_data_of_events_is_found_however_they_are_cut(body: str, found: list[str]) -> None:
    whole = body.encode()
    assert events([whole]) == found
    assert events(by_the_byte(whole)) == found
    for at in range(len(whole)):
        assert events([whole[:at], b"", whole[at:]]) == found


def test_an_event_is_there_as_soon_as_its_blank_line_is() -> None:
    for line_end in (b"\n", b"\r\n", b"\r"):
        body = b"data: a" + line_end + line_end
        stream = EventStream()
        counts = [len(stream.feed(byte)) for byte in by_the_byte(body)]
        assert sum(counts) == 1
        # A carriage return ends a line at once; the line feed that may belong to it is not waited for.
        assert counts.index(1) >= len(body) - 2


_LINES = st.lists(
    st.one_of(st.just(""), st.text(alphabet=st.sampled_from("da: 渡\u2028é"), max_size=8).map("data: ".__add__)),
    max_size=12,
)


@given(lines=_LINES, line_ends=st.randoms(), cuts=st.randoms())
def test_how_a_stream_is_cut_and_how_its_lines_end_changes_nothing(lines, line_ends, cuts) -> None:
    text = ""
    for line in lines:
        # A return, an empty line and a feed would be one line end, and rightly so.
        ends = ["\r\n", "\r"] if text.endswith("\r") and not line else ["\n", "\r\n", "\r"]
        text += line + line_ends.choice(ends)
    body = text.encode()
    places = [0, *sorted(cuts.randrange(len(body) + 1) for _ in range(5)), len(body)]
    pieces = [body[start:end] for start, end in itertools.pairwise(places)]
    assert events(pieces) == events(["".join(line + "\n" for line in lines).encode()])


@pytest.mark.parametrize("body", [b"data: \xff\n\n", b"data: \xe6\xb8", b"\xed\xa0\x80"], ids=["byte", "cut", "half"])
def test_what_is_no_text_is_refused(body: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        events([body])


# --- the answer ---
def message(**fields: object) -> bytes:
    return b"data: " + json.dumps({"jsonrpc": "2.0"} | fields).encode() + b"\n\n"


def test_enough_was_heard_exactly_when_the_answer_has_come() -> None:
    listener = Listener(7)
    notes = [message(method="notifications/message"), message(id=8, result={}), message(id=7, method="ping")]
    assert [listener.hears(STREAM, note) for note in notes] == [False, False, False]
    answer = message(id=7, result={"content": [], "text": TEXT})
    heard = [listener.hears(STREAM, byte) for byte in by_the_byte(answer)]
    assert heard == [False] * (len(answer) - 1) + [True]
    result = listener.heard(OutboundAnswer(status=200, headers=STREAM, body=b"")).result
    assert result == {"content": [], "text": TEXT}


@pytest.mark.parametrize(
    "second", [message(id=7, result={"b": 2}), message(id=7, result={}), message(id=7, error={"code": 1})]
)
def test_two_answers_to_one_request_are_none(second: bytes) -> None:
    with pytest.raises(Refused) as failure:
        Listener(7).hears(STREAM, message(id=7, result={}) + second)
    assert failure.value.code == "invalid_response"


@pytest.mark.parametrize("number", [True, 1.0, "1", [1]], ids=["true", "float", "text", "list"])
def test_what_merely_equals_the_number_of_a_request_is_another_number(number: object) -> None:
    assert not Listener(1).hears(STREAM, message(id=number, result={}))


def test_a_stream_of_endless_small_messages_is_given_up() -> None:
    listener = Listener(7)
    assert not listener.hears(STREAM, b"data: {}\n\n" * 1_000)
    with pytest.raises(Refused):
        listener.hears(STREAM, b"data: {}\n\n")


def test_a_stream_of_endless_lines_is_given_up() -> None:
    listener = Listener(7)
    assert not listener.hears(STREAM, b": ping\n" * 20_000)
    with pytest.raises(Refused):
        listener.hears(STREAM, b": ping\n")


@pytest.mark.parametrize("end", [b"data: \xe6\xb8", b'data: {"jsonrpc":"2.0","id":7,"resu', b": ping"])
def test_a_stream_that_is_cut_leaves_open_whether_the_work_was_done(end: bytes) -> None:
    listener = Listener(7)
    listener.hears(STREAM, message(method="notifications/message") + end)
    with pytest.raises(Unclear):
        listener.heard(OutboundAnswer(status=200, headers=STREAM, body=b""))


def test_what_is_no_stream_is_not_listened_to() -> None:
    assert not Listener(7).hears({"content-type": "application/json"}, message(id=7, result={}))
    assert not Listener(7).hears({}, message(id=7, result={}))


def test_each_request_has_another_number() -> None:
    numbers = {new_id() for _ in range(1_000)}
    assert len(numbers) > 990
    assert all(0 < number < 2**31 for number in numbers)


# --- tools ---
WISH = Wish(
    names=("ask", "ask_old"),
    pattern=re.compile("ask"),
    needed={"question": ("question", "q")},
    useful={"budget": ("tokenBudget", "budget")},
)


def offer(name: str, *arguments: str, required: Sequence[str] = ()) -> Offer:
    return Offer(name=name, arguments=frozenset(arguments), required=frozenset(required))


@pytest.mark.parametrize(
    ("offers", "chosen"),
    [
        ([offer("ask", "question")], ("ask", {"question": "question"})),
        ([offer("ask_old", "q"), offer("ask_new", "q")], ("ask_old", {"question": "q"})),
        ([offer("ask_old", "q"), offer("ask", "q", "question")], ("ask", {"question": "question"})),
        ([offer("ask_new", "q", "budget")], ("ask_new", {"question": "q", "budget": "budget"})),
        ([offer("ask_new", "q", "budget", required=["budget"])], ("ask_new", {"question": "q", "budget": "budget"})),
        ([offer("ask_new", "q"), offer("other", "q")], ("ask_new", {"question": "q"})),
        ([offer("ask_new", "q"), offer("ask_newer", "q")], None),
        ([offer("ask", "query")], None),
        ([offer("ask", "q", "key", required=["key"])], None),
        ([offer("other", "q")], None),
        ([], None),
    ],
)
def test_a_tool_is_chosen_by_its_name_and_its_arguments(offers: list[Offer], chosen: tuple | None) -> None:
    tool = WISH.choose(offers)
    assert (None if tool is None else (tool.name, tool.arguments)) == chosen


def test_a_tool_is_given_only_what_it_has_a_name_for() -> None:
    tool = WISH.choose([offer("ask_new", "q")])
    assert tool is not None
    assert tool.named({"question": "why?", "budget": 5}) == {"q": "why?"}
