"""Runs a suite under coverage.py, in a sandbox and in one process with the code, which could forge the result.

It stands alone: `under_coverage.py MARK`, beside user_code.py and test_user_code.py. The result is JSON in the
last line of standard output that begins with MARK.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
CODE = str(HERE / "user_code.py")
TESTS = str(HERE / "test_user_code.py")
NEVER_RUN = (r"^\s*if __name__ ==", r"^\s*if (typing\.)?TYPE_CHECKING:")


def main(mark: str) -> None:
    """Run the tests and print the coverage of the code."""
    sys.path.insert(0, str(HERE))
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    out = os.dup(1)
    import coverage
    import pytest

    # No data file: the finding leaves by standard output. A `# pragma: no cover` of the code's own hides nothing.
    meter = coverage.Coverage(data_file=None, branch=True, config_file=False, include=[CODE])
    meter.clear_exclude()
    for pattern in NEVER_RUN:
        meter.exclude(pattern)
    options = ["-q", "-c", os.devnull, f"--rootdir={HERE}", f"--confcutdir={HERE}", "--assert=plain"]
    options += ["-p", "no:cacheprovider"]
    meter.start()
    try:
        ended = pytest.main([*options, TESTS])
    finally:
        meter.stop()
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise SystemExit(f"pytest ended with {ended}")
    _, statements, _, missing, _ = meter.analysis2(CODE)
    branches = meter.branch_stats(CODE).values()
    finding = {
        "lines": len(statements),
        "missing": missing,
        "branches": sum(total for total, _ in branches),
        "taken": sum(taken for _, taken in branches),
    }
    os.write(out, f"\n{mark}{json.dumps(finding)}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1])
