"""Attacks on files outside: read, write, fill the disk, leave files."""

from __future__ import annotations

import shutil
import site
from contextlib import suppress
from pathlib import Path

from .attack import CHECK_LIMITS, Attack, Trial, prints

READ_HOME = "print(open(sys.argv[2]).read())"


def _read_home(trial: Trial) -> bool:
    return trial.ground.secret in trial.output(trial.ground.secret_file())


STAT_HOME = """
try:
    os.stat(sys.argv[2])
    print("there")
except OSError as error:
    print(error.errno)
"""


def _stat_home(trial: Trial) -> bool:
    missing = trial.ground.home / "nosuch"
    return trial.output(trial.ground.secret_file()) != trial.output(missing)


WRITE_ANYWHERE = """
for directory in sys.argv[2:]:
    tried(lambda: open(os.path.join(directory, sys.argv[1]), "w").close())
"""


def _left(trial: Trial, directories: list[Path]) -> bool:
    """Remove the files with the mark from `directories`; return True if there were any."""
    found = False
    for directory in directories:
        path = directory / trial.ground.mark
        with suppress(FileNotFoundError, PermissionError):
            path.unlink()
            found = True
    return found


def _leave_in(trial: Trial, *directories: Path) -> bool:
    trial.run(*directories)
    return _left(trial, [*directories])


def _write_anywhere(trial: Trial) -> bool:
    return _leave_in(trial, *map(Path, ("/tmp", "/var/tmp", "/dev/shm")), trial.ground.home, trial.ground.public)


LEAVE_FOR_NEXT = """
paths = [os.path.join(directory, sys.argv[1]) for directory in (*sys.argv[2:], ".")]
print([path for path in paths if os.path.exists(path)])
for path in paths:
    tried(lambda: open(path, "w").close())
"""


def _leave_for_next(trial: Trial) -> bool:
    trial.run("/tmp")
    seen_by_next = trial.run("/tmp").stdout.strip() != b"[]"
    return _left(trial, [Path("/tmp")]) or seen_by_next


SYMLINK = """
os.symlink(sys.argv[2], "link")
with open("link", "w") as file:
    file.write("changed")
"""


def _symlink(trial: Trial) -> bool:
    target = trial.ground.public / "target"
    target.write_text("as it was")
    target.chmod(0o666)
    trial.run(target)
    return target.read_text() != "as it was"


CHANGE_MODE = """
path = sys.argv[2]
tried(lambda: os.chmod(path, 0o777), lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o777))
"""


def _change_mode(trial: Trial) -> bool:
    target = trial.ground.public / "mode"
    target.write_text("")
    target.chmod(0o644)
    trial.run(target)
    return target.stat().st_mode & 0o777 != 0o644


REWRITE_TESTS = """
tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "test_user_code.py")
def overwrite():
    os.chmod(tests, 0o644)
    open(tests, "w").write("def test_all(): pass")
def replace():
    open("mine.py", "w").write("def test_all(): pass")
    os.replace("mine.py", tests)
tried(overwrite, replace, lambda: os.unlink(tests))
print(os.path.exists(tests) and open(tests).read().strip() == "def test_real(): assert False")
"""


def _rewrite_tests(trial: Trial) -> bool:
    ended = trial.run(beside={"test_user_code.py": b"def test_real(): assert False\n"})
    return ended.stdout.strip() == b"False"


FILL_DISK = """
block = os.urandom(1 << 20)
for directory in sys.argv[2:]:
    written = 0
    try:
        os.makedirs(os.path.join(directory, sys.argv[1]), exist_ok=True)
        for number in range(16):
            with open(os.path.join(directory, sys.argv[1], str(number)), "wb", 0) as file:
                for _ in range(8):
                    written += file.write(block)
    except OSError as error:
        print(error, file=sys.stderr)
    print(written, flush=True)
"""
# Without a file system of its own, a job can write between two looks of the watchdog, which are 25 ms apart.
_DISK_SLACK = 64 << 20


def _fill_disk(trial: Trial) -> bool:
    places = [".", "/tmp", "/var/tmp", "/dev/shm"]
    written = [int(line) for line in trial.run(*places).stdout.split()]
    for place in places[1:]:
        shutil.rmtree(Path(place) / trial.ground.mark, ignore_errors=True)
    return max(written, default=0) > CHECK_LIMITS.disk_bytes + _DISK_SLACK


SPARSE_FILE = """
with open("sparse", "wb") as file:
    file.truncate(1 << 30)
print(os.stat("sparse").st_size)
"""

DROP_MODULE = """
name = sys.argv[1].replace("-", "_")
try:
    __import__(name)
    print("loaded")
except ImportError:
    print("nothing")
for directory in sys.argv[2:]:
    for ending in (".pth", ".py"):
        tried(lambda: open(os.path.join(directory, name + ending), "w").close())
"""


def _drop_module(trial: Trial) -> bool:
    directories = [Path(path) for path in site.getsitepackages()] + [trial.ground.home]
    trial.run(*directories)
    loaded = trial.run(*directories).stdout.strip() == b"loaded"
    name = trial.ground.mark.replace("-", "_")
    left = [path for directory in directories for path in directory.glob(f"{name}.*")]
    for path in left:
        path.unlink()
    return bool(left) or loaded


ATTACKS = (
    Attack(1, "read a private file in the user's home", READ_HOME, _read_home),
    Attack(2, "learn that a private file exists", STAT_HOME, _stat_home),
    Attack(9, "write in /tmp, /var/tmp, /dev/shm, the home", WRITE_ANYWHERE, _write_anywhere),
    Attack(10, "write through a symbolic link", SYMLINK, _symlink),
    Attack(11, "change the mode of a file outside", CHANGE_MODE, _change_mode),
    Attack(12, "rewrite the tests it is tested by", REWRITE_TESTS, _rewrite_tests),
    Attack(13, "fill the disk with many files", FILL_DISK, _fill_disk),
    Attack(14, "make one huge sparse file", SPARSE_FILE, prints(str(1 << 30))),
    Attack(27, "leave a file in /dev/shm", WRITE_ANYWHERE, lambda trial: _leave_in(trial, Path("/dev/shm"))),
    Attack(28, "leave a file in /tmp for the next run", LEAVE_FOR_NEXT, _leave_for_next),
    Attack(32, "drop a module into site-packages", DROP_MODULE, _drop_module),
)
