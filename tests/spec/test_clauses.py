from __future__ import annotations

import time

import pytest

from agents.records import Need, Spec
from agents.spec import read_spec
from agents.spec.clauses import clauses


def spec(text: str) -> Spec:
    return read_spec(text, origin="argument")


def texts(text: str) -> list[str]:
    return [clause.text for clause in clauses(spec(text))]


def needs(text: str) -> dict[str, list[str]]:
    return {clause.text: [str(need) for need in clause.needs] for clause in clauses(spec(text))}


def test_sentences_parts_between_semicolons_and_list_items_are_clauses() -> None:
    found = texts(
        "Write f(text: str) -> str that turns a text round; blanks stay. It has rules:\n\n"
        "- Letters stay.\n- Others, e.g. digits, go\n  to the end.\n1. Empty gives empty."
    )
    assert found == [
        "Write f(text: str) -> str that turns a text round",
        "blanks stay",
        "Letters stay",
        "Others, e.g. digits, go to the end",
        "Empty gives empty",
    ]


def test_what_follows_a_table_or_a_list_is_a_clause_of_its_own() -> None:
    table = "grade(score), by this table:\nscore | grade\n90 and up | A\nScores are rounded first.\nThis is it."
    assert texts(table)[1:] == ["Scores are rounded first", "This is it"]
    assert texts("Valid if:\n1. it has 3 parts\n2. none is empty\nAnything else raises TypeError") == [
        "it has 3 parts",
        "none is empty",
        "Anything else raises TypeError",
    ]


def test_that_an_argument_is_not_changed_is_a_clause_of_its_own() -> None:
    assert texts("The list is not changed, and items need not be hashable.") == [
        "The list is not changed",
        "items need not be hashable",
    ]
    assert texts("The order stays, and leave xs as it was.") == ["The order stays", "leave xs as it was"]
    assert needs("Write f(a, b). What is in both comes out once, and neither list is changed.") == {
        "What is in both comes out once": ["“What is in both comes out once”"],
        "neither list is changed": ["“neither list is changed”"],
    }
    for whole in ("The order stays, and so on.", "It leaves xs as it is (rows, and the others)."):
        assert len(texts(whole)) == len(texts(f"{whole} 'a, and b' stays unchanged.")) - 1 == 1


def test_parts_that_say_something_on_their_own_are_clauses_of_their_own() -> None:
    assert texts("Equal ones count once, and the result is None if there is no second.") == [
        "Equal ones count once",
        "the result is None if there is no second",
    ]
    assert len(texts("With n = 0 the result is empty, and if n is larger the whole list is returned.")) == 2
    for whole in (
        "If n is 0 the result is empty, and the list is returned.",
        "It takes the first line, and returns it.",
        "Spaces, tabs, and newlines are removed.",
        "It is a pair (first, and the rest is second).",
        "It sorts by name, and you may assume names are short.",
    ):
        assert texts(whole) == [whole[:-1]]


def test_statements_with_a_comma_between_them_are_clauses_of_their_own() -> None:
    for first, second in (
        ("Lists are joined", "the rest stays as it is"),
        ("Bookings outside the day are ignored", "ones over its edge are cut"),
        ("Whole numbers become ints", "yes and no become bools"),
        ("Dots at an end do not belong to it", "a hyphen inside does"),
        ("Sort them by size", "ties are broken by the name"),
        ("Words are kept, numbers doubled", "everything else goes"),
    ):
        assert texts(f"{first}, {second}.") == [first, second]
    for whole in (
        "If it is full, the oldest goes",
        "Names that are long, numbers that are odd and blanks stay",
        "It is sorted, which is slow",
        "'a', 'b' and 'c' mean x, 'd', 'e' and 'f' mean y",
        "They are shown, as they were written",
        "The tag is dropped, they are kept",
        "After all have run, the first is kept",
        "As soon as one is there, it ends",
        "The higher one wins, unless both are equal",
        "The line break, if there is one, is no part of it",
        "A list is given, empty when the text is",
    ):
        assert texts(f"{whole}.") == [whole]


def test_lines_that_are_broken_before_they_are_full_are_notes() -> None:
    long = "strip blanks at both ends of the text and then, in the middle of it, any dots"
    notes = f"swap it round\n{long}\nno digit = ValueError"
    assert texts(f"f(text: str) -> str\n{notes}\nthe rest stays") == [
        "swap it round",
        long,
        "no digit = ValueError",
        "the rest stays",
    ]
    title = (
        "Feature: a lock of some kind\nWrite a class Lock with enter(digit), which gives True when that opens it"
    )
    assert len(texts(title)) == 2
    wrapped = "Write f(x) that returns the sum of\nall numbers that are in the list, and\nReturns are there."
    assert len(texts(wrapped)) == 1
    assert (
        len(
            texts(
                "Give the words of a text and all of its letters.\nThey are sorted by\nlength and then by\nname."
            )
        )
        == 2
    )


def test_a_class_of_fields_above_the_prose_is_no_clause_and_its_fields_are_no_words_of_a_text() -> None:
    code = "from typing import NamedTuple\n\nclass Box(NamedTuple):\n    name: str\n    weight: float\n\n"
    found = needs(
        f'{code}Write labels(boxes: list[Box]) -> list[str]. Each one reads "name: weight", heaviest first.'
    )
    assert [*found] == ['Each one reads "name: weight", heaviest first']
    assert not any(need.startswith("`") for wanted in found.values() for need in wanted)
    assert texts("f(km: int) -> int\n0-5: 250\nabove 5: 400 in all")[-2:] == ["0-5: 250", "above 5: 400 in all"]


def test_what_stands_before_the_sentence_that_asks_is_no_rule() -> None:
    asked = "Could you write me a function split(total, names) where names is a list of texts"
    text = (
        f"Hi! We go out and somebody pays for all of us. {asked}, and it gives back a dict? Everyone gets a share."
    )
    assert [bool(each) for each in needs(text).values()] == [False] * 4 + [True]
    story = needs("As a buyer I want larger orders to be cheaper.\n\n- total(price) is 0 for none\n- Names stay")
    assert [bool(each) for each in story.values()][::2] == [False, True]


def test_a_sentence_is_a_rule_unless_an_example_stands_after_it() -> None:
    rule = "Letters go round"
    assert needs(f"Write f(text: str) that turns text. f('a') == 'b'. {rule}.")[rule] == [f"“{rule}”"]
    assert needs(f"Write f(text: str) that turns text. {rule}. f('a') == 'b'.")[rule] == []
    for other in (
        "Keys are strings.",
        "Sorting is not needed.",
        "We have many of them.",
        "See https://a.b/c-is-d.",
    ):
        found = needs(f"Write f(text: str) that turns text. f('a') == 'b'. {other}")
        assert not any(list(found.values())[1:])


def test_what_a_function_returns_behind_a_sentence_on_its_input_is_no_rule() -> None:
    returned = "It returns the minutes from start to end"
    said = f"Write apart(start, end). Both are times of day such as '08:30'. {returned}. Equal times are 0 apart."
    found = needs(said)
    assert next(iter(found.values())) == found[returned] == []
    assert found["Equal times are 0 apart"] == ["“Equal times are 0 apart”"]
    assert needs(f"Write f(a) that adds. It doubles. {returned}.")[returned] == [f"“{returned}”"]


def test_what_ends_a_sentence_within_quotes_or_brackets_ends_no_clause() -> None:
    assert len(texts('Write f(text: str) -> list[str] that splits after "a. B", "; " or (as. In) brackets.')) == 1


def test_examples_code_and_headings_are_no_clauses() -> None:
    text = (
        "Write f(n: int) -> int that doubles n.\n\n# Notes\n\nExamples:\n\nf(1) == 2\n\n"
        "```python\nf(3) == 6\n```\n>>> f(2)\n4\n"
    )
    assert texts(text) == ["Write f(n: int) -> int that doubles n"]
    assert texts("pairs(lines) -> iterator of str\n\nGive each line twice.") == ["Give each line twice"]


def test_a_scenario_is_one_clause() -> None:
    text = "Write a class Box with add(x).\n\nGiven an empty box\nWhen 1 is added\nThen len(box) is 1"
    assert texts(text)[1] == "Given an empty box When 1 is added Then len(box) is 1"
    assert texts("Write f(n).\n\nGiven: a box\nWhen it is empty\nThen it stays")[0].startswith("Given: a box When")
    assert "Scenario: no text gives None" in texts("Write f(n).\n\nScenario: no text gives None\n")
    titled = "Write f(n).\n\nScenario: never below zero\n  Given 3\n  When f is called\n  Then it gives 0\n"
    assert needs(titled) == {
        "Given 3 When f is called Then it gives 0": ["“Given 3 When f is called Then it gives 0”"]
    }


def test_what_a_scenario_says_to_raise_is_a_clause_of_its_own() -> None:
    text = (
        "Write total(items).\n\nGiven a cart\nWhen total is called\nThen it is the sum\n"
        "And an unknown item raises KeyError\nAnd it is rounded to 2 places"
    )
    assert texts(text) == [
        "Given a cart When total is called Then it is the sum",
        "an unknown item raises KeyError",
        "it is rounded to 2 places",
    ]


def test_a_list_ends_at_a_line_that_is_not_indented_and_a_semicolon_within_a_sentence_ends_nothing() -> None:
    text = "Inventory class:\n  - add(sku): adds\n  - low(n=5): sorted list\n    of few\nItems at zero stay."
    assert texts(text) == ["add(sku): adds", "low(n=5): sorted list of few", "Items at zero stay"]
    for sentence in ("Lines starting with # or ; are comments", "It writes &lt; and &amp; in their place"):
        assert sentence in texts(f"Write f(x). {sentence}.")
    assert texts("Write f(x). {x} is filled in. \\{ is a brace.") == ["{x} is filled in", "\\{ is a brace"]


def test_a_sentence_that_names_methods_is_no_example() -> None:
    graph = "Write a `Graph` class with `add_edge(u, v, weight=1)` and `near(u)`. It is undirected."
    assert needs(graph)["Write a `Graph` class with `add_edge(u, v, weight=1)` and `near(u)`"] == [
        "`add_edge`",
        "`near`",
    ]
    called = "A class Poly. It is evaluated by calling p(x), and p.degree() is its degree."
    assert needs(called)["It is evaluated by calling p(x), and p.degree() is its degree"] == ["`degree`"]


def test_a_comment_is_read_without_its_marks_and_what_happens_instead_of_an_error_is_a_rule() -> None:
    block = "# seconds(s) -> int\n# -----\n# Units are d, h and m.\n# Blanks are not allowed anywhere.\n"
    assert texts(block) == ["Units are d, h and m", "Blanks are not allowed anywhere"]
    rule = "If a step is missing, the default is returned, no exception"
    assert needs(f"Write f(x). {rule}.")[rule] == [f"“{rule}”"]
    for rule in (
        "A refused move leaves the board as it was",
        "0 for an unknown event",
        "It works in both directions",
    ):
        assert needs(f"Write f(x). {rule}.")[rule] == [f"“{rule}”"]


def test_a_part_that_is_empty_is_no_empty_input() -> None:
    assert needs("Write f(board). Empty cells are 0.")["Empty cells are 0"] != ["an empty input"]
    assert needs("Write f(text). Empty lines are skipped.")["Empty lines are skipped"] == ["a blank line"]


def test_a_stubs_docstring_is_what_is_split() -> None:
    said = "Double the number. Negative numbers give zero."
    text = f'def f(n: int) -> int:\n    """{said}\n\n    >>> f(1)\n    2\n    """\n'
    assert texts(text) == ["Double the number", "Negative numbers give zero"]
    assert texts(f"Fill it in.\n\n```python\n{text}```\nDo not use loops.") == [
        "Fill it in",
        "Double the number",
        "Negative numbers give zero",
        "Do not use loops",
    ]


def test_docstrings_of_methods_speak_of_them() -> None:
    text = (
        "class Box:\n    def add(self, n: int) -> None:\n"
        '        """Put it in. Twice is an error."""\n\n    def __len__(self) -> int:\n        """How many."""\n'
    )
    assert needs(f"```python\n{text}```") == {
        "`add`: Put it in": ["`add`"],
        "Twice is an error": ["“Twice is an error”"],
        "`__len__`: How many": ["`len`"],
    }


def test_a_class_method_is_one_of_the_class_and_not_of_another() -> None:
    found = needs("Write a class Box. `Box.read(text)` makes one. It uses Path.home() for others.")
    assert list(found.values()) == [["`read`"], ["“It uses Path.home() for others”"]]


def test_types_in_a_docstring_of_numpys_are_no_clauses() -> None:
    said = (
        "Shift it.\n\nParameters\n----------\nn : float, optional\n    How far, at least 1.\n\n"
        "Returns\n-------\nlist of float\n    The others.\n"
    )
    assert needs(f'def f(n: float) -> list[float]:\n    """{said}"""\n') == {
        "Shift it": [],
        "n: How far, at least 1": [],
        "The others": [],
    }


def test_headers_items_of_a_checklist_and_calls_of_two_functions_are_read() -> None:
    text = 'def f(n: int) -> str:\n\n- [ ] Zero gives "a"\n- [x] Others stay\n\n| date(2024, 1, 2) | 3 |\n'
    assert texts(text) == ['Zero gives "a"', "Others stay"]
    both = "Write on(a: str) -> str and off(a: str) -> str"
    assert texts(f"{both}. They swap.\n\non('a') == off('b')") == [both, "They swap"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Raise ValueError for an empty text.", ["`ValueError`", "ValueError for an empty text"]),
        ("Empty strings are left out.", ["an empty text"]),
        ("An empty word is dropped.", ["an empty text"]),
        ("An empty word list gives 0.", ["an empty input that gives 0"]),
        ("It never raises ValueError.", []),
        ("Upper or lower case.", ["lower case", "a word in capitals"]),
        ("Ignore case.", ["lower case", "a word in capitals"]),
        ("Numbers are non-negative and lists non-empty.", []),
        ("Negative numbers count double.", ["a negative number"]),
        ('Return "odd" for those.', ["`'odd'`"]),
        ("Dates are like 'YYYY-MM-DD'.", []),
        ("You may assume that the text is not empty and has no negative numbers.", []),
        ("Strip leading and trailing whitespace.", ["a space at an end", "white space"]),
        ("Use help_me(x) for it.", ["`help_me`"]),
        ("It takes --quiet.", ["`--quiet`"]),
        ("Halves go away from zero.", ["“Halves go away from zero”"]),
        ("Numbers below zero raise ValueError.", ["`ValueError`", "ValueError for a negative number"]),
        ("Temperatures below absolute zero raise ValueError.", ["`ValueError`"]),
        (
            "Negative amounts are wrong and raise a ValueError.",
            ["`ValueError`", "ValueError for a negative number"],
        ),
        ("It supports `in` and `del`.", ["“It supports `in` and `del`”"]),
        ("Write non-zero minutes zero-padded.", []),
        ("Numbers never go negative.", ["“Numbers never go negative”"]),
        ("It is an error (ValueError) if it is blank.", ["`ValueError`", "ValueError for a blank text"]),
        ("Blank names count, a blank between them does not.", ["a blank text", "“a blank between them does not”"]),
        ("Two of them are fine.", ["“Two of them are fine”"]),
        ("Those that differ by less than 0.01 are equal.", ["“Those that differ by less than 0.01 are equal”"]),
        ("Texts w/o any digit count.", ["“Texts w/o any digit count”"]),
        ("A comparison with others is false and raises nothing.", ["“A comparison with others is false”"]),
        ("It must be a single character (ValueError).", ["`ValueError`"]),
        ("It must not be empty (ValueError).", ["`ValueError`", "ValueError for an empty input"]),
        ("It never raises, not even for None.", ["None"]),
        ("Texts are assumed to be in order.", []),
        ("Names are stripped.", ["a space at an end"]),
        ("Blanks around the name go.", ["a space at an end", "white space"]),
        ("Names are stripped of their titles.", ["“Names are stripped of their titles”"]),
        ("Each line counts, and blank lines too.", ["several lines", "a blank line"]),
        ("It must be one item, otherwise ValueError.", ["`ValueError`"]),
        ("ValueError for a float unless it is negative.", ["`ValueError`", "ValueError for a float"]),
        ('No text: return "".', ['“No text: return ""”']),
        ("For [] return [].", ["an empty input"]),
        ('An empty one gives [""], two give [" a "].', ["an empty input", "`' a '`"]),
        ("0 is written '0 items'.", ["`'0 items'`"]),
        ("Ties keep their order.", ["“Ties keep their order”"]),
        ("It must begin with a letter.", ["“It must begin with a letter”"]),
        ("Do not use a loop if you can.", []),
        ("Lists are there.", ["“Lists are there”"]),
        ("No line has spaces.", ["“No line has spaces”"]),
        ("Denied calls don't count.", ["“Denied calls don't count”"]),
        ("Few people don't know it, and you do not have to.", []),
        ("Names that are there already count double.", ["“Names that are there already count double”"]),
        ("Lists without items get 0.", ["“Lists without items get 0”"]),
        ("Halves go up, so f(2.5) is 3.", ["“Halves go up, so f(2.5) is 3”"]),
        ("What is not a float is left.", ["“What is not a float is left”"]),
        ("All that is not a digit, a space or a hyphen raises ValueError.", ["`ValueError`"]),
        ("Case doesn't matter, and spaces count.", ["lower case", "a word in capitals", "white space"]),
        ("Upper and lower case are the same.", ["lower case", "a word in capitals"]),
        ("A name that is not listed raises KeyError.", ["`KeyError`"]),
        ("A KeyError is not raised.", []),
        ("Define OddError, a subclass of ValueError.", ["`OddError`"]),
        ("Runs of spaces count once.", ["white space", "spaces in a row"]),
        ("Lists in it are opened, at any depth.", ["a nested value"]),
        ("Leave the lists inside those alone.", ["a nested value"]),
        ("It is rounded to a decimal place.", ["a float", "“It is rounded to a decimal place”"]),
        ("Only the first comma counts.", ["a comma", "“Only the first comma counts”"]),
        ("Numbers between zero and ten count.", ["“Numbers between zero and ten count”"]),
        ("The others are zero-argument functions.", []),
        ("A line has no number there.", ["“A line has no number there”"]),
        ("The mark may be empty.", ["“The mark may be empty”"]),
        ("The text must not be empty (ValueError).", ["`ValueError`", "ValueError for an empty input"]),
        ("odd => even", ["“odd => even”"]),
        ("A NaN makes others NaN.", ["“A NaN makes others NaN”"]),
        ("A value of `None` means that it goes.", ["None"]),
        ("It gives the one itself, not a copy.", ["“It gives the one itself, not a copy”"]),
        ("It may not use a loop.", []),
        ("Means are rounded.", ["“Means are rounded”"]),
        ("11, 12 and 13 end in th.", ["“11, 12 and 13 end in th”"]),
        ("A last item holds all of them.", ["“A last item holds all of them”"]),
        ("Items need not be hashable.", ["an item without a hash"]),
        ("Later keys win.", ["“Later keys win”"]),
        ("A name that occurs once is a text.", ["“A name that occurs once is a text”"]),
        ("A right code starts the count again.", ["“A right code starts the count again”"]),
        ("There is no mark at the end.", ["“There is no mark at the end”"]),
        ("With an even count it is the mean of two.", ["“With an even count it is the mean of two”"]),
        ("In the first row the sum is left.", ["“In the first row the sum is left”"]),
        ("There is no limit on the count.", []),
        ("In that way it counts.", ["“In that way it counts”"]),
        ("A part without '=' has the value ''.", ["“A part without '=' has the value ''”"]),
        ("It gives 'x' for one with no '='.", ["`'x'`"]),
        ("Points over 100 count as 100.", ["a number >100", "“Points over 100 count as 100”"]),
        ("80-89: B", ["exactly 80"]),
        ("From 50 pieces there is 5% off.", ["exactly 50", "“From 50 pieces there is 5% off”"]),
        ("Gaps shorter than fifteen are dropped.", ["exactly 15", "“Gaps shorter than fifteen are dropped”"]),
        ("Past the end it is no error, they are just empty.", ["an empty input"]),
        ("It is skipped (no silver → an empty list).", ["an empty input"]),
        ("If it is blank we'd like an empty string.", ["an empty text", "a blank text"]),
        ("Lines look like 'a 1' or 'b 2'.", []),
        ("It is an OddError, a ValueError subclass.", ["`OddError`"]),
        ("Booleans are refused with TypeError.", ["`TypeError`", "TypeError for a bool"]),
        ("Everything else is lowercased.", ["lower case", "upper case"]),
        ("Empty quotes count.", ["a quotation mark"]),
        ("Items may start at zero.", ["“Items may start at zero”"]),
        ("It must reject digits with a ValueError.", ["`ValueError`", "ValueError for a digit"]),
        ("It returns False then.", ["False"]),
        ("Both parts need two digits.", ["“Both parts need two digits”"]),
        ("A date such as '2024-01-02' must be negative.", ["a negative number"]),
        ("The # is required.", ["“The # is required”"]),
        ("It has exactly one comma.", ["a comma", "“It has exactly one comma”"]),
        ("If the result would be empty, it is 'x'.", ["`'x'`"]),
        ("One that is neither a digit nor a tab raises ValueError.", ["`ValueError`"]),
        ("The short form '#f80' means '#ff8800'.", ["`'#f80'`"]),
        ("An unknown one gives 'unknown: NAME'.", ["“An unknown one gives 'unknown: NAME'”"]),
        ("Those that end in 11, 12 or 13 give 'th'.", ["`'th'`", "“Those that end in 11, 12 or 13 give 'th'”"]),
        ("It says True for one, or False.", ["True", "False", "“It says True for one, or False”"]),
        ("Anything that looks like '1-2' stays.", ["“Anything that looks like '1-2' stays”"]),
        ("The result is True or False.", ["“The result is True or False”"]),
        ("It stays as it is for one, also for minus one.", ["a negative number"]),
    ],
)
def test_what_a_test_of_a_clause_has_to_use(sentence: str, expected: list[str]) -> None:
    found = needs(f"Write f(text: str) -> int that counts things. {sentence}")
    assert [need for each in list(found)[1:] for need in found[each]] == expected


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Empty if n is odd.", "value"),
        ("The tag is None for a name.", "value"),
        ("The first one, None for others.", "value"),
        ("If it is None, it counts.", "input"),
        ("A list that is empty counts.", "input"),
    ],
)
def test_what_comes_out_is_no_input(sentence: str, kind: str) -> None:
    *_, last = clauses(spec(f"Write f(n) that counts things. {sentence}"))
    assert [need.kind for need in last.needs] == [kind]


def test_layouts_and_illustrations_are_no_texts_of_a_test() -> None:
    found = needs(
        'Write name(first: str, last: str) -> str. It returns "Last, First". For a new key it gives "+key". '
        'Files such as "a.log" or "b.log" have no number. Without a first name it returns "?, ?".'
    )
    assert not any(need.startswith("`") for wanted in [*found.values()][:-1] for need in wanted)
    assert [*found.values()][-1] == ["`'?, ?'`"]


def test_an_exception_to_a_rule_needs_a_test_beside_the_text_that_it_quotes() -> None:
    found = needs('Write f(text). "pm" adds 12 hours, except for noon. After "heat" it goes on until it is warm.')
    assert [wanted[1:] for wanted in [*found.values()][1:]] == [[f"“{clause}”"] for clause in [*found][1:]]


def test_how_a_program_ends_is_what_a_test_of_it_expects() -> None:
    found = clauses(spec("Write a program that reads stdin. An unknown option exits with status 2."))
    assert [need.giving for need in found[1].needs] == ["2"]


def test_a_limit_in_another_unit_is_none_of_the_parameter() -> None:
    found = needs("Write fee(minutes). The fee doubles after more than 24 hours. Less than 15 minutes are free.")
    assert list(found.values()) == [
        ["“The fee doubles after more than 24 hours”"],
        ["exactly 15", "“Less than 15 minutes are free”"],
    ]
    found = needs("Write slots(day_start). Gaps of less than 15 minutes are left.")
    assert [*found.values()][-1][0] == "exactly 15"


def test_an_option_that_a_clause_names_is_used() -> None:
    header = "Write total(lines: list, *, net: bool = False) -> int that adds up"
    text = f"{header}. With net no tax is added. If strict=True is passed, a bad line raises ValueError."
    assert [*needs(text).values()][1:] == [["`net`"], ["`ValueError`", "`strict`"]]
    assert needs(
        "A class Queue with add(job, urgent=False) that adds. `pages: int` counts.\n\n- size: property, how many"
    )["size: property, how many"] == ["`size`"]


def test_what_is_raised_is_a_clause_of_its_own_unless_its_condition_comes_first() -> None:
    apart = needs("Write f(text: str) -> int, upper or lower case, and raise ValueError for a digit.")
    assert list(apart.values()) == [
        ["lower case", "a word in capitals"],
        ["`ValueError`", "ValueError for a digit"],
    ]
    whole = needs("Write f(text: str) -> int that counts. If the text is empty, raise ValueError.")
    assert list(whole.values())[1] == ["`ValueError`", "ValueError for an empty input"]
    assert texts("The stop is included if it is hit, a step of 0 raises ValueError.")[1:] == [
        "a step of 0 raises ValueError"
    ]
    assert len(texts("Anything that is no digit, a space or a hyphen raises ValueError.")) == 1
    ruled = texts(
        "If it is full, the oldest goes, and an odd one is a ValueError. The rest counts, and it throws out."
    )
    assert ruled == [
        "If it is full, the oldest goes",
        "an odd one is a ValueError",
        "The rest counts, and it throws out",
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "n must be at least 1, otherwise ValueError is raised",
        "The rows must have one length; otherwise raise ValueError",
        "It should be one word. Otherwise, raise ValueError",
        "month is between 1 and 12; any other month raises ValueError",
        "The hour is from 0 to 23, anything else raises ValueError",
    ],
)
def test_what_raises_where_a_requirement_is_not_met_belongs_to_it(sentence: str) -> None:
    assert texts(f"Write f(n). It counts. {sentence}. It is fast.")[-2:] == [sentence, "It is fast"]


@pytest.mark.parametrize(
    "sentence",
    [
        "It returns True for a word, otherwise it raises ValueError",
        "Coins are 1, 2 and 5. Anything else raises ValueError",
        "It must begin with a letter. Any other name raises ValueError",
        "Blanks are not allowed; anything else raises ValueError",
    ],
)
def test_what_raises_beside_a_result_or_for_more_than_one_requirement_is_a_clause_of_its_own(
    sentence: str,
) -> None:
    assert sentence not in texts(f"Write f(n). It counts. {sentence}.")


def test_methods_in_a_list_need_no_parentheses() -> None:
    text = "Write a class Watch with the methods start(now: float), stop(now: float), and elapsed."
    assert next(iter(needs(text).values())) == ["`start`", "`stop`", "`elapsed`"]
    assert next(iter(needs("A class Stack with the methods push, pop and peek.").values()))[-1] == "`peek`"


def test_a_value_with_a_condition_is_no_statement_of_its_own() -> None:
    said = "It returns -1 if a is older, 1 if a is newer, and 0 if they are the same"
    assert said in texts(f"Write f(a, b). It compares. {said}.")


def test_each_condition_of_an_exception_and_what_holds_before_it_are_clauses() -> None:
    found = needs(
        "Write f(n: int, mark: str = 'a', step: float = 1.0) -> int that halves. "
        "Raise ValueError for a name, for a text, and for cycles. Raise TypeError if it is odd or if it is None. "
        "n = 0 gives an empty list, negative n is an error (ValueError), as are others. "
        "It counts the others and never raises."
    )
    assert found == {
        "Write f(n: int, mark: str = 'a', step: float = 1.0) -> int that halves": [],
        "Raise ValueError for a name": ["`ValueError`"],
        "or for a text": ["`ValueError`"],
        "or for cycles": ["`ValueError`"],
        "Raise TypeError if it is odd": ["`TypeError`"],
        "or if it is None": ["`TypeError`", "TypeError for None"],
        "n = 0 gives an empty list": ["an empty input"],
        "negative n is an error (ValueError)": ["`ValueError`", "ValueError for a negative number"],
        "as are others": ["`ValueError`"],
        "It counts the others": ["“It counts the others”"],
        "never raises": [],
    }


def test_fields_of_a_docstring_rows_of_a_table_and_methods_in_a_list_are_clauses_of_their_own() -> None:
    found = texts(
        "Write a class Shelf.\n\nRaises\n------\nValueError\n    If it is full.\n\n"
        ":param n: how many\n:raises KeyError: if it is gone\nsize (int): a number\n  of books\n\n"
        "| n | which |\n|---|:-:|\n| 1 | the first |\n| 2 | 3 |\n\n"
        "push(x) adds x, pop() takes the last one, and size() counts. If it is full, push(x) adds nothing."
    )
    assert found == [
        "ValueError If it is full",
        ":param n: how many",
        ":raises KeyError: if it is gone",
        "size (int): a number of books",
        "1 | the first |",
        "push(x) adds x",
        "pop() takes the last one",
        "size() counts",
        "If it is full, push(x) adds nothing",
    ]


def test_the_first_rule_is_one_where_the_sentence_before_it_says_nothing() -> None:
    assert needs("Write a class Shelf. push(x) adds x unless it is there.") == {
        "push(x) adds x unless it is there": ["`push`", "“push(x) adds x unless it is there”"]
    }


def test_a_clause_that_speaks_of_an_exception_named_before_needs_that_one() -> None:
    found = needs(
        "Write f(n: int) -> int that halves. Negative numbers raise RangeError, a subclass of ValueError, as do "
        "those above 10; so does zero. Some are halved. So are others. Raise it for a float too."
    )
    assert list(found.values())[1:] == [
        ["`RangeError`", "RangeError for a negative number"],
        ["`RangeError`"],
        ["`RangeError`", "RangeError for zero"],
        ["“Some are halved”"],
        ["“So are others”"],
        ["`RangeError`", "RangeError for a float"],
    ]


def test_words_that_name_parameters_and_the_class_itself_are_no_kinds_of_input() -> None:
    found = needs(
        "Write a class BrowserTab(spaces) that keeps a tab with spaces. A page may have digits and tabs."
    )
    assert list(found.values()) == [[], ["a digit", "a tab"]]


def test_what_holds_beside_a_raise_and_rules_of_methods_need_tests_of_their_own() -> None:
    text = (
        "A class Shop for many fruits. items() is a list in alphabetical order; "
        "an item of which nothing is left is not in it. "
        "If there are too few, remove(item) raises ValueError and removes nothing."
    )
    own = [text for text, missing in needs(text).items() if any("“" in each for each in missing)]
    assert own == [
        "items() is a list in alphabetical order",
        "an item of which nothing is left is not in it",
        "removes nothing",
    ]
    (kept,) = [clause.needs for clause in clauses(spec(text)) if clause.text == "removes nothing"]
    assert kept == (Need("test", "removes nothing", raising="ValueError"),)
    quoted = needs("Write f(rows: list) that counts. Without rows it prints `nothing`. f([1]) == 1")
    assert not [each for each in quoted["Without rows it prints `nothing`"] if "“" in each]


def test_methods_and_attributes_of_a_class_are_needed_and_parameters_are_not() -> None:
    found = needs(
        "Implement a class Stack with push(x), pop() and min(). It has a `size` attribute; `x` is any value."
    )
    assert found["Implement a class Stack with push(x), pop() and min()"] == ["`push`", "`pop`", "`min`"]
    assert found["It has a `size` attribute"] == ["`size`"]
    assert found["`x` is any value"] == []


def test_many_different_clauses_take_linear_time() -> None:
    asked = spec("Write f(n: int) -> int.")

    def seconds(count: int) -> float:
        text = "Write f(n: int) -> int. " + " ".join(f"f{n}(x) takes {n}." for n in range(count))
        began = time.thread_time()
        assert len(clauses(Spec(asked.id, text, asked.signature))) > count - 2
        return time.thread_time() - began

    assert min(seconds(1_000) / seconds(250) for _ in range(5)) < 8


@pytest.mark.parametrize("unit", ["a. ", "; ", "(", "`", '"', "raise ", "- a\n", "f(", "Given a\n", "\n", " "])
def test_a_long_text_takes_linear_time(unit: str) -> None:
    text = f"Write f(n: int) -> int. {unit * (19_000 // len(unit))}"
    asked = spec("Write f(n: int) -> int.")
    began = time.thread_time()
    clauses(Spec(asked.id, text, asked.signature))
    assert time.thread_time() - began < 2


def test_an_exception_of_the_specs_own_is_named_by_what_raises_it() -> None:
    found = needs("class Account(owner). Withdrawing more raises InsufficientFunds. Sorting is not needed.")
    assert found["Withdrawing more raises InsufficientFunds"] == ["`InsufficientFunds`"]
    assert found["Sorting is not needed"] == []
    said = "Adding it again has no effect"
    assert needs(f"class Set2 with add(x). {said}.")[said] == [f"“{said}”"]


def test_what_is_not_of_a_kind_and_raises_is_no_denial() -> None:
    for said in ("Keys that are not strings raise TypeError", "Names without quotes raise TypeError"):
        assert needs(f"Write f(d: dict). {said}.")[said] == ["`TypeError`"]
    for said in ("It does not raise TypeError", "It never even raises TypeError", "TypeError must not be raised"):
        assert "`TypeError`" not in needs(f"Write f(d: dict). {said}.")[said]


@pytest.mark.parametrize(
    "text",
    [
        "```python\ndef f(n: int) -> int: ...\n# f(5) -> 5\n# raises ValueError if n < 0\n```",
        "Write f(n).\n\nf(5) == 5\nf(6) == 6\nn < 0 -> ValueError",
    ],
)
def test_an_exception_beside_examples_is_needed_where_no_example_shows_it(text: str) -> None:
    [(_, found)] = [each for each in needs(text).items() if "n < 0" in each[0]]
    assert "`ValueError`" in found


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("An empty text is not a palindrome.", "an empty text that gives False"),
        ("An empty text counts as a palindrome too.", "an empty text that gives True"),
        ("An empty text gives False.", "an empty text that gives False"),
        ("Return False for an empty text.", "an empty text that gives False"),
        ("An empty text is no problem.", "an empty text"),
        ("It ignores spaces, so 'a a' is a palindrome.", "white space"),
    ],
)
def test_what_comes_out_for_an_input_as_a_whole_is_needed_with_it(sentence: str, wanted: str) -> None:
    found = needs(f"Write is_palindrome(text: str) -> bool. {sentence}")
    assert wanted in [*found.values()][-1]
