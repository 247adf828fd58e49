"""What a signal does to a command, wherever its main thread waits; a full disk below its output."""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agents.cli.ending import unusable

from ..support.commands import QUICKSORT, REPLAYS, command, environment, greenloop

CHILD = """
import signal, threading, time

from agents.cli.ending import repeat_signals

signal.signal(signal.SIGINT, signal.default_int_handler)
{called}
other = threading.Thread(target=time.sleep, args=(60,), daemon=True)
other.start()
threading.Timer(0.2, signal.pthread_kill, (other.ident, signal.SIGINT)).start()
began = time.monotonic()
try:
    {waits}
except KeyboardInterrupt:
    pass
print(time.monotonic() - began < 3)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGURG"), reason="Windows wakes the main thread itself")
@pytest.mark.parametrize(("called", "noticed"), [("repeat_signals()", "True"), ("", "False")])
@pytest.mark.parametrize("waits", ["threading.Event().wait(5)", "time.sleep(5)"])
def test_a_signal_that_does_not_cut_a_wait_short_is_noticed_soon_after(
    called: str, noticed: str, waits: str
) -> None:
    """Sent to another thread: Python notes it, as it does one that comes just before the wait begins."""
    child = CHILD.format(called=called, waits=waits)
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == (noticed, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["show"], ["verify", "code.py", "tests.py"], ["verify", "code.py", "tests.py", "--json"]],
)
def test_a_full_disk_below_the_output_is_a_sentence(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "code.py").write_text("def f(x):\n    return 2 * x\n")
    (tmp_path / "tests.py").write_text("from code import f\n\ndef test_f():\n    assert f(2) == 4\n")
    own, here = command(*arguments), environment(tmp_path)
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            own, cwd=tmp_path, env=here, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("greenloop: The output can't be written (No space left")
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_below_the_progress_changes_neither_result_nor_exit_code(tmp_path: Path) -> None:
    for arguments, code, printed in (
        ((QUICKSORT, "--model", f"recorded:{REPLAYS}"), 0, "\nconsensus: "),
        (("verify", "none.py", "none.py"), 2, ""),
    ):
        with Path("/dev/full").open("w") as full:
            own, here = command(*arguments), environment(tmp_path)
            ended = subprocess.run(own, cwd=tmp_path, env=here, stdout=subprocess.PIPE, stderr=full, text=True)
        assert (ended.returncode, printed in ended.stdout) == (code, True)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize(("right", "code"), [(4, 0), (5, 1)])
def test_a_reader_that_is_gone_changes_no_exit_code(
    tmp_path: Path, as_json: tuple[str, ...], right: int, code: int
) -> None:
    (tmp_path / "code.py").write_text("def f(x):\n    return 2 * x\n")
    (tmp_path / "tests.py").write_text(f"from code import f\n\ndef test_f():\n    assert f(2) == {right}\n")
    reads, writes = os.pipe()
    os.close(reads)
    own, here = command("verify", "code.py", "tests.py", *as_json), environment(tmp_path)
    with os.fdopen(writes, "wb") as pipe:
        ended = subprocess.run(own, cwd=tmp_path, env=here, stdout=pipe, stderr=subprocess.PIPE, timeout=60)
    assert (ended.returncode, ended.stderr) == (code, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
def test_pairs_whose_verdicts_nobody_reads_are_not_said_to_have_passed(tmp_path: Path) -> None:
    pair = {"code": "def f(x):\n    return x\n", "tests": "from user_code import f\n\ndef test_f():\n    f(1)\n"}
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps({"id": each, **pair}) + "\n" for each in (1, 2)))
    reads, writes = os.pipe()
    os.close(reads)
    own, here = command("verify-pairs", "pairs.jsonl"), environment(tmp_path)
    with os.fdopen(writes, "wb") as pipe:
        ended = subprocess.run(own, cwd=tmp_path, env=here, stdout=pipe, stderr=subprocess.PIPE, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"greenloop: The verdicts can't be written (Broken pipe)")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space", "out"), 1, "out can't be written (No space); make room, or send it"),
        (OSError(errno.EPIPE, "Broken pipe"), 1, "The output can't be written (Broken pipe)"),
        (OSError(errno.ENOENT, "No such file", "home"), 2, "home can't be used (No such file); check its name"),
        (
            OSError(errno.EMFILE, "Too many open files"),
            1,
            "A limit of the system was reached (Too many",
        ),
    ],
)
def test_what_the_system_refuses_of_a_path_is_a_sentence(error: OSError, code: int, sentence: str) -> None:
    told = unusable(error)
    assert (told.exit_code, str(told)[: len(sentence)]) == (code, sentence)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("batch", "status", "none", "--json"), 2, "There is no batch in none"),
        (("heal", "s.py", "--show-prompt", "--json"), 2, "--show-prompt prints a text"),
        (("heal", "--undo", "none", "--json"), 2, "--undo prints a text; leave out --json."),
    ],
)
def test_what_stops_a_command_with_json_is_a_document(
    tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "s.py").write_text("1 / 0\n")
    ended = greenloop(tmp_path, *arguments)
    document = json.loads(ended.stdout)
    assert (ended.returncode, document["exit_code"]) == (code, code)
    assert document["error"]["message"].startswith(said)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of Unix")
@pytest.mark.parametrize(
    ("arguments", "closed", "code"),
    [
        (["verify", "code.py", "tests.py"], ">&-", 0),
        (["verify", "code.py", "tests.py", "--json"], ">&- <&-", 0),
        (["verify", "code.py", "none.py"], "2>&-", 2),
        (["show", "none"], ">&- 2>&- <&-", 2),
    ],
)
def test_closed_streams_change_no_exit_code(tmp_path: Path, arguments: list[str], closed: str, code: int) -> None:
    (tmp_path / "code.py").write_text("def f(x):\n    return 2 * x\n")
    (tmp_path / "tests.py").write_text("from code import f\n\ndef test_f():\n    assert f(2) == 4\n")
    line = f"exec {shlex.join(map(str, command(*arguments)))} {closed}"
    ended = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (code, False)


def test_what_standard_output_can_not_encode_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("def f(x):\n    return 2 * x\n")
    tests = "from code import f\n\ndef test_größe():\n    assert f(2) == 4\n"
    (tmp_path / "tests.py").write_text(tests, encoding="utf-8")
    ended = greenloop(tmp_path, "verify", "code.py", "tests.py", extra={"PYTHONIOENCODING": "ascii"})
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "test_gr\\xf6\\xdfe\n" in ended.stdout


@pytest.mark.parametrize("width", ["0", "00", "\N{SUPERSCRIPT TWO}", "9" * 5000])
def test_a_width_that_is_none_is_as_if_it_were_unset(tmp_path: Path, width: str) -> None:
    shown = [greenloop(tmp_path, "--help", extra={"COLUMNS": each}) for each in ("80", width)]
    assert shown[0].stdout == shown[1].stdout
    ended = greenloop(tmp_path, "show", "none", extra={"COLUMNS": width})
    assert (ended.returncode, ended.stderr.count("greenloop: There is no run")) == (2, 1)


def test_an_error_is_one_line_whatever_names_it_holds(tmp_path: Path) -> None:
    own = command("verify", "x\ngreenloop: passed\r2 tests pass.py", "tests.py")
    ended = subprocess.run(
        own, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, timeout=60
    )
    assert ended.stderr.splitlines() == [
        "greenloop: x\\ngreenloop: passed\\r2 tests pass.py does not exist; check the path."
    ]
