"""Open questions asked on a terminal: what each key does, and that nothing else breaks it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agents.run.run import RunRequest, run_spec
from agents.settings import Settings
from agents.spec import read_spec
from agents.storage.run_directory import RunDirectory

from ..support.commands import greenloop
from ..support.provider import Provider, Writes, serving
from ..support.pseudo_terminal import Keyboard, on_terminal

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals"),
]
KEY = {"OPENAI_API_KEY": "k"}
SPEC = "Implement mean(xs: list) -> float: the mean of numbers. mean([1, 2]) == 1.5"
CODE = "def mean(xs):\n    return sum(xs) / {length}  # {number}\n"
TESTS = """\
from user_code import mean


def test_one():
    assert mean([2]) == 2.0


def test_three():
    assert mean([1, 2, 6]) == 3.0


def test_tenths():
    assert mean([0.1, 0.2, 0.3]) == 0.3


def test_empty():
    assert mean([]) == -1


def test_loop():
    for n in range(3):
        assert mean([n]) == n + 1
"""


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    def code(number: int) -> str:
        return CODE.format(number=number, length="len(xs)" if number % 2 else "max(1, len(xs))")

    with serving() as server:
        server.script(Writes(code, TESTS))
        yield server


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    settings = Settings(
        model="openai/gpt-4o",
        api_base=provider.api_base,
        mutation=False,
        work_dir=folder / "work_dir",
        max_rounds=3,
    )
    run_spec(RunRequest(read_spec(SPEC, origin="argument"), settings, KEY), lambda _: None)
    return folder


@contextmanager
def asked(ended: Path, folder: Path, provider: Provider, *more: str) -> Iterator[Keyboard]:
    """A copy of the ended run, gone on with on a terminal, up to its first question."""
    shutil.copytree(ended, folder, dirs_exist_ok=True)
    options = ("--api-base", provider.api_base, "--no-mutation", *more)
    with on_terminal(
        folder, "--resume", "latest", *options, extra=KEY | {"PYTHONIOENCODING": "utf-8:strict"}
    ) as keyboard:
        yield keyboard


def run_of(folder: Path) -> RunDirectory:
    (run,) = (folder / "work_dir" / "runs").glob("*-mean-*")
    return RunDirectory(run)


def answers_of(folder: Path) -> list[str]:
    spec = run_of(folder).read().spec
    return [*(each.code for each in spec.examples if each.answer), *spec.wrong_tests, *spec.unspecified]


def test_answers_go_on_at_once_without_a_model_and_are_kept(
    ended: Path, tmp_path: Path, provider: Provider
) -> None:
    requests = len(provider.requests)
    with asked(ended, tmp_path, provider) as keyboard:
        keyboard.see("Question 1 of 2: mean([]) returns -1 or 0.0 or raises ZeroDivisionError?")
        keyboard.see("d the spec doesn't care, w the test is wrong, s skip, or the right value: ")
        keyboard.type("d")
        other = sum([0.1, 0.2, 0.3]) / 3  # Python 3.12 adds floats more exactly
        keyboard.see(f"Question 2 of 2: mean([0.1, 0.2, 0.3]) returns 0.3 or {other}?")
        keyboard.see("or the right value: ")
        keyboard.type("0.2")
        keyboard.see("4 of 4 independent drafts")
        assert keyboard.end() == 0
    assert answers_of(tmp_path) == ["assert mean([0.1, 0.2, 0.3]) == pytest.approx(0.2)", "mean([])"]
    assert len(provider.requests) == requests
    assert [each.test_id for each in run_of(tmp_path).rounds()[-1].ruling.disputes] == ["test_loop"]


def test_a_result_is_shown_once_where_its_questions_are_skipped_and_it_goes_into_a_file(
    ended: Path, tmp_path: Path, provider: Provider
) -> None:
    (tmp_path / "statistics_of_mine.py").write_text("LEFT = 1\n")
    into = ("--into", "statistics_of_mine.py", "--require", "contested")
    with asked(ended, tmp_path, provider, "--questions", "1", *into) as keyboard:
        keyboard.see("or the right value: ")
        keyboard.type("s")
        keyboard.see("Written into statistics_of_mine.py: mean")
        assert keyboard.end() == 0
    assert keyboard.screen.count("Files: ") == 1
    assert "def mean(xs):" in (tmp_path / "statistics_of_mine.py").read_text()


@pytest.mark.thorough
def test_garbage_is_named_and_asked_again_once(ended: Path, tmp_path: Path, provider: Provider) -> None:
    with asked(ended, tmp_path, provider, "--questions", "3") as keyboard:
        keyboard.see("or the right value: ")
        keyboard.press(b"\xff\n")
        keyboard.see("` is no value in Python; a text stands in quotes")
        keyboard.see("or the right value: ")
        keyboard.type("mean([1, 2]) == 7")
        keyboard.see("contradicts the spec's `mean([1, 2]) == 1.5`")
        keyboard.see("Skipped.")
        keyboard.see("Question 2 of 3")
        keyboard.see("or the right value: ")
        keyboard.type("raises ZeroDivisionError")
        keyboard.see("Question 3 of 3: is this right")
        keyboard.see("assert mean([n]) == n + 1")
        keyboard.see("w the test is wrong, s skip: ")
        keyboard.type("w")
        keyboard.see("Files: ", 120)
        keyboard.end()
    raised, wrong = answers_of(tmp_path)
    assert raised == "with pytest.raises(ZeroDivisionError):\n    mean([0.1, 0.2, 0.3])"
    assert wrong.startswith("def test_loop():")


@pytest.mark.parametrize(("key", "said"), [(b"\x03", "Go on with: --resume "), (b"\x04", "Question 1")])
def test_ctrl_c_and_the_end_of_the_input_leave_the_run_as_it_was(
    ended: Path, tmp_path: Path, provider: Provider, key: bytes, said: str
) -> None:
    with asked(ended, tmp_path, provider) as keyboard:
        keyboard.see("or the right value: ")
        keyboard.press(key)
        assert keyboard.end() == 1
        assert said in keyboard.screen
        assert "Traceback" not in keyboard.screen
    assert answers_of(tmp_path) == []


def test_nobody_is_asked_with_json_or_zero_questions_or_without_a_terminal(
    ended: Path, tmp_path: Path, provider: Provider
) -> None:
    for more in (("--json",), ("--questions", "0")):
        with asked(ended, tmp_path, provider, *more) as keyboard:
            assert keyboard.end() == 1
            assert "Question 1" not in keyboard.screen
    done = greenloop(
        tmp_path, "--resume", "latest", "--api-base", provider.api_base, "--no-mutation", stdin="y\n", extra=KEY
    )
    assert done.returncode == 1
    assert "Question 1" not in done.stdout + done.stderr
