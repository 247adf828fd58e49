"""Programs under test: run in the code's sandbox, asked for by `subprocess` as any test does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from agents.records import Verdict
from agents.suite import split
from agents.verifier import Verifier
from agents.verifier.static.gate import examine

from ..support.sandboxes import open_or_skip

HEAD = "import subprocess\nimport sys\nimport pytest\n\n\n"
RUN = '[sys.executable, "user_code.py", "4"]'
ADDS = """
import sys

if __name__ == "__main__":
    try:
        print(sum(int(word) for word in sys.argv[1:] or sys.stdin.read().split()))
    except ValueError as error:
        sys.exit(f"no number: {error}")
"""


@pytest.fixture(scope="module")
def verifier() -> Iterator[Verifier]:
    with closing(open_or_skip("warm native")) as sandbox, Verifier(sandbox, call_seconds=2.0) as made:
        yield made


def verdict_on(code: str, *bodies: str, verifier: Verifier, fixtures: str = "") -> Verdict:
    tests = [f"def test_{n}({fixtures}):\n    {body}\n" for n, body in enumerate(bodies)]
    return verifier.verify(code, HEAD + "\n\n".join(tests))


@pytest.mark.parametrize(
    "body",
    [
        f"assert subprocess.run({RUN}, capture_output=True, text=True).stdout == '4\\n'",
        f"assert subprocess.run({RUN}, stdout=subprocess.PIPE, encoding='utf-8').stdout == '4\\n'",
        f"assert subprocess.run({RUN}, capture_output=True).stdout == b'4\\n'",
        f"assert subprocess.check_output({RUN}, text=True) == '4\\n'",
        f"cmd = {RUN}\n    assert subprocess.check_output(cmd + ['5'], text=True) == '9\\n'",
        f"cmd = {RUN}\n    assert subprocess.check_output([*cmd, '5'], text=True) == '9\\n'",
        "assert subprocess.check_output(['python', '-m', 'user_code'], input='3 4', text=True) == '7\\n'",
        "assert subprocess.check_output(['python3', 'user_code.py'], input=b'') == b'0\\n'",
        "with pytest.raises(subprocess.CalledProcessError) as caught:\n"
        "        subprocess.run(['python', 'user_code.py', 'x'], check=True, capture_output=True, text=True)\n"
        "    assert caught.value.returncode == 1\n"
        "    assert caught.value.stderr.startswith('no number')",
        "both = subprocess.check_output(['python', 'user_code.py', '1'], stderr=subprocess.STDOUT)\n"
        "    assert both == b'1\\n'",
        f"assert subprocess.run({RUN}).returncode == 0",
    ],
)
def test_a_program_is_run_apart_from_its_tests(body: str, verifier: Verifier) -> None:
    verdict = verdict_on(ADDS, body, verifier=verifier)
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated"), (verdict.reason, verdict.outcomes)


def test_a_wrong_program_fails(verifier: Verifier) -> None:
    body = f"assert subprocess.check_output({RUN}, text=True) == '4\\n'"
    verdict = verdict_on(ADDS.replace("sum(", "-sum("), body, verifier=verifier)
    assert verdict.kind == "failed"
    assert verdict.outcomes[0].actual == r"'-4\n'"


def test_a_program_has_the_files_of_its_tests(verifier: Verifier) -> None:
    code = "import sys\nprint(len(open(sys.argv[1]).read()))\n"
    body = (
        "path = tmp_path / 'a'\n    path.write_text('abc')\n"
        "    assert subprocess.check_output([sys.executable, 'user_code.py', path], text=True) == '3\\n'"
    )
    verdict = verdict_on(code, body, verifier=verifier, fixtures="tmp_path")
    assert (verdict.kind, verdict.isolation) == ("passed", "isolated"), (verdict.reason, verdict.outcomes)


def test_a_program_does_not_see_its_tests_and_is_never_imported(verifier: Verifier) -> None:
    code = """
import os, sys
folders = [folder for folder in sys.path if os.path.isdir(folder)]
found = [name for folder in folders for name in os.listdir(folder) if "test_user" in name]
print(__name__, found, os.environ.get("PYTEST_CURRENT_TEST"))
if __name__ != "__main__":
    os._exit(0)
"""
    body = f"assert subprocess.check_output({RUN}, text=True) == '__main__ [] None\\n'"
    assert verdict_on(code, body, verifier=verifier).kind == "passed"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("while True: pass", "stopped"),
        ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)", "failed"),
        ("import os\nfor n in range(3, 64):\n    try: os.write(n, b'forged')\n    except OSError: pass", "failed"),
        ("print('x' * 50_000_000)", "failed"),
    ],
)
def test_what_a_program_does_to_its_surroundings_passes_nothing(code: str, kind: str, verifier: Verifier) -> None:
    body = f"assert subprocess.check_output({RUN}, text=True) == '4\\n'"
    assert verdict_on(code, body, verifier=verifier).kind == kind


def test_a_test_may_wait_less_for_a_program(verifier: Verifier) -> None:
    body = (
        "with pytest.raises(subprocess.TimeoutExpired):\n"
        f"        subprocess.run({RUN}, timeout=0.3, capture_output=True, text=True)"
    )
    assert verdict_on("while True: pass", body, verifier=verifier).outcomes[0].status == "passed"


@pytest.mark.parametrize(
    "call",
    [
        "subprocess.run(['ls'])",
        "subprocess.run([sys.executable, '-c', 'print(4)', 'user_code.py'])",
        "subprocess.run('python user_code.py', shell=True)",
        "subprocess.run([sys.executable, 'user_code.py'], env={})",
        "subprocess.run([sys.executable, 'user_code.py'], preexec_fn=print)",
        "subprocess.Popen([sys.executable, 'user_code.py'])",
        "subprocess.run",
        "subprocess.getoutput('python user_code.py')",
    ],
)
def test_tests_start_no_other_process(call: str) -> None:
    (test,) = split(f"{HEAD}def test_x():\n    assert {call}\n", "generated")
    assert examine(test) is not None
