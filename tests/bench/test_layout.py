"""Tables of text hold the figures, and a page of them is Markdown."""

from __future__ import annotations

from dataclasses import replace

from agents.bench.figures import tables
from agents.bench.report import gaps, markdown, printed

from .observed import BASE_ONLY, RIGHT, WRONG, result, results

FOUND = [
    *results("single", [RIGHT, WRONG, BASE_ONLY, WRONG], claimed=True),
    *[result(number, "greenloop", grade="verified", claimed=True) for number in range(4)],
]


def rows(title: str) -> list[tuple[str, ...]]:
    (table,) = [table for table in printed(tables(FOUND)) if table.title.startswith(title)]
    assert all(len(row) == len(table.head) for row in table.rows)
    return list(table.rows)


def test_rates_have_their_intervals_in_percent() -> None:
    assert rows("Hidden tests")[0] == (
        "single",
        "4",
        "50.0% (15.0–85.0)",
        "25.0% (4.6–69.9)",
        "4 of 4: 100.0% (51.0–100.0)",
    )


def test_false_success_says_of_how_many() -> None:
    single, greenloop = rows("What a claim is worth")
    assert single[1:3] == ("3 of 4: 75.0% (30.1–95.4)", "3 of 4: 75.0% (30.1–95.4)")
    assert greenloop[1] == "0 of 4: 0.0% (0.0–49.0)"


def test_differences_are_in_points_with_their_sign() -> None:
    ((strategy, pairs, base, plus, won),) = rows("Against single")
    assert (strategy, pairs, won) == ("greenloop", "4", "3 : 0")
    assert base.startswith("+50.0 (")
    assert plus.startswith("+75.0 (")


def test_cost_is_a_task() -> None:
    assert rows("Cost")[0] == ("single", "100", "2.0", "8", "10")


def test_grades_say_of_how_many() -> None:
    assert rows("Of results with a grade") == [
        ("greenloop", "verified", "4 of 4: 100.0% (51.0–100.0)", "4 of 4: 100.0% (51.0–100.0)")
    ]


def test_no_claim_is_no_rate() -> None:
    found = printed(tables(results("single", [RIGHT])))
    assert found[1].rows[0][1] == "0 of 0: –"


def test_a_table_without_a_row_is_left_out() -> None:
    assert [table.title for table in printed(tables(results("single", [RIGHT])))] == [
        "Hidden tests",
        "What a claim is worth",
        "Cost, a task",
    ]
    assert printed(tables([])) == ()


def test_the_page_has_a_title_the_sample_and_every_table() -> None:
    page = markdown(tables(FOUND, "HumanEval+ | half"))
    assert page.startswith("# HumanEval+ \\| half\n\n4 tasks, 1 seed each.\n\n## Hidden tests\n\n| strategy | ")
    for table in printed(tables(FOUND)):
        assert f"## {table.title}\n" in page
        for row in table.rows:
            assert "| " + " | ".join(row) + " |\n" in page
    assert page.endswith(".\n")


def test_errors_are_counted() -> None:
    found = results("single", [RIGHT, WRONG, RIGHT])
    found[0] = replace(found[0], error="no model")
    assert gaps(tables(found)) == ["single, of 3 results: 1 ended in an error."]
    assert all(note in markdown(tables(found)) for note in gaps(tables(found)))
    assert gaps(tables(FOUND)) == []
