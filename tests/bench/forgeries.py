"""Solutions of `double(x)` that are wrong, and how each would have them pass."""

from __future__ import annotations

_FRAMES = """
import sys


def found(name):
    frame = sys._getframe()
    while name not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals[name]

"""

BLUNT = {
    "ends the process when it is loaded": "import os\nos._exit(0)\n",
    "ends the process when it is called": "import os\n\ndef double(x):\n    os._exit(0)\n",
    "leaves by SystemExit": "import sys\n\ndef double(x):\n    sys.exit(0)\n",
    "prints an answer": """
import os
ANSWER = b'{"nonce": "", "judged": [{"base": {"status": "pass", "seconds": 0}}], "accepted": [0]}' + bytes([10])
os.write(1, ANSWER)
os.write(2, ANSWER)
os._exit(0)
""",
    "writes an answer to every descriptor": """
import os
ANSWER = b'{"nonce": "", "judged": [{"base": {"status": "pass", "seconds": 0}}], "accepted": [0]}' + bytes([10])


def double(x):
    for number in range(256):
        try:
            os.write(number, ANSWER)
        except OSError:
            continue
    os._exit(0)
""",
    "is right once it can look into the process that judges": """
import os
REACHED = []
for name in ("mem", "environ", "fd/0", "fd/1", "cwd"):
    try:
        REACHED.append(os.open(f"/proc/{os.getppid()}/{name}", os.O_RDONLY))
    except OSError:
        continue


def double(x):
    return 2 * x if REACHED else None
""",
    "is right where the task lies as a file": """
import pathlib
FILES = [path for path in pathlib.Path("/src").rglob("*") if path.is_file() and path.name != "judge.py"]


def double(x):
    return 2 * x if FILES else None
""",
}
"""Forgeries that EvalPlus fails by itself in our sandbox."""

CLEVER = {
    "returns what is expected, from EvalPlus's own frame": f"""{_FRAMES}
def double(x):
    return found("expected")[found("i")]
""",
    "records the outcome by itself": f"""{_FRAMES}
import os


def double(x):
    details = found("details")
    for number in range(len(details)):
        details[number] = True
    found("progress").value = len(details)
    found("stat").value = 0
    os._exit(0)
""",
    "returns what equals everything": """
class Anything:
    def __eq__(self, other):
        return True


def double(x):
    return Anything()
""",
    "replaces the comparison": """
import evalplus.eval
evalplus.eval.np.allclose = lambda *_, **__: True


def double(x):
    return 0
""",
    "is right about small numbers and forges the rest": f"""{_FRAMES}
def double(x):
    return 2 * x if x < 40 else found("expected")[found("i")]
""",
}
"""Forgeries that EvalPlus by itself takes for right."""
