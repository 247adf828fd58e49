"""Who approves what a command is about to use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from ..settings import Settings
from ..terminal.console import Console

if TYPE_CHECKING:
    from ..records.approvals import Approve


def approver(settings: Settings, console: Console) -> Approve:
    """The person at the terminal. Raises UsageError where nobody can be asked."""
    from ..run.approvals import NOBODY_APPROVES
    from ..terminal.approving import TerminalApproval, on_terminal

    if settings.json or not on_terminal():
        raise UsageError(NOBODY_APPROVES)
    return TerminalApproval(console)
