"""The frame of `make bench`: what is chosen, shown and told at the end. Nothing here measures anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.bench.groups import GROUPS, Group, chosen
from tests.bench.machine import installed, this_machine
from tests.bench.measure import Absent, Row, compared, each_of, in_turns, percentile
from tests.bench.table import BEGIN, END, figure, why_no_results_go_into

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "performance.md"
MATCH = Row("match 2 KB", 3.0, 2.0, "ms CPU", 2.5, "warm", 9)
SIZE = Row("size of a copy", 1234.5, None, "KB", None)
SLOW = Row("slow | look-up", 30.0, 20.0, "ms", 1.1)
PEER = Absent("match / a peer", "it cannot be installed here")


def a_group(name: str, *rows: Row | Absent, about: str = "many keys") -> Group:
    def told() -> Iterator[Row | Absent]:
        yield from rows

    return Group(name, about, told)


def never(name: str, *, about: str = "servers") -> Group:
    def started() -> Iterator[Row | Absent]:
        raise AssertionError("nobody asked for this group")

    return Group(name, about, started)


# --- rows -------------------------------------------------------------------------------------------


def test_a_row_holds_up_to_its_bar_and_no_further() -> None:
    assert Row("a", 11.0, 10.0, "ms", 1.1).holds
    assert not Row("a", 11.1, 10.0, "ms", 1.1).holds
    assert Row("a", 99.0, 10.0, "ms", None).holds


def test_a_row_with_a_bar_and_nothing_to_compare_with_does_not_hold() -> None:
    assert Row("a", 1.0, None, "ms", None).ratio is None
    assert not Row("a", 1.0, None, "ms", 2.0).holds
    assert not Row("a", 1.0, 0.0, "ms", 2.0).holds


def test_both_take_turns_after_each_was_warmed_and_the_medians_are_compared() -> None:
    turns: list[str] = []
    figures = {"ours": iter([100.0, 1.0, 9.0, 2.0]), "baseline": iter([100.0, 4.0, 5.0, 3.0])}

    def take(who: str) -> float:
        turns.append(who)
        return next(figures[who])

    row = compared("a", lambda: take("ours"), lambda: take("baseline"), unit="ms", bar=1.0, rounds=3)

    assert turns == ["ours", "baseline"] * 4
    assert (row.ours, row.baseline, row.ratio, row.rounds) == (2.0, 4.0, 0.5, 3)


def test_every_figure_is_kept_in_its_order() -> None:
    count = iter(range(100))
    assert in_turns(lambda: next(count), lambda: 7.0, rounds=3) == ([1, 2, 3], [7.0, 7.0, 7.0])


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50), (0.95, 95), (0.99, 99), (1.0, 100)])
def test_a_percentile_is_one_of_the_figures(share: float, expected: int) -> None:
    assert percentile([float(each) for each in range(100, 0, -1)], share) == expected
    assert percentile([4.0], share) == 4.0


def test_work_is_repeated_and_one_of_it_told() -> None:
    done: list[int] = []

    def measure(work: object) -> float:
        assert callable(work)
        work()
        return 10.0

    assert each_of(5, measure)(lambda: done.append(1)) == 2.0
    assert len(done) == 5


# --- choosing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["cards", "search"]),
        (["cards"], ["cards"]),
        (["KEYS"], ["cards"]),
        (["keys", "gather"], ["cards", "search"]),
        (["search"], ["search"]),
        (["sear"], ["cards", "search"]),
        (["x"], []),
    ],
    ids=["none", "name", "subject", "several", "whole-name", "part", "nobody"],
)
def test_a_word_chooses_groups_by_name_or_subject(words: list[str], names: list[str]) -> None:
    groups = [never("cards", about="many keys, no search"), never("search", about="a bare gather")]
    assert [group.name for group in chosen(words, among=groups)] == names


def test_a_group_that_nobody_asked_for_is_not_begun(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "cards"], groups=[never("search"), a_group("cards", MATCH)]) == 0
    assert "match 2 KB" in capsys.readouterr().out


def test_of_a_group_chosen_by_its_subject_only_rows_with_the_word_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    group = a_group("cards", MATCH, SLOW, about="match and look-up")
    assert main(["--only", "match"], groups=[group]) == 0
    told = capsys.readouterr().out
    assert "match 2 KB" in told
    assert "slow" not in told


def test_a_word_that_nothing_has_is_an_error_that_names_the_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--only", "x"], groups=[never("search"), never("cards")])
    assert ended.value.code == 2
    assert "search, cards" in capsys.readouterr().err


@pytest.mark.parametrize("word", ["xyz", "", " "], ids=["misspelt", "empty", "space"])
def test_a_word_that_nothing_has_is_an_error_beside_one_that_is_right(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--only", "search", word], groups=[never("search"), never("cards")])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert f"no row is of {word.strip() or 'an empty word'};" in told.err
    assert told.out == ""


@pytest.mark.parametrize(
    ("word", "group"),
    [
        ("FastAPI", "peers"),
        ("thread", "peers"),
        ("LiteLLM", "peers"),
        ("FlashText", "cards"),
        ("regular expression", "cards"),
        ("boto3", "imports"),
        ("admin", "imports"),
    ],
)
def test_what_is_compared_with_can_be_chosen_by_its_name(word: str, group: str) -> None:
    assert [each.name for each in chosen([word])] == [group]


def test_groups_have_names_of_their_own() -> None:
    names = [group.name for group in GROUPS]
    assert len(set(names)) == len(names)


# --- telling ----------------------------------------------------------------------------------------


def test_all_that_hold_end_with_0_and_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], groups=[a_group("cards", MATCH, SIZE, PEER)]) == 0
    told = capsys.readouterr().out
    assert told.startswith(this_machine().line())
    assert re.search(r"^match 2 KB +3 +2 +1\.50 +2\.50  ms CPU  warm$", told, re.MULTILINE)
    assert re.search(r"^size of a copy +1,234 +-  +KB$", told, re.MULTILINE)
    assert re.search(r"^match / a peer +not measured here: it cannot be installed here$", told, re.MULTILINE)
    assert "2 rows in 0 s. Every bar holds, 1 of them." in told


def test_a_missed_bar_ends_with_1_and_is_named_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], groups=[a_group("slow", SLOW), a_group("cards", MATCH)]) == 1
    end = capsys.readouterr().out.partition("Missed: 1 of 2 bars")[2]
    assert end == "\n  slow | look-up: 1.50, bar 1.10\n"


def test_where_nothing_has_a_bar_nothing_is_said_to_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], groups=[a_group("memory", SIZE)]) == 0
    assert "1 row in 0 s. None of them has a bar." in capsys.readouterr().out


def test_a_group_that_breaks_off_ends_with_1_is_named_and_leaves_the_page_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = a_page(tmp_path)
    assert main(["--page", str(page)], groups=[a_group("cards", MATCH), never("search")]) == 1
    told = capsys.readouterr()
    assert "nobody asked for this group" in told.err
    assert told.err.endswith("make bench: search broke off, and the run with it, as told above; nothing was written\n")
    assert "Every bar holds" not in told.out
    assert "old" in page.read_text(encoding="utf-8")


def test_json_has_standard_output_to_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json"], groups=[a_group("cards", MATCH, PEER), a_group("slow", SLOW)]) == 1
    told = capsys.readouterr()
    document = json.loads(told.out)
    assert set(document) == {"date", "machine", "packages", "rows", "absent", "missed", "seconds"}
    assert set(document["machine"]) == {"cpu", "cores", "memory_gb", "python", "system"}
    assert document["packages"] == installed()
    assert document["packages"]["httpx"]
    assert document["rows"][0] == {
        "group": "cards",
        "name": "match 2 KB",
        "ours": 3.0,
        "baseline": 2.0,
        "unit": "ms CPU",
        "bar": 2.5,
        "note": "warm",
        "rounds": 9,
        "ratio": 1.5,
        "holds": True,
    }
    assert document["absent"] == [{"name": "match / a peer", "why": "it cannot be installed here"}]
    assert document["missed"] == ["slow | look-up"]
    assert set(document["seconds"]) == {"cards", "slow"}
    assert "match 2 KB" in told.err


def test_make_leaves_standard_output_to_the_document() -> None:
    recipe = (PROJECT / "Makefile").read_text(encoding="utf-8").partition("\nbench:")[2].partition("\n\n")[0]
    *before, last = [line.partition("#")[0].strip() for line in recipe.splitlines()[1:]]
    assert last == "@$(BIN)/python -m tests.bench $(ARGS)"
    assert before
    assert all(line.lstrip("-").startswith("@") and line.endswith(">&2") for line in before)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0"), (2.0, "2"), (0.126, "0.13"), (12.34, "12.3"), (1234.5, "1,234"), (100_000, "100,000")],
    ids=str,
)
def test_figures_are_as_long_as_they_say_something(value: float | None, text: str) -> None:
    assert figure(value) == text


# --- the page ---------------------------------------------------------------------------------------


def a_page(tmp_path: Path, between: str = "old\n") -> Path:
    page = tmp_path / "page.md"
    page.write_text(f"# Before\n\n{BEGIN}\n{between}{END}\n\nAfter.\n", encoding="utf-8")
    return page


def test_the_page_gets_the_results_of_this_run_between_its_marks(tmp_path: Path) -> None:
    page = a_page(tmp_path)
    groups = [a_group("cards", MATCH, PEER), a_group("slow", SLOW, about="looking up")]
    for _ in range(2):
        assert main(["--page", str(page)], groups=groups) == 1
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# Before\n\n{BEGIN}\n")
        assert text.endswith(f"{END}\n\nAfter.\n")
        assert "old" not in text
        assert text.count("| match 2 KB | 3 | 2 | ms CPU | 1.50 | 2.50 | warm |") == 1
        assert "| slow \\| look-up | 30 | 20 | ms | 1.50 | 1.10 | **missed** |" in text
        assert "| match / a peer | | | | | | not measured here: it cannot be installed here |" in text
        assert "### Looking up" in text
        assert "Missed: 1 of 2 bars\n" in text


def test_a_part_of_the_rows_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = a_page(tmp_path)
    with pytest.raises(SystemExit):
        main(["--page", str(page), "--only", "cards"], groups=[never("cards")])
    assert "whole run" in capsys.readouterr().err
    assert "old" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["", "no marks", f"{BEGIN}\n", f"{END}\n{BEGIN}\n"], ids=["empty", "none", "one", "turned"]
)
def test_a_page_without_its_marks_is_told_before_anything_is_measured(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["--page", str(page)], groups=[never("cards")])
    assert page.read_text(encoding="utf-8") == text


def test_a_page_that_cannot_be_read_is_told_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latin.md").write_bytes(b"\xe9")
    for page, why in (("", "cannot be read"), ("latin.md", "cannot be read"), ("none.md", "is not there")):
        with pytest.raises(SystemExit):
            main(["--page", str(tmp_path / page)], groups=[never("cards")])
        assert why in capsys.readouterr().err


def test_beside_the_page_nothing_is_left_and_it_may_be_read_by_whom_it_was(tmp_path: Path) -> None:
    page = a_page(tmp_path)
    page.chmod(0o640)
    assert main(["--page", str(page)], groups=[a_group("cards", MATCH)]) == 0
    assert list(tmp_path.iterdir()) == [page]
    assert page.stat().st_mode & 0o777 == 0o640


def test_the_documentation_has_a_place_for_results() -> None:
    assert why_no_results_go_into(PAGE) is None


def test_everything_that_is_promised_and_every_group_described_can_be_measured() -> None:
    text = PAGE.read_text(encoding="utf-8")
    promised, described = text.split("## What is promised")[1].split("## What is measured")
    names = {group.name for group in GROUPS}
    budgets = re.findall(r"\|([^|]+)\|$", promised.partition("|---|---|---|\n")[2], re.MULTILINE)
    assert len(budgets) >= 10
    assert {each.strip(" `") for each in budgets} <= names
    told = re.findall(r"^- ((?:`[a-z-]+`(?:, )?)+):", described.split("## Run it")[0], re.MULTILINE)
    assert {name for each in told for name in re.findall(r"`([a-z-]+)`", each)} == names
