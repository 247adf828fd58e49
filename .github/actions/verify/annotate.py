"""Turn a report of `greenloop audit --json` into annotations of a pull request: `annotate.py FILE`."""

import json
import sys

BAD = ("failed", "flaky", "cannot fail", "asserts nothing")
REFUSED = ("broken", "gone", "weaker")


def escaped(text: str, *, of_property: bool = False) -> str:
    """Return `text` as the value of a workflow command: it ends no command and begins no other."""
    for plain, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(plain, code)
    return text.replace(":", "%3A").replace(",", "%2C") if of_property else text


def say(kind: str, path: str, line: int, text: str) -> None:
    """Print one annotation."""
    print(f"::{kind} file={escaped(path, of_property=True)},line={line}::{escaped(text)}")  # noqa: T201


with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123
    report = json.load(file)
for test in report.get("tests", ()):
    if test["status"] in BAD:
        say("error", test["path"], test["line"], f"{test['id']}: {test['status']}: {test['why']}")
for found in report.get("tampering", ()):
    say("error", found["path"], found["line"], found["why"])
for change in report.get("changes", ()):
    if change["status"] in (*REFUSED, "expects otherwise"):
        text = "\n".join([f"{change['id']}: {change['status']}: {change['why']}", *change["diff"]])
        say("error" if change["status"] in REFUSED else "warning", change["path"], change["line"], text)
for change in report.get("mutation", {}).get("survivors", ()):
    if not change["noticed_before"]:
        text = f"{change['before']} -> {change['after'] or 'nothing'}: no test notices it"
        say("warning", change["path"], change["line"], text)
