"""Arguments are checked at the door: one sentence, exit code 2, no request, and no run directory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agents import generate
from agents.cli.main import _specs_last, app
from agents.cli.run import COMMANDS, check_spec
from agents.errors import UsageError
from agents.llm_backends.selection import Choice, check_known
from agents.settings import Settings

from ..support.commands import greenloop
from ..support.provider import serving

SPEC = "Implement double(x: int) -> int. double(2) == 4"


def test_the_commands_that_are_known_are_all_there_are() -> None:
    assert sorted(name for name in app if not name.startswith("-")) == list(COMMANDS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("unk.md", "unk.md is a file; did you mean --file unk.md?"),
        ("my own spec.md", "did you mean --file 'my own spec.md'?"),
        ("specs", "specs is a folder; did you mean batch specs?"),
        ("hello", "did you mean help?"),
        ("bacth specs", "There is no command bacth; did you mean batch specs?"),
        ("verfy", "did you mean verify?"),
        ("Heal script.py", "did you mean heal script.py?"),
        ("quicksort", "'quicksort' is too short for a spec"),
        ("missing.md", "missing.md does not exist; check the path"),
        ("specs/unk", "specs/unk does not exist; check the path"),
        ("quicksort.", "too short for a spec"),
        ("Implement quicksort", "too short for a spec"),
    ],
)
def test_what_is_no_spec_is_said(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "unk.md").write_text(SPEC)
    (tmp_path / "my own spec.md").write_text(SPEC)
    (tmp_path / "specs").mkdir()
    with pytest.raises(UsageError, match=re.escape(said)):
        check_spec(text)


@pytest.mark.parametrize(
    "text",
    [
        SPEC,
        "Sort numbers.",
        "Heap sort.",
        "f(x) -> int",
        "show(x) -> int",
        "def f(x): ...",
        "Sort a list",
        "实现快速排序函数",
        "- sort a list",
        "a" * 300 + " b c",
    ],
)
def test_a_sentence_or_a_signature_is_a_spec(text: str) -> None:
    check_spec(text)


@pytest.mark.thorough
def test_a_command_that_is_mistyped_is_named_before_its_arguments_are_complained_of(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "bacth", "specs", "--out", "o")
    assert ended.stderr == "greenloop: There is no command bacth; did you mean batch?\n"
    assert ended.returncode == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("hello",), "There is no command hello"),
        ((SPEC, "--api-base", "not-a-url"), "'not-a-url' is no address of a server"),
        ((SPEC, "--api-base", "ftp://host"), "'ftp://host' is no address of a server"),
        ((SPEC, "--model", "embeded"), "did you mean embedded?"),
        (("heal", "s.py", "--model", "embeded"), "did you mean embedded?"),
        ((SPEC, "--model", ""), "model is empty; name a model, or leave it out."),
        ((SPEC, "--model", "recorded:"), "model is empty; name a model, or leave it out."),
        ((SPEC, "--work-dir", ""), "--work-dir is empty; name a path, or leave it out."),
        ((SPEC, "--cache="), "--cache is empty; name a path, or leave it out."),
        ((SPEC, "--with", "s.py", "--with", ""), "--with is empty; name a path, or leave it out."),
        (("verify", "", "s.py"), "CODE is empty; name a path, or leave it out."),
        (("audit", ""), "DIR is empty; name a path, or leave it out."),
        ((SPEC, "--drafts", "9" * 20), "Must be <= 64."),
        (("audit", ".", "--seconds", "inf"), "Must be <= 1000000000."),
        (("sort", "a", "list"), "'a list' stands outside of the spec; put the whole spec in quotes."),
        (("verify", "s.py", "t.py", "u.py"), "verify takes no 'u.py'; see verify --help."),
    ],
)
def test_a_fault_is_one_sentence_and_leaves_nothing(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("raise ValueError\n")
    ended = greenloop(tmp_path, *arguments, extra={"OPENAI_API_KEY": "k"})
    assert ended.returncode == 2
    assert said in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "work_dir").exists()


def test_a_model_with_a_server_of_its_own_or_a_provider_of_litellms_is_known() -> None:
    for name, base in (("mine", "http://127.0.0.1:1/v1"), ("azure/x", None), ("gpt-4o", None)):
        check_known(Choice(name, "named", base))
    with pytest.raises(UsageError, match="No provider of a model nosuch/thing is known"):
        check_known(Choice("nosuch/thing", "named"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"max_rounds": "abc"}, "max_rounds can't be 'abc'; give a whole number"),
        ({"max_rounds": 0}, "max_rounds can't be 0"),
        ({"max_rounds": 100}, "max_rounds can't be 100; give another number (must be <= 99)"),
        ({"max_rounds": 2.5}, "max_rounds can't be 2.5"),
        ({"temperature": 3}, "temperature can't be 3"),
        ({"max_cost": float("nan")}, "max_cost can't be nan"),
        ({"effort": "utmost"}, "give one of low, medium, high"),
        ({"packages": "numpy"}, "give a tuple of texts"),
        ({"mutation": "no"}, "give True or False"),
        ({"seed": True}, "give a whole number"),
        ({"work_dir": 3}, "give a path"),
        ({"api_base": "localhost:8000"}, "is no address of a server"),
        ({"critic_model": ""}, "critic_model is empty"),
        ({"max_seconds": float("inf")}, "max_seconds can't be inf"),
        ({"drafts": 65}, "drafts can't be 65"),
        ({"drafts": 10**5000}, "drafts can't be so large"),
        ({"seed": 1 << 64}, "seed can't be 18446744073709551616"),
        ({"model": "\udcff"}, "give a text without broken characters"),
    ],
)
def test_settings_that_do_not_fit_are_refused_where_they_are_made(values: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        Settings(**values)  # type: ignore[arg-type]


def test_a_path_may_be_a_text(tmp_path: Path) -> None:
    assert Settings(work_dir="w", cache="c") == Settings(work_dir=Path("w"), cache=Path("c"))  # type: ignore[arg-type]
    with serving() as provider:  # it answers nothing that is code
        settings = Settings(model="openai/m", api_base=provider.api_base, max_rounds=1, drafts=1, max_seconds=0.01)
        kept = tmp_path / "kept"
        generate(SPEC, settings=settings, work_dir=str(kept), environ={})  # type: ignore[arg-type]
        assert list((kept / "runs").iterdir())


@pytest.mark.parametrize(
    ("tokens", "put"),
    [
        (["-", "--json"], ["--json", "--", "-"]),
        (["- sort a list", "--model", "m"], ["--model", "m", "--", "- sort a list"]),
        (["--json", "- sort a list"], ["--json", "--", "- sort a list"]),
        (["--no-mutation", "- sort a list"], ["--no-mutation", "--", "- sort a list"]),
        (["batch", "--out", "o", "-"], ["batch", "--out", "o", "--", "-"]),
        (["--model", "- m n", "x y z"], ["--model", "- m n", "x y z"]),
        (["heal", "s.py", "--expect", "- total: 6"], ["heal", "s.py", "--expect", "- total: 6"]),
        (["heal", "s.py", "--keep", "- a", "--json"], ["heal", "s.py", "--keep", "- a", "--json"]),
        (["verify-pairs", "-"], ["verify-pairs", "-"]),
    ],
)
def test_only_a_spec_is_put_behind_the_options(tokens: list[str], put: list[str]) -> None:
    assert _specs_last(tokens) == put
