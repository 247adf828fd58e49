from __future__ import annotations

import pytest

from agents.spec import read_spec
from agents.suite import example_tests


def codes(*lines: str) -> list[str]:
    text = "\n".join(["Write a program.", "```console", *lines, "```"])
    return [example.code for example in read_spec(text, origin="argument").examples]


def run(*arguments: str, stdin: str = "") -> str:
    given = ", ".join(["sys.executable", "'user_code.py'", *map(repr, arguments)])
    return (
        f"done = subprocess.run([{given}], {f'input={stdin!r}, ' if stdin else ''}capture_output=True, text=True)"
    )


PRINTS_6 = r"assert done.stdout.rstrip('\n') == '6'"


@pytest.mark.parametrize(
    ("command", "statement"),
    [
        ("python user_code.py 1 2 3", run("1", "2", "3")),
        ("python3 user_code.py '1 2' \"3\"", run("1 2", "3")),
        ("echo '1 5' | python user_code.py --sum", run("--sum", stdin="1 5\n")),
        ("echo 1 5 | python user_code.py", run(stdin="1 5\n")),
        (r"printf '1\n5\n' | python user_code.py", run(stdin="1\n5\n")),
        ('python user_code.py <<< "1 5"', run(stdin="1 5\n")),
        ("python user_code.py '2 * 3'", run("2 * 3")),
    ],
)
def test_a_command_becomes_a_run_of_the_program(command: str, statement: str) -> None:
    assert codes(f"$ {command}", "6") == [f"{statement}\n{PRINTS_6}"]


@pytest.mark.parametrize(
    "command",
    [
        "python user_code.py $HOME",
        "python user_code.py *.txt",
        "python user_code.py < numbers.txt",
        "python user_code.py 1 2 > out.txt",
        "cat numbers.txt | python user_code.py",
        "printf '%d' 6 | python user_code.py",
        "echo -n 6 | python user_code.py",
        "echo 6 | tee x | python user_code.py",
        "python user_code.py 6 && python user_code.py 6",
        "python other.py 6; python user_code.py 6",
        "pip install six",
        "python user_code.py 'a",
    ],
)
def test_what_takes_a_shell_is_no_example(command: str) -> None:
    assert codes(f"$ {command}", "6") == []


def test_output_ends_with_the_next_command_and_the_exit_code_is_asked_for() -> None:
    found = codes("$ python user_code.py 1", "a", "", "b", "$ python user_code.py x", "no: x", "$ echo $?", "2")
    both = r"(done.stdout + done.stderr).rstrip('\n')"
    assert found == [
        f"{run('1')}\n" + r"assert done.stdout.rstrip('\n') == 'a\n\nb'",
        f"{run('x')}\nassert (done.returncode, {both}) == (2, 'no: x')",
    ]


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("`6`", ["6"]),
        ("6.", ["6"]),
        ('"six, then"', ["six, then"]),
        ("6, as 1 + 5 is.", ["6"]),
        ("the sum.", []),
        ("6 numbers", []),
    ],
)
def test_a_sentence_says_what_a_run_prints(said: str, printed: list[str]) -> None:
    found = read_spec(f"A program. `echo 1 5 | python user_code.py` prints {said}", origin="argument").examples
    assert [each.code for each in found] == [
        f"{run(stdin='1 5' + chr(10))}\nassert done.stdout.rstrip('\\n') == {each!r}" for each in printed
    ]


def test_a_command_in_prose_is_an_example_where_nothing_comes_after_it() -> None:
    text = "Write a script that adds its arguments.\n\n$ python add.py 1 5\n6\n"
    (example,) = read_spec(text, origin="argument").examples
    assert example.code == f"{run('1', '5')}\n{PRINTS_6}"
    assert read_spec(f"{text}\nIt says so twice.", origin="argument").examples == ()
    assert read_spec(f"{text}\n$ python other.py", origin="argument").examples == ()


SAMPLES = {
    "Sample input:\n\n1\n5\n\nSample output:\n\n6\n": [run(stdin="1\n5\n")],
    "With the input\n\n    1 5\n\nit prints\n\n    6\n\nand ends.": [run(stdin="1 5\n")],
    "Input:\n```\n1\n\n5\n```\n`python add.py -n 6` prints:\n```\n6\n```": [run("-n", "6", stdin="1\n\n5\n")],
    "Input:\n  numbers\n\nOutput:\n  6\n": [],
    "Example input format:\n```\n1\n```\nExample output:\n```\n6\n```": [],
    "Sample input:\n\n1\n\n5\n\nSample output:\n\n6\n": [],
    "Sample input:\n\n1\n\nSample output:\n\n6\n\n6\n": [],
    "It takes an argument.\nSample input:\n\n1\n\nSample output:\n\n6\n": [],
}


@pytest.mark.parametrize(("text", "runs"), SAMPLES.items())
def test_a_sample_of_input_and_output_is_a_run(text: str, runs: list[str]) -> None:
    spec = read_spec(f"Write a script that adds the numbers on stdin.\n\n{text}", origin="argument")
    assert [example.code for example in spec.examples] == [f"{each}\n{PRINTS_6}" for each in runs]


def test_a_sample_of_text_is_what_a_function_of_one_text_gets() -> None:
    sample = "Given this text:\n\n    a = 1\n    b\n\nthe result is\n\n    {'a': '1'}\n"
    (example,) = read_spec(f"Write parse(text) -> dict.\n\n{sample}", origin="argument").examples
    assert example.code == "assert parse('a = 1\\nb') == {'a': '1'}"
    assert read_spec(f"Write parse(text, key) -> dict.\n\n{sample}", origin="argument").examples == ()


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("Write a program.\n\n    $ python user_code.py 1\n    6", True),
        ("---\nsignature: program\n---\nAdd the numbers on standard input.", True),
        ("Write a command-line program that adds its arguments.", True),
        ("Create a script which reads numbers from stdin and prints the sum.", True),
        ("Write a program that adds two numbers.", False),
        ("Implement add(a: int, b: int) -> int for a command-line program.", False),
    ],
)
def test_what_is_taken_for_a_program(text: str, program: bool) -> None:
    spec = read_spec(text, origin="argument")
    assert spec.program is program
    assert (spec.signature is None) is (program or "add(a" not in text)


def test_an_example_in_front_matter_may_be_a_command() -> None:
    text = "---\nsignature: program\nexamples:\n  - |\n    $ python user_code.py 1\n    6\n---\nAdd five."
    (test,) = example_tests(read_spec(text, origin="argument"))
    assert test.preamble == "import subprocess\nimport sys"
    assert PRINTS_6 in test.source
