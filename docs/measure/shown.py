"""Clauses with a test that is named for them and does not show them: `python -m docs.measure.shown [ID ...]`.

docs/benchmark/shown.json has specs, each with `clause`, code that is `right`, code that is `wrong` in that clause
alone, `ordinary` tests that do not show it, `others` for the other clauses by their words, and two tests of the
clause: a `vacuous` one that both pass, and a `good` one. No model is asked: the loop is run twice with drafts that
are all alike, the wrong code with the vacuous test and the right code with the good one. A row for each spec, and
how many wrong ones were not claimed, and right ones were.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import closing
from typing import Any

from agents.judge.leader_view import SUCCESSES
from agents.records import Reply, Request, Ruling
from agents.sandbox import open_sandbox
from agents.settings import Settings
from agents.spec import read_spec
from agents.verifier.cached_verifier import CachedVerifier
from docs.measure import ROOT
from docs.measure.simulate_answers import Answers, run

CASES = ROOT / "docs/benchmark/shown.json"
_TEST = re.compile(r"^def test_\w+\(\):\n.*?(?=^def |\Z)", re.MULTILINE | re.DOTALL)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


class _Scripted(Answers):
    """The replies to one loop: the code and the tests of a case."""

    def __init__(self, case: dict[str, Any], code: str, test: str) -> None:
        self._case, self._draft, self._test = case, code, test

    def find(self, request: Request) -> Reply:
        """Return the reply to `request`, by the case."""
        if request.role == "code_writer":
            return _fenced(self._draft)
        if request.purpose.startswith("tests of clauses"):
            return self._tests_of_clauses(str(request.messages[-1].content))
        if request.purpose.startswith("tests"):
            return _fenced(self._case["ordinary"])
        return Reply("I don't know.", "stop")

    def _tests_of_clauses(self, asked: str) -> Reply:
        made = []
        for number, text in re.findall(
            r"^(\d+)\. (.*)$", asked.partition("for these parts alone")[2], re.MULTILINE
        ):
            others = [test for key, test in self._case["others"].items() if key.lower() in text.lower()]
            own = self._test if is_about(self._case, re.sub(r" \(with [^()]*\)$", "", text)) else None
            test = own or next(iter([*others, *_TEST.findall(self._case["ordinary"])]))
            made.append(re.sub(r"def test_\w+\(", f"def test_part_{number}(", test))
        return _fenced(self._case["head"] + "\n\n".join(made))


def _fenced(code: str) -> Reply:
    return Reply(f"```python\n{code}\n```", "stop")


def is_about(case: dict[str, Any], text: str) -> bool:
    """Return True if `text` is the clause of a case, or part of it."""
    one, other = _words(case["clause"]), _words(text)
    return one in other or other in one


def ruling_on(case: dict[str, Any], code: str, test: str, verifier: CachedVerifier) -> Ruling:
    """Run the loop on a case."""
    replies = _Scripted(case, case[code], case[test])
    kept = run(read_spec(case["spec"], origin="argument"), replies, verifier, Settings())
    return kept.rounds[-1].ruling


def main() -> None:
    """Print the rows and the totals."""
    cases = [case for case in json.loads(CASES.read_text()) if case["id"] in (sys.argv[1:] or [case["id"]])]
    refused = claimed = unchecked = 0
    with closing(open_sandbox()) as sandbox, closing(CachedVerifier(sandbox)) as verifier:
        for case in cases:
            wrong, right = (
                ruling_on(case, code, test, verifier) for code, test in (("wrong", "vacuous"), ("right", "good"))
            )
            missing = [check.text for check in right.clauses if check.missing]
            refused += wrong.grade not in SUCCESSES
            claimed += right.grade in SUCCESSES
            unchecked += len(missing)
            print(f"{case['id']:14}{wrong.grade:12}{right.grade:12}{missing or ''}", flush=True)
    print(f"wrong and not claimed: {refused} of {len(cases)}; right and claimed: {claimed} of {len(cases)}")
    print(f"clauses named as unchecked in right ones: {unchecked / max(1, len(cases)):.2f} a spec")


if __name__ == "__main__":
    main()
