"""A hostile generated test runs any text in its test process, as if the gate had let it in, and reaches no trusted
test: those have sessions of their own. Each attack is shown to forge a trusted test that runs beside it.
"""

from __future__ import annotations

import pytest

from agents.records import Test, TestOrigin, Verdict
from agents.sandbox import SandboxLimits, open_sandbox
from agents.verifier.prepared_suite import PreparedSuite, in_files
from agents.verifier.session import Terms
from agents.verifier.verification import verification

WRONG = "def double(x):\n    return x\n"
RIGHT = "def double(x):\n    return x * 2\n"
IMPORT = "from user_code import double"
IN_PROCESS = "import weakref\n"
"""What makes a test need one process with the code."""

FIND_REPORTER = """
import gc, sys
reporter = next(found for found in gc.get_objects() if type(found).__name__ == "Reporter")
"""
REPORTER = """
class Deaf(set):
    def add(self, item):
        pass
reporter.failed = Deaf()
emit = reporter._emit
def lie(record):
    if "test_trusted" in str(record.get("id")) and record.get("outcome") == "failed":
        record = {**record, "outcome": "passed", "facts": {}}
    emit(record)
reporter._emit = lie
"""
SPEAKS_FOR_ANOTHER = """
def speak(frame, event, argument):
    if frame.f_code.co_name == "test_hostile" and event == "call":
        sys.setprofile(None)
        reporter._emit({"is": "start", "id": "test_user_code.py::test_trusted"})
        reporter._emit({"is": "unshareable", "text": ""})
sys.setprofile(speak)
"""
ATTACKS = {
    "its name in the file": """
real = double
globals()["double"] = lambda x: 2 * real(x)
""",
    "the proxy of the code": """
import sys, types
real = double
module = types.SimpleNamespace(double=lambda x: real(x) + real(x))
sys.modules["user_code"], globals()["double"] = module, module.double
""",
    "a builtin": """
import builtins
real = builtins.max
builtins.max = lambda *values: 2 * real(*values)
""",
    "pytest's call of a test": """
from _pytest.python import Function
run = Function.runtest
def quiet(item):
    try:
        run(item)
    except AssertionError:
        if item.name != "test_trusted":  # the canaries must fail
            raise
Function.runtest = quiet
""",
    "the reporter, found by gc": FIND_REPORTER + REPORTER,
    "the reporter, found in the frames": """
import sys
frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "config"):
    frame = frame.f_back
plugins = frame.f_locals["self"].config.pluginmanager.get_plugins()
reporter = next(found for found in plugins if type(found).__name__ == "Reporter")
""" + REPORTER,
    "the functions of the file, once they are there": """
import sys
frame = sys._getframe()
def later(frame, event, argument):
    if frame.f_code.co_name == "test_trusted":
        frame.f_globals["double"] = lambda x: 4
sys.setprofile(later)
""",
}  # fmt: skip


def suite(attack: str, origin: TestOrigin, head: str = IMPORT) -> PreparedSuite:
    """The trusted test, and a hostile one of `origin`; nobody has looked at what they do."""
    trusted = "def test_trusted():\n    assert max(double(2), 0) == 4\n"
    hostile = "def test_hostile():\n    assert double(0) == 0\n"
    tests = [
        Test("test_hostile", hostile, origin, f"{head}\nexec({attack!r})"),
        Test("test_trusted", trusted, "spec", head),
    ]
    return PreparedSuite(in_files(tests), ())


def verdict(code: str, prepared: PreparedSuite) -> Verdict:
    terms = Terms(open_sandbox("none"), SandboxLimits(), 2.0, lambda: False)
    return verification(terms, code, prepared)


@pytest.mark.parametrize("origin", ["generated", "settled"])
def test_honest_tests_of_both_origins_pass_on_right_code_and_fail_on_wrong(origin: TestOrigin) -> None:
    prepared = suite("pass", origin)
    assert [[test.id for test in file.tests] for file in prepared.files] == [["test_trusted"], ["test_hostile"]]
    right, wrong = verdict(RIGHT, prepared), verdict(WRONG, prepared)
    assert (right.kind, right.isolation) == ("passed", "isolated")
    assert {strength.test_id for strength in right.strength} == {"test_trusted", "test_hostile"}
    assert (wrong.kind, wrong.outcome("test_trusted").status) == ("failed", "failed")
    assert wrong.outcome("test_hostile").status == "passed"


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_no_text_of_a_generated_test_reaches_a_trusted_one(attack: str) -> None:
    found = verdict(WRONG, suite(attack, "generated"))
    assert found.outcome("test_trusted").status == "failed"
    assert found.outcome("test_trusted").actual == "2"
    assert found.kind != "passed"
    together = verdict(WRONG, suite(attack, "spec"))
    assert (together.kind, together.outcome("test_trusted").status) == ("passed", "passed"), together


@pytest.mark.parametrize("name", ["its name in the file", "the reporter, found by gc"])
def test_no_text_of_a_generated_test_reaches_a_trusted_one_in_process(name: str) -> None:
    head = IN_PROCESS + IMPORT + "\nweakref.ref"
    found = verdict(WRONG, suite(ATTACKS[name], "generated", head))
    assert found.isolation == "in-process"
    assert found.outcome("test_trusted").status == "failed"
    assert found.kind != "passed"
    together = verdict(WRONG, suite(ATTACKS[name], "spec", head))
    assert (together.kind, together.outcome("test_trusted").status) == ("passed", "passed"), together


def test_a_generated_test_cannot_report_of_a_trusted_one_nor_move_it_into_one_process() -> None:
    prepared = suite(FIND_REPORTER + SPEAKS_FOR_ANOTHER, "generated")
    found = verdict(WRONG, prepared)
    assert (found.kind, found.isolation) == ("forged", "isolated")
    assert found.outcome("test_trusted").status == "failed"


def test_two_tests_under_one_name_are_no_pass() -> None:
    """The generated one passes on wrong code: its outcome is not the trusted one's."""
    source = "def test_trusted():\n    assert double(0) == 0\n"
    impostor = Test("test_trusted", source, "generated", IMPORT)
    (trusted,) = (test for test in suite("", "generated").tests if test.trusted)
    prepared = PreparedSuite(in_files([impostor, trusted]), ())
    assert verdict(RIGHT, prepared).kind == "void"
    assert verdict(WRONG, prepared).outcome("test_trusted").status == "failed"
