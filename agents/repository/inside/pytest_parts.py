"""The parts of a run of pytest in the sandbox that a heal's and a suite's share."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OPTIONS = ("-p", "no:cacheprovider", "-p", "no:greenloop", "-q", "--continue-on-collection-errors")
MOST_TEXT = 4000


class OwnOptions:
    """A plugin in place of greenloop's own, whose names it knows: installed editable, that one's modules are out
    of reach here."""

    def pytest_addoption(self, parser: Any) -> None:
        """Take the options of `pytest --heal`."""
        for name in ("--heal", "--heal-apply", "--heal-apply-force"):
            parser.addoption(name, action="store_true")
        parser.addoption("--heal-most")
        parser.addini("heal_may_change", "Files that patches may change", "args")

    def pytest_configure(self, config: Any) -> None:
        """Take its mark."""
        config.addinivalue_line("markers", "heal(target): the function that this test tests.")


def note(told: dict[str, Any], report: Any) -> None:
    """Note in `told` how a phase of a test ended."""
    if report.when == "call" and report.passed and told["outcome"] == "missing":
        told["outcome"] = "passed"
    elif report.failed:
        told.update(outcome="failed", text=report.longreprtext[-MOST_TEXT:])
    elif report.skipped and told["outcome"] != "failed":
        told["outcome"] = "skipped"
