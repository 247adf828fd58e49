"""Two tasks in HumanEval's form, a model that answers as it is told, and hidden tests that know the answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from smolagents.models import ChatMessageStreamDelta
from smolagents.monitoring import TokenUsage

from agents.bench.hidden_tests import HiddenTests
from agents.bench.results import Hidden
from agents.llm_backends.selection import Choice
from agents.llm_backends.streaming_model import FinalDelta
from agents.run.role_models import ROLES, SharedModels

TOKENS = 100
"""Generated for each reply."""
HALVED = {
    "task_id": "Own/0",
    "prompt": 'from typing import List\n\n\ndef halved(xs: List[int]) -> List[int]:\n    """Halve the even'
    ' numbers of xs and leave the odd ones.\n    >>> halved([1, 2, 8])\n    [1, 1, 4]\n    """\n',
    "entry_point": "halved",
    "canonical_solution": "    return [x // 2 if x % 2 == 0 else x for x in xs]\n",
    "base_input": [[[1, 2, 8]], [[]], [[3]], [[-4, 7]]],
    "plus_input": [[[n, n + 1, 2 * n]] for n in range(-20, 20)],
    "atol": 0,
}
INITIALS = {
    "task_id": "Own/1",
    "prompt": 'def initials(name: str) -> str:\n    """The first letters of the words of name, in upper case.\n'
    "    >>> initials('ada lovelace')\n    'AL'\n    \"\"\"\n",
    "entry_point": "initials",
    "canonical_solution": "    return ''.join(word[0].upper() for word in name.split())\n",
    "base_input": [["ada lovelace"], ["a"], [""]],
    "plus_input": [["  of the   wood "], ["Grace Brewster Murray Hopper"], ["x y z"]],
    "atol": 0,
}
RIGHT = {str(row["entry_point"]): f"{row['prompt']}{row['canonical_solution']}" for row in (HALVED, INITIALS)}
WRONG = {
    "halved": "def halved(xs):\n    return ['WRONG' for x in xs]\n",
    "initials": "def initials(name):\n    return 'WRONG'\n",
}
TESTS = {
    "halved": (("[2]", "[1]"), ("[]", "[]"), ("[3, 4]", "[3, 2]"), ("[-6]", "[-3]")),
    "initials": (("'a b'", "'AB'"), ("''", "''"), ("'x'", "'X'"), ("'Q r s'", "'QRS'")),
}
TESTS_OF_WRONG = {"halved": (("[5]", "['WRONG']"),), "initials": (("'a'", "'WRONG'"),)}
KINDS = {
    "draft": "Write the module `user_code.py` that implements",
    "tests of code": "Write pytest tests for this module",
    "tests": "Write pytest tests for this spec",
    "replacement": "Write the whole corrected file",
}


def data_file(directory: Path, *rows: Mapping[str, Any]) -> Path:
    """The tasks as a file in EvalPlus's form."""
    file = directory / "tasks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows or (HALVED, INITIALS)), encoding="utf-8")
    return file


def suite(name: str, cases: Sequence[tuple[str, str]]) -> str:
    """Tests of the function `name`, each of an argument and the value for it."""
    functions = [
        f"def test_{n}():\n    assert {name}({given}) == {value}\n" for n, (given, value) in enumerate(cases)
    ]
    return "\n".join([f"from user_code import {name}\n", *functions])


class WrittenModel:
    """Answers a question on a task by its kind; draft and replacement n with the n-th text, the last for ever."""

    model_id = "embedded"

    def __init__(
        self, fails: Mapping[str, Exception] | None = None, **answers: Mapping[str, Sequence[str]]
    ) -> None:
        """`answers` gives texts by kind and task; without any, drafts and tests are right. Questions on a task of
        `fails` raise its error."""
        self.answers = {
            "draft": {name: [code] for name, code in RIGHT.items()},
            "tests": {name: [suite(name, cases)] for name, cases in TESTS.items()},
            "tests of code": {name: [suite(name, cases)] for name, cases in TESTS.items()},
            "replacement": {name: [code] for name, code in RIGHT.items()},
            **{kind.replace("_", " "): texts for kind, texts in answers.items()},
        }
        self.fails = fails or {}
        self.asked: list[tuple[str, str, int]] = []
        """Kind, task and seed of each question."""
        self._lock = threading.Lock()

    def generate_stream(self, messages: Any, stop_sequences: Any = None, **params: Any) -> Iterator[Any]:
        question = messages[1].content[0]["text"]
        kind = next(kind for kind, words in KINDS.items() if words in question)
        name = next(name for name in RIGHT if name in question)
        with self._lock:
            before = len([each for each in self.asked if each[:2] == (kind, name)])
            self.asked.append((kind, name, params["seed"]))
        if name in self.fails:
            raise self.fails[name]
        texts = self.answers[kind][name]
        number = params["seed"] % 1000 if kind == "draft" else before
        yield ChatMessageStreamDelta(content=f"```python\n{texts[min(number, len(texts) - 1)]}\n```")
        yield FinalDelta(token_usage=TokenUsage(40, TOKENS), finish_reason="stop")


class WrittenModels(SharedModels):
    """All roles on one model that is there already."""

    def __init__(self, model: WrittenModel) -> None:
        choices = dict.fromkeys(ROLES, Choice(model.model_id, "It is the test's own."))
        super().__init__(choices, None, lambda event: None, open_model=lambda *_: model)


def recorded_backends(replies: Path) -> SharedModels:
    """All roles on recorded replies."""
    return SharedModels(dict.fromkeys(ROLES, Choice(f"recorded:{replies}", "")), None, lambda event: None)


class KnownAnswers(HiddenTests):
    """Takes a solution for right unless it returns WRONG, and counts what it was asked."""

    def __init__(self) -> None:
        self.judged: list[tuple[str, str]] = []

    def judge(self, task_id: str, solution: str) -> Hidden:
        self.judged.append((task_id, solution))
        right = "WRONG" not in solution
        return Hidden(base=right, plus=right)
