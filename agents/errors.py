"""The exception tree; each type names its exit code.

GreenloopError                  one clear sentence for the user, and the way out
├── UsageError            2     bad input: an unreadable spec, an unknown run, a contradictory option
├── ModelError            3     no usable reply could be had; `kind` says why, `transient` whether waiting may help
├── SandboxUnavailable    4     nothing on this machine can run untrusted code safely
├── SandboxBroken         4     the sandbox itself failed while running a job (never a verdict)
├── BudgetSpent           5     a limit was reached before a ruling; carries limit, value and allowed
├── TotalSpent            5     the same for a limit of the whole batch: the run is done again once it is raised
├── StorageFailed         1     what was found can't be written: a full disk, a directory that is gone
└── Interrupted         130     the user stopped the run

ReplyError is not among them: a reply that cannot be mended is asked for again, not reported.
"""

from __future__ import annotations

from typing import ClassVar


class GreenloopError(Exception):
    """Base of every error a user may meet; `str(error)` is one sentence that ends with the way out."""

    exit_code: ClassVar[int] = 1
    kind: str = "error"


class UsageError(GreenloopError):
    """The request itself is wrong: bad input, a missing file, an option out of range."""

    exit_code = 2
    kind = "usage"


class ModelError(GreenloopError):
    """A model could not be reached or gave no usable reply.

    `kind` is one of: bad_key, no_such_model, quota, rate_limit, context_too_long, refusal, empty_reply,
    no_chat_reply, bad_reply, unusable_reply, network, server_error, bad_request, not_recorded, not_cached,
    weights, runtime.
    `transient` says that the same call may succeed later; `retry_after` is the server's own wish, in seconds.
    """

    exit_code = 3

    def __init__(
        self, kind: str, message: str, *, transient: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.transient = transient
        self.retry_after = retry_after


class SandboxUnavailable(GreenloopError):
    """No sandbox backend works on this machine; the message gives the reason and the remedy."""

    exit_code = 4
    kind = "sandbox_unavailable"


class SandboxBroken(GreenloopError):
    """The sandbox failed while running a job; says nothing about the code under test."""

    exit_code = 4
    kind = "sandbox_broken"


class _LimitReached(GreenloopError):
    """A limit was reached: `limit` names it, `value` was used of `allowed` (tokens, seconds, USD or calls)."""

    exit_code = 5
    sentence: ClassVar[str]

    def __init__(self, limit: str, value: float, allowed: float) -> None:
        super().__init__(self.sentence.format(limit=limit, value=value, allowed=allowed))
        self.limit = limit
        self.value = value
        self.allowed = allowed


class BudgetSpent(_LimitReached):
    """A limit of a run was reached."""

    kind = "budget_spent"
    sentence = (
        "The budget is spent: {limit} reached {value:g} of {allowed:g}; raise --max-{limit} and go on with "
        "--resume."
    )


class TotalSpent(_LimitReached):
    """A limit of the whole batch was reached. It is no BudgetSpent, since a run must not be concluded with what it
    has by then: it goes on later."""

    kind = "total_spent"
    sentence = (
        "The batch's budget is spent: {limit} reached {value:g} of {allowed:g}; raise --total-{limit} and run the "
        "same command again."
    )


class StorageFailed(GreenloopError):
    """Nothing more can be written; what was written is whole."""

    kind = "storage"


class Interrupted(GreenloopError):
    """The user pressed Ctrl-C (or the process was asked to end); what was found so far is saved."""

    exit_code = 130
    kind = "interrupted"


class ReplyError(Exception):
    """A model's reply holds nothing usable; `str(error)` is the reason, worded so that the model can mend it."""


def check_type(name: str, given: object, kinds: type | tuple[type, ...], wanted: str) -> None:
    """Raise UsageError for an argument that is of none of `kinds`; `wanted` says what to give."""
    if not isinstance(given, kinds):
        raise UsageError(f"{name} can't be of type {type(given).__name__}; give {wanted}.")
