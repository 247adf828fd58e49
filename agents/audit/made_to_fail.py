"""Has tests fail at their start, and finds those that do not."""

from __future__ import annotations

from collections.abc import Sequence

from ..repository.suite import Suite, SuiteJob, SuiteRun
from ..syntax.definitions import Function
from ..syntax.encoding import encoded, lines_in
from .base import named, parsed
from .doctests import put_first


def made_to_fail(suite: Suite, names: Sequence[str], seconds: float) -> SuiteRun:
    """Run tests of which `assert False` is the first statement, and none but those whose own file has them, up to
    the end of the process."""
    functions: dict[str, dict[str, list[str]]] = {}
    for name in names:
        path, _, rest = name.partition("[")[0].partition("::")
        functions.setdefault(path, {}).setdefault(f".{rest.replace('::', '.')}", []).append(name)
    files, left = {}, []
    for path, wanted in functions.items():
        data = suite.tree.files.get(path, b"")
        found = [each for each in named(parsed(data)) if each[0] in wanted and isinstance(each[1], Function)]
        if found:
            lines = lines_in(data)
            for _, node in reversed(found):
                put_first(lines, node.body[0], "assert False")
            files[path] = encoded("\n".join(lines) + "\n", data)
            left += [each for name in dict(found) for each in wanted[name]]
    if not left:
        return SuiteRun({}, "ended")
    return suite.run(SuiteJob(seconds, tuple(left), tuple(files), files=files, exits=True), cold=True)
