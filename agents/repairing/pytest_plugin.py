"""pytest's options `--heal`: patches for failing tests after pytest's run, whose exit status stays. Without an
option it imports nothing beyond pytest and prints nothing."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..records.heal import HealResult


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("greenloop")
    group.addoption("--heal", action="store_true", help="Look for patches of what failing tests test; show them.")
    group.addoption("--heal-apply", action="store_true", help="Write patches that are verified; implies --heal.")
    group.addoption(
        "--heal-apply-force",
        action="store_true",
        help="As --heal-apply, also over changes that are not committed.",
    )
    group.addoption("--heal-most", type=int, default=3, metavar="N", help="Failing tests to heal at the most.")
    parser.addini("heal_may_change", "Files that patches may change (default: *.py but tests)", "args", ["*.py"])


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and with an option the healing; not in a worker of xdist, nor with --collect-only."""
    config.addinivalue_line("markers", "heal(target): the function that this test tests, `package.module.name`.")
    options = config.option
    if options.heal_most < 0:
        raise pytest.UsageError(f"--heal-most {options.heal_most}: give a whole number, 0 or more.")
    wanted = options.heal or options.heal_apply or options.heal_apply_force
    if wanted and not hasattr(config, "workerinput") and not options.collectonly:
        config.pluginmanager.register(_Heals(config), "greenloop-heals")


class _Heals:
    """Notes failing tests, and heals them at the end of pytest's run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failing: dict[str, None] = {}
        self._targets: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note the targets of markers; under xdist there are no items here."""
        for item in items:
            marker = item.get_closest_marker("heal")
            if marker is not None and isinstance(marker.kwargs.get("target"), str):
                self._targets[item.nodeid.partition("[")[0]] = marker.kwargs["target"]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failing test, once for all its parameters."""
        if report.failed:
            self._failing.setdefault(report.nodeid.partition("[")[0])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Heal failing tests, and show the results and any errors in a section."""
        if not self._failing:
            return
        from ..errors import Interrupted
        from ..settings import read_dotenv
        from ..syntax.clean_text import visible

        terminalreporter.section("heal")
        if ignored := read_dotenv(False)[1]:
            terminalreporter.write_line(ignored)
        for nodeid in list(self._failing)[: self._config.option.heal_most]:
            terminalreporter.write_line(visible(nodeid), bold=True)
            try:
                healed = self._healed(nodeid)
                for line in _lines(healed):
                    terminalreporter.write_line(visible(line))
                if healed.error is not None and healed.error.kind == Interrupted.kind:
                    return
            except Exception as error:  # must not change pytest's own result
                terminalreporter.write_line(f"not healed: {type(error).__name__}: {visible(str(error))}")
        left = len(self._failing) - self._config.option.heal_most
        if left > 0:
            terminalreporter.write_line(f"{left} more failing tests were not looked at (--heal-most)")

    def _healed(self, nodeid: str) -> HealResult:
        import os
        from dataclasses import replace

        from ..events import ignore_event
        from ..healing.run import HealOptions, run_heal
        from ..records.heal import HealRequest
        from ..settings import Settings

        root, options = self._config.rootpath, self._config.option
        settings = Settings.from_environment(dotenv=False)
        if not settings.work_dir.is_absolute():
            settings = replace(settings, work_dir=root / settings.work_dir)
        path, name = self._target(nodeid)
        request = HealRequest(
            path=path,
            name=name,
            tests=(str(root / nodeid),),
            may_change=() if name else tuple(self._config.getini("heal_may_change")),
            seconds=60.0,
        )
        apply = options.heal_apply or options.heal_apply_force
        how = HealOptions(apply=apply, force=options.heal_apply_force)
        return run_heal(request, settings, how, os.environ, {}, ignore_event)

    def _target(self, nodeid: str) -> tuple[str, str | None]:
        """Return the file and the function that a marker names; the whole project without a marker."""
        root = self._config.rootpath
        named = self._targets.get(nodeid)
        if named is None:
            return str(root), None
        parts = named.split(".")
        for count in range(len(parts) - 1, 0, -1) if all(map(str.isidentifier, parts)) else ():
            for folder in (root, root / "src"):
                path = folder.joinpath(*parts[:count]).with_suffix(".py")
                if path.is_file():
                    return str(path), ".".join(parts[count:])
        raise ValueError(f"the marker's target {named} is in no file below {root}")


def _lines(result: HealResult) -> Iterator[str]:
    if result.error is not None:
        yield result.error.message
        return
    run = quote(result.run_dir or "")
    yield f"{result.outcome}{f', {result.grade}' if result.grade else ''}: {result.why}"
    if result.question is not None:
        yield f"Open: {result.question}"
        yield f"To answer, and to write the patch: heal --resume {run} --ask --expect-call ..."
    yield from result.diff.split("\n")[:-1]
    for each in result.written:
        yield f"Written: {each.file} (the file before: {each.backup}); undo: heal --undo {run}"
