"""Measures how specs are read: their entry points, examples and rules, beside what their writers say.

    python -m docs.measure.readings [FILE ...]

Each line of a file is a spec's text with its entry point (`def f`, `class C`, or null), its examples as Python,
and phrases of it that state a rule. Without files: `seen.jsonl`, by which reading was written, `apart.jsonl`,
`fresh.jsonl`, of specs with many examples, `later.jsonl`, with tables, lists and stories, and `traps.jsonl`, of
texts that look like examples and are none, each with a reference.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from agents.records import Spec
from agents.spec import read_spec
from agents.spec.clauses import clauses
from agents.syntax.checks import Check, checks_in

FILES = [
    Path(__file__).parents[1] / "benchmark/readings" / name
    for name in ("seen.jsonl", "apart.jsonl", "fresh.jsonl", "later.jsonl", "traps.jsonl")
]


class Readings(NamedTuple):
    """Whether each entry point, each example and each rule of the specs in a file is read as it is meant."""

    entries: list[bool]
    examples: list[bool]
    rules: list[bool]


def readings(file: Path) -> Readings:
    """Read the specs in `file`."""
    told = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found = Readings([], [], [])
    for each in told:
        spec = read_spec(each["text"], origin=file.name)
        known = {check for example in spec.examples for check in _checks(example.code)}
        found.entries.append(_entry(spec) == each["entry"])
        found.examples.extend(bool(wanted) and wanted <= known for wanted in map(_checks, each["examples"]))
        found.rules.extend(_is_asked(rule, spec) for rule in each.get("rules", []))
    return found


def main() -> None:
    """Print a line for each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", default=FILES)
    for file in parser.parse_args().files:
        parts = readings(file)._asdict().items()
        print(f"{file.name}: {', '.join(f'{sum(each)} of {len(each)} {name}' for name, each in parts if each)}")


def _entry(spec: Spec) -> str | None:
    signature = spec.signature
    return None if signature is None else f"{'class' if signature.kind == 'class' else 'def'} {signature.name}"


def _checks(code: str) -> set[Check]:
    """Return what an example checks, step by step; `== True` is `is True`."""
    body = ast.parse(re.sub(r" == (True|False)$", r" is \1", code.strip(), flags=re.MULTILINE)).body
    if isinstance(body[-1], ast.Expr):
        body[-1] = ast.Assert(body[-1].value)
    acts = (each for each in body if not isinstance(each, ast.Expr) or any(map(_is_call, ast.walk(each))))
    return set(checks_in("\n".join(map(ast.unparse, acts))))


def _is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call)


def _is_asked(rule: str, spec: Spec) -> bool:
    """Return True if the clause with most of the words of `rule` has needs beside names."""
    words = _words(rule)
    best: Any = max(clauses(spec), key=lambda clause: len(_words(clause.text) & words), default=None)
    if best is None or len(_words(best.text) & words) < 0.6 * len(words):
        return False
    return any(need.kind != "name" for need in best.needs)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


if __name__ == "__main__":
    main()
